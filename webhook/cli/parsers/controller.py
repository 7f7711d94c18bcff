"""The flags and the help of ``controller``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import add_settings

_FLAGS: Final = (
    "context", "health_host", "health_port", "log_level", "stale_after", "lease_namespace", "lease_name",
    "strict", "exclusive_effect", "exclusive_strangers", "excluded_namespaces", "poolable_nodes", "elastic",
    "scale_up", "node_shapes",
    "exclusive_quota", "pool_quota", "mode", "element_requests", "claim_templates", "kueue", "job_seconds",
    "provisioning_requests",
    "replace_unusable_after", "replace_unlabelled", "name_degraded_pools", "runtime_image", "reviewed_kinds",
)  # fmt: skip


_DESCRIPTION: Final = (
    "Assign hosts to host pools: choose nodes, label and taint them, and write the HostPool's status. Run Jobs: "
    "create their HostPools, processing elements and pods, and restart pods as the options say. Of all controllers of "
    "a cluster only the leader acts, the one that holds the Lease. Prints one line once it runs: the URL of health "
    "checks. SIGTERM, SIGINT or SIGHUP: stop immediately, and hand over to another controller."
)


HELP_EXAMPLES: Final = (
    HelpExample(
        "outside a cluster, by the kubeconfig, for a namespace that has the Lease",
        "streams-placement controller --context kind-lab --lease-namespace streams-system",
        cluster=True,
    ),
    HelpExample(
        "the same with the health checks on a free port",
        "streams-placement controller --context kind-lab --lease-namespace streams-system --health-port 0",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "controller", _DESCRIPTION, HELP_EXAMPLES)
    add_settings(parser, _FLAGS)
