"""Pods of no job, where not only processing elements keep exclusive pools away (``docs/hostpool.md``, strangers)."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from webhook.placement.inventory.objects import PodInfo
from webhook.placement.kube.bits import Bits
from webhook.placement.text.problem import quote

Ties = tuple[str, tuple[str, ...]]
"""The namespace of pods and the pools that they name; both empty for pods that name none."""

_LOOSE: Final[Ties] = ("", ())

_NAMESPACE: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
"""A DNS label."""


class ForeignPods:
    """Bound pods of no job that count, by their ties: how many of them are on which node.

    ``spared`` are the namespaces whose pods do not count. Pods of DaemonSets and static pods never do, and with
    ``None`` no pod does: then nothing is kept, and only processing elements are strangers.
    """

    __slots__ = ("_counts", "_nodes", "spared")

    def __init__(self, spared: Collection[str] | None = None) -> None:
        self.spared = spared
        self._counts: dict[Ties, dict[int, int]] = {}
        self._nodes: dict[Ties, Bits] = {}

    def include(self, pod: PodInfo) -> bool:
        """Whether the pod counts."""
        return self.spared is not None and not pod.job and not pod.of_node and pod.namespace not in self.spared

    def add(self, slot: int, pod: PodInfo) -> Ties | None:
        """A pod is bound to ``slot``; returns what :meth:`remove` needs to know, ``None`` if it does not count."""
        if not self.include(pod):
            return None
        ties = (pod.namespace, pod.pools) if pod.pools else _LOOSE
        counts = self._counts.setdefault(ties, {})
        counts[slot] = counts.get(slot, 0) + 1
        if counts[slot] == 1:
            self._nodes[ties] = self._nodes.get(ties, 0) | 1 << slot
        return ties

    def remove(self, slot: int, ties: Ties) -> None:
        """A pod of these ties that was added is gone."""
        counts = self._counts[ties]
        counts[slot] -= 1
        if counts[slot]:
            return
        del counts[slot]
        self._nodes[ties] &= ~(1 << slot)
        if not counts:
            del self._counts[ties], self._nodes[ties]

    def nodes(self) -> Iterator[tuple[Ties, Bits]]:
        """All ties that pods have, and the nodes where these are."""
        yield from self._nodes.items()

    @property
    def stranger(self) -> str:
        """One pod that an exclusive pool shuns, in words."""
        return "a processing element of another pool or job" if self.spared is None else "a pod of others"

    @property
    def strangers(self) -> str:
        """Several of them."""
        return "processing elements of other pools and jobs" if self.spared is None else "pods of others"


def parse_namespaces(text: str) -> frozenset[str]:
    """Names of namespaces between commas, such as ``kube-system,monitoring``; ``ValueError`` with all that are none."""
    names = [part.strip() for part in text.split(",")] if text.strip() else []
    wrong = [name for name in names if not _NAMESPACE.fullmatch(name)]
    if wrong:
        raise ValueError("; ".join(f"{quote(name)} is no name of a namespace" for name in wrong))
    return frozenset(names)
