"""The cost of an assignment (``docs/scoring.md``): each pod by its node, and more for each further pod on a node."""

from collections.abc import Sequence

from msgspec import Struct

from webhook.placement.inventory.capacity import Row
from webhook.placement.pools.score import LOAD


class Costs(Struct, frozen=True, eq=False):
    """What an assignment costs: for each block its cost on each node, and more for each further pod on a node.

    ``pods`` is how many pods a set of each block has, one by default.
    """

    of: tuple[Row, ...]
    load: int = LOAD
    pods: tuple[int, ...] = ()

    def total(self, places: Sequence[Sequence[int]]) -> int:
        """The cost of all places: the k-th pod on a node costs ``load`` more than the one before it."""
        on: dict[int, int] = {}
        for at, own_places in enumerate(places):
            for place in own_places:
                on[place] = on.get(place, 0) + self.pods_of(at)
        own = sum(int(self.of[at][place]) for at, own_places in enumerate(places) for place in own_places)
        return own + sum(self.load * count * (count - 1) // 2 for count in on.values())

    def pods_of(self, at: int) -> int:
        """How many pods a set of the block at that position has."""
        return self.pods[at] if self.pods else 1
