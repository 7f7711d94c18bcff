"""The flags and the help of ``mcp``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import JUDGING, add_namespace, add_settings

_DESCRIPTION: Final = (
    "Answer the calls of an assistant by the Model Context Protocol, on standard input and output, until the input "
    "ends. The tools are review_placement, plan_placement and explain_message; they change nothing. Reviews are asked "
    "of the webhook of the cluster, with your own rights and its settings; with --snapshot they are answered here, by "
    "the settings below. This needs the extra mcp of the package."
)


HELP_EXAMPLES: Final = (
    HelpExample("about the cluster of a context", "streams-placement mcp --context kind-lab", cluster=True),
    HelpExample("about a snapshot of a cluster", "streams-placement mcp --snapshot examples/cluster < /dev/null"),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "mcp", _DESCRIPTION, HELP_EXAMPLES)
    add_namespace(parser, "Namespace of objects that state none")
    add_settings(parser, ("snapshot", "context", *JUDGING))
