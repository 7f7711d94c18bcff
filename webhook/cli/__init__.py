"""``streams-placement``: one command per file, and the only place that prints.

A command's file offers ``add(subparsers)``, which declares its flags, and ``run(arguments)``, which returns the exit
code. Only the file of the chosen command is imported: ``version`` shall not wait for a web server.
"""

import argparse
import importlib
import logging
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn, Protocol, TypeAlias

from webhook.cli.exits import Exit, WrongUse
from webhook.placement.text.problem import escape

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 -- see below
"""What ``add_subparsers`` returns; argparse has no public name for it, and no brackets at run time."""

COMMANDS: Final[Mapping[str, str]] = {
    "controller": "give host pools their hosts",
    "explain": "show what admission would make of a manifest, and why",
    "release": "give hosts of host pools back, when no controller does",
    "serve": "answer the API server's admission reviews",
    "tour": "try everything out: the real server, every example, no cluster",
    "version": "print the version",
}
"""Each command, which is also the name of its file, and what it does."""

_EXITS: Final = "Exit codes: 0 done, 1 refused, 2 wrong use, 3 trouble."


class Command(Protocol):
    """What a command's file offers."""

    def add(self, subparsers: Subparsers) -> None:
        """Declare the command and its flags."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; returns the exit code."""


class _Help(argparse.HelpFormatter):
    """Help with every command in one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        # argparse forgets that commands are indented twice, and would put the help of the longest one below it.
        self._action_max_length = 2 * self._indent_increment + max(map(len, COMMANDS))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    name = words[0] if words and words[0] in COMMANDS else None
    command: Command | None = None if name is None else importlib.import_module(f"webhook.cli.{name}")
    try:
        arguments = _parser(name, command).parse_args(words)
        return Exit.OK if command is None else command.run(arguments)
    except SystemExit as leaving:  # argparse, after --help or a wrong flag
        return int(leaving.code or Exit.OK)
    except WrongUse as wrong:
        return _say(str(wrong), Exit.WRONG_USE)
    except KeyboardInterrupt:
        return _say("interrupted", Exit.TROUBLE)
    except Exception as trouble:  # noqa: BLE001 -- the person at the keyboard wants a sentence; debug shows the rest
        if logging.getLogger().isEnabledFor(logging.DEBUG):
            traceback.print_exc()
        return _say(str(trouble) or type(trouble).__name__, Exit.TROUBLE)


def _parser(name: str | None, command: Command | None) -> argparse.ArgumentParser:
    """The parser of everything, with the flags of the chosen command only."""
    parser = argparse.ArgumentParser(
        prog=_program(),
        description="Streams host constraints for Kubernetes: honoured, or refused when the pod is submitted.",
        epilog=_EXITS,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for each, summary in COMMANDS.items():
        if command is not None and each == name:
            command.add(subparsers)
        else:
            subparsers.add_parser(each, help=summary)
    return parser


def _program() -> str:
    """The program's name as it was called: by itself, or through kubectl."""
    return "kubectl streams-placement" if Path(sys.argv[0]).name.startswith("kubectl-") else "streams-placement"


class _Version(argparse.Action):
    """``--version``: what the command of that name prints."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it, and leave."""
        version = importlib.import_module("webhook.cli.version")
        version.run(argparse.Namespace())
        parser.exit()


def warn(sentence: str) -> None:
    """Say on standard error what the person at the keyboard should know, though the command goes on."""
    _say(f"warning: {sentence}", Exit.OK)


def _say(sentence: str, code: Exit) -> Exit:
    print(f"{_program()}: {escape(sentence)}", file=sys.stderr)
    return code
