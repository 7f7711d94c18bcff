"""The flags and the help of ``version``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.terminal.output import add_output

HELP_EXAMPLES: Final = (
    HelpExample("the version", "streams-placement version"),
    HelpExample("the version and what it runs on, for a program or a report", "streams-placement version -o json"),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "version", "Print the version.", HELP_EXAMPLES, settings=False)
    add_output(parser)
