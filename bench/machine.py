"""The description of the machine that was measured on."""

import os
import platform
import ssl
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path


def describe() -> Iterator[tuple[str, str]]:
    """What matters of it: a name and a value each."""
    yield "CPU", _cpu()
    yield "cores", str(os.cpu_count())
    yield "memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB"
    yield "system", f"{platform.system()} {platform.release()}"
    yield "Python", f"{platform.python_version()}, {ssl.OPENSSL_VERSION}"
    yield (
        "libraries",
        ", ".join(f"{name} {metadata.version(name)}" for name in ("aiohttp", "uvloop", "msgspec", "numpy")),
    )


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
