"""Admission of pods that no node can run now, and what they wait for (``docs/verdicts.md``, waiting)."""

import enum

from msgspec import Struct

from webhook.placement.constraints.families import tolerated
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.decision.scale_up import ScaleUp
from webhook.placement.kube.bits import Bits
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World


class WaitCause(enum.StrEnum):
    """Why a pod that no node can run now is admitted all the same."""

    CONDITION = "condition"
    """Some node could run the pod, but for conditions that pass by themselves."""
    ELASTIC = "elastic"
    """Nodes are expected to be added."""
    SCALE_UP = "scale-up"
    """A node group can make a node that can run the pod."""
    CONTROLLED = "controlled"
    """A controller of Kubernetes creates the pod, and its workload was judged when that was submitted."""


class Wait(Struct, frozen=True, gc=False):
    """Why and for what an admitted pod waits: ``text`` is like that of a refusal; its first line can be shown alone."""

    cause: WaitCause
    text: str

    @property
    def headline(self) -> str:
        """The first line of ``text``."""
        return self.text.partition("\n")[0]

    @classmethod
    def for_nodes(cls, refusal: Refusal, *, patient: bool) -> "Wait":
        """A wait for nodes that do not exist yet; ``refusal`` says why the nodes there are cannot run the pod."""
        return cls(WaitCause.CONTROLLED if patient else WaitCause.ELASTIC, f"no node yet: {refusal.text}")

    @classmethod
    def for_new_node(cls, growth: ScaleUp, refusal: Refusal) -> "Wait":
        """A wait for a node of the groups that were found; ``refusal`` says why the nodes there are cannot do."""
        return cls(WaitCause.SCALE_UP, f"no node yet: {growth.notice}\n{refusal.text}")

    @classmethod
    def for_recovery(cls, why: str) -> "Wait":
        """A wait until conditions of nodes have passed; ``why`` is the text of :func:`blocking_conditions`."""
        why = why or "nodes that it depends on have not recovered yet"
        return cls(WaitCause.CONDITION, f"no node now: {why}; the pod waits until they recover")


def blocking_conditions(ask: Ask, nodes: Bits, now: World) -> str:
    """The conditions that keep the pod off these nodes now, such as ``3 nodes are not ready``; empty if none does."""
    return ", ".join(map(str, tolerated(ask.spec.tolerations or ()).explain(now, nodes)))
