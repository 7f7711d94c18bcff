"""A node of the cluster as a plain value, with only the fields that placement needs."""

from collections.abc import Mapping

from msgspec import Struct

from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.selection.tolerations import Taint


class Node(Struct, frozen=True, gc=False):
    """A node.

    ``addresses`` are as the node reports them. ``taints`` include the taints that Kubernetes derives from the node's
    state (cordoned, not ready), also before its controllers have written them. ``allocatable`` is that of the status.
    """

    name: str
    uid: str = ""
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    addresses: tuple[str, ...] = ()
    allocatable: Tally = {}
