"""``partitionColocation("t")``: all operators with the token are in one processing element."""

from collections.abc import Mapping, Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.spl.clauses import ClauseName


def contracted(operators: Sequence[PhysicalOperator], kept: Mapping[str, str]) -> list[frozenset[int]]:
    """For each operator all that are fused with it in any case, itself included.

    ``kept`` has for operators the processing element that they stay in.
    """
    first = list(range(len(operators)))
    of_token: dict[object, int] = {}

    def root(at: int) -> int:
        while first[at] != at:
            first[at] = at = first[first[at]]
        return at

    for at, operator in enumerate(operators):
        for clause in operator.of(ClauseName.PARTITION_COLOCATION):
            one, other = root(at), root(of_token.setdefault(clause.argument, at))
            first[max(one, other)] = min(one, other)
        if operator.name in kept:
            one, other = root(at), root(of_token.setdefault((kept[operator.name],), at))
            first[max(one, other)] = min(one, other)
    units: dict[int, list[int]] = {}
    for at in range(len(operators)):
        units.setdefault(root(at), []).append(at)
    frozen = {one: frozenset(unit) for one, unit in units.items()}
    return [frozen[root(at)] for at in range(len(operators))]


def chain(operators: Sequence[PhysicalOperator], one: int, other: int) -> list[str]:
    """The clauses by which two operators are fused in any case, each with its operator."""
    ways: dict[int, list[str]] = {one: []}
    queue = [one]
    for at in queue:
        for clause in operators[at].of(ClauseName.PARTITION_COLOCATION):
            for next_, operator in enumerate(operators):
                if next_ not in ways and clause.argument in _tokens(operator):
                    ways[next_] = [*ways[at], operators[at].says(clause), operator.says(clause)]
                    queue.append(next_)
    return list(dict.fromkeys(ways.get(other, ())))


def _tokens(operator: PhysicalOperator) -> set[object]:
    return {clause.argument for clause in operator.of(ClauseName.PARTITION_COLOCATION)}
