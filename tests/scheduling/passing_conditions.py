"""What may be counted as gone: the principle of ``docs/verdicts.md``, over plain objects.

What will run when others finish may wait. So amounts and ports that other pods hold keep nobody from being admitted;
but what a pod says of the pods of its job counts as long as those live.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.scheduling import interpod, topology_spread
from tests.scheduling.clause_meaning import PodClauses, broken, equipped, own_hostnames, shared_hostnames
from tests.scheduling.scheduler import host_ports, objection, possible
from tests.scheduling.selectors import untolerated
from tests.scheduling.state import Cluster
from webhook.placement.spl.clauses import PoolName
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_WAITING = re.compile(
    r"no node yet|no room yet|not yet|\bwaits?\b|\buntil\b|not judged|not checked|at a time|share their"
)


def told_to_wait(warnings: Iterable[str]) -> bool:
    """Whether a warning says that the pod may have to wait, or for what nobody looked."""
    return any(_WAITING.search(warning) for warning in warnings)


def with_its_job(pod: Json, cluster: Cluster) -> Cluster:
    """The cluster when all pods have gone that are not of the pod's job, or were about to."""
    said = PodClauses(pod)
    live = [id(other) for other, _ in cluster.live()]
    return cluster.only(lambda other: id(other) in live and said.shares_job(PodClauses(other)))


def goes_past(pod: Json) -> bool:
    """Whether the pod asks to go past the scheduler, so that it waits for nobody."""
    wanted = (pod["metadata"].get("annotations") or {}).get(keys.HOST_BINDING)
    return bool(pod["spec"].get("nodeName")) or wanted == "nodeName"


def allowed(pod: Json, cluster: Cluster) -> list[str]:
    """Nodes that the scheduler would give to the pod as it was written, and where none of its clauses would be broken.

    Where it says something of other pods, a node counts only with a host name of its own, as documented; where others
    of its job do, nodes of one host name are one.
    """
    said = PodClauses(pod)
    named = own_hostnames(cluster) if said.relates else set(cluster.by_name)
    if any(said.shares_job(other) and other.relates for other in map(PodClauses, cluster.pods)):
        named -= shared_hostnames(cluster)
    asked = opened(pod, cluster)
    return [
        name
        for name in possible(asked, cluster)
        if name in named
        and not _exclusive(cluster.by_name[name], asked)
        and not broken(pod, cluster.by_name[name], cluster)
    ]


def opened(pod: Json, cluster: Cluster) -> Object:
    """The pod with what it asks for in annotations, but for what is about other pods: hardware, and exclusive hosts."""
    spec = equipped(pod)["spec"]
    return {**pod, "spec": {**spec, "tolerations": [*(spec.get("tolerations") or ()), *_own(pod, cluster)]}}


def _exclusive(node: Json, asked: Json) -> bool:
    """Whether the node is exclusive to a pool that the pod does not name: no toleration of everything opens it."""
    taints = [taint for taint in node["spec"].get("taints") or () if taint["key"] == keys.EXCLUSIVE]
    return bool(untolerated(taints, [one for one in asked["spec"]["tolerations"] if one.get("key")], ("NoSchedule",)))


def _own(pod: Json, cluster: Cluster) -> list[Object]:
    """Tolerations of the exclusive pools that the pod names."""
    named = {clause.argument.name for clause in PodClauses(pod).clauses if isinstance(clause.argument, PoolName)}
    pools = [
        pool for pool in cluster.pools if pool["spec"].get("mode") == "Exclusive" and pool["spec"]["name"] in named
    ]
    values = [keys.exclusive(pool["metadata"]["namespace"], pool["metadata"]["name"]) for pool in pools]
    return [{"key": keys.EXCLUSIVE, "operator": "Equal", "value": value} for value in values]


def arbitrated(pod: Json) -> list[str]:
    """What the pod has in it that nobody but the scheduler keeps."""
    spec = pod["spec"]
    found = [kind for kind in ("podAffinity", "podAntiAffinity") if interpod.terms(pod, kind)]
    found += ["topology spread"] if topology_spread.constraints(pod) else []
    found += ["host ports"] if host_ports(pod) else []
    found += ["resource claims"] if spec.get("resourceClaims") else []
    late = [one for one in spec.get("volumes") or () if "persistentVolumeClaim" in one or "ephemeral" in one]
    found += ["volumes"] if late else []
    return found + (["scheduler"] if spec.get("schedulerName", "default-scheduler") != "default-scheduler" else [])


def awaits(pod: Json) -> bool:
    """Whether the pod waits for what the model knows nothing of: gates, claims, volumes, another scheduler."""
    held = {"scheduler", "volumes", "resource claims"}
    return bool(pod["spec"].get("schedulingGates")) or not held.isdisjoint(arbitrated(pod))


def needs_company(pod: Json) -> bool:
    """Whether the pod itself wants to be near pods that may never come."""
    return bool(interpod.terms(pod, "podAffinity"))


def in_the_end(pod: Json, final: Json, cluster: Cluster) -> list[str]:
    """Where the pod can run once others have finished: what is left of its job keeps places, but takes no room.

    Those that it must be beside do take theirs. What the pod itself, not the product for it, says of others is looked
    at in an empty cluster.
    """
    if pod["spec"].get("nodeName"):  # what it says of other nodes, it says to nobody
        return [str(pod["spec"]["nodeName"])]
    alone = cluster.only(lambda _: False)
    place = final["spec"].get("nodeName")
    return [
        name
        for name in ([place] if place else possible(_without_own(final), _without_room(pod, final, cluster)))
        if not objection(_unattached(final), alone.by_name[name], alone)
    ]


def _without_room(pod: Json, final: Json, cluster: Cluster) -> Cluster:
    """The pods of the job, of which only those have a size that the pod must be beside; each node takes all of them."""
    job, beside = with_its_job(pod, cluster), interpod.terms(_without_own(final), "podAffinity")
    kept = [
        _kept(other, heavy=bool(beside) and all(interpod.is_meant(term, final, other, job) for term in beside))
        for other in job.pods
    ]
    light = [other["spec"]["nodeName"] for other in kept if "containers" not in other["spec"]]
    nodes = [_taking(node, light.count(name)) for name, node in job.by_name.items()]
    return Cluster(tuple(nodes), tuple(kept), namespaces=job.namespaces)


def _taking(node: Json, more: int) -> Object:
    """The node with room for so many more pods of no size."""
    room = node["status"]["allocatable"]
    return {**node, "status": {**node["status"], "allocatable": {**room, "pods": str(int(room["pods"]) + more)}}}


def _kept(other: Json, *, heavy: bool) -> Object:
    """What a live pod of the job keeps of a node: its place, and its amounts where somebody must fit beside it."""
    spec = {key: value for key, value in other["spec"].items() if key in {"nodeName", "affinity"}}
    if heavy:
        spec |= {
            key: other["spec"][key] for key in ("containers", "initContainers", "resources") if key in other["spec"]
        }
    return _without_own({**other, "spec": spec})


def _without_own(final: Json) -> Object:
    """The pod without its own required terms about others, and without its own spread."""
    spec = {key: value for key, value in final["spec"].items() if key != "topologySpreadConstraints"}
    affinity = dict(spec.get("affinity") or {})
    for kind in ("podAffinity", "podAntiAffinity"):
        ours = [term for term in interpod.terms(final, kind) if _is_ours(term)]
        affinity[kind] = {_REQUIRED: ours}
    return {**final, "spec": {**spec, "affinity": affinity}}


def _is_ours(term: Json) -> bool:
    """Whether the product wrote the term: it is about a label of ours and the job, both as expressions."""
    expressions = (term.get("labelSelector") or {}).get("matchExpressions") or ()
    return any(one["key"].startswith(keys.PREFIX) for one in expressions)


def _unattached(final: Json) -> Object:
    """The pod without required pod affinity."""
    affinity = {key: value for key, value in (final["spec"].get("affinity") or {}).items() if key != "podAffinity"}
    return {**final, "spec": {**final["spec"], "affinity": affinity}}
