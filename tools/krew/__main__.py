"""``python -m tools.krew``: make the archives and the manifest of the plugin for a release."""

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.krew.archive import PLATFORMS, PYTHONS, make_archive
from tools.krew.manifest import NAME, manifest


def main(words: Sequence[str] | None = None) -> int:
    """Write the archives and the manifest into a folder."""
    options = _options(words)
    version = re.match(r"[^-]+-([^-]+)-", options.wheel.name)
    if version is None:
        sys.stderr.write(f"{options.wheel} is no wheel: its name should be NAME-VERSION-...whl\n")
        return 2
    chosen = [platform for platform in PLATFORMS if platform.name in (options.platform or [platform.name])]
    options.out.mkdir(parents=True, exist_ok=True)
    archives = {platform: options.out / platform.file(version[1]) for platform in chosen}
    for platform, path in archives.items():
        with tempfile.TemporaryDirectory(prefix="krew-") as folder:
            make_archive(Path(folder), platform, options.wheel, path, options.python or PYTHONS)
    text = manifest(version[1], options.homepage, options.url, archives)
    (options.out / f"{NAME}.yaml").write_text(text)
    return 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.krew", description="Make the plugin for Krew.")
    parser.add_argument("--wheel", type=Path, required=True, help="The wheel of the package.")
    parser.add_argument("--url", required=True, help="Where the archives will be: a folder that Krew downloads from.")
    parser.add_argument("--homepage", required=True, help="The page that users are sent to.")
    parser.add_argument("--out", type=Path, required=True, help="Folder for the archives and the manifest.")
    parser.add_argument(
        "--platform", action="append", choices=[platform.name for platform in PLATFORMS], help="Only this platform."
    )
    parser.add_argument("--python", action="append", choices=PYTHONS, help="Only for this version of Python.")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
