"""A model of how Karpenter matches pods with NodePools, which tries all values of all labels.

It follows the published rules ("Scheduling" and "NodePools" in Karpenter's documentation) and shares no code with the
product: a NodePool makes a node for a pod if some node has labels that meet all of its requirements and those of one
term of the pod, taints that the pod tolerates, and a size within the limits. Labels that neither states are absent,
unless they are well-known: which values of these there are only the cloud provider knows.
"""

import operator as operator_of
from collections.abc import Mapping, Sequence
from typing import Final

from tests.builders import Json

CUSTOM: Final = ("disktype", "cores", "rack")
WELL_KNOWN: Final = ("topology.kubernetes.io/zone", "node.kubernetes.io/instance-type")
WORDS: Final = ("a", "b", "c")
NUMBERS: Final = ("2", "3", "4", "5")
VALUES: Final = (*WORDS, *map(str, range(9)), "other")
"""All values: those that requirements name, and one beyond each bound."""


def can_make(node_pool: Json, pod: Json) -> bool:
    """Whether the NodePool would make a node for the pod, if the cloud has every kind of machine."""
    spec = node_pool["spec"]["template"]["spec"]
    tolerated = all(
        any(_tolerates(found, taint) for found in pod["spec"].get("tolerations", ()))
        for taint in spec.get("taints", ())
        if taint["effect"] != "PreferNoSchedule"
    )
    asked = pod["spec"]["containers"][0]["resources"].get("requests", {})
    used = node_pool.get("status", {}).get("resources", {})
    fits = all(
        int(asked.get(name, 0)) <= int(most) - int(used.get(name, 0)) and int(most) > int(used.get(name, 0))
        for name, most in node_pool["spec"].get("limits", {}).items()
    )
    return tolerated and fits and any(makes_labels(node_pool, requirements) for requirements in _alternatives(pod))


def _alternatives(pod: Json) -> list[list[Json]]:
    """The requirements of the pod: its node selector, with each term of its affinity."""
    selector = [
        {"key": key, "operator": "In", "values": [value]} for key, value in pod["spec"].get("nodeSelector", {}).items()
    ]
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = [term["matchExpressions"] for term in required["nodeSelectorTerms"]] if required else [[]]
    return [[*selector, *term] for term in terms]


def makes_labels(node_pool: Json, requirements: Sequence[Json]) -> bool:
    """Whether nodes of the NodePool can have labels that meet these requirements of a pod."""
    template = node_pool["spec"]["template"]
    stated: dict[str, list[Json]] = {}
    for need in template["spec"]["requirements"]:
        stated.setdefault(need["key"], []).append(need)
    for key, value in template.get("metadata", {}).get("labels", {}).items():
        stated.setdefault(key, []).append({"key": key, "operator": "In", "values": [value]})
    asked: dict[str, list[Json]] = {}
    for need in requirements:
        asked.setdefault(need["key"], []).append(need)
    if any(need.get("minValues") for key, needs in stated.items() for need in needs if key not in WELL_KNOWN):
        return False  # machines have no values of such labels
    for key in [key for key in stated if not _value_exists(key, stated, ())]:
        if key in WELL_KNOWN:
            return False  # no machine is like that
        stated[key] = [{"key": key, "operator": "DoesNotExist"}]  # an empty set of values is DoesNotExist
    return all(_value_exists(key, stated, asked.get(key, [])) for key in {*stated, *asked})


def _value_exists(key: str, stated: Mapping[str, Sequence[Json]], asked: Sequence[Json]) -> bool:
    """Whether the label can have a value, or be absent, by the NodePool and by the pod."""
    own = stated.get(key, ())
    both = [*own, *asked]
    bounds = [need for need in asked if need["operator"] in {"Gt", "Lt"}]
    excluded = [value for need in asked if need["operator"] == "NotIn" for value in need["values"]]
    listed = any(need["operator"] == "In" for need in asked)
    made_up = not listed and any(all(_holds(need, value) for need in bounds) for value in excluded)
    if key in stated or key in WELL_KNOWN or made_up:  # Karpenter makes up a value where a pod excludes another
        values = [value for value in VALUES if all(_holds(need, value) for need in both)]
        listed = any(need["operator"] == "In" for need in both)
        least = max((need.get("minValues", 0) for need in own), default=0)
        if values and (not listed or len(values) >= least):
            return True
    return all(_holds(need, None) for need in both)


def _holds(need: Json, value: str | None) -> bool:
    """Whether a label with that value meets the requirement; ``None`` stands for an absent label."""
    values = need.get("values", [])
    match need["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            if value is None or not value.isdigit():
                return False
            compares = {"Gt": operator_of.gt, "Gte": operator_of.ge, "Lt": operator_of.lt, "Lte": operator_of.le}
            return compares[operator](int(value), int(values[0]))


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect", taint["effect"]) != taint["effect"] or toleration["key"] != taint["key"]:
        return False
    return toleration["operator"] == "Exists" or toleration.get("value", "") == taint.get("value", "")
