"""``partitionIsolation``: the operator has a processing element of its own."""

from collections.abc import Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting
from webhook.placement.spl.clauses import ClauseName

KEY = "partitionIsolation"


def marks(operators: Sequence[PhysicalOperator], _setting: Setting) -> list[Mark]:
    """Each isolated operator differs from all others, and these are equal."""
    isolated = {at for at, operator in enumerate(operators) if any(operator.of(ClauseName.PARTITION_ISOLATION))}
    if not isolated:
        return []
    return [
        Mark(
            at,
            KEY,
            operator.name if at in isolated else "",
            operator.says("partitionIsolation") if at in isolated else "",
        )
        for at, operator in enumerate(operators)
    ]
