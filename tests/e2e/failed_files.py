"""Prints the files of the end-to-end tests that failed last: ``python -m tests.e2e.failed_files``.

A file runs once more as a whole, because its tests share a control plane, and later ones go on from what earlier ones
left. Exit code 1 if no test is known to have failed, such as after an error while tests were collected.
"""

import json
import sys
from pathlib import Path
from typing import Final

_CACHE: Final = Path(".pytest_cache", "v", "cache", "lastfailed")
"""What ``--last-failed`` of pytest reads: the ids of tests, and of files that could not be collected."""

_FOLDER: Final = "tests/e2e/"


def failed_files(cache: Path) -> list[str]:
    """Paths of the files with tests that failed, sorted; none if the cache is not there."""
    ids = json.loads(cache.read_text()) if cache.exists() else {}
    return sorted({name.partition("::")[0] for name in ids if name.startswith(_FOLDER)})


def main() -> int:
    """Print them in one line."""
    files = failed_files(_CACHE)
    sys.stdout.write(" ".join(files) + "\n")
    return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
