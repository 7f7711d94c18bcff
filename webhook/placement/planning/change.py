"""``Change``: what a question about a group imagines to be otherwise, so that a refusal can say what would help."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.members import Demand
from webhook.placement.text.clause import Clause


class Change(Struct, frozen=True):
    """What is imagined to be otherwise: clauses that are ``dropped``, nodes that are ``opened``, nodes that are added.

    With ``welcome`` pods without their ``dropped`` clauses may stay on exclusive hosts that these clauses name.
    Labels are set on the ``opened`` nodes, so that these meet the clause ``opening`` and no longer serve the members at
    the positions ``closed``. ``added`` nodes are like the node in the slot ``like`` and have room for ``room``; the
    members at the positions ``joining`` can run on these, which may be hosts of the pools ``hosting``. ``larger`` is by
    how much each of these pools grows. ``lowered`` are the requests of one pod that are left of these clauses.
    """

    dropped: frozenset[Clause] = frozenset()
    welcome: bool = False
    opening: Clause | None = None
    opened: Bits = 0
    closed: frozenset[int] = frozenset()
    added: int = 0
    like: int = 0
    joining: frozenset[int] = frozenset()
    hosting: frozenset[Name] = frozenset()
    room: Mapping[str, int] = {}
    larger: Mapping[Name, int] = {}
    lowered: Mapping[Clause, Tally] = {}

    @property
    def only_drops(self) -> bool:
        """Whether clauses are dropped, and nothing else changes."""
        return Change(self.dropped, self.welcome) == self

    def size_of(self, pool: Pool) -> int:
        """The number of hosts of the pool."""
        return (pool.size or 0) + self.larger.get((pool.namespace, pool.name), 0)

    def kept(self, conditions: Sequence[Demand]) -> tuple[Demand, ...]:
        """The conditions that are not dropped, with lowered requests."""
        kept = tuple(one for one in conditions if not one.clause or one.clause not in self.dropped)
        if self.lowered:
            lower = self.lowered
            return tuple(
                replace(one, requests=lower[one.clause]) if one.clause and one.clause in lower else one for one in kept
            )
        return _spelled(kept) if self.dropped else kept


SAME: Final = Change()
"""Everything is as it is."""


def _spelled(kept: tuple[Demand, ...]) -> tuple[Demand, ...]:
    """The demands, each HostPool by itself if the tags of all pools that are still named are one tag at most."""
    if all(demand.alone is None for demand in kept):
        return kept
    tags = {tag for demand in kept if demand.constraint.pool for tag in demand.constraint.pool.tags}
    if len(tags) > 1:
        return kept
    return tuple(demand if demand.alone is None else replace(demand, nodes=demand.alone) for demand in kept)
