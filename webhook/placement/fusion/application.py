"""The application that a Job states, in full: each channel of a parallel region has its own operators and streams.

An operator ``Work`` in a region of width 2 becomes ``Work[0]`` and ``Work[1]``; in a nested one ``Work[1][3]``, the
outermost region first (``docs/fusion.md``).
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from webhook.placement.fusion.channel_tokens import written_out
from webhook.placement.kube.pod import Amount
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.objects.jobs.job_operators import OPERATORS_LIMIT, STREAMS_LIMIT, JobOperator, RegionSpec
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.literals import encode
from webhook.placement.spl.placement import parse_placement

Channel = tuple[tuple[str, int], ...]
"""The channels that an operator is in, from the outside: pairs of a region and an index."""

PARTITION = frozenset(
    {ClauseName.PARTITION_COLOCATION, ClauseName.PARTITION_EXLOCATION, ClauseName.PARTITION_ISOLATION}
)
"""Clauses that are met by fusion; all others are met by placement."""


class PhysicalOperator(Struct, frozen=True, gc=False, kw_only=True):
    """One operator, in its channel; ``cost`` and ``memory`` are in nano-units, ``None`` if not stated."""

    name: str
    stated: str
    """The name that the Job states, without indices."""
    channel: Channel = ()
    clauses: tuple[PlacementClause, ...] = ()
    restartable: bool = True
    relocatable: bool = True
    threaded: bool = False
    cost: int | None = None
    memory: int | None = None
    template: Any = None

    def of(self, name: ClauseName) -> Iterator[PlacementClause]:
        """The operator's clauses of that name."""
        return (clause for clause in self.clauses if clause.name is name)

    def says(self, what: object) -> str:
        """A clause with the operator, as messages have it."""
        return f"{self.name}: {what}"


class Application(Struct, frozen=True):
    """All operators in the order of the Job, and the traffic between each two of them by their positions.

    ``fed`` are positions of operators with incoming streams, ``links`` the streams as pairs of positions, each once.
    """

    operators: tuple[PhysicalOperator, ...]
    traffic: Mapping[tuple[int, int], int]
    fed: frozenset[int]
    links: tuple[tuple[int, int], ...]


def application_of(spec: JobSpec) -> Application:
    """The application of a Job. Of a model with problems it has what can be read, up to the limits."""
    regions = {region.name: region for region in spec.parallel_regions or ()}
    copies: dict[str, dict[Channel, int]] = {}
    operators: list[PhysicalOperator] = []
    for stated in spec.operators or ():
        remaining = OPERATORS_LIMIT - len(operators)
        for channel in itertools.islice(_channels(_path(stated.region, regions), regions), remaining):
            copies.setdefault(stated.name, {})[channel] = len(operators)
            operators.append(_copy(stated, channel))
    flows = [
        (list(itertools.islice(_ends(copies[stream.source], copies[stream.to]), STREAMS_LIMIT)), _rate(stream.rate))
        for stream in (spec.streams or ())[:STREAMS_LIMIT]
        if stream.source in copies and stream.to in copies
    ]
    whole = math.lcm(*(len(pairs) or 1 for pairs, _ in flows)) if flows else 1
    traffic: dict[tuple[int, int], int] = {}
    links: dict[tuple[int, int], None] = {}
    for pairs, rate in flows:
        for one, other in pairs:
            links[one, other] = None
            if one != other:
                key = min(one, other), max(one, other)
                traffic[key] = traffic.get(key, 0) + rate * (whole // len(pairs))
    fed = frozenset(to for source, to in links if source != to)
    return Application(tuple(operators), traffic, fed, tuple(links))


def _rate(rate: int | None) -> int:
    return 1 if rate is None else rate


def _path(region: str | None, regions: Mapping[str, RegionSpec]) -> tuple[str, ...]:
    """The regions around an operator, from the outside."""
    path: list[str] = []
    while region is not None and region in regions and region not in path:
        path.insert(0, region)
        region = regions[region].within
    return tuple(path)


def _channels(path: Sequence[str], regions: Mapping[str, RegionSpec]) -> Iterator[Channel]:
    for indices in itertools.product(*(range(regions[region].width) for region in path)):
        yield tuple(zip(path, indices, strict=True))


def _copy(stated: JobOperator, channel: Channel) -> PhysicalOperator:
    words = ".".join(f"{region}.{index}" for region, index in channel)
    replica = ".".join((*(region for region, _ in channel), stated.name.replace("::", ".")))
    text = written_out(stated.placement or "", words, replica)
    return PhysicalOperator(
        name=stated.name + "".join(f"[{index}]" for _, index in channel),
        stated=stated.name,
        channel=channel,
        clauses=parse_placement(text, "")[0] if text.strip() else (),
        restartable=stated.restartable is not False,
        relocatable=stated.relocatable is not False,
        threaded=stated.threaded is True,
        cost=_amount(stated.cost),
        memory=_amount(stated.memory),
        template=stated.template,
    )


def stated_clauses(text: str) -> list[str]:
    """The clauses of an operator's placement in the words of SPL, with ``byChannel()`` and ``byReplica()`` as such."""
    calls = {"\ue000": "byChannel()", "\ue001": "byReplica()"}
    clauses = parse_placement(written_out(text, *calls), "")[0] if text.strip() else ()
    return [_with_calls(clause, calls) for clause in clauses]


def _with_calls(clause: PlacementClause, calls: Mapping[str, str]) -> str:
    """The clause with the calls that single characters of its token stand for."""
    parts = re.split(f"([{''.join(calls)}])", clause.argument) if isinstance(clause.argument, str) else []
    if len(parts) <= 1:
        return clause.text
    return f"{clause.name}({' + '.join(calls.get(part) or encode(part) for part in parts if part)})"


def _amount(amount: Amount | None) -> int | None:
    return None if amount is None else parse_quantity(amount)


def _ends(first: Mapping[Channel, int], second: Mapping[Channel, int]) -> Iterator[tuple[int, int]]:
    """The copies of a stream: within the regions that both ends are in, channels do not mix."""
    by_shared: dict[Channel, list[int]] = {}
    shared = _shared(next(iter(first)), next(iter(second)))
    for channel, at in second.items():
        by_shared.setdefault(channel[:shared], []).append(at)
    return ((at, other) for channel, at in first.items() for other in by_shared.get(channel[:shared], ()))


def _shared(one: Channel, other: Channel) -> int:
    """How many of the outermost regions two operators have in common."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0][0] == pair[1][0], zip(one, other, strict=False)))
