"""Progress lines on stderr, which pytest shows with ``-s`` and a terminal always."""

import sys


def say(line: str) -> None:
    """Write a line now."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
