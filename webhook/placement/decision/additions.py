"""What a pod lacks, as merging finds it and a patch adds it."""

from msgspec import Struct

from webhook.placement.kube.containers import Place
from webhook.placement.kube.node_terms import TermEdit
from webhook.placement.kube.pod import NodeTerm, PodTerm, PreferredNodeTerm, Toleration, WeightedPodTerm


class PodTerms(Struct, frozen=True, gc=False):
    """Pod terms to append."""

    required: tuple[PodTerm, ...] = ()
    preferred: tuple[WeightedPodTerm, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there are terms."""
        return bool(self.required or self.preferred)


class ContainerAmounts(Struct, frozen=True, gc=False):
    """Amounts that a container asks for in place of what it says, as texts by resource name."""

    place: Place
    requests: dict[str, str]
    limits: dict[str, str]


class Additions(Struct, frozen=True, gc=False):
    """What a pod lacks; everything empty when it lacks nothing.

    ``edits`` change the pod's own required node terms, ``terms`` are new ones to append (or, where the pod has none,
    all there are). ``resources`` are at most one for each container. ``injected`` is the annotation that says what was
    added and why, ``waits`` the one that says what the pod waits for.
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
        """The kinds of things that the pod lacks, annotations aside."""
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
"""The pod lacks nothing."""
