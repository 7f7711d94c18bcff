"""Index of running pods that belong to no job, by node, for installations where such pods count as strangers.

An exclusive pool takes no node with a stranger (``docs/hostpool.md``, strangers). This file also parses the setting
with the namespaces whose pods are not strangers.
"""

from collections.abc import Collection, Iterator
from typing import Final

from webhook.placement.kube.bits import Bits
from webhook.placement.kube.names import is_namespace
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text.problem import quote

NamedPools = tuple[str, tuple[str, ...]]
"""The namespace of a pod, and the SPL names of the host pools in its placement; both empty if it names no pool."""

_NO_POOLS: Final[NamedPools] = ("", ())


class ForeignPods:
    """Bound pods of no job that count as strangers: by the pools that they name, their number on each node.

    Pods in the namespaces ``spared``, pods of DaemonSets and static pods do not count. If ``spared`` is ``None``, no
    pod counts and nothing is kept: only processing elements are strangers then.
    """

    __slots__ = ("_counts", "_nodes", "spared")

    def __init__(self, spared: Collection[str] | None = None) -> None:
        self.spared = spared
        self._counts: dict[NamedPools, dict[int, int]] = {}
        self._nodes: dict[NamedPools, Bits] = {}

    def include(self, pod: PodInfo) -> bool:
        """Whether the pod counts as a stranger."""
        return self.spared is not None and not pod.job and not pod.of_node and pod.namespace not in self.spared

    def add(self, slot: int, pod: PodInfo) -> NamedPools | None:
        """Count the pod on ``slot``; returns the argument for :meth:`remove`, or ``None`` if the pod does not count."""
        if not self.include(pod):
            return None
        named_pools = (pod.namespace, pod.pools) if pod.pools else _NO_POOLS
        counts = self._counts.setdefault(named_pools, {})
        counts[slot] = counts.get(slot, 0) + 1
        if counts[slot] == 1:
            self._nodes[named_pools] = self._nodes.get(named_pools, 0) | 1 << slot
        return named_pools

    def remove(self, slot: int, named_pools: NamedPools) -> None:
        """Uncount a pod that was added with these pools on ``slot``."""
        counts = self._counts[named_pools]
        counts[slot] -= 1
        if counts[slot]:
            return
        del counts[slot]
        self._nodes[named_pools] &= ~(1 << slot)
        if not counts:
            del self._counts[named_pools], self._nodes[named_pools]

    def nodes(self) -> Iterator[tuple[NamedPools, Bits]]:
        """For each combination of named pools, the nodes with such pods."""
        yield from self._nodes.items()

    @property
    def stranger(self) -> str:
        """The noun for one stranger in messages."""
        return "a processing element of another pool or job" if self.spared is None else "an unrelated pod"

    @property
    def strangers(self) -> str:
        """The noun for several strangers in messages."""
        return "processing elements of other pools and jobs" if self.spared is None else "pods of others"


def parse_namespaces(text: str) -> frozenset[str]:
    """The namespaces in a text such as ``kube-system,monitoring``; raises ``ValueError`` with all wrong names."""
    names = [part.strip() for part in text.split(",")] if text.strip() else []
    wrong = [name for name in names if not is_namespace(name)]
    if wrong:
        raise ValueError("; ".join(f"{quote(name)} is not a namespace name" for name in wrong))
    return frozenset(names)
