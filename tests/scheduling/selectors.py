"""Selectors over labels, terms over nodes, and tolerations, as the scheduler matches them.

Written from ``labels.NewRequirement`` (apimachinery), ``nodeaffinity.go`` (component-helpers) and ``ToleratesTaint``
(core/v1).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

Json = Mapping[str, Any]
Labels = Mapping[str, str]

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_INT64 = range(-(2**63), 2**63)


class ParseError(Exception):
    """An expression that the scheduler cannot parse: the term that it stands in matches no node."""


def selects(selector: Json | None, labels: Labels) -> bool:
    """Whether a LabelSelector matches; none matches nothing, an empty one everything."""
    if selector is None:
        return False
    exact = (selector.get("matchLabels") or {}).items()
    expressions = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in exact) and all(holds(one, labels) for one in expressions)


def holds(expression: Json, labels: Labels) -> bool:
    """Whether one expression holds; raises ParseError."""
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or []
    _check(operator, values)
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    there = integer(labels.get(key, ""))
    limit = integer(values[0])
    assert limit is not None
    return there is not None and (there > limit if operator == "Gt" else there < limit)


def _check(operator: str, values: list[str]) -> None:
    if not all(_LABEL_VALUE.fullmatch(value) for value in values):
        raise ParseError("a value is not a label value")
    if operator in {"In", "NotIn"}:
        wrong = not values
    elif operator in {"Exists", "DoesNotExist"}:
        wrong = bool(values)
    elif operator in {"Gt", "Lt"}:
        wrong = len(values) != 1 or integer(values[0]) is None
    else:
        wrong = True
    if wrong:
        raise ParseError(f"{operator} {values}")


def integer(text: str) -> int | None:
    """The number of 64 bits that a text stands for, if it does."""
    return int(text) if _INTEGER.fullmatch(text) and int(text) in _INT64 else None


def node_selected(spec: Json, node: Json) -> bool:
    """Whether the pod's ``nodeSelector`` and required node affinity let it run on the node."""
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    required = node_affinity(spec).get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(term_matches(term, node) for term in required["nodeSelectorTerms"])


def node_affinity(spec: Json) -> Json:
    """The pod's node affinity; empty if it has none."""
    return (spec.get("affinity") or {}).get("nodeAffinity") or {}


def term_matches(term: Json, node: Json) -> bool:
    """Whether a term of node affinity matches: an empty one, or one that cannot be parsed, never does."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not parses(term) or not (expressions or fields):
        return False
    name = {"metadata.name": node["metadata"]["name"]}
    labels = node["metadata"].get("labels") or {}
    return all(holds(one, labels) for one in expressions) and all(holds(one, name) for one in fields)


def parses(term: Json) -> bool:
    """Whether the scheduler can parse all of the term's expressions."""
    try:
        for expression in (*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())):
            _check(expression["operator"], expression.get("values") or [])
    except ParseError:
        return False
    return True


def untolerated(taints: Iterable[Json], tolerations: Iterable[Json], effects: Iterable[str]) -> list[Json]:
    """The taints of these effects that none of the tolerations tolerates."""
    kept = list(tolerations)
    hard = [taint for taint in taints if taint["effect"] in set(effects)]
    return [taint for taint in hard if not any(tolerates(toleration, taint) for toleration in kept)]


def tolerates(toleration: Json, taint: Json) -> bool:
    """Whether one toleration tolerates one taint."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return toleration.get("value", "") == taint.get("value", "")
