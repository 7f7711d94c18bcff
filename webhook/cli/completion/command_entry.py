"""What can be typed after the name of a command, read from its parser: for completions and ``docs/command-line.md``.

``parsers`` import nothing that commands work with, so a shell that asks waits for no more than the declarations.
"""

import argparse
import re
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from webhook.cli import COMMANDS, parser_of

ValueKind: TypeAlias = Literal["", "text", "choice", "file", "folder", "context"]
"""What a value is: empty for a flag without a value, ``context`` for the name of a context of the kubeconfig."""

_SETTING: Final = re.compile(r"(?P<help>.*) \[(?P<variable>[A-Z_]+), default: (?P<default>.*)\]", re.DOTALL)
"""The help text of a flag that stands for a setting (``webhook/cli/declarations/setting_flags.py``)."""

_DEFAULT: Final = re.compile(r"(?P<help>.*) \(default: (?P<default>.*)\)\.", re.DOTALL)
"""The help text of any other flag with a default."""

_FILES: Final = frozenset({"FILE", "MANIFEST", "PATH"})
_FOLDER_FLAGS: Final = frozenset({"--snapshot", "--tls-dir", "--clusters", "--examples"})
_CONTEXT_FLAGS: Final = frozenset({"--context", "--contexts"})


class CommandValue(Struct, frozen=True):
    """A value of a flag or an argument: its kind, its name in usage lines, and its choices.

    ``many`` tells that several values may follow one another; names of contexts do so with commas between them.
    """

    kind: ValueKind = ""
    name: str = ""
    choices: tuple[str, ...] = ()
    many: bool = False


class CommandFlag(Struct, frozen=True):
    """A flag: its spellings, its help text, and the environment variable and default that this states."""

    names: tuple[str, ...]
    help: str
    value: CommandValue = CommandValue()
    variable: str = ""
    default: str = ""
    required: bool = False
    repeated: bool = False


class CommandArgument(Struct, frozen=True):
    """An argument that is not a flag, such as the files of ``convert``."""

    help: str
    value: CommandValue


class CommandEntry(Struct, frozen=True):
    """A command with everything that can be typed after its name."""

    name: str
    summary: str
    description: str
    exits: str
    flags: tuple[CommandFlag, ...]
    arguments: tuple[CommandArgument, ...] = ()


def command_entry(name: str) -> CommandEntry:
    """The entry of a command of ``COMMANDS``."""
    parser = parser_of(name)
    actions = parser._actions  # noqa: SLF001 -- argparse has no public list of what was declared
    exits = next(each for each in (parser.epilog or "").split("\n\n") if each.startswith("Exit codes: "))
    return CommandEntry(
        name=name,
        summary=COMMANDS[name],
        description=parser.description or "",
        exits=exits.removeprefix("Exit codes: "),
        flags=tuple(_flag(action) for action in actions if action.option_strings),
        arguments=tuple(
            CommandArgument(_plain(action), _value(action)) for action in actions if not action.option_strings
        ),
    )


def _flag(action: argparse.Action) -> CommandFlag:
    text = _plain(action)
    match = _SETTING.fullmatch(text) or _DEFAULT.fullmatch(text)
    parts = match.groupdict() if match else {"help": text}
    return CommandFlag(
        names=tuple(action.option_strings),
        help=parts["help"].removesuffix(".") + ".",
        value=_value(action),
        variable=parts.get("variable", ""),
        default="" if parts.get("default") == "none" else parts.get("default", ""),
        required=action.required,
        repeated=type(action).__name__ == "_ExtendAction",
    )


def _plain(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def _value(action: argparse.Action) -> CommandValue:
    """What follows the flag, or what the argument is."""
    if action.nargs == 0:
        return CommandValue()
    choices = tuple(map(str, action.choices or ()))
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    several = action.nargs in {"+", "*"} or "--contexts" in action.option_strings
    return CommandValue(_kind(action, name), "" if choices else name, choices, several)


def _kind(action: argparse.Action, name: str) -> ValueKind:
    names = set(action.option_strings)
    if action.choices:
        return "choice"
    if names & _FOLDER_FLAGS:
        return "folder"
    if names & _CONTEXT_FLAGS:
        return "context"
    return "file" if name in _FILES else "text"
