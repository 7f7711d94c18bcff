"""``NodeGroup``: a kind of nodes that an autoscaler may add to the cluster, as far as the group states it."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.text.keys import HOSTNAME

OF_MACHINES: Final = (
    "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type", "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
)  # fmt: skip
"""Labels that every node gets from its machine or its cloud (Kubernetes, well-known labels)."""

ALIASES: Final[Mapping[str, str]] = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
}
"""Older keys of the same labels (``NormalizedLabels`` of Karpenter); nodes have both."""

_CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"

_CLOUDS: Final = frozenset(
    {"cloud.google.com", "eks.amazonaws.com", "karpenter-ibm.sh", "kubernetes.azure.com", "node.kubernetes.io"}
)
"""Domains of labels that clouds write, or providers of Karpenter whose domain does not begin with ``karpenter.``."""


class NodeGroup(Struct, frozen=True, gc=False):
    """A group; ``kind`` and ``name`` are how messages name it, ``namespace`` is that of its object.

    ``labels`` are those that it sets. ``unstated`` says what other labels its nodes may have, besides those that come
    from machines: none (``absent``), those of nodes that run now (``live``), or any (``any``). With ``excluded`` it is
    none, unless the pod excludes some values of the label: Karpenter then makes up another one. ``offers`` is what a
    node has to give, as far as that is known: of a resource that is not in it the amount is not known. ``remaining`` is
    how much may still be added by the limits of the group, ``count`` how many nodes; ``None`` for no bound. Of two
    groups the one with the larger ``weight`` is used first. ``closed`` says why the group makes no nodes, empty if it
    does.
    """

    kind: str
    name: str
    namespace: str = ""
    labels: Mapping[str, LabelValues] = {}
    taints: tuple[Taint, ...] = ()
    offers: Tally = {}
    remaining: Tally = {}
    count: int | None = None
    weight: int = 0
    unstated: Literal["absent", "excluded", "live", "any"] = "absent"
    closed: str = ""

    def __str__(self) -> str:
        """The name in messages: ``NodePool spot-a``."""
        return f"{self.kind} {self.name}"

    @property
    def place(self) -> tuple[int, str, str, str]:
        """The order in which groups are tried."""
        return -self.weight, self.kind, self.name, self.namespace


def of_machine(key: str) -> bool:
    """Whether the label comes from the machine or the cloud, so that a group need not state it."""
    domain, slash, _ = key.partition("/")
    if not slash or key == HOSTNAME:
        return False
    if key in OF_MACHINES or key == _CAPACITY_TYPE or domain in _CLOUDS:
        return True
    return domain.startswith("topology.") or (domain.startswith("karpenter.") and domain != "karpenter.sh")
