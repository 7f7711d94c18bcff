"""Kubernetes' selectors over one set of labels, in plain loops over plain JSON.

Source: ``component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`` and ``strconv.ParseInt`` of Go.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
Labels = Mapping[str, str]


def holds(requirement: Json, labels: Labels) -> bool:
    """Whether the labels meet one requirement."""
    there = labels.get(requirement["key"])
    values: Sequence[str] = requirement.get("values") or ()
    match requirement["operator"]:
        case "In":
            return there is not None and there in values
        case "NotIn":
            return there is None or there not in values
        case "Exists":
            return there is not None
        case "DoesNotExist":
            return there is None
        case "Gt" | "Lt" as operator:
            mine, bound = _whole(there), _whole(values[0])
            if mine is None or bound is None:
                return False
            return mine > bound if operator == "Gt" else mine < bound
        case operator:
            raise AssertionError(operator)


def term_holds(term: Json, name: str, labels: Labels) -> bool:
    """Whether a node term matches a node; one that says nothing matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return all(holds(need, labels) for need in expressions) and all(
        holds(need, {"metadata.name": name}) for need in fields
    )


def affinity_holds(affinity: Json | None, name: str, labels: Labels) -> bool:
    """Whether a pod's required node affinity, if it has any, matches a node."""
    nodes = (affinity or {}).get("nodeAffinity") or {}
    required = nodes.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    return any(term_holds(term, name, labels) for term in required.get("nodeSelectorTerms") or ())


def selector_holds(selector: Json, labels: Labels) -> bool:
    """Whether a label selector matches; an empty one always does."""
    equal = (selector.get("matchLabels") or {}).items()
    return all(labels.get(key) == value for key, value in equal) and all(
        holds(need, labels) for need in selector.get("matchExpressions") or ()
    )


def tolerated(taint: tuple[str, str, str], tolerations: Sequence[Json]) -> bool:
    """Whether one of the tolerations covers the taint: key, value, effect."""
    return any(_covers(toleration, *taint) for toleration in tolerations)


def _covers(toleration: Json, key: str, value: str, effect: str) -> bool:
    if toleration.get("effect") and toleration["effect"] != effect:
        return False
    exists = toleration.get("operator") == "Exists"
    if not toleration.get("key"):
        return exists
    return toleration["key"] == key and (exists or (toleration.get("value") or "") == value)


def _whole(text: str | None) -> int | None:
    if text is None or not re.fullmatch("[+-]?[0-9]+", text, re.ASCII):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def taken(requirement: Json, *, required: bool) -> bool:
    """Whether the API server takes a requirement on a label (``ValidateNodeSelectorRequirement``)."""
    values: Sequence[str] = requirement.get("values") or ()
    counts = {"In": len(values) > 0, "NotIn": len(values) > 0, "Exists": not values, "DoesNotExist": not values}
    right = counts.get(requirement["operator"], len(values) == 1)
    return right and (not required or all(map(_is_label_value, values)))


def readable(requirement: Json) -> bool:
    """Whether the scheduler can read a requirement on a label that the API server took (``labels.NewRequirement``)."""
    values: Sequence[str] = requirement.get("values") or ()
    compares = requirement["operator"] in {"Gt", "Lt"}
    return all(map(_is_label_value, values)) and not (compares and _whole(values[0]) is None)


def _is_label_value(text: str) -> bool:
    return re.fullmatch("([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]|", text, re.ASCII) is not None
