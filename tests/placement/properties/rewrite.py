"""A pod without some of its clauses, each named as a refusal names it."""

import copy
from collections.abc import Collection

from tests.placement.properties import equipment, mapped
from tests.placement.properties.asked import Asked, amounts
from tests.placement.properties.clusters import Json
from webhook.placement.clauses import ClauseName
from webhook.placement.spl import format_placement, parse_placement

PLACEMENT = "streams.ibm.com/placement"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def without(pod: Json, dropped: Collection[str]) -> Json:
    """The pod as if its author had dropped these clauses, wherever they stand."""
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
    if any(text.startswith("requests ") for text in dropped):
        for container in spec["containers"]:
            container["resources"] = {}
    return found


def _lower(pod: Json, dropped: Collection[str]) -> None:
    """Take out requirements, and what containers ask for themselves where that is more: they would be lowered."""
    annotations, own = pod["metadata"].get("annotations") or {}, amounts(pod["spec"], "requests")
    given = equipment.Equipment(annotations).given
    equipment.without(annotations, dropped)
    gone = given.keys() - equipment.Equipment(annotations).given.keys()
    for container in pod["spec"]["containers"]:
        for name, resource in gone:
            if name == container["name"] and own.get((name, resource), 0) > given[name, resource][0]:
                container["resources"]["requests"].pop(resource)


def _thin(pod: Json, dropped: Collection[str]) -> None:
    annotations = pod["metadata"].get("annotations") or {}
    mapped.without(annotations, dropped)
    if PLACEMENT in annotations:
        clauses = [clause for clause in parse_placement(annotations[PLACEMENT], "")[0] if str(clause) not in dropped]
        if clauses:
            annotations[PLACEMENT] = format_placement(clauses)
        else:
            del annotations[PLACEMENT]


def entangled(before: Asked, after: Asked) -> bool:
    """Whether the clauses that went took with them what others meant, or what stands without anybody's word.

    Tags have other labels, hosts are exclusive to another, free room counts or all of it, a group has more room, one
    container is given what another requests itself.
    """
    exclusive = [{pool.name for _, pool in asked.pools if pool.exclusive} for asked in (before, after)]
    together = bool(after.of(ClauseName.COLOCATION)) or after.uniformly("all-same-node")
    grouped = together and before.requests != after.requests
    tagged = bool(after.tags) and before.tags != after.tags
    given = before.equipment.given | before.had
    others = {resource for name, resource in before.own if (name, resource) not in given}
    shared = any(resource in others for _, resource in given)
    return shared or grouped or tagged or before.bound != after.bound or exclusive[0] != exclusive[1]
