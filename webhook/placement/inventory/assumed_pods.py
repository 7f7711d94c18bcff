"""Assumed pods: requests of pods that this replica bound by ``nodeName`` in the last seconds, by node.

The watch may not have brought such a pod yet. Counting its requests keeps the next decisions from giving away the same
room again; the scheduler assumes pods for the same reason.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from webhook.placement.kube.amounts import Tally

SECONDS: Final = 30.0
"""Seconds for which a pod is assumed; a watch that lags behind for longer has been restarted by then."""

LIMIT: Final = 10_000
"""Assumed pods that are kept, at some 300 bytes each: more than are bound in ``SECONDS``."""

_NONE: Final[Tally] = {}


class AssumedPods:
    """Requests of assumed pods, summed by node; ``clock`` returns the time in seconds since any fixed moment."""

    __slots__ = ("_clock", "_made", "_sums")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._made: OrderedDict[str, tuple[float, str, Tally]] = OrderedDict()
        self._sums: dict[str, dict[str, int]] = {}

    def assume(self, uid: str, node: str, requests: Tally) -> None:
        """Count the requests on the node: the review ``uid`` bound its pod there. A repeated review counts once."""
        self._forget(uid)
        if len(self._made) >= LIMIT:
            self._forget(next(iter(self._made)))
        self._made[uid] = self._clock(), node, requests
        self._count(node, requests, 1)

    def on(self, node: str) -> Mapping[str, int]:
        """The requests of all pods that are assumed on the node, in the units of :data:`Tally`."""
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
