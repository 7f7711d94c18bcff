"""Index of running guests, by node: pods of no job that tolerate the taint of exclusive hosts.

A guest may run on the hosts of an exclusive pool although it does not use the pool (``docs/hostpool.md``).
"""

from collections.abc import Collection, Iterator

from webhook.placement.kube.bits import Bits
from webhook.placement.objects.pod import Guest, PodInfo

GuestKey = tuple[str, Guest]
"""A namespace, and the guest that pods in it are replicas of."""


class Guests:
    """Bound guests: pods that tolerate the exclusive taint with ``effect``, or that forge an owner reference.

    Replicas of one workload are one guest, so that little memory is used. Pods in the namespaces ``spared`` do not
    count; if ``spared`` is ``None``, no pod counts and nothing is kept.
    """

    __slots__ = ("_counts", "_effect", "_guest_of", "_nodes", "_spared")

    def __init__(self, spared: Collection[str] | None = None, effect: str = "NoSchedule") -> None:
        self._spared = spared
        self._effect = effect
        self._guest_of: dict[str, tuple[int, GuestKey]] = {}
        """The slot of a pod's node and the pod's guest, by the pod's uid."""
        self._counts: dict[GuestKey, dict[int, int]] = {}
        self._nodes: dict[GuestKey, Bits] = {}

    def include(self, pod: PodInfo) -> bool:
        """Whether the pod counts as a guest."""
        guest = pod.guest
        if guest is None or self._spared is None or pod.namespace in self._spared:
            return False
        return guest.forged or self._effect in guest.passes

    def add(self, slot: int, pod: PodInfo) -> None:
        """Count the pod on ``slot``, if it counts as a guest."""
        if pod.guest is None or not self.include(pod):
            return
        key = pod.namespace, pod.guest
        self._guest_of[pod.uid] = slot, key
        counts = self._counts.setdefault(key, {})
        counts[slot] = counts.get(slot, 0) + 1
        self._nodes[key] = self._nodes.get(key, 0) | 1 << slot

    def remove(self, uid: str) -> None:
        """Uncount the pod with that uid, if it was counted."""
        removed = self._guest_of.pop(uid, None)
        if removed is None:
            return
        slot, key = removed
        counts = self._counts[key]
        counts[slot] -= 1
        if counts[slot]:
            return
        del counts[slot]
        self._nodes[key] &= ~(1 << slot)
        if not counts:
            del self._counts[key], self._nodes[key]

    def on(self, nodes: Bits, *, forged: bool) -> Iterator[tuple[str, Bits]]:
        """The guests on some of the nodes, as sorted words, each with its nodes among these.

        With ``forged`` only guests that forge an owner reference, otherwise only guests that do not.
        """
        guests = [(_words(key), running & nodes) for key, running in self._nodes.items() if key[1].forged is forged]
        yield from sorted((words, running) for words, running in guests if running)


def _words(key: GuestKey) -> str:
    """Kind, namespace and name of the guest, such as ``DaemonSet monitoring/agent``."""
    kind, _, name = key[1].name.partition("/")
    return f"{kind} {key[0]}/{name}"
