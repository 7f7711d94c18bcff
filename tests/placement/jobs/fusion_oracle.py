"""A Job of operators as it is fused and placed by trying everything.

Nothing of the fuser is used: its rules are written down here a second time.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Job = dict[str, Any]


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to part the items."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        for at in range(len(rest)):
            yield [*rest[:at], [items[0], *rest[at]], *rest[at + 1 :]]
        yield [[items[0]], *rest]


class Oracle:
    """A Job as the search reads it."""

    def __init__(self, job: Job, nodes: Mapping[str, int]) -> None:
        self.nodes = nodes
        self.operators = job["operators"]
        self.said = [one.get("placement", "").split(", ") for one in self.operators]
        self.costs = [int(one.get("cost", "0m").removesuffix("m")) for one in self.operators]
        names = [one["name"] for one in self.operators]
        self.rates = [(names.index(one["from"]), names.index(one["to"]), one["rate"]) for one in job["streams"]]
        self.legacy = "legacy" in job["fusion"]
        self.held = [at for at, said in enumerate(self.said) if 'partitionColocation("p")' in said]
        self.units = len(names) - max(0, len(self.held) - 1)
        self.asked = self.units if self.legacy else job["fusion"].get("manual", 1)

    def has(self, at: int, clause: str) -> bool:
        return clause in self.said[at]

    def tied(self, at: int) -> list[int]:
        """Operators that are fused with this one in any case."""
        return self.held if at in self.held else [at]

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
        if len(hosts) > 1 or self.operators[one].get("restartable") != self.operators[other].get("restartable"):
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
        return any(self.apart(one, other) for one, other in itertools.combinations(self.held, 2))

    def allowed(self, blocks: Sequence[Sequence[int]]) -> bool:
        """Whether the rules allow the partition."""
        if self.legacy and len(blocks) != self.units:
            return False
        if self.held and not any(set(self.held) <= set(block) for block in blocks):
            return False
        return not any(self.apart(*pair) for block in blocks for pair in itertools.combinations(block, 2))

    def fits(self, blocks: Sequence[Sequence[int]]) -> bool:
        """Whether there is a node for each element."""
        if max(sum(self.costs[at] for at in block) for block in blocks) > max(self.nodes.values()):
            return False
        return any(self._runs(blocks, nodes) for nodes in itertools.product(self.nodes, repeat=len(blocks)))

    def can_run(self) -> bool:
        """Whether some fusion fits."""
        return not self.contradictory() and any(
            self.allowed(blocks) and self.fits(blocks) for blocks in partitions(range(len(self.said)))
        )

    def _runs(self, blocks: Sequence[Sequence[int]], nodes: Sequence[str]) -> bool:
        used: dict[str, int] = {}
        said = [{clause for at in block for clause in self.said[at]} for block in blocks]
        for block, on in zip(blocks, nodes, strict=True):
            used[on] = used.get(on, 0) + sum(self.costs[at] for at in block)
        if any(used[on] > self.nodes[on] for on in used):
            return False
        for own, on in zip(said, nodes, strict=True):
            if any(clause.startswith("host(") and on not in clause for clause in own):
                return False
        for (first, on), (second, to) in itertools.combinations(zip(said, nodes, strict=True), 2):
            both = first & second
            if on == to and ('hostExlocation("e")' in both or "hostIsolation" in first | second):
                return False
            if on != to and 'hostColocation("c")' in both:
                return False
        return True

    def goals(self, blocks: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """What is compared."""
        place = {at: number for number, block in enumerate(blocks) for at in block}
        loads = [sum(self.costs[at] for at in block) for block in blocks]
        inseparable = max(sum(self.costs[one] for one in self.tied(at)) for at in range(len(self.costs)))
        over = max(loads) if 10 * max(loads) > max(13 * sum(loads) / len(loads), 10 * inseparable) else 0
        cut = sum(rate for one, other, rate in self.rates if place[one] != place[other])
        return abs(len(blocks) - self.asked), len(blocks), over, cut, sum(load * load for load in loads)

    def best(self) -> tuple[int, ...] | None:
        """The goals of the best partition that fits; ``None`` if none does."""
        found = sorted(
            (self.goals(blocks), blocks) for blocks in partitions(range(len(self.said))) if self.allowed(blocks)
        )
        return next((goals for goals, blocks in found if self.fits(blocks)), None)
