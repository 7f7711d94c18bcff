"""The command line program ``streams-placement``: the entry point ``main``, and what its commands share.

``parsers`` has a file for each command with ``add(subparsers)``, which declares its flags, and ``commands`` one with
``run(arguments)``, which returns the exit code. ``main`` imports the files of the chosen command only, so that
``version`` need not wait for the import of a web server, and that of ``commands`` once the words are right, so that
help does not wait for what the command works with.

Shared: ``exits`` (exit codes), ``declarations`` (what parsers are made of: flags, help), ``arguments`` (what a command
was given: settings, manifests, inputs), ``terminal`` (what is written: forms of answers, progress), ``screen`` (answers
for a person), ``completion`` (what shells ask),
``planned_manifests`` and ``planpage`` (the plan of what a command is given, and a plan as one HTML page), ``client``
(sends AdmissionReviews to a server), ``reviews`` (PlacementReviews), ``modelcontext`` (tools for assistants). Only this
package prints.
"""

import argparse
import gc
import importlib
import logging
import os
import select
import shutil
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, Protocol, TypeAlias

from webhook.cli.exits import Exit, WrongUse
from webhook.placement.text.nearest import nearest
from webhook.placement.text.nearest import unknown as unknown_word
from webhook.placement.text.problem import escape

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 -- see below
"""Type of what ``add_subparsers`` returns; argparse has no public name for it, and cannot subscript it at run time."""

COMMANDS: Final[Mapping[str, str]] = {
    "check": "check that the webhook of a cluster admits and refuses",
    "clusters": "show which of several clusters can take which apps",
    "completion": "print the completion script of a shell",
    "controller": "assign hosts to host pools, and run Jobs",
    "convert": "convert SPL, Streams bundles, Twister2 and EMCO files to manifests",
    "explain": "show the admission verdict for a manifest, and the reasons",
    "hpa-api": "answer EMCO's REST requests about HPA intents",
    "mcp": "answer assistants, by the Model Context Protocol",
    "plan": "show where the pods of a manifest would run, and the cost",
    "release": "release hosts of host pools without a controller",
    "serve": "answer admission reviews of the API server",
    "status": "show the state of a Streams job, and what it waits for",
    "tour": "try everything: the real server, every example, no cluster",
    "version": "print the version",
    "why": "show why an object of a cluster waits, or why it runs where it does",
}
"""The name of each command, which is also that of its files in ``parsers`` and ``commands`` (``-`` as ``_``), and its
help line."""

PROGRAM: Final = "streams-placement"
"""The name of the program where it is not called as a plugin of kubectl."""

EXITS: Final = "Exit codes: 0 done, 1 refused, 2 usage error, 3 failure."
"""The exit codes, for the help of every command (:class:`Exit`)."""

_YOUNG: Final = 20_000
"""New containers before the garbage collector looks at them. Imports, lists and reviews make hardly any cycles; with
the default of 700 the collector would look a hundred times while ``serve`` is imported, and every ten reviews."""


_COMPLETE: Final = "__complete"
"""The command that shells call for completion; help does not show it."""

_STANDARD_OUTPUT: Final = 1
"""The file descriptor (POSIX)."""


class HelpExample(NamedTuple):
    """A command to type and what it does, in a few words; ``cluster`` is whether it needs a live cluster."""

    what: str
    command: str
    cluster: bool = False


class Declaration(Protocol):
    """What the file of a command in ``parsers`` has."""

    HELP_EXAMPLES: tuple[HelpExample, ...]
    """The examples of the help."""

    def add(self, subparsers: Subparsers) -> None:
        """Declare the command and its flags."""


class Command(Protocol):
    """What the file of a command in ``commands`` has."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the command; returns the exit code."""


class _CommandParser(argparse.ArgumentParser):
    """Parses the command line; errors are reported without the list of flags."""

    def error(self, message: str) -> NoReturn:
        """Exit with what is wrong, and where the flags are listed: a long usage would push the error out of sight."""
        self.exit(Exit.WRONG_USE, f"{self.prog}: error: {message}\nSee {self.prog} --help.\n")


class _Help(argparse.HelpFormatter):
    """Help text with one line for every command."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        # argparse forgets that commands are indented twice, and would put the help of the longest command on a line
        # of its own.
        self._action_max_length = 2 * self._indent_increment + max(map(len, COMMANDS))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; ``argv`` are the words after the program's name. Returns the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run(words)
        sys.stdout.flush()  # here an error is still told; at the end of Python it would be a traceback
    except SystemExit as leaving:  # argparse, after --help or a wrong flag
        return int(leaving.code or Exit.OK)
    except BrokenPipeError as error:
        return _unread(error)
    except WrongUse as wrong:
        return say(str(wrong), Exit.WRONG_USE)
    except KeyboardInterrupt:
        return say("interrupted", Exit.TROUBLE)
    except Exception as error:  # noqa: BLE001 -- the user wants a sentence; with log level debug also the traceback
        if logging.getLogger().isEnabledFor(logging.DEBUG):
            traceback.print_exc()
        _finish_output()
        return say(str(error) or type(error).__name__, Exit.TROUBLE)
    return code


def _run(words: Sequence[str]) -> int:
    """Run the command that the words begin with; ``SystemExit`` after ``--help`` and for words that are wrong."""
    if words[:1] == [_COMPLETE]:
        completed: int = importlib.import_module("webhook.cli.completion").main(words[1:])
        return completed
    name = words[0] if words and words[0] in COMMANDS else None
    parser, subparsers = _parser(name)
    if name is None and words and not words[0].startswith("-"):
        parser.error(unknown_word("command", words[0], COMMANDS))
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        _reject(unknown, parser if name is None else subparsers.choices[name])
    return Exit.OK if name is None else load(name).run(arguments)


def _reject(unknown: Sequence[str], parser: argparse.ArgumentParser) -> NoReturn:
    """Exit with what the command does not know, and the flag that was meant."""
    flags = [name[2:] for action in parser._actions for name in action.option_strings if name[2:]]  # noqa: SLF001 -- no public list
    dashes, word = unknown[0][:2], unknown[0][2:].partition("=")[0]
    meant = nearest(word, flags) if dashes == "--" else None
    parser.error(
        f"unrecognized arguments: {escape(' '.join(unknown))}" + (f", did you mean --{meant}?" if meant else "")
    )


def _unread(error: BrokenPipeError) -> int:
    """The end when a pipe is broken: in silence if it is standard output, whose reader (``head``) has enough."""
    poll = select.poll()
    poll.register(_STANDARD_OUTPUT, 0)
    if not poll.poll(0):
        return say(str(error), Exit.TROUBLE)
    _finish_output()
    return Exit.TROUBLE


def _finish_output() -> None:
    """Write what is in the buffer of standard output, or forget it: Python would fail again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STANDARD_OUTPUT)


def declaration(name: str) -> Declaration:
    """Import the file of a command in ``parsers``."""
    declared: Declaration = importlib.import_module(f"webhook.cli.parsers.{name.replace('-', '_')}")
    return declared


def load(name: str) -> Command:
    """Import the file of a command in ``commands``."""
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
    command: Command = importlib.import_module(f"webhook.cli.commands.{name.replace('-', '_')}")
    return command


def _parser(name: str | None) -> tuple[argparse.ArgumentParser, Subparsers]:
    """The parser of the whole command line, and those of all commands; of the chosen command alone, if there is one."""
    parser: argparse.ArgumentParser = _CommandParser(
        prog=program_name(),
        description="Streams host constraints for Kubernetes: honoured, or refused when the pod is submitted.",
        epilog=EXITS,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    if name is not None:
        declaration(name).add(subparsers)
    else:
        for each, summary in COMMANDS.items():
            subparsers.add_parser(each, help=summary)
    return parser, subparsers


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a command."""
    subparsers = argparse.ArgumentParser().add_subparsers()
    declaration(name).add(subparsers)
    parser: argparse.ArgumentParser = subparsers.choices[name]
    return parser


def program_name() -> str:
    """The program's name in messages, as it was called: by itself, or as a plugin of kubectl."""
    return "kubectl streams-placement" if Path(sys.argv[0]).name.startswith("kubectl-") else PROGRAM


def typed_name() -> str:
    """What a user types to call the program again: the path that it was called by, unless shells find its name."""
    called = Path(sys.argv[0])
    return str(called) if called.name == PROGRAM and shutil.which(PROGRAM) is None else program_name()


class _Version(argparse.Action):
    """``--version``: runs the command ``version`` and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print the version and exit."""
        version = importlib.import_module("webhook.cli.commands.version")
        version.print_version()
        parser.exit()


def own_environment() -> dict[str, str]:
    """The environment for another process of this program: it looks for modules where this one does.

    An archive of the plugin for kubectl has libraries where Python itself does not look (``tools/krew``). The current
    folder is left out: any user may have put files there.
    """
    here = Path.cwd()
    folders = [folder for folder in sys.path if folder and Path(folder).resolve() != here]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}


def warn(sentence: str) -> None:
    """Print a warning for the user on standard error; the command continues."""
    say(f"warning: {sentence}", Exit.OK)


def say(sentence: str, code: Exit) -> Exit:
    """Print the sentence on standard error, with the program's name in front; returns ``code``."""
    # The end of the line is a part of the text: threads that read clusters warn at the same time.
    print(f"{program_name()}: {escape(sentence)}\n", end="", file=sys.stderr)
    return code
