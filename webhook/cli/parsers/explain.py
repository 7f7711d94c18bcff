"""The flags and the help of ``explain``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.change_flags import add_what_if
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.manifest_flags import add_manifests
from webhook.cli.declarations.setting_flags import JUDGING, add_settings
from webhook.cli.terminal.output import add_output

_DESCRIPTION: Final = (
    "Show, for every pod of every manifest, whether it would be admitted, the patch, the nodes that could run it, and "
    "which rule removed each of the others; for every host pool, whether it could get its hosts. Host pools, nodes, "
    "Streams jobs, HPAIntents and namespaces among the manifests count as applied. With -o review no verdict is "
    "computed: the AdmissionReview of each pod is written, one per line, to send to /mutate. With --server the webhook "
    "of the cluster answers by a PlacementReview, which needs no right to read the cluster."
)


HELP_EXAMPLES: Final = (
    HelpExample(
        "a pod against a snapshot of a cluster",
        "streams-placement explain -f examples/pool-tagged.yaml --snapshot examples/cluster",
    ),
    HelpExample(
        "as the webhook of the cluster of a context answers",
        "streams-placement explain -f pod.yaml --server --context kind-lab",
        cluster=True,
    ),
    HelpExample(
        "which pods find no node again if a node is drained",
        "streams-placement explain --snapshot examples/cluster --drain worker-3",
    ),
    HelpExample(
        "what EMCO, SPL or Twister2 files would make",
        "streams-placement convert examples/convert/isolation.spl"
        " | streams-placement explain -f - --snapshot examples/cluster",
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "explain", _DESCRIPTION, HELP_EXAMPLES)
    add_manifests(parser, required=False)
    add_output(parser, "html", "review", note="Output format; html is a page, review an AdmissionReview for each pod")
    parser.add_argument(
        "--server",
        action="store_true",
        help="Ask the webhook of the cluster, by a PlacementReview with your own rights; its settings apply.",
    )
    add_what_if(parser)
    parser.add_argument(
        "--strict", dest="must_judge", action="store_true", help="Exit with 2 if the input holds nothing to review."
    )
    add_settings(parser, ("snapshot", "context", *JUDGING))
