"""``Additions``: what must be added to a pod. ``merge`` makes them, the JSON Patch of admission adds them."""

from msgspec import Struct

from webhook.placement.kube.containers import Place
from webhook.placement.kube.node_terms import TermEdit
from webhook.placement.kube.pod import NodeTerm, PodTerm, PreferredNodeTerm, Toleration, WeightedPodTerm


class PodTerms(Struct, frozen=True, gc=False):
    """Terms to append to the pod's pod affinity or pod anti-affinity."""

    required: tuple[PodTerm, ...] = ()
    preferred: tuple[WeightedPodTerm, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there are any terms."""
        return bool(self.required or self.preferred)


class ContainerAmounts(Struct, frozen=True, gc=False):
    """Requests and limits to set in one container: Kubernetes quantities by resource name."""

    place: Place
    requests: dict[str, str]
    limits: dict[str, str]


class Additions(Struct, frozen=True, gc=False):
    """What must be added to a pod; every field is empty if nothing is missing.

    ``edits`` change the pod's own required node terms, ``terms`` are required node terms to append, ``preferred``
    preferred ones. ``near`` and ``away`` are terms of pod affinity and anti-affinity. ``resources`` has at most one
    entry for each container. ``injected`` is the value of the annotation that says what was added and why, ``waits`` of
    the one that says what the pod waits for.
    """

    labels: dict[str, str]
    node_name: str
    edits: tuple[TermEdit, ...]
    terms: tuple[NodeTerm, ...]
    preferred: tuple[PreferredNodeTerm, ...]
    near: PodTerms
    away: PodTerms
    tolerations: tuple[Toleration, ...]
    injected: str
    resources: tuple[ContainerAmounts, ...] = ()
    waits: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds of required things that the pod lacks; preferences and annotations are left out."""
        lacking = {
            "labels": self.labels,
            "nodeName": self.node_name,
            "nodeAffinity": self.edits or self.terms,
            "podAffinity": self.near.required,
            "podAntiAffinity": self.away.required,
            "tolerations": self.tolerations,
            "resources": self.resources,
        }
        return tuple(kind for kind, what in lacking.items() if what)


NOTHING = Additions({}, "", (), (), (), PodTerms(), PodTerms(), (), "")
"""Additions of a pod that lacks nothing."""
