"""kube-scheduler's filters, asked node by node: where can this pod be bound now, given the pods that are bound?

Written from the plugins of Kubernetes 1.36 (pkg/scheduler/framework/plugins). Of volumes only bound claims are
modelled; what other volumes, resource claims and scheduling gates wait for is taken to be there. Nobody is preempted,
and ``PreferNoSchedule`` and all preferences keep nobody away, but for one that the scheduler cannot parse.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.scheduling import interpod, topology_spread
from tests.scheduling.amounts import counted, requested
from tests.scheduling.selectors import node_affinity, node_selected, parses, term_matches, untolerated
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]

_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_EVERYWHERE = "0.0.0.0"  # noqa: S104 -- the address that a host port without one is on


def possible(pod: Json, cluster: Cluster) -> list[str]:
    """The names of the nodes that the pod can be bound to now."""
    found = [node["metadata"]["name"] for node in cluster.nodes if not objection(pod, node, cluster)]
    # Nodes are scored only if there are several; then one preference that cannot be parsed fails the whole attempt.
    return found if len(found) == 1 or not unparsed_preferences(pod) else []


def objection(pod: Json, node: Json, cluster: Cluster) -> str:
    """The first thing that keeps the pod off the node; empty if it can be bound there."""
    return next(objections(pod, node, cluster), "")


def objections(pod: Json, node: Json, cluster: Cluster) -> Iterator[str]:
    """All that keeps the pod off the node."""
    spec = pod["spec"]
    tolerations = spec.get("tolerations") or ()
    if spec.get("nodeName") and spec["nodeName"] != node["metadata"]["name"]:
        yield "its nodeName"
    if (node.get("spec") or {}).get("unschedulable") and untolerated([_CORDON], tolerations, ("NoSchedule",)):
        yield "a cordon"
    for taint in untolerated((node.get("spec") or {}).get("taints") or (), tolerations, ("NoSchedule", "NoExecute")):
        yield f"the taint {taint['key']}"
    if not node_selected(spec, node):
        yield "its node affinity"
    if any(not _usable(volume, node) for volume in _volumes(pod, cluster)):
        yield "the node affinity of a volume"
    others = [other for other, place in cluster.standing() if place is node]
    if port := taken_port(pod, others):
        yield f"the host port {port}"
    if resource := lacking(pod, node, others):
        yield f"too little {resource}"
    if found := topology_spread.objection(pod, node, cluster):
        yield found
    if found := interpod.objection(pod, node, cluster):
        yield found


def _volumes(pod: Json, cluster: Cluster) -> Iterator[Json]:
    """The volumes of the pod's claims, as far as they are known."""
    for source in pod["spec"].get("volumes") or ():
        claim = (source.get("persistentVolumeClaim") or {}).get("claimName")
        found = cluster.claims.get((cluster.namespace(pod), claim))
        if found is not None:
            yield found


def _usable(volume: Json, node: Json) -> bool:
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return required is None or any(term_matches(term, node) for term in required["nodeSelectorTerms"])


def lacking(pod: Json, node: Json, others: list[Json]) -> str:
    """A resource of which the others leave too little; empty if there is none."""
    offered = counted(node["status"]["allocatable"])
    if len(others) + 1 > offered.get("pods", 0):
        return "pods"
    used = [requested(other) for other in others]
    for resource, amount in requested(pod).items():
        if amount > offered.get(resource, 0) - sum(one.get(resource, 0) for one in used):
            return resource
    return ""


def taken_port(pod: Json, others: list[Json]) -> int:
    """A host port that another pod of the node has already; 0 if there is none."""
    taken = [port for other in others for port in host_ports(other)]
    for address, protocol, number in host_ports(pod):
        for other, spoken, used in taken:
            if (protocol, number) == (spoken, used) and (address == other or _EVERYWHERE in {address, other}):
                return number
    return 0


def host_ports(pod: Json) -> list[tuple[str, str, int]]:
    """Address, protocol and number of each host port of the pod's containers and sidecars."""
    spec = pod["spec"]
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    return [
        (port.get("hostIP") or _EVERYWHERE, port.get("protocol") or "TCP", port["hostPort"])
        for container in (*(spec.get("containers") or ()), *sidecars)
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def unparsed_preferences(pod: Json) -> list[Json]:
    """Preferred node terms that the scheduler cannot parse."""
    preferred = node_affinity(pod["spec"]).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return [one for one in preferred if one.get("weight") and not parses(one["preference"])]
