"""The flags and the help of ``tour``."""

from pathlib import Path
from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.terminal.output import add_output

EXAMPLES: Final = (Path(__file__).parents[2] / "examples").resolve()
"""Folder of the examples: installed with the package, and in a clone a link to those of the repository."""


_DESCRIPTION: Final = (
    "Start the server with a self-signed certificate on a free loopback port, against the snapshot in "
    "EXAMPLES/cluster, send it the workloads and pods of every manifest in EXAMPLES, print the answers, and stop it: "
    "a table of all, and three in full."
)


HELP_EXAMPLES: Final = (
    HelpExample("every example as a line of a table", "streams-placement tour"),
    HelpExample("some examples in full", "streams-placement tour --only 'refused-*'"),
    HelpExample("the answers for a program", "streams-placement tour -o json"),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "tour", _DESCRIPTION, HELP_EXAMPLES, settings=False)
    parser.add_argument("--examples", type=Path, default=EXAMPLES, metavar="DIR", help="Folder of examples.")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--all", action="store_true", help="Show every example in full.")
    shown.add_argument(
        "--only",
        metavar="PATTERN",
        help="Send only examples whose names match, such as 'refused-*', all in full.",
    )
    add_output(parser)
