"""The streams between the operators that a program expands to, across the ports of its composites.

Streams have names in the graph of a composite. Each expanded instance of a composite has its own names, and so has each
channel of a parallel region.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from webhook.convert.spl.program import Invocation, SplComposite
from webhook.convert.streams_application import StreamConnection
from webhook.placement.objects.jobs.job_operators import STREAMS_LIMIT

_STEPS: Final = 20 * STREAMS_LIMIT
"""Names that are looked at to find the ends of all streams."""


class _StreamName(NamedTuple):
    """The name of a stream in one instance of a composite."""

    scope: int
    name: str


class Wiring:
    """Collects who sends and who receives while composites are expanded."""

    def __init__(self) -> None:
        self._scopes = 1
        self._operators = 0
        self._senders: dict[_StreamName, list[int]] = {}
        self._carried: dict[_StreamName, list[_StreamName]] = {}
        self._received: list[tuple[int, _StreamName]] = []

    def operator(self, scope: int, invocation: Invocation) -> None:
        """Add the next operator, with its ports."""
        at = self._operators
        self._operators += 1
        for stream in invocation.outputs:
            self._senders.setdefault(_StreamName(scope, stream), []).append(at)
        for port in invocation.inputs:
            self._received += ((at, _StreamName(scope, stream)) for stream in port)

    def composite(self, scope: int, invocation: Invocation, composite: SplComposite) -> int:
        """Add an instance of a composite that is invoked in a scope; returns the scope inside."""
        inside = self._scopes
        self._scopes += 1
        for port, streams in zip(composite.inputs, invocation.inputs, strict=False):
            self._carry(_StreamName(inside, port), [_StreamName(scope, stream) for stream in streams])
        for port, stream in zip(composite.outputs, invocation.outputs, strict=False):
            self._carry(_StreamName(scope, stream), [_StreamName(inside, port)])
        return inside

    def _carry(self, name: _StreamName, others: Sequence[_StreamName]) -> None:
        self._carried.setdefault(name, []).extend(others)

    def connections(self) -> tuple[StreamConnection, ...] | None:
        """The streams by the positions of their ends; ``None`` for more than a Job may have."""
        counts: Counter[tuple[int, int]] = Counter()
        steps = 0
        for receiver, stream in self._received:
            queue, known = [stream], {stream}
            for name in queue:
                senders = self._senders.get(name, ())
                steps += 1 + len(senders)
                if steps > _STEPS:
                    return None
                counts.update((sender, receiver) for sender in senders)
                for other in self._carried.get(name, ()):
                    if other not in known:
                        known.add(other)
                        queue.append(other)
        if len(counts) > STREAMS_LIMIT:
            return None
        return tuple(StreamConnection(sender, receiver, count) for (sender, receiver), count in counts.items())
