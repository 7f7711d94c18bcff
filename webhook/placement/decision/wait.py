"""Why a pod is let in that no node can run now: what it waits for (``docs/verdicts.md``, waiting)."""

import enum

from msgspec import Struct

from webhook.placement.constraints.taints import Tolerated
from webhook.placement.decision.refusal import Refusal
from webhook.placement.kube.bits import Bits
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World


class WaitCause(enum.StrEnum):
    """Why it is let in all the same."""

    CONDITION = "condition"
    """Nodes could run it, but for conditions that pass by themselves."""
    ELASTIC = "elastic"
    """Nodes are expected to come."""
    CONTROLLED = "controlled"
    """A controller of Kubernetes makes it of a workload that was decided about when it was submitted."""


class Wait(Struct, frozen=True, gc=False):
    """A pod that waits: ``text`` says what for, in the words of a refusal; its first line stands alone."""

    cause: WaitCause
    text: str

    @property
    def headline(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]

    @classmethod
    def for_nodes(cls, refusal: Refusal, *, patient: bool) -> "Wait":
        """For nodes that there are not, which is why the pod would be refused otherwise."""
        return cls(WaitCause.CONTROLLED if patient else WaitCause.ELASTIC, f"no node yet: {refusal.text}")

    @classmethod
    def for_recovery(cls, why: str) -> "Wait":
        """For conditions of nodes to pass; ``why`` are those that are :func:`in_the_way`."""
        why = why or "nodes that it depends on are yet to recover"
        return cls(WaitCause.CONDITION, f"no node now: {why}; the pod waits until that has passed")


def in_the_way(ask: Ask, nodes: Bits, now: World) -> str:
    """What of their conditions keeps the pod off these nodes now, such as ``3 nodes are not ready``."""
    return ", ".join(map(str, Tolerated(ask.spec.tolerations or ()).explain(now, nodes)))
