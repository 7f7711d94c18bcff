"""Validation of node expressions (label key, operator, values) as they are written in worker mapping.

The rules are those of Kubernetes for node selectors (``ValidateNodeSelectorRequirement`` of its core validation). So
the API server never refuses an expression that was accepted here, naming a path that the user did not write.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.kube.names import KEY_LIMIT, LABEL_NAME, LABEL_VALUE, is_object_name
from webhook.placement.kube.numbers import integer
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import OPERATORS
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, enumerated, quote

"""The name part of a label key (Kubernetes, labels and selectors)."""

_KEY_RULE: Final = "is not a label key such as kubernetes.io/hostname or disktype"
_VALUE_RULE: Final = (
    "is not a label value: at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
)

_KEYS: Final = 4096
"""Label keys whose validity is cached: more than a cluster has."""

_SHOWN_VALUES: Final = 4
"""Values of one expression that a message lists; the user knows the others."""


class Paths(NamedTuple):
    """The paths of the three parts of an expression, for messages."""

    key: str
    operator: str
    values: str


def in_words(need: Requirement) -> str:
    """The expression in messages: ``disktype In [ssd, nvme]``, ``cores Gt 8``, ``gpu Exists``."""
    values = need.values or ()
    if need.operator in {"In", "NotIn"}:
        return f"{need.key} {need.operator} [{', '.join(values)}]"
    return " ".join((need.key, need.operator, *values))


def problems_of_expression(
    key: str | None, operator: str | None, values: Sequence[str] | None, at: Paths
) -> list[Problem]:
    """All problems of an expression whose parts are at the paths ``at``.

    A key or operator of ``None`` is missing. Values of ``None`` could not be read; they are not judged.
    """
    wrong = [] if values is None else _values(operator, values, at.values)
    return [*_key(key, at.key), *_operator(operator, at.operator), *wrong]


def is_key(key: str) -> bool:
    """Whether the text is a legal label key; only texts that are short enough for one are cached."""
    return len(key) <= KEY_LIMIT and _is_key(key)


@functools.lru_cache(_KEYS)
def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return LABEL_NAME.fullmatch(name) is not None and (not slash or is_object_name(prefix))


def sound(need: Requirement) -> bool:
    """Whether the API server accepts a requirement on labels, and the scheduler can read it.

    No message is made: a pod may have 30,000 requirements.
    """
    values = need.values or ()
    holds = _COUNTS.get(need.operator)
    if holds is None or not holds[0](values) or not is_key(need.key):
        return False
    return all(map(LABEL_VALUE.fullmatch, values))


def problems_of_key(key: str, path: str) -> Iterator[Problem]:
    """A problem if the text is not a legal label key."""
    if not is_key(key):
        yield Problem(path, f"{quote(key)} {_KEY_RULE}")


def problems_of_values(values: Sequence[str], path: str) -> list[Problem]:
    """A problem for each text that is not a legal label value, each text once and at most ten problems."""
    wrong = [value for value in dict.fromkeys(values) if not LABEL_VALUE.fullmatch(value)]
    return [Problem(path, f"{quote(value)} {_VALUE_RULE}") for value in wrong[:SHOWN]]


def _key(key: str | None, path: str) -> Iterator[Problem]:
    if key is None:
        yield Problem(path, "missing: worker mapping needs the key of a node label, such as kubernetes.io/hostname")
    else:
        yield from problems_of_key(key, path)


def _operator(operator: str | None, path: str) -> Iterator[Problem]:
    if operator is None:
        yield Problem(path, f"missing: worker mapping needs an operator, one of {', '.join(OPERATORS)}")
    elif operator not in OPERATORS:
        yield Problem(path, unknown("operator", operator, OPERATORS))


def _values(operator: str | None, values: Sequence[str], path: str) -> Iterator[Problem]:
    holds, rule = _COUNTS.get(operator or "", (_any, ""))
    if not holds(values):
        yield Problem(path, f"{operator} {rule}, found {_listed(values)}")
    else:
        yield from problems_of_values(values, path)


def _any(_values: Sequence[str]) -> bool:
    return True


def _some(values: Sequence[str]) -> bool:
    return bool(values)


def _none(values: Sequence[str]) -> bool:
    return not values


def _number(values: Sequence[str]) -> bool:
    return len(values) == 1 and integer(values[0]) is not None


_COUNTS: Final[dict[str, tuple[Callable[[Sequence[str]], bool], str]]] = {
    "In": (_some, "needs at least one value"),
    "NotIn": (_some, "needs at least one value"),
    "Exists": (_none, "takes no values"),
    "DoesNotExist": (_none, "takes no values"),
    "Gt": (_number, "needs exactly one 64-bit integer"),
    "Lt": (_number, "needs exactly one 64-bit integer"),
}
"""For each operator, the check of its values and the rule in words."""


def _listed(values: Sequence[str]) -> str:
    return enumerated(values, _SHOWN_VALUES, quote) or "none"
