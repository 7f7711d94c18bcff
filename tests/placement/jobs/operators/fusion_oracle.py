"""A Job of operators as it is fused and placed by trying everything.

Nothing of the fuser is used: its rules are written down here a second time.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Job = dict[str, Any]

Element = tuple[int, frozenset[str]]
"""What a processing element requests, and the clauses of its operators."""

OPTIONS = "restartable", "relocatable"
"""What all operators of an element say alike."""

DEFAULT = 0
"""The CPU that an element requests of whose operators none states a cost, as long as no setting says otherwise."""


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to part the items."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        for at in range(len(rest)):
            yield [*rest[:at], [items[0], *rest[at]], *rest[at + 1 :]]
        yield [[items[0]], *rest]


def expanded(job: Job) -> Job:
    """The Job with an operator for each channel, in place of parallel regions; it has its ``channel`` beside it.

    A stream's rate is divided among its copies: within regions that both ends are in, channels do not mix.
    """
    regions = {one["name"]: one for one in job.get("parallelRegions", ())}
    copies: dict[str, list[tuple[str, tuple[tuple[str, int], ...]]]] = {}
    operators = []
    for one in job["operators"]:
        path: list[Any] = []
        region = one.get("region")
        while region:
            path.insert(0, regions[region])
            region = path[0].get("within")
        for indices in itertools.product(*(range(each["width"]) for each in path)):
            channel = tuple((each["name"], index) for each, index in zip(path, indices, strict=True))
            name = one["name"] + "".join(f"[{index}]" for index in indices)
            copies.setdefault(one["name"], []).append((name, channel))
            word = ".".join(f"{each}.{index}" for each, index in channel)
            said = one.get("placement", "").replace('" + byChannel()', f'{word}"')
            rest = {key: value for key, value in one.items() if key not in {"region", "placement"}}
            operators.append(rest | {"name": name, "channel": channel} | ({"placement": said} if said else {}))
    streams = []
    for stream in job["streams"]:
        first, second = copies[stream["from"]], copies[stream["to"]]
        names = [[name for name, _ in ends[0][1]] for ends in (first, second)]
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*names, strict=False)))
        pairs = [(one, other) for one, at in first for other, to in second if at[:shared] == to[:shared]]
        streams += [{"from": one, "to": to, "rate": Fraction(stream["rate"], len(pairs))} for one, to in pairs]
    return {"operators": operators, "streams": streams, "fusion": job["fusion"]}


class Oracle:
    """A Job as the search reads it; one with parallel regions is to be ``expanded``."""

    def __init__(self, job: Job, nodes: Mapping[str, int]) -> None:
        self.nodes = nodes
        self.operators = job["operators"]
        self.type = job["fusion"].get("type")
        self.channels = [channels_of(one.get("channel", ())) for one in self.operators]
        self.said = [one.get("placement", "").split(", ") for one in self.operators]
        self.costs = [int(one["cost"].removesuffix("m")) if "cost" in one else None for one in self.operators]
        least = min((cost for cost in self.costs if cost), default=1)
        self.loads = [least if cost is None else cost for cost in self.costs]
        names = [one["name"] for one in self.operators]
        self.rates = [(names.index(one["from"]), names.index(one["to"]), one["rate"]) for one in job["streams"]]
        self.groups = self._groups()
        self.mixed = {at for at, group in enumerate(self.groups) if self._across(group)}
        self.units = len({min(group) for group in self.groups})
        self.legacy = "legacy" in job["fusion"]
        self.asked = self.units if self.legacy else job["fusion"].get("manual", 1)

    def _groups(self) -> list[list[int]]:
        """For each operator those that are fused with it in any case."""
        found = [{at} for at in range(len(self.said))]
        for one, other in itertools.combinations(range(len(self.said)), 2):
            if any(clause.startswith("partitionColocation(") for clause in {*self.said[one]} & {*self.said[other]}):
                both = found[one] | found[other]
                for at in both:
                    found[at] = both
        return [sorted(group) for group in found]

    def _across(self, group: Sequence[int]) -> bool:
        """Whether the type would keep operators apart that are fused in any case."""
        return any(self._in_other_channels(one, other) for one, other in itertools.combinations(group, 2))

    def _in_other_channels(self, one: int, other: int) -> bool:
        first, second = self.channels[one], self.channels[other]
        if self.type == "channelIsolation":
            return first != second
        common = first.keys() & second.keys() if self.type == "channelExlocation" else ()
        return any(first[region] != second[region] for region in common)

    def has(self, at: int, clause: str) -> bool:
        return clause in self.said[at]

    def tied(self, at: int) -> list[int]:
        """Operators that are fused with this one in any case."""
        return self.groups[at]

    def group(self, at: int) -> set[int]:
        """Operators that are on the host of this one in any case: by the token, or as they are fused."""
        colocated = {one for one in range(len(self.said)) if self.has(one, 'hostColocation("c")')}
        found = set(self.tied(at))
        for _ in self.said:
            found |= colocated if found & colocated else set()
            found |= {other for one in found for other in self.tied(one)}
        return found

    def apart(self, one: int, other: int) -> bool:
        """Whether the rules keep two operators apart."""
        pair = (one, other)
        if any(self.has(at, "partitionIsolation") for at in pair):
            return True
        if all(self.has(at, 'partitionExlocation("x")') for at in pair):
            return True
        hosts = {clause for at in pair for clause in self.said[at] if clause.startswith("host(")}
        if len(hosts) > 1:
            return True
        if any(self.operators[one].get(option) != self.operators[other].get(option) for option in OPTIONS):
            return True
        if other not in self.groups[one] and ({one, other} & self.mixed or self._in_other_channels(one, other)):
            return True
        return self._exlocated(one, other) or self._isolated(one, other) or self._isolated(other, one)

    def _exlocated(self, one: int, other: int) -> bool:
        clause = 'hostExlocation("e")'
        if self.has(one, clause) and self.has(other, clause):
            return True
        first, second = self.group(one), self.group(other)
        return (
            other not in first
            and any(self.has(at, clause) for at in first)
            and any(self.has(at, clause) for at in second)
        )

    def _isolated(self, one: int, other: int) -> bool:
        """Whether the first is isolated, and the second has a token that operators outside have as well."""
        if not self.has(one, "hostIsolation") or not self.has(other, 'hostColocation("c")'):
            return False
        holders = {at for at in range(len(self.said)) if self.has(at, 'hostColocation("c")')}
        own = any(self.has(at, "hostIsolation") for at in self.tied(other))
        return not (own and holders <= set(self.tied(other)))

    def contradictory(self) -> bool:
        """Whether operators of the partition colocation are kept apart, or one contradicts itself."""
        for at in range(len(self.said)):
            if self._isolated(at, at):
                return True
        return any(self.apart(one, other) for group in self.groups for one, other in itertools.combinations(group, 2))

    def allowed(self, blocks: Sequence[Sequence[int]]) -> bool:
        """Whether the rules allow the partition."""
        if self.legacy and len(blocks) != self.units:
            return False
        if any(not set(self.groups[at]) <= set(block) for block in blocks for at in block):
            return False
        return not any(pair in self.separated for block in blocks for pair in itertools.combinations(sorted(block), 2))

    @functools.cached_property
    def separated(self) -> set[tuple[int, int]]:
        """The pairs of operators that the rules keep apart."""
        return {pair for pair in itertools.combinations(range(len(self.said)), 2) if self.apart(*pair)}

    def request(self, block: Sequence[int]) -> int:
        """The CPU that an element requests: what its operators cost if one of them says so."""
        stated = [cost for at in block if (cost := self.costs[at]) is not None]
        return sum(stated) if stated else DEFAULT

    def fits(self, blocks: Sequence[Sequence[int]]) -> bool:
        """Whether there is a node for each element: every way to place them is tried, the largest ones first."""
        said = [frozenset(clause for at in block for clause in self.said[at]) for block in blocks]
        elements = sorted(zip(map(self.request, blocks), said, strict=True), key=lambda one: -one[0])
        if sum(request for request, _ in elements) > sum(self.nodes.values()):
            return False
        return self._placed(elements, dict(self.nodes), [])

    def _placed(
        self, elements: Sequence[Element], room: dict[str, int], before: list[tuple[frozenset[str], str]]
    ) -> bool:
        """Whether there are nodes for the elements after those ``before``; ``room`` is what is left on each node."""
        if len(before) == len(elements):
            return True
        request, said = elements[len(before)]
        for on, left in room.items():
            closed = any(clause.startswith("host(") and on not in clause for clause in said)
            able = request <= left and not closed and all(_beside(said, on, *other) for other in before)
            if able and self._placed(elements, {**room, on: left - request}, [*before, (said, on)]):
                return True
        return False

    def can_run(self) -> bool:
        """Whether some fusion fits."""
        return not self.contradictory() and any(
            self.allowed(blocks) and self.fits(blocks) for blocks in partitions(range(len(self.said)))
        )

    def goals(self, blocks: Sequence[Sequence[int]]) -> tuple[Fraction | int, ...]:
        """What is compared."""
        place = {at: number for number, block in enumerate(blocks) for at in block}
        loads = [sum(self.loads[at] for at in block) for block in blocks]
        inseparable = max(sum(self.loads[one] for one in self.tied(at)) for at in range(len(self.loads)))
        over = max(loads) if 10 * max(loads) > max(13 * sum(loads) / len(loads), 10 * inseparable) else 0
        cut = sum(rate for one, other, rate in self.rates if place[one] != place[other])
        return abs(len(blocks) - self.asked), len(blocks), over, cut, sum(load * load for load in loads)

    def best(self) -> tuple[Fraction | int, ...] | None:
        """The goals of the best partition that fits; ``None`` if none does."""
        found = sorted(
            (self.goals(blocks), blocks) for blocks in partitions(range(len(self.said))) if self.allowed(blocks)
        )
        return next((goals for goals, blocks in found if self.fits(blocks)), None)


def channels_of(channel: Sequence[tuple[str, int]]) -> dict[str, tuple[tuple[str, int], ...]]:
    """For each region that an operator is in the whole path to its channel there."""
    return {region: tuple(channel[: depth + 1]) for depth, (region, _) in enumerate(channel)}


def _beside(first: frozenset[str], on: str, second: frozenset[str], to: str) -> bool:
    """Whether an element on a node may run while another one runs on its node."""
    both = first & second
    if on == to:
        return not ('hostExlocation("e")' in both or "hostIsolation" in first | second)
    return 'hostColocation("c")' not in both
