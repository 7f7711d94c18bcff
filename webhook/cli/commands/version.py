"""``version``: prints the version of the installed package; for programs also what it runs on."""

import argparse
import platform
from importlib import metadata
from typing import Final

from msgspec import Struct

from webhook.cli import PROGRAM, Subparsers
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.exits import Exit
from webhook.cli.terminal.output import TEXT, add_output, write

HELP_EXAMPLES: Final = (
    HelpExample("the version", "streams-placement version"),
    HelpExample("the version and what it runs on, for a program or a report", "streams-placement version -o json"),
)
"""The examples of the help."""


class VersionAnswer(Struct, frozen=True):
    """The version of the package, that of the Python that runs it, and the machine, such as ``linux-x86_64``."""

    name: str
    version: str
    python: str
    platform: str


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "version", "Print the version.", HELP_EXAMPLES, settings=False)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the version."""
    if arguments.output == TEXT:
        print_version()
    else:
        machine = f"{platform.system().lower()}-{platform.machine()}"
        write(VersionAnswer(PROGRAM, _version(), platform.python_version(), machine), arguments.output)
    return Exit.OK


def print_version() -> None:
    """Print the name and the version in one line."""
    print(PROGRAM, _version())


def _version() -> str:
    return metadata.version(PROGRAM)
