"""The flags and the help of ``plan``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.manifest_flags import add_manifests
from webhook.cli.declarations.setting_flags import JUDGING, add_settings
from webhook.cli.terminal.output import add_output
from webhook.placement.text.defaults import PLAN_SECONDS

_DESCRIPTION: Final = (
    "Plan all Jobs, workloads and pods of the manifests together, on free capacity: a node for each pod, at the "
    "lowest total cost. An object that does not fit beside the earlier ones is refused, with the smallest set of "
    "constraints that cannot hold together and the nearest fix."
)


HELP_EXAMPLES: Final = (
    HelpExample(
        "where the elements of a Job would run",
        "streams-placement plan -f examples/job-parallel.yaml --snapshot examples/cluster",
    ),
    HelpExample(
        "the same as a page for the browser",
        "streams-placement plan -f examples/job-parallel.yaml --snapshot examples/cluster -o html > plan.html",
    ),
    HelpExample(
        "several files together, in the cluster of a context",
        "streams-placement plan -f jobs/ -f pools.yaml --context kind-lab",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "plan", _DESCRIPTION, HELP_EXAMPLES)
    add_manifests(parser)
    add_output(parser, "html", note="Output format; html is a page for the browser")
    parser.add_argument(
        "--seconds",
        type=float,
        default=PLAN_SECONDS,
        metavar="N",
        help="Seconds to look for the cheapest plan, and to judge each object (default: 10).",
    )
    add_settings(parser, ("snapshot", "context", *JUDGING))
