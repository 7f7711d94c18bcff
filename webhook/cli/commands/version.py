"""``version``: prints the name and version of the installed package."""

import argparse
from importlib import metadata

from webhook.cli import COMMANDS, Subparsers
from webhook.cli.exits import Exit


def add(subparsers: Subparsers) -> None:
    """Declare the command; it has no flags."""
    subparsers.add_parser("version", help=COMMANDS["version"], description="Print the version.", allow_abbrev=False)


def run(_: argparse.Namespace) -> int:
    """Print the version."""
    print("streams-placement", metadata.version("streams-placement"))
    return Exit.OK
