"""Limits on the pods of one template by the domains of a topology key, and how many pods fit by several limits.

``OnePerDomain`` comes from required pod anti-affinity, ``MaxSkew`` from topology spread constraints. A ``Row`` has
one number for each domain, or for each slot of ``places`` where a function has that parameter.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.inventory.capacity import Row
from webhook.placement.inventory.topology import Domains
from webhook.placement.kube.bits import Bits, from_mask

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

_ROUNDS = 4
"""Number of rounds in which several limits are applied in turn; each round can only lower the bound."""


UNLIMITED: Final = 2**63 - 1
"""The number of pods that fit where nothing limits them."""


class Limit(Protocol):
    """A limit on the pods of one template by the domains of a topology key."""

    @property
    def key(self) -> str:
        """The topology key."""
        ...

    @property
    def domains(self) -> Domains:
        """The domains of the topology key."""
        ...

    @property
    def reach(self) -> Bits:
        """The nodes that can run some of the pods, now or once other pods of the template run."""
        ...

    @property
    def own(self) -> Places:
        """The slots of the workload's live pods that count in the domains, and may stay there."""
        ...

    @property
    def beside(self) -> int:
        """How many of the workload's live pods run where the limit does not count pods."""
        ...

    def most(self, room: Row) -> Row:
        """How many pods each domain can take; ``room`` is how many pods its nodes can hold."""
        ...

    def alone(self) -> Row:
        """How many pods each domain can take if all pods go to that domain."""
        ...

    def each_new(self, room: Row) -> int:
        """How many pods a new domain takes; ``room`` is that of the other domains. 0 if pods cannot go to a new one."""
        ...


class OnePerDomain(Struct, frozen=True, gc=False, eq=False):
    """The limit of one pod in each domain; nodes without the label are in no domain, and take any number of pods.

    ``growing`` tells that the pods could go to a new domain.
    """

    key: str
    domains: Domains
    reach: Bits
    growing: bool = True

    @property
    def own(self) -> Places:
        """No slots: live pods of the workload are replaced, or are among the pods that it wants."""
        return np.zeros(0, np.intp)

    @property
    def beside(self) -> int:
        """0: see ``own``."""
        return 0

    def most(self, _room: Row) -> Row:
        """One pod in each domain."""
        return self.alone()

    def alone(self) -> Row:
        """One pod in each domain."""
        return np.ones(self.domains.count, np.int64)

    def each_new(self, _room: Row) -> int:
        """One pod, if the pods can go to a new domain."""
        return int(self.growing)


class MaxSkew(Struct, frozen=True, gc=False, eq=False):
    """The limit that no domain has more than ``skew`` pods more than the domain with fewest.

    ``counted`` are the domains of which the one with fewest is taken; if there are fewer of these than ``minDomains``
    (``short``), the fewest are 0. ``there`` is the number of other pods that count, by domain. The workload's own live
    pods may stay where they are: ``own`` are the slots of those that count, ``beside`` is the number of those that do
    not. ``growing`` tells that the pods could go to a new domain.
    """

    key: str
    domains: Domains
    reach: Bits
    skew: int
    counted: Flags
    short: bool
    there: Row
    own: Places
    beside: int = 0
    growing: bool = True

    def open(self, add: int) -> Bits:
        """The nodes of domains that can take the pod now; ``add`` is 1 for a pod that counts, else 0."""
        ahead = self.there + add - self._fewest(self.there + self.domains.counts(self.own))
        return from_mask(self.domains.each(ahead, self.skew + 1) <= self.skew)

    def most(self, room: Row) -> Row:
        """How many pods each domain can take up to the skew above the final minimum of all domains.

        One after another the pods can go to the domain with fewest, until that domain has no room; from then on no
        domain can have more than the skew above it. Source: ``podtopologyspread/filtering.go`` of Kubernetes.
        """
        return self._above(self._fewest(self.there + room))

    def alone(self) -> Row:
        """How many pods each domain can take up to the skew above the minimum of all other domains."""
        there = self.there + self.domains.counts(self.own)
        fewest = self._fewest(there)
        counts = there[self.counted]
        if self.short or not counts.size:
            return self._above(fewest)
        # For the domain with fewest, the fewest of the others is the second smallest number.
        second = np.partition(counts, 1)[1] if counts.size > 1 else np.iinfo(np.int32).max
        others = np.where(self.counted & (there == fewest), second, fewest)
        return self._above(others)

    def each_new(self, room: Row) -> int:
        """The largest minimum of the other domains plus the skew, so that the new domain does not limit them."""
        return self._fewest(self.there + room) + self.skew if self.growing else 0

    def _fewest(self, there: Row) -> int:
        """The smallest number of pods in a counted domain."""
        return 0 if self.short or not self.counted.any() else int(there[self.counted].min())

    def _above(self, fewest: int | Row) -> Row:
        """How many pods each domain can take up to the skew above ``fewest``; live pods may stay."""
        allowed = fewest + self.skew - self.there
        return np.maximum(allowed, self.domains.counts(self.own))


def fitting(room: Row, places: Places, limits: Sequence[Limit]) -> int:
    """How many pods fit by all of these limits; ``room`` is how many each of the slots ``places`` can hold.

    The number is exact for one limit, also beside limits by node. To place pods by several keys is a matching problem
    in as many dimensions, so for these the number is an upper bound: the smallest that any limit gives while all others
    hold on each node alone. So no pods are refused that could run.
    """
    total, room = int(room.sum()), room.copy()
    for _ in range(_ROUNDS if len(limits) > 1 else len(limits)):
        total = min(total, *(_by_one(room, places, limit) for limit in limits))
    return total


def on_each(room: Row, places: Places, limits: Sequence[Limit]) -> Row:
    """How many pods each slot alone can hold by the limits, where ``room`` is what it can hold without them.

    Slots of one domain share what the domain takes.
    """
    limited = room.copy()
    for limit in limits:
        _by_one(limited, places, limit)
    return limited


def _by_one(room: Row, places: Places, limit: Limit) -> int:
    """How many pods fit by one limit; ``room`` is lowered to what the limit leaves to each slot."""
    domains, staying = limit.domains.of[places], limit.own
    if staying.size:
        staying = staying[~np.isin(staying, places)]
    within = domains >= 0
    together = limit.domains.sums(places, room) + limit.domains.counts(staying)
    most = limit.most(together)
    room[within] = np.minimum(room[within], most[domains[within]])
    return int(np.minimum(together, most).sum()) + int(room[~within].sum()) + limit.beside


def on_one(room: Row, places: Places, limits: Sequence[Limit]) -> Row:
    """How many pods each slot can hold by the limits if all pods go to that slot; a new row."""
    limited = room.copy()
    for limit in limits:
        limited = np.minimum(limited, limit.domains.each(limit.alone(), UNLIMITED)[places])
    return limited


def holding(count: int, limit: Limit) -> Bits:
    """The nodes each of which could take ``count`` pods by the limit."""
    return limit.reach & from_mask(limit.domains.each(limit.alone(), count) >= count)
