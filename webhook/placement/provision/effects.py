"""Effects: what a constraint asks to be added to a pod; a closed list of kinds.

``cause`` of an effect is the text of the clause that asked for it. An effect that is ``firm`` follows from what the pod
says (and from pools, which do not change), and ``/validate`` checks that the finished pod has it. The other effects are
choices that depended on the cluster at that moment, which ``/validate`` does not check.
"""

from msgspec import Struct

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.kube.containers import Place
from webhook.placement.kube.pod import NodeTerm, PodClaim, PodTerm, Toleration

PREFERENCE = 100
"""Weight of a term for a constraint that is only preferred: the largest weight that Kubernetes allows."""


class RequireNodes(Struct, frozen=True, gc=False):
    """The node must match one of the terms (required node affinity)."""

    cause: str
    terms: tuple[NodeTerm, ...]
    firm: bool = True


class PreferNodes(Struct, frozen=True, gc=False):
    """The scheduler adds ``weight`` to the score of nodes that the term matches (preferred node affinity)."""

    cause: str
    term: NodeTerm
    weight: int = PREFERENCE


class BindTo(Struct, frozen=True, gc=False):
    """The pod gets this ``spec.nodeName``, and so goes past the scheduler."""

    cause: str
    node: str
    firm: bool = True


class AddLabel(Struct, frozen=True, gc=False):
    """The pod gets this label."""

    cause: str
    key: str
    value: str
    firm: bool = True


class Tolerate(Struct, frozen=True, gc=False):
    """The pod gets this toleration."""

    cause: str
    toleration: Toleration
    firm: bool = True


class NearPods(Struct, frozen=True, gc=False):
    """The pod shares a host with pods that the term matches: preferred with that weight, required without one."""

    cause: str
    term: PodTerm
    weight: int | None = None
    firm: bool = True


class AwayFromPods(Struct, frozen=True, gc=False):
    """The pod shares no host with pods that the term matches: preferred with that weight, required without one."""

    cause: str
    term: PodTerm
    weight: int | None = None
    firm: bool = True


class SetResources(Struct, frozen=True, gc=False):
    """The container gets this request and limit of a resource, in billionths of a unit; no limit for ``None``."""

    cause: str
    place: Place
    resource: str
    requests: int
    limits: int | None = None
    firm: bool = True


class UseClaim(Struct, frozen=True, gc=False):
    """The pod has this claim, and the container uses it; ``requirement`` is the one that asks for its devices."""

    cause: str
    place: Place
    claim: PodClaim
    firm: bool = True
    requirement: Hardware | None = None


Effect = RequireNodes | PreferNodes | BindTo | AddLabel | Tolerate | NearPods | AwayFromPods | SetResources | UseClaim
