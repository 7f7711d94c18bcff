"""``hostIsolation``: others may be in its processing element, but none with ``hostColocation``.

Both on one operator, or in one partition colocation, are right if no operator outside has the token.
"""

from collections.abc import Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting
from webhook.placement.spl.clauses import ClauseName

_KEY = "hostIsolation"


def marks(operators: Sequence[PhysicalOperator], setting: Setting) -> list[Mark]:
    """Isolated operators differ from colocated ones."""
    holders: dict[object, set[int]] = {}
    isolated = [any(operator.of(ClauseName.ISOLATION)) for operator in operators]
    for at, operator in enumerate(operators):
        for clause in operator.of(ClauseName.COLOCATION):
            holders.setdefault(clause.argument, set()).add(at)
    marked: list[Mark] = []
    for at, operator in enumerate(operators) if any(isolated) else ():
        unit = setting.units[at]
        if isolated[at]:
            marked.append(Mark(at, _KEY, "isolated", operator.says("hostIsolation")))
        for clause in operator.of(ClauseName.COLOCATION):
            outside = holders[clause.argument] - unit
            beside = operators[min(outside)].says(clause) if outside else ""
            own = any(isolated[other] for other in unit) and not outside
            marked.append(Mark(at, _KEY, "isolated" if own else "colocated", operator.says(clause), beside))
    return marked
