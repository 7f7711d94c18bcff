"""``hostExlocation("t")``: no two operators with the token are fused, not even by way of ``hostColocation``.

An operator that shares its host with one that has the token has it as well, as far as all others are concerned.
"""

from collections.abc import Iterator, Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting
from webhook.placement.spl.clauses import ClauseName


def marks(operators: Sequence[PhysicalOperator], setting: Setting) -> list[Mark]:
    """Each operator with a token differs from all others with it; a colocation group counts as one."""
    return [*_own(operators), *_of_groups(operators, setting)]


def _own(operators: Sequence[PhysicalOperator]) -> Iterator[Mark]:
    for at, operator in enumerate(operators):
        for clause in operator.of(ClauseName.EXLOCATION):
            yield Mark(at, f"hostExlocation {clause.argument}", operator.name, operator.says(clause))


def _of_groups(operators: Sequence[PhysicalOperator], setting: Setting) -> Iterator[Mark]:
    """Marks by which no member of one group is fused with what must be apart from another member."""
    groups = host_groups(operators, setting)
    tokens: dict[int, dict[str, str]] = {}
    for at, operator in enumerate(operators):
        for clause in operator.of(ClauseName.EXLOCATION):
            tokens.setdefault(groups[at], {}).setdefault(str(clause.argument), operator.says(clause))
    for at in range(len(operators)):
        for token, said in tokens.get(groups[at], {}).items():
            yield Mark(at, f"hosts {token}", str(groups[at]), said)


def host_groups(operators: Sequence[PhysicalOperator], setting: Setting) -> list[int]:
    """For each operator the first one that is on its host in any case."""
    groups = [min(unit) for unit in setting.units]
    of_token: dict[str, int] = {}

    def root(at: int) -> int:
        while groups[at] != at:
            groups[at] = at = groups[groups[at]]
        return at

    for at, operator in enumerate(operators):
        for clause in operator.of(ClauseName.COLOCATION):
            one, other = root(at), root(of_token.setdefault(str(clause.argument), at))
            groups[max(one, other)] = min(one, other)
    return [root(at) for at in range(len(operators))]
