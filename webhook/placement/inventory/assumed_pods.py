"""What was promised in the last seconds: pods that were bound by ``nodeName`` and may not be seen yet.

Two pods of one moment are decided about from the same state. A promise makes the first one count for the second, until
the watch has brought it.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from webhook.placement.inventory.objects import Tally

SECONDS: Final = 30.0
"""For how long a promise counts: a watch that lags behind for longer is made anew in the meantime."""

LIMIT: Final = 10_000
"""AssumedPods that are kept, at some 300 bytes each; more than are made in so many seconds."""

_NONE: Final[Tally] = {}


class AssumedPods:
    """Requests by the node that was promised; ``clock`` tells the time in seconds, whatever its zero is."""

    __slots__ = ("_clock", "_made", "_sums")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._made: OrderedDict[str, tuple[float, str, Tally]] = OrderedDict()
        self._sums: dict[str, dict[str, int]] = {}

    def make(self, uid: str, node: str, requests: Tally) -> None:
        """The pod under review ``uid`` was bound to the node; a review that is repeated counts once."""
        self._forget(uid)
        if len(self._made) >= LIMIT:
            self._forget(next(iter(self._made)))
        self._made[uid] = self._clock(), node, requests
        self._count(node, requests, 1)

    def on(self, node: str) -> Mapping[str, int]:
        """What was promised of the node, in the units of :data:`Tally`."""
        oldest = self._clock() - SECONDS
        while self._made and next(iter(self._made.values()))[0] < oldest:
            self._forget(next(iter(self._made)))
        return self._sums.get(node, _NONE)

    def _forget(self, uid: str) -> None:
        made = self._made.pop(uid, None)
        if made is not None:
            self._count(made[1], made[2], -1)

    def _count(self, node: str, requests: Tally, sign: int) -> None:
        sums = self._sums.setdefault(node, {})
        for resource, amount in requests.items():
            sums[resource] = sums.get(resource, 0) + sign * amount
        if not any(sums.values()):
            del self._sums[node]
