"""InterPodAffinity: required terms of a pod about other pods, and theirs about it.

Written from ``interpodaffinity/filtering.go``. All terms of affinity are met by one set of neighbours, those that match
*every* term; the first of pods that match themselves may go anywhere; a node without the topology key meets no affinity
and breaks no anti-affinity.
"""

from collections.abc import Mapping
from typing import Any

from tests.scheduling.selectors import selects
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]


def terms(pod: Json, kind: str) -> list[Json]:
    """The pod's required terms: ``podAffinity`` or ``podAntiAffinity``."""
    affinity = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return list(affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ())


def is_meant(term: Json, owner: Json, other: Json, cluster: Cluster) -> bool:
    """Whether ``other`` is one of the pods that a term of ``owner`` is about: of its namespaces, and selected."""
    return _in_namespaces(term, owner, other, cluster) and selects(_selector(term, owner), labels_of(other))


def labels_of(pod: Json) -> Mapping[str, str]:
    """The pod's labels."""
    found: Mapping[str, str] = pod["metadata"].get("labels") or {}
    return found


def _in_namespaces(term: Json, owner: Json, other: Json, cluster: Cluster) -> bool:
    named, selector = term.get("namespaces") or [], term.get("namespaceSelector")
    where = cluster.namespace(other)
    if not named and selector is None:
        return where == cluster.namespace(owner)
    return where in named or selects(selector, cluster.namespaces.get(where, {}))


def _selector(term: Json, owner: Json) -> Json | None:
    """The selector, with what ``matchLabelKeys`` and ``mismatchLabelKeys`` make of the owner's labels."""
    selector, own = term.get("labelSelector"), labels_of(owner)
    more = [
        {"key": key, "operator": operator, "values": [own[key]]}
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(field) or ()
        if key in own
    ]
    if selector is None or not more:
        return selector
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *more]}


def objection(pod: Json, node: Json, cluster: Cluster) -> str:
    """What keeps the pod off the node; empty if nothing does."""
    if not affinity_met(pod, node, cluster):
        return "its pod affinity"
    labels = node["metadata"].get("labels") or {}
    for other, place in cluster.standing():
        there = place["metadata"].get("labels") or {}
        for owner, meant, whose in ((pod, other, "its"), (other, pod, "another pod's")):
            for term in terms(owner, "podAntiAffinity"):
                key = term["topologyKey"]
                near = key in labels and labels[key] == there.get(key)
                if near and is_meant(term, owner, meant, cluster):
                    return f"{whose} pod anti-affinity"
    return ""


def affinity_met(pod: Json, node: Json, cluster: Cluster) -> bool:
    """Whether the node is near enough to the pods that the pod must be near to."""
    wanted = terms(pod, "podAffinity")
    labels = node["metadata"].get("labels") or {}
    if any(term["topologyKey"] not in labels for term in wanted):
        return False
    friends = [
        place["metadata"].get("labels") or {}
        for other, place in cluster.standing()
        if all(is_meant(term, pod, other, cluster) for term in wanted)
    ]
    near = all(
        any(there.get(term["topologyKey"]) == labels[term["topologyKey"]] for there in friends) for term in wanted
    )
    if near:
        return True
    counted = any(term["topologyKey"] in there for there in friends for term in wanted)
    return not counted and all(is_meant(term, pod, pod, cluster) for term in wanted)
