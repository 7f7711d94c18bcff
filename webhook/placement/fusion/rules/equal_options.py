"""``restartable``, ``relocatable`` and ``template``: equal within a processing element, which has one pod.

A template may be absent, the two others have defaults.
"""

from collections.abc import Iterator, Sequence

import msgspec

from webhook.placement.fusion.application import PhysicalOperator
from webhook.placement.fusion.rules.mark import Mark, Setting

_to_json = msgspec.json.Encoder(order="deterministic").encode


def marks(operators: Sequence[PhysicalOperator], _setting: Setting) -> list[Mark]:
    """What each operator says, or leaves as it is."""
    return [mark for at, operator in enumerate(operators) for mark in _of(at, operator)]


def _of(at: int, operator: PhysicalOperator) -> Iterator[Mark]:
    for option in ("restartable", "relocatable"):
        word = "true" if getattr(operator, option) else "false"
        yield Mark(at, option, word, operator.says(f"{option}: {word}"))
    if operator.template is not None:
        yield Mark(at, "template", _to_json(operator.template).decode(), operator.says("template"))
