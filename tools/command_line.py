"""``python -m tools.command_line``: write what is made of the parsers of all commands.

That is the table ``webhook/cli/completion/table.json``, from which shells complete, and the part between two marks of
the page ``docs/command-line.md``.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from webhook.cli import COMMANDS, load
from webhook.cli.completion import table
from webhook.cli.completion.table import (
    CommandArgument,
    CommandEntry,
    CommandExample,
    CommandFlag,
    CommandValue,
    ValueKind,
)

PAGE: Final = Path(__file__).parents[1] / "docs" / "command-line.md"

BEGIN: Final = "<!-- made by python -m tools.command_line from the parsers of the commands -->\n"
END: Final = "<!-- end of what is made -->\n"

_SETTING: Final = re.compile(r"(?P<help>.*) \[(?P<variable>[A-Z_]+), default: (?P<default>.*)\]", re.DOTALL)
"""The help text of a flag that stands for a setting (``webhook/cli/arguments/flags.py``)."""

_DEFAULT: Final = re.compile(r"(?P<help>.*) \(default: (?P<default>.*)\)\.", re.DOTALL)
"""The help text of any other flag with a default."""

_FILES: Final = frozenset({"FILE", "MANIFEST", "PATH"})
_FOLDER_FLAGS: Final = frozenset({"--snapshot", "--tls-dir", "--clusters", "--examples"})
_CONTEXT_FLAGS: Final = frozenset({"--context", "--contexts"})


def entries() -> tuple[CommandEntry, ...]:
    """All commands."""
    subparsers = argparse.ArgumentParser().add_subparsers()
    modules = {name: load(name) for name in COMMANDS}
    for module in modules.values():
        module.add(subparsers)
    return tuple(_entry(name, subparsers.choices[name], modules[name]) for name in COMMANDS)


def _entry(name: str, parser: argparse.ArgumentParser, module: Any) -> CommandEntry:  # noqa: ANN401 -- a module
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
        examples=tuple(CommandExample(one.what, one.command) for one in module.HELP_EXAMPLES),
    )


def _flag(action: argparse.Action) -> CommandFlag:
    text = _plain(action)
    found = _SETTING.fullmatch(text) or _DEFAULT.fullmatch(text)
    parts = found.groupdict() if found else {"help": text}
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


def table_text(found: tuple[CommandEntry, ...]) -> str:
    """The table as a file."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"


def page_text(found: Iterable[CommandEntry], before: str) -> str:
    """The page with its made part as it should be, and everything else as it was."""
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{''.join(map(_section, found))}{END}{tail}"


def _section(entry: CommandEntry) -> str:
    usage = " ".join(["streams-placement", entry.name, *(_usage(one.value) for one in entry.arguments), "[FLAGS]"])
    examples = "\n".join(f"# {one.what}\n{one.command}" for one in entry.examples)
    lines = [
        f"### {entry.name}",
        f"`{usage}`: {entry.summary}.",
        entry.description,
        f"```sh no-run: tests/cli/test_examples.py runs those that need no cluster\n{examples}\n```",
        "\n".join(_rows(entry)),
        f"Exit codes: {entry.exits}",
    ]
    return "\n\n".join(lines) + "\n\n"


def _usage(value: CommandValue) -> str:
    return f"{'|'.join(value.choices) or value.name}{'...' if value.many else ''}"


def _rows(entry: CommandEntry) -> Iterator[str]:
    yield "| flag | default | variable | meaning |"
    yield "|---|---|---|---|"
    for argument in entry.arguments:
        yield f"| `{_cell(_usage(argument.value))}` | | | {_cell(argument.help)} |"
    for flag in entry.flags:
        names = ", ".join(f"`{name}`" for name in flag.names)
        value = f" `{_cell(_usage(flag.value))}`" if flag.value.kind else ""
        default = "required" if flag.required else f"`{_cell(flag.default)}`" if flag.default else ""
        variable = f"`{flag.variable}`" if flag.variable else ""
        yield f"| {names}{value} | {default} | {variable} | {_cell(flag.help)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def write() -> Iterator[Path]:
    """Write the files; the paths of those that were different."""
    found = entries()
    for path, text in ((table.FILE, table_text(found)), (PAGE, page_text(found, PAGE.read_text()))):
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            yield path


if __name__ == "__main__":
    for path in write():
        print(path)  # noqa: T201 -- a program
