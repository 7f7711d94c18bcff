"""The flags and the help of ``clusters``."""

import argparse
from pathlib import Path
from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.manifest_flags import add_manifests
from webhook.cli.declarations.setting_flags import JUDGING, add_settings
from webhook.cli.terminal.output import add_output
from webhook.placement.text.defaults import CLUSTER_TIMEOUT, CLUSTERS_AT_ONCE

FLEET: Final = ("karmada", "ocm")
"""Values of ``--output`` that stand for objects of a fleet manager."""


_DESCRIPTION: Final = (
    "For each app of the manifests, list the clusters that can take all of its pods now, each pod on one node that "
    "meets all its requirements. An HPAIntent defines an app with its workloads and its replication count; a workload "
    "without an intent is an app of its own. Apps that cannot share a cluster get lists without a common cluster."
)


_MOST: Final = 1_000_000
"""Above any number of seconds, or of clusters."""


HELP_EXAMPLES: Final = (
    HelpExample(
        "clusters whose snapshots are folders",
        "streams-placement clusters -f examples/apps/emco.yaml --clusters examples/clusters",
    ),
    HelpExample(
        "objects that Karmada places apps by",
        "streams-placement clusters -f examples/apps/emco.yaml --clusters examples/clusters -o karmada",
    ),
    HelpExample(
        "clusters that are contexts of the kubeconfig",
        "streams-placement clusters -f apps/ --contexts edge-1,edge-2",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "clusters", _DESCRIPTION, HELP_EXAMPLES)
    add_manifests(parser)
    _add_clusters(parser)
    _add_output(parser)
    add_settings(parser, ("context", *JUDGING))


def _add_clusters(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that say which clusters there are, and how they are read."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--clusters", metavar="DIR", type=Path, help="Folder with one folder for each cluster: its snapshot."
    )
    where.add_argument(
        "--contexts", metavar="NAMES", help="Contexts of the kubeconfig, such as edge-1,edge-2 or name=context."
    )
    where.add_argument(
        "--profiles",
        metavar="NAMESPACE",
        nargs="?",
        const="",
        help="ClusterProfile objects, of a namespace or of all, in the cluster of --context.",
    )
    parser.add_argument(
        "--timeout",
        type=_positive(float),
        default=CLUSTER_TIMEOUT,
        metavar="SECONDS",
        help=f"Seconds in which a cluster must answer; one that does not gets no app (default: {CLUSTER_TIMEOUT:g}).",
    )
    parser.add_argument(
        "--parallel",
        type=_positive(int),
        default=CLUSTERS_AT_ONCE,
        metavar="NUMBER",
        help=f"Clusters that are read, and kept in memory, at the same time (default: {CLUSTERS_AT_ONCE}).",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Declare the flags about the form of the answer."""
    add_output(parser, *FLEET, note="Output format; karmada and ocm write objects of these fleet managers")
    parser.add_argument(
        "--divide",
        action="store_true",
        help="With -o karmada, divide replicas between clusters by weight; without it each cluster runs all of them.",
    )


class _positive:  # noqa: N801 -- argparse names the type in its message
    """A number above 0, for argparse."""

    def __init__(self, kind: type[int] | type[float]) -> None:
        self._kind = kind
        self.__name__ = "number above 0"

    def __call__(self, text: str) -> float:
        """The number; ``ValueError`` for any other text."""
        number = self._kind(text)
        if not 0 < number < _MOST:
            raise ValueError
        return number
