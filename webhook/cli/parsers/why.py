"""The flags and the help of ``why``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import JUDGING, add_namespace, add_settings
from webhook.cli.terminal.output import add_output

_DESCRIPTION: Final = (
    "Show why an object of a cluster waits, or why it runs where it does: the current admission verdict, the nodes "
    "that can run it and the rule that excludes each of the others, the scheduler's messages, and what has changed "
    "since the object was created. The cluster is read with your own rights; nothing is written."
)


HELP_EXAMPLES: Final = (
    HelpExample("a pod of the namespace default", "streams-placement why parallel-0-ioyms", cluster=True),
    HelpExample("a workload of another namespace", "streams-placement why deployment/pipeline -n team-a", cluster=True),
    HelpExample("which width of a parallel region fits", "streams-placement why stpr/parallel-work", cluster=True),
    HelpExample("a host pool, for a program", "streams-placement why hostpool/mypool -o json", cluster=True),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "why", _DESCRIPTION, HELP_EXAMPLES)
    parser.add_argument(
        "object",
        nargs="+",
        metavar="OBJECT",
        help="A pod's NAME, or TYPE/NAME as for kubectl: deployment/x, hostpool/x, streamsjob/x, stpr/x.",
    )
    add_namespace(parser, "Its namespace")
    add_output(parser)
    add_settings(parser, ("context", *JUDGING))
