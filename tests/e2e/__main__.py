"""``python -m tests.e2e up`` and ``down``: a control plane in the background, for a person with kubectl."""

import argparse
import sys
from typing import Final

from tests.e2e.controlplane import background_plane
from tests.e2e.progress import say

_COMMANDS: Final = {"up": background_plane.up, "down": background_plane.down}


def main() -> int:
    """Run one command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__, allow_abbrev=False)
    parser.add_argument("command", choices=_COMMANDS)
    try:
        return _COMMANDS[parser.parse_args().command]()
    except KeyboardInterrupt:
        say("stopped")
        return 130


if __name__ == "__main__":
    sys.exit(main())
