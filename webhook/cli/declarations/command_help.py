"""The help of a command: its description, its flags, and examples that can be typed as they stand.

``declare`` makes the parser of a command; every command calls it. The tests run the examples in the root of the
repository, but for those that need a cluster.
"""

import argparse
import textwrap
from collections.abc import Sequence
from typing import Final

from webhook.cli import COMMANDS, EXITS, PROGRAM, HelpExample, Subparsers, program_name

_VARIABLES: Final = (
    "Every flag of a setting has an environment variable, which stands in brackets; the flag wins, and an empty "
    "variable stands for the default."
)


class CommandHelp(argparse.HelpFormatter):
    """Help text in paragraphs; one of several lines, such as the examples, stays as it is.

    Words are not broken at their hyphens: names of files and values are copied from here.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.split("\n\n")
        return "\n\n".join(
            each if "\n" in each else "\n".join(indent + line for line in self._split_lines(each, width))
            for each in paragraphs
        )

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)


def declare(
    subparsers: Subparsers,
    name: str,
    description: str,
    examples: Sequence[HelpExample],
    *,
    settings: bool = True,
    exits: str = EXITS,
) -> argparse.ArgumentParser:
    """The parser of the command ``name``; ``settings`` tells that its flags have environment variables."""
    return subparsers.add_parser(
        name,
        help=COMMANDS[name],
        description=description,
        epilog="\n\n".join([*([_VARIABLES] if settings else []), exits, _shown(examples)]),
        formatter_class=CommandHelp,
        allow_abbrev=False,
    )


def _shown(examples: Sequence[HelpExample]) -> str:
    """The paragraph of the examples, with the program's name as it was called."""
    lines = (f"  # {example.what}\n  {example.command.replace(PROGRAM, program_name())}" for example in examples)
    return "\n".join(["examples:", *lines]).replace("%", "%%")
