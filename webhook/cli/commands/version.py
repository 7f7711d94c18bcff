"""``version``: prints the version of the installed package; for programs also what it runs on."""

import argparse
import platform
from importlib import metadata

from msgspec import Struct

from webhook.cli import PROGRAM
from webhook.cli.exits import Exit
from webhook.cli.terminal.output import TEXT, write


class VersionAnswer(Struct, frozen=True):
    """The version of the package, that of the Python that runs it, and the machine, such as ``linux-x86_64``."""

    name: str
    version: str
    python: str
    platform: str


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
