"""The operators of a Job that are yet to be fused, their streams and their parallel regions (``docs/jobs.md``).

A Job that states operators leaves it to the product which of them share a processing element.
"""

from typing import Annotated, Any, Final

from msgspec import Struct, field

from webhook.placement.field_rules.rules import NumberRule, SwitchRule, TextRule
from webhook.placement.kube.pod import Amount
from webhook.placement.spl.placement import TEXT_LIMIT

OPERATORS_LIMIT: Final = 5000
"""Operators of one Job, counting each copy in a parallel region (``docs/operations.md``, limits)."""

STREAMS_LIMIT: Final = 20_000
"""Streams of one Job, counting each copy."""

REGIONS_LIMIT: Final = 100
"""Parallel regions of one Job."""

WIDTH_LIMIT: Final = 1000
"""Channels of a parallel region."""

RATE_LIMIT: Final = 10**15
"""The highest rate of a stream: sums of 20,000 of these are exact in 64 bits."""

IDENTIFIER_LIMIT: Final = 1024
"""Characters of the name of an operator, which has the names of the composites around it, or of a property."""

REGION_NAME: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
"""An identifier of SPL: a name of a region is a part of tokens."""

REGION_NAME_LIMIT: Final = 48
"""Characters of the name of a region: with an index it still is a part of a label value."""

OPERATOR_NAME: Final = TextRule(about="Name of the operator, unique in the Job.", least=1, most=IDENTIFIER_LIMIT)


def _region(about: str) -> TextRule:
    form = "is not an identifier of SPL"
    return TextRule(about=about, least=1, most=REGION_NAME_LIMIT, pattern=REGION_NAME, form=form)


_MODEL = {"frozen": True, "gc": False, "forbid_unknown_fields": True, "rename": "camel", "omit_defaults": True}


class JobOperator(Struct, **_MODEL, kw_only=True):
    """An operator of the application; ``template`` is a ``PodTemplateSpec`` as JSON."""

    name: Annotated[str, OPERATOR_NAME] = ""
    placement: Annotated[
        str | None,
        TextRule(about='Its host and partition constraints, such as partitionColocation("t").', most=TEXT_LIMIT),
    ] = None
    restartable: Annotated[
        bool | None, SwitchRule("Whether the operator can be restarted after a failure; true if absent.")
    ] = None
    relocatable: Annotated[
        bool | None, SwitchRule("Whether the operator can be restarted on another node; true if absent.")
    ] = None
    threaded: Annotated[bool | None, SwitchRule("Whether the operator has a thread of its own; false if absent.")] = (
        None
    )
    cost: Amount | None = None
    memory: Amount | None = None
    region: Annotated[str | None, _region("The parallel region that the operator is in.")] = None
    template: Any = None


class StreamSpec(Struct, **_MODEL, kw_only=True):
    """A stream between two operators; ``rate`` is its total, in any unit."""

    source: Annotated[
        str, TextRule(about="The operator that sends.", least=1, most=IDENTIFIER_LIMIT, needed="a stream has two ends")
    ] = field(default="", name="from")
    to: Annotated[
        str,
        TextRule(about="The operator that receives.", least=1, most=IDENTIFIER_LIMIT, needed="a stream has two ends"),
    ] = ""
    rate: Annotated[
        int | None,
        NumberRule("Traffic of the stream in any unit, such as bytes per second; 1 if absent.", 0, RATE_LIMIT),
    ] = None


class RegionSpec(Struct, **_MODEL, kw_only=True):
    """A parallel region: its operators are there once for each channel."""

    name: Annotated[str, _region("Name of the region, unique in the Job.")] = ""
    width: Annotated[int, NumberRule("Number of channels.", 1, WIDTH_LIMIT)] = 0
    max_width: Annotated[int | None, NumberRule("Largest number of channels.", 1, WIDTH_LIMIT)] = None
    within: Annotated[str | None, _region("The region that this one is nested in.")] = None
