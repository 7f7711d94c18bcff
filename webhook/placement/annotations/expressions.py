"""Node expressions of worker mapping: a label key, an operator and values, and what is wrong with them.

The rules are those of Kubernetes for a node selector (``ValidateNodeSelectorRequirement`` of its core validation), so
that nothing is admitted here that the API server refuses with a path the user never wrote.
"""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.kube.addresses import is_node_name
from webhook.placement.kube.numbers import integer
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selector import OPERATORS
from webhook.placement.text.keys import LABEL_VALUE
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, enumerated, quote

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
"""The name part of a label key (Kubernetes, labels and selectors)."""

_KEY_RULE: Final = "is no label key such as kubernetes.io/hostname or disktype"
_VALUE_RULE: Final = (
    "is no label value: at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
)

_KEYS: Final = 4096
"""Label keys of which it is kept whether they are any: more than a cluster has."""

_SAID: Final = 4
"""Values that are named in a message; the user knows the rest."""


class Paths(NamedTuple):
    """Where the three parts of an expression stand."""

    key: str
    operator: str
    values: str


def in_words(need: Requirement) -> str:
    """The expression as messages name it: ``disktype In [ssd, nvme]``, ``cores Gt 8``, ``gpu Exists``."""
    values = need.values or ()
    if need.operator in {"In", "NotIn"}:
        return f"{need.key} {need.operator} [{', '.join(values)}]"
    return " ".join((need.key, need.operator, *values))


def problems_of_expression(
    key: str | None, operator: str | None, values: Sequence[str] | None, at: Paths
) -> list[Problem]:
    """Everything that is wrong with an expression.

    A key or operator of ``None`` is not there; values of ``None`` could not be read, and are no matter here.
    """
    wrong = [] if values is None else _values(operator, values, at.values)
    return [*_key(key, at.key), *_operator(operator, at.operator), *wrong]


@functools.lru_cache(_KEYS)
def is_key(key: str) -> bool:
    """Whether the text can be the key of a label."""
    prefix, slash, name = key.rpartition("/")
    return _NAME.fullmatch(name) is not None and (not slash or is_node_name(prefix))


def sound(need: Requirement) -> bool:
    """Whether nothing is wrong with a requirement on labels: the API server takes it, and the scheduler can read it.

    A pod may have 30,000 of them, so this looks for no words.
    """
    values = need.values or ()
    holds = _COUNTS.get(need.operator)
    if holds is None or not holds[0](values) or not is_key(need.key):
        return False
    return all(map(LABEL_VALUE.fullmatch, values))


def problems_of_key(key: str, path: str) -> Iterator[Problem]:
    """A problem if the text cannot be the key of a label."""
    if not is_key(key):
        yield Problem(path, f"{quote(key)} {_KEY_RULE}")


def problems_of_values(values: Sequence[str], path: str) -> list[Problem]:
    """A problem for each text that cannot be the value of a label."""
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
    "Gt": (_number, "needs exactly one whole number of 64 bits"),
    "Lt": (_number, "needs exactly one whole number of 64 bits"),
}
"""What must be true of the values of each operator, and how to say so."""


def _listed(values: Sequence[str]) -> str:
    return enumerated(values, _SAID, quote) or "none"
