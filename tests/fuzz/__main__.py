"""Fuzzes the targets in turn, each in a process of its own: ``python -m tests.fuzz --seconds 60 [--target NAME]``.

Inputs that reached new code are kept in the cache (``STREAMS_PLACEMENT_CACHE``, else ``.cache`` in the clone), so that
a later run goes on where this one stopped. Ends with 1 if an input showed a defect; the table says where the input is.
"""

import argparse
import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.e2e.programs import binaries
from tests.e2e.progress import say
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

_CLONE: Final = Path(__file__).resolve().parents[2]
_CACHE: Final = Path(os.environ.get("STREAMS_PLACEMENT_CACHE") or _CLONE / ".cache").absolute() / "fuzz"

_INPUT_SECONDS: Final = 60
"""An input that takes longer hangs; the bound of each target is far lower."""
_MEMORY: Final = 3000
"""Mebibytes of the process that fuzzes."""
_START_SECONDS: Final = 600
"""For starting, and for trying all inputs that are kept, beside the time that is asked for."""


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """What came of one target; ``code`` is that of its process."""

    name: str
    seconds: float
    tried: int
    edges: int
    kept: int
    found: list[Path]
    code: int


def fuzz(target: Target, seconds: int, program: Path, extra: Path | None) -> Result:
    """Fuzz one target for so many seconds."""
    home = _CACHE / target.name
    corpus, found, log = home / "corpus", home / "found", home / "log"
    shutil.rmtree(found, ignore_errors=True)
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    _fill(corpus, target, extra)
    flags = [f"-max_total_time={seconds}", f"-timeout={_INPUT_SECONDS}", f"-rss_limit_mb={_MEMORY}"]
    flags += [f"-artifact_prefix={found}/", "-print_final_stats=1"]
    if target.words:
        words = home / "words"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
        flags.append(f"-dict={words}")
    command = [sys.executable, "-m", "tests.fuzz.fuzzing", target.name, str(corpus), str(found), *flags]
    environment = {**os.environ, "SECOND_OPINION": str(program)}
    started = time.monotonic()
    with log.open("wb") as output:
        done = subprocess.run(  # noqa: S603 -- Python itself
            command,
            cwd=_CLONE,
            env=environment,
            stdout=output,
            stderr=output,
            timeout=seconds + _START_SECONDS,
            check=False,
        )
    text = log.read_text(errors="replace")
    tried, edges = _last(r"number_of_executed_units: (\d+)", text), _last(r"cov: (\d+)", text)
    kept = sum(1 for _ in corpus.iterdir())
    return Result(
        target.name, time.monotonic() - started, tried, edges, kept, sorted(found.iterdir()), done.returncode
    )  # fmt: skip


def _fill(corpus: Path, target: Target, extra: Path | None) -> None:
    """Put the inputs to begin with into the corpus."""
    others = [path for path in sorted(extra.rglob("*")) if path.is_file()] if extra else []
    begun = [*target.seeds(), *(path.read_bytes() for path in (*target.found, *others))]
    for data in begun:
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def _last(pattern: str, text: str) -> int:
    return int((re.findall(pattern, text) or ["0"])[-1])


def _row(result: Result) -> str:
    verdict = f"{len(result.found)} found" if result.found else "ended badly" if result.code else "nothing found"
    return (
        f"{result.name:16} {result.seconds:6.0f} s {result.tried:10,} inputs {result.edges:6,} edges "
        f"{result.kept:6,} kept  {verdict}"
    )


def main(words: Sequence[str]) -> int:
    """Fuzz what the words ask for; returns 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="of each target")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="this one alone; may be repeated")
    parser.add_argument("--corpus", type=Path, help="a folder with more inputs to begin with, for every target")
    asked = parser.parse_args(words)
    program = binaries.second_opinion()
    results = []
    for name in asked.target or TARGETS:
        results.append(fuzz(TARGETS[name], asked.seconds, program, asked.corpus))
        say(_row(results[-1]))
        for path in results[-1].found:
            say(f"  {path}: {path.read_bytes()[:120]!r}")
        if results[-1].found or results[-1].code:
            say(f"  the traceback is in {_CACHE / name / 'log'}")
    return int(any(result.found or result.code for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
