"""Pods of others that the taint of exclusive hosts does not keep away (``docs/hostpool.md``, who else runs there)."""

from collections.abc import Collection, Iterator

from webhook.placement.inventory.objects import Guest, PodInfo
from webhook.placement.kube.bits import Bits

Who = tuple[str, Guest]
"""A namespace, and what a pod in it is."""


class Guests:
    """Bound pods that pass a taint of that ``effect``, or lie about who made them: which of them are on which node.

    Replicas of one workload are one guest, so little is kept of many. ``spared`` are the namespaces whose pods nobody
    minds; with ``None`` nothing is kept at all.
    """

    __slots__ = ("_counts", "_effect", "_held", "_nodes", "_spared")

    def __init__(self, spared: Collection[str] | None = None, effect: str = "NoSchedule") -> None:
        self._spared = spared
        self._effect = effect
        self._held: dict[str, tuple[int, Who]] = {}
        """By uid of a pod: its node's slot, and what it is."""
        self._counts: dict[Who, dict[int, int]] = {}
        self._nodes: dict[Who, Bits] = {}

    def include(self, pod: PodInfo) -> bool:
        """Whether the pod counts."""
        guest = pod.guest
        if guest is None or self._spared is None or pod.namespace in self._spared:
            return False
        return guest.forged or self._effect in guest.passes

    def add(self, slot: int, pod: PodInfo) -> None:
        """A pod is bound to ``slot``; one that does not count is passed over."""
        if pod.guest is None or not self.include(pod):
            return
        who = pod.namespace, pod.guest
        self._held[pod.uid] = slot, who
        counts = self._counts.setdefault(who, {})
        counts[slot] = counts.get(slot, 0) + 1
        self._nodes[who] = self._nodes.get(who, 0) | 1 << slot

    def remove(self, uid: str) -> None:
        """A pod is gone; one that was never added is passed over."""
        held = self._held.pop(uid, None)
        if held is None:
            return
        slot, who = held
        counts = self._counts[who]
        counts[slot] -= 1
        if counts[slot]:
            return
        del counts[slot]
        self._nodes[who] &= ~(1 << slot)
        if not counts:
            del self._counts[who], self._nodes[who]

    def on(self, nodes: Bits, *, forged: bool) -> Iterator[tuple[str, Bits]]:
        """Who is on some of the nodes, in words and sorted, and on which: who is what he says, or who lies."""
        found = [(_words(who), here & nodes) for who, here in self._nodes.items() if who[1].forged is forged]
        yield from sorted((words, here) for words, here in found if here)


def _words(who: Who) -> str:
    """Kind, namespace and name, such as ``DaemonSet monitoring/agent``."""
    kind, _, name = who[1].name.partition("/")
    return f"{kind} {who[0]}/{name}"
