"""``fusion.type``: which operators of parallel regions may be fused.

With ``channelIsolation`` operators of a channel are fused with operators of the same channel only, with
``channelExlocation`` never with those of another channel of the region. A partition colocation is stronger: its
operators get a processing element of their own then.
"""

from collections.abc import Iterator, Sequence

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting

ISOLATION = "channelIsolation"
EXLOCATION = "channelExlocation"


def marks(operators: Sequence[PhysicalOperator], setting: Setting) -> list[Mark]:
    """The channels of each operator, as far as the type looks at them."""
    if setting.type not in {ISOLATION, EXLOCATION}:
        return []
    of_operator = [dict(_of(operator, setting.type)) for operator in operators]
    mixed = {at for at, unit in enumerate(setting.units) if _differ(unit, of_operator)}
    said = f"type: {setting.type}"
    marked = [
        Mark(at, key, value, said)
        for at, own in enumerate(of_operator)
        if at not in mixed
        for key, value in own.items()
    ]
    if mixed:
        for at, unit in enumerate(setting.units):
            marked.append(Mark(at, "mixed channels", str(min(unit)) if at in mixed else "", said))
    return marked


def _of(operator: PhysicalOperator, type_: str) -> Iterator[tuple[str, str]]:
    if type_ == ISOLATION:
        yield "channel", str(operator.channel)
    else:
        for depth, (region, _) in enumerate(operator.channel):
            yield f"channel of {region}", str(operator.channel[: depth + 1])


def _differ(unit: frozenset[int], of_operator: Sequence[dict[str, str]]) -> bool:
    """Whether operators that are fused in any case are in different channels."""
    first: dict[str, str] = {}
    return any(first.setdefault(key, value) != value for at in unit for key, value in of_operator[at].items())
