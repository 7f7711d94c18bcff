"""The flags and the help of ``status``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import add_namespace, add_settings
from webhook.cli.terminal.output import add_output

_FLAGS: Final = ("context",)


_DESCRIPTION: Final = (
    "Show the state of a Streams job: its host pools with their hosts, its processing elements with pod, node and "
    "phase, and why an element does not run. The cluster is read once; nothing is written."
)


HELP_EXAMPLES: Final = (
    HelpExample("a Job of the namespace default", "streams-placement status parallel", cluster=True),
    HelpExample(
        "a Job of another namespace, for a program", "streams-placement status parallel -n team-a -o json", cluster=True
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "status", _DESCRIPTION, HELP_EXAMPLES)
    parser.add_argument("job", metavar="JOB", help="The name of the Job.")
    add_namespace(parser, "Its namespace")
    add_output(parser)
    add_settings(parser, _FLAGS)
