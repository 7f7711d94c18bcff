"""The completion table: commands and flags, from which shells complete and ``docs/command-line.md`` is made.

``table.json`` beside this file is written by ``python -m tools.command_line`` from the parsers of the commands, and a
test keeps it true. Reading it takes a millisecond; making the parser of ``explain`` would take most of a second, as it
imports all that the command works with.
"""

from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

FILE: Final = Path(__file__).with_name("table.json")

ValueKind: TypeAlias = Literal["", "text", "choice", "file", "folder", "context"]
"""What a value is: empty for a flag without a value, ``context`` for the name of a context of the kubeconfig."""


class CommandValue(Struct, frozen=True, omit_defaults=True):
    """A value of a flag or an argument: its kind, its name in usage lines, and its choices.

    ``many`` tells that several values may follow one another; names of contexts do so with commas between them.
    """

    kind: ValueKind = ""
    name: str = ""
    choices: tuple[str, ...] = ()
    many: bool = False


class CommandFlag(Struct, frozen=True, omit_defaults=True):
    """A flag: its spellings, its help text, and the environment variable and default that this states."""

    names: tuple[str, ...]
    help: str
    value: CommandValue = CommandValue()
    variable: str = ""
    default: str = ""
    required: bool = False
    repeated: bool = False


class CommandArgument(Struct, frozen=True, omit_defaults=True):
    """An argument that is not a flag, such as the files of ``convert``."""

    help: str
    value: CommandValue


class CommandExample(Struct, frozen=True):
    """An example of the help: what it does, and what to type."""

    what: str
    command: str


class CommandEntry(Struct, frozen=True, omit_defaults=True):
    """A command with everything that can be typed after its name."""

    name: str
    summary: str
    description: str
    exits: str
    flags: tuple[CommandFlag, ...]
    arguments: tuple[CommandArgument, ...] = ()
    examples: tuple[CommandExample, ...] = ()


def read_table() -> tuple[CommandEntry, ...]:
    """All commands, sorted by their names."""
    return msgspec.json.decode(FILE.read_bytes(), type=tuple[CommandEntry, ...])
