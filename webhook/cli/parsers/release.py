"""The flags and the help of ``release``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import add_settings
from webhook.cli.terminal.output import add_output

_FLAGS: Final = ("context", "lease_namespace", "lease_name")


_DESCRIPTION: Final = (
    "Release the hosts of HostPools immediately: remove their labels and taints from the nodes, and the finalizer "
    "from the HostPools. Use it to uninstall, and for pools that are stuck because no controller is left. Running "
    "pods stay where they are. HostPools are not deleted, and a running controller would assign hosts to them again; "
    "so the command takes the controllers' Lease, and refuses while a controller holds it. It can be repeated after a "
    "failure, and continues where it stopped."
)


_WAIT: Final = 30.0
"""Default of ``--wait`` in seconds: a controller that was killed holds the Lease for 15 more."""


HELP_EXAMPLES: Final = (
    HelpExample(
        "what one pool would release",
        "streams-placement release team-a/mypool --lease-namespace streams-system --dry-run",
        cluster=True,
    ),
    HelpExample(
        "everything, before uninstalling",
        "streams-placement release --all --lease-namespace streams-system",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "release", _DESCRIPTION, HELP_EXAMPLES)
    parser.add_argument(
        "scopes",
        nargs="*",
        metavar="NAMESPACE/POOL",
        help="A HostPool, existing or deleted; NAMESPACE selects all of its HostPools.",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="All HostPools, and labels and taints on nodes that belong to no HostPool; AdmissionChecks of Kueue "
        "become inactive.",
    )
    parser.add_argument("--dry-run", action="store_true", help="Only print what would be released.")
    parser.add_argument(
        "--delete-controller",
        action="store_true",
        help="First delete the Deployment of the controllers, which has the name of their Lease, as uninstalling does.",
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=_WAIT,
        metavar="SECONDS",
        help=f"How long controllers that run are waited for (default: {_WAIT:g}).",
    )
    add_output(parser)
    add_settings(parser, _FLAGS)
