"""What can come next on a command line: words with descriptions, and a directive for the shell.

The directives are those of cobra (https://cobra.dev), which kubectl expects of its plugins as well.
"""

import enum
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from webhook.cli import COMMANDS
from webhook.cli.completion.command_entry import CommandEntry, CommandFlag, CommandValue, command_entry

_ROOT = (
    CommandFlag(("-h", "--help"), "show this help, and exit"),
    CommandFlag(("--version",), "print the version and exit"),
)
"""Flags before any command."""

_PLAIN: Final = re.compile(r"(?!:)[\w@%+=:,./-]+", re.ASCII)
"""Names of contexts that mean the same in every shell.

Others are not offered: bash would put ``$(...)`` into the line as it is.

A line that begins with a colon is the directive for the shell, and no name.
"""

_LIMIT: Final = 4_000_000
"""Bytes of a kubeconfig that are read: a user waits for completion."""


class Directive(enum.IntFlag):
    """Instructions to the shell beside the words to show."""

    FILES = 0
    """Complete the names of files if there are no words."""
    NO_FILES = 4
    FOLDERS = 16
    """Complete the names of folders."""


class Candidate(Struct, frozen=True):
    """A word that may stand there, with a description that may be empty."""

    word: str
    description: str = ""


class Candidates(Struct, frozen=True):
    """All words that may stand at one place, those with the right beginning, and what else the shell has to do."""

    words: tuple[Candidate, ...] = ()
    directive: Directive = Directive.NO_FILES


def candidates_of(words: Sequence[str]) -> Candidates:
    """The completions of the last word; ``words`` are those after the program's name, the last may be empty."""
    *before, last = words or [""]
    if not before:
        commands = [Candidate(name, summary) for name, summary in COMMANDS.items()]
        return _beginning([*commands, *(_named(_ROOT, last) if last else ())], last)
    return _of_command(command_entry(before[0]), before[1:], last) if before[0] in COMMANDS else Candidates()


def _beginning(candidates: Sequence[Candidate], last: str) -> Candidates:
    """The candidates that begin with ``last``."""
    return Candidates(tuple(each for each in candidates if each.word.startswith(last)))


def _of_command(entry: CommandEntry, before: Sequence[str], last: str) -> Candidates:
    """What may follow the words ``before`` of the command."""
    flags = {name: flag for flag in entry.flags for name in flag.names}
    if "--" not in before:
        name, equals, value = last.partition("=")
        if equals and name in flags:
            return _value(flags[name].value, value, prefix=f"{name}=")
        waiting = _waiting(flags, before)
        if waiting is not None and not last.startswith("-"):
            return _value(waiting.value, last)
        if last.startswith("-") or not entry.arguments:
            return _beginning(list(_unused(entry, before, last)), last)
    return _value(entry.arguments[0].value, last) if entry.arguments else Candidates()


def _waiting(flags: dict[str, CommandFlag], before: Sequence[str]) -> CommandFlag | None:
    """The flag whose value comes next: the last word, or one before it that takes any number of values."""
    for distance, word in enumerate(reversed(before)):
        if word.startswith("-"):
            flag = flags.get(word)
            takes = flag is not None and flag.value.kind != "" and (distance == 0 or flag.value.many)
            return flag if takes else None
    return None


def _unused(entry: CommandEntry, before: Sequence[str], last: str) -> Iterator[Candidate]:
    """The flags that are not there yet, or may be repeated; before anything is typed those that must be there."""
    given = {word.partition("=")[0] for word in before}
    free = [flag for flag in entry.flags if flag.repeated or given.isdisjoint(flag.names)]
    missing = [flag for flag in free if flag.required and given.isdisjoint(flag.names)]
    return _named(missing if missing and not last else free, last)


def _named(flags: Sequence[CommandFlag], last: str) -> Iterator[Candidate]:
    """The flags under their long names; under short ones if that is how the last word begins."""
    for flag in flags:
        for name in flag.names:
            if name.startswith("--") or last in {"-", name}:
                yield Candidate(name, flag.help)


def _value(value: CommandValue, last: str, prefix: str = "") -> Candidates:
    """What a value may be; ``prefix`` is what stands before it in the same word."""
    if value.kind in {"file", "folder"}:
        return Candidates(directive=Directive.FILES if value.kind == "file" else Directive.FOLDERS)
    names = _context_names() if value.kind == "context" else value.choices
    if value.kind == "context" and value.many:
        earlier, comma, last = last.rpartition(",")
        prefix += earlier + comma
    return Candidates(tuple(Candidate(prefix + name) for name in names if name.startswith(last)))


def _context_names() -> tuple[str, ...]:
    """The names of the contexts of the kubeconfig, sorted; none without a readable kubeconfig."""
    return tuple(sorted({name for path in _kubeconfigs() for name in _names_in(path)}))


def _kubeconfigs() -> list[Path]:
    """The files of ``KUBECONFIG``, or else the one in the home folder, as kubectl finds them."""
    named = os.environ.get("KUBECONFIG")
    return [Path(each) for each in named.split(os.pathsep) if each] if named else [Path.home() / ".kube" / "config"]


def _names_in(path: Path) -> Iterator[str]:
    import yaml  # noqa: PLC0415 -- takes 20 ms, and few completions need it

    try:
        with path.open("rb") as file:
            config = yaml.load(file.read(_LIMIT), Loader=yaml.CSafeLoader)
        contexts = [each["name"] for each in config["contexts"] or ()]
    except (OSError, yaml.YAMLError, TypeError, KeyError, ValueError, RecursionError):
        return  # completion that fails says nothing: the shell would write it into the line
    yield from (name for name in contexts if isinstance(name, str) and _PLAIN.fullmatch(name))
