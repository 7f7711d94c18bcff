"""The graph to be fused: units that are fused in any case, their traffic, and the pairs that must be apart.

A unit has marks, and two units with different values of one mark are never in one processing element
(``docs/fusion.md``).
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.fusion.application import PARTITION, Application, PhysicalOperator
from webhook.placement.fusion.rules import (
    channels,
    equal_options,
    host,
    host_exlocation,
    host_isolation,
    kept_elements,
    partition_exlocation,
    partition_isolation,
)
from webhook.placement.fusion.rules.mark import Mark, Rule, Setting
from webhook.placement.fusion.rules.partition_colocation import chain, contracted
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.spl.placement import CLAUSE_LIMIT, TEXT_LIMIT, TOKEN_LIMIT

OPERATOR_LIMIT = 1000
"""Operators of one processing element."""

TOO_LARGE = (
    "One partition colocation is too large for a processing element, which has at most "
    f"{OPERATOR_LIMIT} operators, {CLAUSE_LIMIT} different clauses, {TOKEN_LIMIT} tokens and {TEXT_LIMIT} bytes of "
    "them."
)

RULES: tuple[Rule, ...] = (
    partition_isolation.marks,
    partition_exlocation.marks,
    host.marks,
    host_exlocation.marks,
    host_isolation.marks,
    equal_options.marks,
    channels.marks,
    kept_elements.marks,
)
"""The rules that keep operators apart."""

_OF_ALL = frozenset({partition_isolation.KEY, host.EXCLUSIVE})
"""Marks that all operators have if one has a clause of the rule: it differs from those that have none, too."""

_TOKENS = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION})


class PodContent(Struct, frozen=True, gc=False):
    """What a pod has a limited number of: ``clauses``, those of them with ``tokens`` (each a bit), and operators."""

    clauses: int = 0
    tokens: int = 0
    operators: int = 0

    def __or__(self, other: "PodContent") -> "PodContent":
        """The content of a pod with the operators of both, which have none in common."""
        return PodContent(self.clauses | other.clauses, self.tokens | other.tokens, self.operators + other.operators)


class Unit(Struct, frozen=True, gc=False):
    """Operators, by their positions, that are fused in any case; ``said`` has the clause of each mark."""

    members: tuple[int, ...]
    marks: dict[str, str]
    said: dict[str, str]
    load: int
    content: PodContent


class Graph(Struct, frozen=True):
    """The units in the order of the Job, and for each unit its traffic with others. ``sizes`` are bytes of clauses."""

    application: Application
    units: tuple[Unit, ...]
    near: tuple[dict[int, int], ...]
    sizes: tuple[int, ...]

    @property
    def load(self) -> int:
        """The load of all units."""
        return sum(unit.load for unit in self.units)

    def part(self, units: Sequence[int]) -> "Graph":
        """The graph of these units alone."""
        at = {unit: place for place, unit in enumerate(units)}
        near = ({at[to]: weight for to, weight in self.near[unit].items() if to in at} for unit in units)
        return replace(self, units=tuple(self.units[unit] for unit in units), near=tuple(near))

    def least_elements(self) -> int:
        """A number of processing elements that every fusion has at least: by each mark alone, and by each limit."""
        values: dict[str, set[str]] = {}
        for unit in self.units:
            for key, value in unit.marks.items():
                values.setdefault(key, set()).add(value)
        whole = self.content(range(len(self.units)))
        limits = (
            (whole.operators, OPERATOR_LIMIT),
            (whole.tokens.bit_count(), TOKEN_LIMIT),
            (whole.clauses.bit_count(), CLAUSE_LIMIT),
            (sum(self.sizes), TEXT_LIMIT),
        )
        return max(*(-(-amount // most) for amount, most in limits), *map(len, values.values()))

    def clash(self, one: int, other: int) -> str:
        """The mark that keeps two units apart; empty if none does."""
        first, second = self.units[one].marks, self.units[other].marks
        return next((key for key, value in first.items() if second.get(key, value) != value), "")

    def content(self, units: Iterable[int]) -> PodContent:
        """The content of a pod with these units."""
        content = PodContent()
        for at in units:
            content |= self.units[at].content
        return content

    def exceeded(self, content: PodContent) -> str:
        """The limit that the content of a pod exceeds, in words; empty if it exceeds none."""
        if content.operators > OPERATOR_LIMIT:
            return f"{OPERATOR_LIMIT} operators"
        if content.tokens.bit_count() > TOKEN_LIMIT:
            return f"{TOKEN_LIMIT} tokens"
        if content.clauses.bit_count() > CLAUSE_LIMIT:
            return f"{CLAUSE_LIMIT} different clauses"
        return f"{TEXT_LIMIT} bytes of clauses" if self._bytes(content.clauses) > TEXT_LIMIT else ""

    def _bytes(self, clauses: int) -> int:
        """The bytes of these clauses, of which there are few."""
        total = 0
        while clauses:
            last = clauses & -clauses
            total += self.sizes[last.bit_length() - 1]
            clauses ^= last
        return total


TOGETHER = "operators of one partition colocation share a processing element"
ISOLATED = "an isolated operator shares its host with no other processing element"


class Contradiction(Struct, frozen=True):
    """Clauses that no fusion can keep, and why: they put operators together, and apart."""

    clauses: tuple[str, ...]
    why: str = TOGETHER


def graph_of(application: Application, setting: Setting) -> Graph | tuple[Contradiction, ...]:
    """The graph, or what of the application contradicts itself; ``setting`` may leave out the units."""
    operators = application.operators
    parts = contracted(operators, setting.kept)
    whole = replace(setting, units=parts)
    of_operator: list[list[Mark]] = [[] for _ in operators]
    for rule in RULES:
        for mark in rule(operators, whole):
            of_operator[mark.operator].append(mark)
    sets = sorted({id(part): tuple(sorted(part)) for part in parts}.values())
    if wrong := tuple(_contradictions(operators, sets, of_operator)):
        return wrong
    loads = _loads(operators)
    bits: dict[str, int] = {}
    units = tuple(_unit(members, operators, of_operator, loads, bits) for members in sets)
    unit_of = {at: place for place, members in enumerate(sets) for at in members}
    near: list[dict[int, int]] = [{} for _ in units]
    for (one, other), weight in application.traffic.items():
        first, second = unit_of[one], unit_of[other]
        if first != second:
            near[first][second] = near[first].get(second, 0) + weight
            near[second][first] = near[second].get(first, 0) + weight
    return Graph(application, units, tuple(near), tuple(len(text.encode()) for text in bits))


def _loads(operators: Sequence[PhysicalOperator]) -> list[int]:
    """The load of each operator: its cost, else the least cost that is stated, 1 if none is."""
    stated = [operator.cost for operator in operators if operator.cost]
    least = min(stated, default=1)
    return [least if operator.cost is None else operator.cost for operator in operators]


def _contradictions(
    operators: Sequence[PhysicalOperator], sets: Iterable[tuple[int, ...]], of_operator: Sequence[Sequence[Mark]]
) -> Iterator[Contradiction]:
    """For each unit the first pair of marks that exclude each other."""
    for members in sets:
        first: dict[str, Mark] = {}
        for mark in (mark for at in members for mark in of_operator[at]):
            earlier = first.setdefault(mark.key, mark)
            if earlier.value != mark.value:
                linked = chain(operators, earlier.operator, mark.operator)
                said = [clause for one in (earlier, mark) for clause in (one.clause, one.beside) if clause]
                if mark.key in _OF_ALL:
                    said = said[:1]
                why = ISOLATED if earlier.operator == mark.operator else TOGETHER
                yield Contradiction(tuple(dict.fromkeys((*linked, *said))), why)
                break


def _unit(
    members: tuple[int, ...],
    operators: Sequence[PhysicalOperator],
    of_operator: Sequence[Sequence[Mark]],
    loads: Sequence[int],
    bits: dict[str, int],
) -> Unit:
    marks = {mark.key: mark for at in members for mark in of_operator[at]}
    texts = tokens = 0
    for at in members:
        operator = operators[at]
        for clause in operator.clauses:
            if clause.name not in PARTITION:
                own = operator.says(clause) if clause.name is ClauseName.ISOLATION else clause.text
                bit = 1 << bits.setdefault(
                    f"{operator.name}: {clause.text}; " if own != clause.text else own, len(bits)
                )
                texts |= bit
                tokens |= bit if clause.name in _TOKENS else 0
    return Unit(
        members,
        {key: mark.value for key, mark in marks.items()},
        {key: mark.clause for key, mark in marks.items()},
        sum(loads[at] for at in members),
        PodContent(texts, tokens, len(members)),
    )
