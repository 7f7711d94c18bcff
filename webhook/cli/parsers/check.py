"""The flags and the help of ``check``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import add_namespace, add_settings
from webhook.cli.terminal.output import add_output

_FLAGS: Final = ("context", "reviewed_kinds")


_DESCRIPTION: Final = (
    "Submit a pod that can run anywhere and a pod that can run nowhere, both as a dry run: the webhook must admit the "
    "first and refuse the second. With --reviewed-kinds an application of each of these kinds that can run nowhere is "
    "submitted, too, and kinds that the API server does not serve are named. This needs the right to create pods, and "
    "objects of these kinds, in the namespace; nothing is created. `helm test` does the same."
)


HELP_EXAMPLES: Final = (
    HelpExample("in the namespace default", "streams-placement check", cluster=True),
    HelpExample("in a namespace that opts in", "streams-placement check -n team-a", cluster=True),
    HelpExample(
        "with two kinds of applications",
        "streams-placement check --reviewed-kinds RayCluster.ray.io,FlinkDeployment.flink.apache.org",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "check", _DESCRIPTION, HELP_EXAMPLES)
    add_namespace(parser, "Namespace of the pods")
    parser.add_argument("--audit", action="store_true", help="Expect audit mode: nothing must be refused.")
    add_output(parser)
    add_settings(parser, _FLAGS)
