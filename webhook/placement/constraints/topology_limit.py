"""How many pods of one template the domains of a topology key take, and how many fit by several such limits."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.inventory.capacity import Row
from webhook.placement.inventory.topology import Domains
from webhook.placement.kube.bits import Bits, from_mask

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

_ROUNDS = 4
"""How often several limits are held against one another; each time the bound can only become smaller."""


class Limit(Protocol):
    """A limit by domain.

    ``reach`` are the nodes that it leaves to any of the pods, now or once others run.
    """

    @property
    def key(self) -> str:
        """The topology key."""
        ...

    @property
    def domains(self) -> Domains:
        """Its domains."""
        ...

    @property
    def reach(self) -> Bits:
        """The nodes that can run some of the pods."""
        ...

    @property
    def own(self) -> Places:
        """The slots of those of the pods that run already in its domains, and may stay there."""
        ...

    @property
    def beside(self) -> int:
        """How many run already where it does not count them."""
        ...

    def most(self, room: Row) -> Row:
        """By domain, how many of the pods it takes, if there is room for so many of them."""
        ...

    def alone(self) -> Row:
        """By domain, how many of the pods it takes if all of them are there."""
        ...

    def each_new(self, room: Row) -> int:
        """How many of the pods a new domain takes if the others have this room; 0 if the pods cannot go there."""
        ...


class OnePerDomain(Struct, frozen=True, gc=False, eq=False):
    """No two of the pods in one domain; nodes without the label are in none, and take any number.

    ``growing`` tells whether the pods could go to a new domain.
    """

    key: str
    domains: Domains
    reach: Bits
    growing: bool = True

    @property
    def own(self) -> Places:
        """None: live pods of the workload leave, or are among those that it wants."""
        return np.zeros(0, np.intp)

    @property
    def beside(self) -> int:
        """None."""
        return 0

    def most(self, _room: Row) -> Row:
        """One."""
        return self.alone()

    def alone(self) -> Row:
        """One."""
        return np.ones(self.domains.count, np.int64)

    def each_new(self, _room: Row) -> int:
        """One."""
        return int(self.growing)


class MaxSkew(Struct, frozen=True, gc=False, eq=False):
    """No domain is more than ``skew`` pods ahead of the one with fewest.

    ``counted`` are the domains among which the fewest are looked for; if they are ``short`` of ``minDomains``, the
    fewest are 0. ``there`` is how many pods of others count by domain. The workload's own live pods may stay where they
    are: ``own`` are the slots of those that count, ``beside`` is how many others there are. ``growing`` tells whether
    the pods could go to a new domain.
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
        """The nodes of the domains that can take ``add`` more of the pods now: one, or none if it does not count."""
        ahead = self.there + add - self._fewest(self.there + self._sums(self.own))
        return from_mask(self.domains.each(ahead, self.skew + 1) <= self.skew)

    def most(self, room: Row) -> Row:
        """What is left up to the skew above the fewest that there can be in the end.

        One after the other the pods can go to where fewest are, until such a domain is full; from then on no domain can
        be more than the skew ahead of that one. Source: ``podtopologyspread/filtering.go`` of Kubernetes.
        """
        return self._above(self._fewest(self.there + room))

    def alone(self) -> Row:
        """What is left above the fewest of all other domains."""
        there = self.there + self._sums(self.own)
        fewest = self._fewest(there)
        rest = there[self.counted]
        if self.short or not rest.size:
            return self._above(fewest)
        # Only the domain with fewest can itself be what holds it back.
        second = np.partition(rest, 1)[1] if rest.size > 1 else np.iinfo(np.int32).max
        others = np.where(self.counted & (there == fewest), second, fewest)
        return self._above(others)

    def each_new(self, room: Row) -> int:
        """As many as all others could have at most, so that it is never the one with fewest."""
        return self._fewest(self.there + room) + self.skew if self.growing else 0

    def _fewest(self, there: Row) -> int:
        return 0 if self.short or not self.counted.any() else int(there[self.counted].min())

    def _above(self, fewest: int | Row) -> Row:
        left = fewest + self.skew - self.there
        return np.maximum(left, self._sums(self.own))

    def _sums(self, places: Places) -> Row:
        return self.domains.sums(places, np.ones(len(places), np.int64))


def fitting(room: Row, places: Places, limits: Sequence[Limit]) -> int:
    """How many pods fit by all of these limits, if the slots ``places`` have ``room`` for so many each.

    For one limit, or one beside limits by node, it is exact. To place pods best by several keys is a matching problem
    in as many dimensions, so it is an upper bound then: the smallest that any limit gives while all others hold on each
    node by itself. Nothing that could run is ever refused for it.
    """
    total, room = int(room.sum()), room.copy()
    for _ in range(_ROUNDS if len(limits) > 1 else len(limits)):
        total = min(total, *(_by_one(room, places, limit) for limit in limits))
    return total


def on_each(room: Row, places: Places, limits: Sequence[Limit]) -> Row:
    """What is left of the room of each slot by the limits, taken by itself: slots of one domain share what it takes."""
    left = room.copy()
    for limit in limits:
        _by_one(left, places, limit)
    return left


def _by_one(room: Row, places: Places, limit: Limit) -> int:
    """How many fit by one limit; what it leaves to each node is noted in ``room``."""
    domains, staying = limit.domains.of[places], limit.own[~np.isin(limit.own, places)]
    within = domains >= 0
    there = limit.domains.sums(staying, np.ones_like(staying))
    together = limit.domains.sums(places, room) + there
    most = limit.most(together)
    room[within] = np.minimum(room[within], most[domains[within]])
    return int(np.minimum(together, most).sum()) + int(room[~within].sum()) + limit.beside


def holding(count: int, limit: Limit) -> Bits:
    """The nodes that could take so many of the pods, all of them on one node."""
    return limit.reach & from_mask(limit.domains.each(limit.alone(), count) >= count)
