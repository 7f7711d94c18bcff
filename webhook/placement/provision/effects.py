"""What a constraint asks to be added to a pod: a closed list of kinds, each with the clause that asked for it.

``firm`` effects follow from the pod's own words (and from pools, which do not change); the others were a choice that
depended on the cluster at that moment, so a later look at the finished pod does not insist on them.
"""

from msgspec import Struct

from webhook.placement.kube.containers import Place
from webhook.placement.kube.pod import NodeTerm, PodTerm, Toleration

PREFERENCE = 100
"""Weight of a constraint that is only preferred: the largest that Kubernetes allows."""


class RequireNodes(Struct, frozen=True, gc=False):
    """One of the terms must match the node."""

    cause: str
    terms: tuple[NodeTerm, ...]
    firm: bool = True


class PreferNodes(Struct, frozen=True, gc=False):
    """Nodes that the term matches are worth ``weight`` more."""

    cause: str
    term: NodeTerm
    weight: int = PREFERENCE


class BindTo(Struct, frozen=True, gc=False):
    """The pod goes to this node, past the scheduler."""

    cause: str
    node: str
    firm: bool = True


class AddLabel(Struct, frozen=True, gc=False):
    """The pod carries this label."""

    cause: str
    key: str
    value: str
    firm: bool = True


class Tolerate(Struct, frozen=True, gc=False):
    """The pod puts up with a taint."""

    cause: str
    toleration: Toleration
    firm: bool = True


class NearPods(Struct, frozen=True, gc=False):
    """The pod shares a host with such pods; only preferably so where there is a weight."""

    cause: str
    term: PodTerm
    weight: int | None = None
    firm: bool = True


class AwayFromPods(Struct, frozen=True, gc=False):
    """The pod shares no host with such pods; only preferably so where there is a weight."""

    cause: str
    term: PodTerm
    weight: int | None = None
    firm: bool = True


class SetResources(Struct, frozen=True, gc=False):
    """A container is given amounts of a resource, in billionths of a unit; no limit where it is ``None``."""

    cause: str
    place: Place
    resource: str
    requests: int
    limits: int | None = None
    firm: bool = True


Effect = RequireNodes | PreferNodes | BindTo | AddLabel | Tolerate | NearPods | AwayFromPods | SetResources
