"""Topology domains as the scheduler has them: nodes with the same value of a label (the topology key) are a domain."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.inventory.capacity import Row
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.kube.names import KEY_LIMIT
from webhook.placement.objects.node import Node

NOWHERE = -1
"""The domain of a node without the label."""


class Domains(Struct, frozen=True, gc=False, eq=False):
    """The domains of one topology key, numbered from 0 to below ``count``.

    ``of`` is the number of the domain of each slot, or :data:`NOWHERE`.
    """

    count: int
    of: Row

    def sums(self, places: npt.NDArray[np.intp], amounts: Row) -> Row:
        """The sum of amounts in each domain; ``amounts`` are those of the slots ``places``."""
        domain_slots = self.of[places]
        inside = domain_slots >= 0
        return np.bincount(domain_slots[inside], amounts[inside], self.count).astype(np.int64)

    def counts(self, places: npt.NDArray[np.intp]) -> Row:
        """How many of these slots are in each domain; a slot may be there several times."""
        if not places.size:
            return np.zeros(self.count, np.int64)
        domain_slots = self.of[places]
        return np.bincount(domain_slots[domain_slots >= 0], None, self.count).astype(np.int64)

    def having(self, nodes: Bits) -> npt.NDArray[np.bool_]:
        """For each domain, whether it contains at least one of the nodes."""
        return self.counts(to_slots(nodes)) > 0

    def each(self, amounts: Row, elsewhere: int) -> Row:
        """For each slot, the amount of its domain; ``elsewhere`` for a slot without a domain."""
        return np.append(amounts, elsewhere)[self.of]


_KEYS = 64
"""Topology keys whose domains are cached: more than pods of a cluster use, and a bound on memory."""

_TOO_LONG: Final = "-" * (KEY_LIMIT + 1)
"""In place of every key that is too long for a label: pods may state such keys before the API server checks them."""


class Topology:
    """Cache of the domains by topology key, valid until a node changes."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, Domains] = {}

    def forget(self) -> None:
        """Drop the cache: a node was added, changed or removed."""
        self._known.clear()

    def domains(self, key: str, nodes: Mapping[int, Node]) -> Domains:
        """The domains of the key; ``nodes`` are all nodes by slot."""
        key = key if len(key) <= KEY_LIMIT else _TOO_LONG
        domains = self._known.get(key)
        if domains is None:
            of = np.full(max(nodes, default=-1) + 1, NOWHERE, np.int64)
            numbers: dict[str, int] = {}
            for slot, node in nodes.items():
                value = node.labels.get(key)
                if value is not None:
                    of[slot] = numbers.setdefault(value, len(numbers))
            if len(self._known) >= _KEYS:
                self._known.clear()
            domains = self._known[key] = Domains(len(numbers), of)
        return domains
