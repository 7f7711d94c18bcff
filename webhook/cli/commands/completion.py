"""``completion``: prints the script by which a shell completes commands, flags and their values."""

import argparse

from webhook.cli.completion import SCRIPTS
from webhook.cli.exits import Exit


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(SCRIPTS[arguments.shell].read_text(), end="")
    return Exit.OK
