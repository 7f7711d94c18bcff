"""The candidates of a pod, found by a plain loop over node objects with dict labels: what the index is compared with.

It finds the candidates only: no reasons, no patch. Everything that does not depend on the node is computed before the
loop.
"""

from collections.abc import Iterable, KeysView, Mapping

from msgspec import Struct

from webhook.placement.inventory.index import HARD
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.pod import NodeTerm, Pod, Requirement, Toleration
from webhook.placement.kube.requests import pod_requests
from webhook.placement.kube.selection.tolerations import tolerates
from webhook.placement.objects.intent import Intents
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import tag_requirements
from webhook.placement.spl.clauses import ClauseName, PlacementClause, PoolName
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys


class Objects:
    """A cluster as plain objects; takes what an inventory takes."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, list[PodInfo]] = {}
        self.pools: dict[tuple[str, str], Pool] = {}
        self.intents = Intents()

    def set_node(self, node: Node) -> None:
        """A node was added."""
        self.nodes[node.name] = node

    @property
    def pod_uids(self) -> KeysView[str]:
        """Nothing is watched."""
        return dict[str, None]().keys()

    def set_pod(self, pod: PodInfo) -> None:
        """A pod was added."""
        if pod.node:
            self.pods.setdefault(pod.node, []).append(pod)

    def has_pod(self, _uid: str) -> bool:
        """Pods of the generator are all different."""
        return False

    def set_pool(self, pool: Pool) -> None:
        """A host pool was added."""
        self.pools[pool.namespace, pool.spl_name] = pool

    def set_job(self, job: StreamsJob) -> None:
        """Jobs are known by their pods."""

    def remove_node(self, name: str) -> None:
        """Nothing leaves a benchmark's cluster, nor in the functions below."""

    def remove_pod(self, uid: str) -> None:
        """See above."""

    def remove_pool(self, namespace: str, name: str) -> None:
        """See above."""

    def remove_job(self, namespace: str, name: str) -> None:
        """See above."""


class _Needs(Struct, frozen=True):
    """What a pod asks of a node."""

    namespace: str
    job: str
    pe: str
    selector: Mapping[str, str]
    terms: tuple[NodeTerm, ...] | None
    labels: tuple[Requirement, ...]
    tolerations: tuple[Toleration, ...]
    requests: Tally
    apart: frozenset[tuple[str, str]]
    together: frozenset[tuple[str, str]]
    isolated: bool


def candidates(pod: Pod, namespace: str, cluster: Objects) -> list[str]:
    """Names of the nodes that can run the pod."""
    needs = _needs(pod, namespace, cluster)
    homes = [name for name, there in cluster.pods.items() if _any_with(there, needs, needs.together)]
    nodes = [cluster.nodes[name] for name in homes] if homes else cluster.nodes.values()
    return [node.name for node in nodes if _fits(node, cluster.pods.get(node.name, ()), needs)]


def _needs(pod: Pod, namespace: str, cluster: Objects) -> _Needs:
    assert pod.metadata is not None
    assert pod.spec is not None
    labels, spec = pod.metadata.labels or {}, pod.spec
    clauses, _ = parse_placement((pod.metadata.annotations or {}).get(keys.PLACEMENT, ""), keys.PLACEMENT)
    affinity = spec.affinity.node_affinity if spec.affinity else None
    return _Needs(
        namespace=namespace,
        job=labels.get(keys.JOB, ""),
        pe=labels.get(keys.PE, ""),
        selector=spec.node_selector or {},
        terms=affinity.required.node_selector_terms if affinity and affinity.required else None,
        labels=tuple(need for clause in clauses for need in _pool_labels(clause, namespace, cluster)),
        tolerations=spec.tolerations or (),
        requests=pod_requests(spec)[0],
        apart=_marks(clauses, ClauseName.EXLOCATION, keys.EXLOCATION),
        together=_marks(clauses, ClauseName.COLOCATION, keys.COLOCATION),
        isolated=any(clause.name is ClauseName.ISOLATION for clause in clauses),
    )


def _marks(clauses: Iterable[PlacementClause], name: ClauseName, prefix: str) -> frozenset[tuple[str, str]]:
    tokens = [str(clause.argument) for clause in clauses if clause.name is name]
    return frozenset((prefix + keys.digest(token), token) for token in tokens)


def _pool_labels(clause: PlacementClause, namespace: str, cluster: Objects) -> tuple[Requirement, ...]:
    if not isinstance(clause.argument, PoolName):
        return ()
    pool, index = cluster.pools[namespace, clause.argument.name], clause.argument.index
    if not pool.sized:
        return tag_requirements(pool.tags)
    key = keys.membership(pool.namespace, pool.name)
    return (Requirement(key, "Exists") if index is None else Requirement(key, "In", (str(index),)),)


def _fits(node: Node, there: Iterable[PodInfo], needs: _Needs) -> bool:
    for taint in node.taints:
        if taint.effect in HARD and not any(tolerates(toleration, taint) for toleration in needs.tolerations):
            return False
    labels = node.labels
    for key, value in needs.selector.items():
        if labels.get(key) != value:
            return False
    if needs.terms is not None and not any(_matches(term, labels) for term in needs.terms):
        return False
    for need in needs.labels:
        if not _holds(need, labels):
            return False
    for resource, amount in needs.requests.items():
        if node.allocatable.get(resource, 0) < amount:
            return False
    return not any(_disturbs(pod, needs) for pod in there)


def _matches(term: NodeTerm, labels: Mapping[str, str]) -> bool:
    return not term.empty and all(_holds(need, labels) for need in term.match_expressions or ())


def _holds(need: Requirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(need.key), need.values or ()
    match need.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and value.isdigit() and int(value) > int(values[0])
        case _:
            return value is not None and value.isdigit() and int(value) < int(values[0])


def _of_job(pod: PodInfo, needs: _Needs) -> bool:
    return pod.job == needs.job and pod.namespace == needs.namespace and not pod.terminating


def _any_with(there: Iterable[PodInfo], needs: _Needs, marks: Iterable[tuple[str, str]]) -> bool:
    return any(
        pod.job and _of_job(pod, needs) and pod.labels.get(key) == value for pod in there for key, value in marks
    )


def _disturbs(pod: PodInfo, needs: _Needs) -> bool:
    if not pod.job or not _of_job(pod, needs):
        return False
    if pod.pe != needs.pe and (needs.isolated or pod.isolated):
        return True
    return any(pod.labels.get(key) == value for key, value in needs.apart)
