"""What one HPAIntent object proves wrong about itself: CEL for ``hardware_text.py`` and ``intent.py`` of placement.

What a requirement says of a resource stands at its top or below ``resource``, so rules look in both places. Amounts are
numbers or text; which of two is more, only numbers tell here, and the webhook refuses what is wrong with a text. There
are few rules, because each is asked 4,096 times of the largest object: all of that takes the API server two seconds.
"""

import itertools
from typing import Final

from webhook.cluster.crds.openapi import Schema, rule

AMOUNTS: Final = ("requests", "limits", "units")
_FORBIDDEN: Final = "FieldValueForbidden"
_REQUIRED: Final = "FieldValueRequired"


def _cel(path: str) -> str:
    """The path as CEL writes it, which has no hyphens in names."""
    return path.replace("-", "__dash__")


def _has(path: str) -> str:
    """Whether there is such a field, and all that it is in."""
    parts = _cel(path).split(".")
    return " && ".join(f"has(self.{'.'.join(parts[:end])})" for end in range(1, len(parts) + 1))


def _there(*fields: str) -> str:
    """Whether one of the fields stands in one of its two places."""
    places = [place for field in fields for place in (field, f"resource.{field}")]
    return f"({' || '.join(_has(place) for place in places)})"


def _same(one: str, other: str) -> str:
    """Whether two fields say the same, if both are there."""
    return f"(!({_has(one)} && {_has(other)}) || self.{_cel(one)} == self.{_cel(other)})"


def _alike(one: str, other: str) -> Schema:
    """Two fields that mean the same say the same."""
    return rule(_same(one, other), f"means the same as {one}, and must not say something else", fieldPath=f".{other}")


def _more(place: str) -> str:
    """Whether more is requested there than may be had, as far as numbers tell."""
    asked, most = f"{place}.requests", f"{place}.limits"
    return f"(has({asked}) && has({most}) && type({asked}) == int && type({most}) == int && {asked} > {most})"


_LABEL: Final = f"(has(self.allocatable) ? !self.allocatable : {_there('value')})"
"""Whether a requirement is a label of the node, and no amount."""

_TWICE: Final = (
    ("name", "resource.key"), ("key", "resource.name"),
    *((field, f"resource.{field}") for field in ("name", "key", *AMOUNTS, "value")),
)  # fmt: skip
"""What may stand at the top, and below ``resource``."""

REQUIREMENT: Final = [
    rule(_there("name", "key"), "needs a name: of a resource, or of a node label", reason=_REQUIRED),
    rule(
        f"{_LABEL} || {_there('requests', 'limits')}",
        "needs requests or limits, or else the value of a node label",
        reason=_REQUIRED,
    ),
    rule(
        f"{_LABEL} || !{_there('value')}",
        "value belongs to a node label, and this requirement is allocatable",
        reason=_FORBIDDEN,
    ),
    rule(
        f"!{_LABEL} || {_there('value')}", "is not allocatable, so it needs the value of a node label", reason=_REQUIRED
    ),
    rule(
        f"!{_LABEL} || !{_there(*AMOUNTS)}",
        "requests, limits and units belong to a resource, and this requirement is not allocatable",
        reason=_FORBIDDEN,
    ),
    rule(f"!{_more('self')}", "is more than limits", fieldPath=".requests"),
    rule(f"!has(self.resource) || !{_more('self.resource')}", "is more than limits", fieldPath=".resource.requests"),
    _alike("name", "key"),
    _alike("container-name", "container"),
    rule(
        f"!has(self.resource) || {' && '.join(itertools.starmap(_same, _TWICE))}",
        "must not say something else than the fields beside it",
        fieldPath=".resource",
    ),
]
"""At what a requirement says."""

_BESIDE: Final = (
    "key", "mandatory", "weight", "allocatable", *AMOUNTS, "value", "container-name", "container", "resource",
)  # fmt: skip

WRAPPED: Final = rule(
    f"!has(self.spec) || !({' || '.join(map(_has, _BESIDE))})",
    "with a spec of its own a requirement has a name beside it, and nothing else",
    reason=_FORBIDDEN,
)
"""At a requirement that may say everything below ``spec``."""

ENTRY: Final = [WRAPPED, *(one | {"rule": f"has(self.spec) || {one['rule']}"} for one in REQUIREMENT)]
"""At an entry of ``requirements``, in either form."""

WORKLOAD: Final = [_alike("container-name", "container")]
"""At what says which workload it is."""

CONSUMER: Final = [_alike("consumer.container-name", "container"), _alike("consumer.container", "container")]
"""At a consumer."""

_NAME: Final = "(has({0}.name) ? {0}.name : {0}.consumer.name)"

SPEC: Final = [
    _alike("app", "appName"),
    rule(
        "!has(self.consumers) || self.consumers.all(one, self.consumers.exists_one(other, "
        f"{_NAME.format('one')} == {_NAME.format('other')}))",
        "two consumers have the same name",
        fieldPath=".consumers",
    ),
]
"""At the spec."""
