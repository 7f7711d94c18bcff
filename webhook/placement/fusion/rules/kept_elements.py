"""Processing elements that keep their operators while parallel regions get other widths.

Operators that are new are fused with each other only, unless a partition colocation puts them into such an element.
"""

from collections.abc import Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting


def marks(operators: Sequence[PhysicalOperator], setting: Setting) -> list[Mark]:
    """The element that each operator stays in; no clause demands it."""
    if not setting.kept:
        return []
    of_unit = {id(unit): _element(unit, operators, setting) for unit in setting.units}
    return [Mark(at, "kept element", of_unit[id(unit)], "") for at, unit in enumerate(setting.units)]


def _element(unit: frozenset[int], operators: Sequence[PhysicalOperator], setting: Setting) -> str:
    return next((name for at in sorted(unit) if (name := setting.kept.get(operators[at].name))), "")
