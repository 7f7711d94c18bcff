"""A pod without some of its clauses, each named as a refusal names it."""

import copy
from collections.abc import Collection

from tests.placement.properties.clusters import Json
from tests.placement.properties.oracle import hardware as oracle_hardware
from tests.placement.properties.oracle import mapping as oracle_mapping
from tests.placement.properties.oracle.request import amounts
from webhook.placement.spl.placement import format_placement, parse_placement

PLACEMENT = "streams.ibm.com/placement"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
AWAY = "the pod's own anti-affinity on"


def without(pod: Json, dropped: Collection[str]) -> Json:
    """The pod as if its author had dropped these clauses, or lowered what they ask for, wherever they stand."""
    found = copy.deepcopy(pod)
    spec = found["spec"]
    _thin(found, {part for text in dropped for part in text.split(" and ")})
    _lower(found, dropped)
    if f"spec.nodeName {spec.get('nodeName')}" in dropped:
        del spec["nodeName"]
    wanted = spec.get("nodeSelector") or {}
    for key, value in list(wanted.items()):
        if f"nodeSelector {key}={value}" in dropped:
            del wanted[key]
    if "the pod's node affinity" in dropped:
        spec["affinity"]["nodeAffinity"][REQUIRED] = None
    kept = [one for one in spec.get("topologySpreadConstraints") or () if not _named(one, dropped)]
    spec |= {"topologySpreadConstraints": kept} if "topologySpreadConstraints" in spec else {}
    away = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    if away.get(REQUIRED):
        away[REQUIRED] = [one for one in away[REQUIRED] if f"{AWAY} {one['topologyKey']}" not in dropped]
    if any(text.startswith("requests ") for text in dropped):
        bound = (found["metadata"].get("annotations") or {}).get(oracle_hardware.BOUND) == "true"
        for container in spec["containers"]:
            container["resources"] = _least(container.get("resources") or {}) if bound else {}
    return found


def _named(constraint: Json, dropped: Collection[str]) -> bool:
    """Whether a spread constraint that keeps pods off nodes is among these words."""
    least = f"minDomains {constraint['minDomains']}, " if "minDomains" in constraint else ""
    text = f"topologySpread {constraint['topologyKey']} ({least}maxSkew {constraint['maxSkew']})"
    return constraint["whenUnsatisfiable"] == "DoNotSchedule" and text in dropped


def _least(resources: Json) -> Json:
    """Next to nothing of cpu and memory, as cores of its own need it: a whole core of a whole number of them."""
    whole = {"cpu": lambda amount: "1m" if str(amount).endswith("m") else "1", "memory": lambda _: "1"}
    return {
        part: {name: least(amounts[name]) for name, least in whole.items() if name in amounts}
        for part, amounts in resources.items()
    }


def _lower(pod: Json, dropped: Collection[str]) -> None:
    """Take out requirements, and what containers ask for themselves where that is more: they would be lowered."""
    annotations, own = pod["metadata"].get("annotations") or {}, amounts(pod["spec"], "requests")
    given = oracle_hardware.Equipment(annotations).given
    oracle_hardware.without(annotations, dropped)
    gone = given.keys() - oracle_hardware.Equipment(annotations).given.keys()
    for container in pod["spec"]["containers"]:
        for name, resource in gone:
            if name == container["name"] and own.get((name, resource), 0) > given[name, resource][0]:
                container["resources"]["requests"].pop(resource)


def _thin(pod: Json, dropped: Collection[str]) -> None:
    annotations = pod["metadata"].get("annotations") or {}
    oracle_mapping.without(annotations, dropped)
    if PLACEMENT in annotations:
        clauses = [clause for clause in parse_placement(annotations[PLACEMENT], "")[0] if str(clause) not in dropped]
        if clauses:
            annotations[PLACEMENT] = format_placement(clauses)
        else:
            del annotations[PLACEMENT]
