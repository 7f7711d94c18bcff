"""``partitionExlocation("t")``: no two operators with the token are in one processing element."""

from collections.abc import Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting
from webhook.placement.spl.clauses import ClauseName


def marks(operators: Sequence[PhysicalOperator], _setting: Setting) -> list[Mark]:
    """Each operator with a token differs from all others with it."""
    return [
        Mark(at, f"partitionExlocation {clause.argument}", operator.name, operator.says(clause))
        for at, operator in enumerate(operators)
        for clause in operator.of(ClauseName.PARTITION_EXLOCATION)
    ]
