"""PodTopologySpread: the pod's ``DoNotSchedule`` constraints. Written from ``podtopologyspread/filtering.go``."""

from collections.abc import Mapping
from typing import Any

from tests.scheduling.interpod import labels_of
from tests.scheduling.selectors import node_selected, selects, untolerated
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]


def constraints(pod: Json) -> list[Json]:
    """The constraints that the scheduler must keep."""
    said = pod["spec"].get("topologySpreadConstraints") or ()
    return [one for one in said if one.get("whenUnsatisfiable") == "DoNotSchedule"]


def objection(pod: Json, node: Json, cluster: Cluster) -> str:
    """What keeps the pod off the node; empty if nothing does."""
    wanted = constraints(pod)
    labels = node["metadata"].get("labels") or {}
    for constraint in wanted:
        key = constraint["topologyKey"]
        if key not in labels:
            return f"no label {key} to spread by"
        counts = matching(pod, constraint, wanted, cluster)
        least = min(counts.values(), default=2**31 - 1)
        if len(counts) < constraint.get("minDomains", 1):
            least = 0
        itself = selects(_selector(pod, constraint), labels_of(pod))
        if counts.get(labels[key], 0) + itself - least > constraint["maxSkew"]:
            return f"the spread over {key}"
    return ""


def matching(pod: Json, constraint: Json, wanted: list[Json], cluster: Cluster) -> dict[str, int]:
    """How many pods the constraint selects in each domain of the nodes that take part."""
    selector = _selector(pod, constraint)
    # An empty selector matches the pod itself, and is not counted with the others.
    everything = not (selector or {}).get("matchLabels") and not (selector or {}).get("matchExpressions")
    found: dict[str, int] = {}
    for node in cluster.nodes:
        labels = node["metadata"].get("labels") or {}
        if not all(other["topologyKey"] in labels for other in wanted) or not _takes_part(pod, constraint, node):
            continue
        domain = labels[constraint["topologyKey"]]
        pods = [] if everything else [one for one, place in cluster.standing() if place is node]
        found[domain] = found.get(domain, 0) + sum(_counts(one, pod, selector, cluster) for one in pods)
    return found


def _takes_part(pod: Json, constraint: Json, node: Json) -> bool:
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not node_selected(pod["spec"], node):
        return False
    if constraint.get("nodeTaintsPolicy", "Ignore") == "Ignore":
        return True
    taints = node["spec"].get("taints") or ()
    return not untolerated(taints, pod["spec"].get("tolerations") or (), ("NoSchedule", "NoExecute"))


def _counts(other: Json, pod: Json, selector: Json | None, cluster: Cluster) -> bool:
    going = other["metadata"].get("deletionTimestamp")
    return not going and cluster.namespace(other) == cluster.namespace(pod) and selects(selector, labels_of(other))


def _selector(pod: Json, constraint: Json) -> Json | None:
    selector, own = constraint.get("labelSelector"), labels_of(pod)
    more = [
        {"key": key, "operator": "In", "values": [own[key]]}
        for key in constraint.get("matchLabelKeys") or ()
        if key in own
    ]
    if selector is None or not more:
        return selector
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *more]}
