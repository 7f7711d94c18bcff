"""``python -m tools.command_line``: write the part between two marks of ``docs/command-line.md`` from the parsers."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from webhook.cli import COMMANDS, declaration
from webhook.cli.completion.command_entry import CommandEntry, CommandValue, command_entry

PAGE: Final = Path(__file__).parents[1] / "docs" / "command-line.md"

BEGIN: Final = "<!-- made by python -m tools.command_line from the parsers of the commands -->\n"
END: Final = "<!-- end of what is made -->\n"


def entries() -> tuple[CommandEntry, ...]:
    """All commands."""
    return tuple(map(command_entry, COMMANDS))


def page_text(declarations: Iterable[CommandEntry], before: str) -> str:
    """The page with its made part as it should be, and everything else as it was."""
    head, _, after_begin = before.partition(BEGIN)
    _, _, tail = after_begin.partition(END)
    return f"{head}{BEGIN}\n{''.join(map(_section, declarations))}{END}{tail}"


def _section(entry: CommandEntry) -> str:
    usage = " ".join(["streams-placement", entry.name, *(_usage(one.value) for one in entry.arguments), "[FLAGS]"])
    examples = "\n".join(f"# {one.what}\n{one.command}" for one in declaration(entry.name).HELP_EXAMPLES)
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
    """Write the page; its path if it was different."""
    before = PAGE.read_text()
    text = page_text(entries(), before)
    if before != text:
        PAGE.write_text(text)
        yield PAGE


if __name__ == "__main__":
    for path in write():
        print(path)  # noqa: T201 -- a program
