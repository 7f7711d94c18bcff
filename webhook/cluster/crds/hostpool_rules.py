"""What fields of a HostPool must not be together, and must not change: CEL for ``placement/inventory/pool_spec.py``.

All rules are at the spec, because a rule at a field is not asked when the field comes or goes. Sets are compared
without order; where the order counts, mapped copies are compared, which are lists. ``has(x) ? x : y`` stands where
``?x.orValue(y)`` would be shorter: the API server cannot price that, and refuses what has no price.
"""

from typing import Final

from webhook.cluster.crds.openapi import Schema, rule
from webhook.placement.inventory.pool_spec import MODES

SHARED, EXCLUSIVE = MODES

_IS_EXCLUSIVE: Final = f"has(self.mode) && self.mode == '{EXCLUSIVE}'"

_EXCLUDED: Final = {
    "size": "has(self.size)",
    "tags": "has(self.tags) && size(self.tags) > 0",
    "selector": "has(self.selector)",
    "mode Exclusive": _IS_EXCLUSIVE,
    "elastic": "has(self.elastic) && self.elastic",
}
"""What a literal pool cannot have; what a default fills in is let pass."""


def _fixed(field: str, value: str = "", default: str = "") -> Schema:
    """A field that never changes; its absence means ``default``, or something of its own."""
    new, old = (f"has({one}.{field})" for one in ("self", "oldSelf"))
    if default:
        sides = (f"(has({one}.{field}) ? {one}.{field}{value} : {default})" for one in ("self", "oldSelf"))
        expression = " == ".join(sides)
    else:
        expression = f"{new} == {old} && (!{new} || self.{field} == oldSelf.{field})"
    return rule(expression, "cannot be changed: create another HostPool instead", fieldPath=f".{field}")


_IN_ORDER: Final = ".map(entry, entry)"

RULES: Final = [
    *(
        rule(f"!has(self.hosts) || !({there})", f"excludes {name}", fieldPath=".hosts", reason="FieldValueForbidden")
        for name, there in _EXCLUDED.items()
    ),
    rule(
        f"has(self.size) || has(self.hosts) || !({_IS_EXCLUSIVE})",
        "missing, an Exclusive pool must say how many hosts it takes",
        fieldPath=".size",
        reason="FieldValueRequired",
    ),
    _fixed("name", default="''"),
    _fixed("job", default="''"),
    _fixed("hosts", _IN_ORDER, "[]"),
    _fixed("size"),
    _fixed("tags", _IN_ORDER, "[]"),
    _fixed("selector"),
    _fixed("mode", default=f"'{SHARED}'"),
]
