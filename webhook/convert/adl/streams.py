"""The streams between the operators of an ADL, which lists the connections of every port.

Elements and attributes are those of the schema ``adlModel.xsd`` of Streams 4.2. A port of a composite has connections
on both sides, and a stream passes through it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from webhook.convert.streams_application import StreamConnection, StreamsOperator
from webhook.placement.objects.jobs.job_operators import STREAMS_LIMIT

_INSTANCE: Final = "OperInstance"
"""The end of the names of all elements that are operators: primitive ones, composites, Import and Export."""

_SIDES: Final = {"inputPorts": "input", "outputPorts": "output"}
_FROM: Final = {
    ("inputPorts", "connections"): True,
    ("outputPorts", "connections"): False,
    ("inputPorts", "incomingConnections"): True,
    ("outputPorts", "incomingConnections"): True,
    ("inputPorts", "outgoingConnections"): False,
    ("outputPorts", "outgoingConnections"): False,
}
"""Whether the connections of a port are those from which it receives, by the elements around them."""

_STEPS: Final = 20 * STREAMS_LIMIT
"""Ports that are looked at to find the ends of all streams."""


class _Port(NamedTuple):
    """A port of an operator or composite, by the numbers that the ADL gives these."""

    owner: str
    side: str
    number: str


class AdlStreams:
    """Collects the connections of one application while its elements are read."""

    def __init__(self) -> None:
        self._owners: list[str | None] = []
        self._port = "0"
        self._next: dict[_Port, dict[_Port, None]] = {}

    def start(self, name: str, attributes: Mapping[str, str], around: Sequence[str]) -> None:
        """An element begins, inside those of ``around``, of which the last is itself."""
        if name.endswith(_INSTANCE):
            self._owners.append(attributes.get("index"))
        elif name == "port":
            self._port = attributes.get("index", "0").strip()
        elif name == "connection" and len(around) > 3:  # noqa: PLR2004 -- ports, port, connections, connection
            self._connection(attributes, around[-4], around[-2])

    def end(self, name: str) -> None:
        """An element ends."""
        if name.endswith(_INSTANCE) and self._owners:
            self._owners.pop()

    def _connection(self, attributes: Mapping[str, str], ports: str, connections: str) -> None:
        """A connection of the port that is being read."""
        receives = _FROM.get((ports, connections))
        owner = self._owners[-1] if self._owners else None
        if receives is None or owner is None:
            return
        own = _Port(owner.strip(), _SIDES[ports], self._port)
        usual = "output" if receives else "input"
        other = _Port(*(attributes.get(name, "").strip() for name in ("operIndex", "portKind", "portIndex")))
        other = _Port(other.owner, other.side or usual, other.number)
        sender, receiver = (other, own) if receives else (own, other)
        self._next.setdefault(sender, {})[receiver] = None

    def connections(
        self, operators: Sequence[StreamsOperator], indices: Sequence[str]
    ) -> tuple[StreamConnection, ...] | None:
        """The streams between operators by their positions; ``indices`` has for each one the number of the ADL.

        ``None`` stands for more than a Job may have.
        """
        positions: dict[str, list[int]] = {}
        for at, index in enumerate(indices):
            positions.setdefault(index, []).append(at)
        counts: Counter[tuple[int, int]] = Counter()
        steps = 0
        for first in list(self._next):
            if first.owner not in positions or first.side != "output":
                continue
            queue, known = [first], {first}
            for port in queue:
                steps += 1
                if steps > _STEPS or len(counts) > STREAMS_LIMIT:
                    return None
                if port.owner in positions and port.side == "input":
                    counts.update(_copies(operators, positions[first.owner], positions[port.owner]))
                    continue
                fresh = [one for one in self._next.get(port, ()) if one not in known]
                known.update(fresh)
                queue += fresh
        if len(counts) > STREAMS_LIMIT:
            return None
        return tuple(StreamConnection(sender, receiver, count) for (sender, receiver), count in counts.items())


def _copies(
    operators: Sequence[StreamsOperator], senders: Sequence[int], receivers: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """The copies of a stream: within the parallel regions that both ends are in, channels do not mix."""
    of_sender, of_receiver = operators[senders[0]].regions, operators[receivers[0]].regions
    shared = 0
    for one, other in zip(of_sender, of_receiver, strict=False):
        if one.name != other.name:
            break
        shared += 1
    by_channel: dict[object, list[int]] = {}
    for receiver in receivers:
        by_channel.setdefault(operators[receiver].regions[:shared], []).append(receiver)
    count = 0
    for sender in senders:
        for receiver in by_channel.get(operators[sender].regions[:shared], ()):
            count += 1
            if count > STREAMS_LIMIT + 1:
                return
            yield sender, receiver
