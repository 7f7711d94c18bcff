"""A pod's words, read by plain loops: the oracle's own reading, independent of the product's."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.placement.properties.clusters import Cluster, is_host, standing
from tests.placement.properties.oracle import mapping as oracle_mapping
from tests.placement.properties.oracle import topology as oracle_topology
from tests.placement.properties.oracle.hardware import Amounts, Equipment, Need
from tests.placement.properties.oracle.selectors import holds
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Pool
from webhook.placement.spl.clauses import ClauseName, PlacementClause, PoolName
from webhook.placement.spl.placement import parse_placement

Json = Mapping[str, Any]

PREFIX = "streams.ibm.com/"
_HOSTNAME = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class OracleRequest:
    """What one pod of a namespace says, given what there is in the cluster."""

    def __init__(self, pod: Json, namespace: str, cluster: Cluster) -> None:
        metadata, self.spec = pod.get("metadata") or {}, pod.get("spec") or {}
        labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
        self.owners: Sequence[Json] = metadata.get("ownerReferences") or ()
        self.namespace = namespace
        self.job: str = labels.get(PREFIX + "job", "")
        self.pe: str = labels.get(PREFIX + "pe", "")
        text = annotations.get(PREFIX + "placement")
        self.clauses = () if text is None else parse_placement(text, "")[0]
        self.soft = {name.strip() for name in annotations.get(PREFIX + "preferred", "").split(",")}
        self.wanted_binding: str = annotations.get(PREFIX + "host-binding", "auto")
        self.mapped = oracle_mapping.expressions(annotations)
        self.uniform: str = annotations.get(oracle_mapping.UNIFORM, "none")
        self.company = oracle_mapping.company(annotations)
        self.equipment = Equipment(annotations)
        self.labels = labels
        self.pools = list(self._pools(cluster.pools))
        self.cluster = cluster

    def of(self, name: ClauseName) -> list[PlacementClause]:
        """The clauses of that name that must hold."""
        return [clause for clause in self.clauses if clause.name is name and name.value not in self.soft]

    def tokens(self, name: ClauseName) -> set[str]:
        """The tokens of the clauses of that name that must hold."""
        return {str(clause.argument) for clause in self.of(name)}

    def uniformly(self, how: str) -> bool:
        """Whether the workers of the job must lie so."""
        return self.uniform == how and "uniform" not in self.soft

    @property
    def shuns_itself(self) -> bool:
        """Whether it keeps away from pods like itself."""
        return any(side == "away" and all(holds(need, self.labels) for need in needs) for side, needs in self.company)

    @property
    def final_labels(self) -> dict[str, str]:
        """The pod's labels, with that of the workers, the only one that others select by."""
        return {**self.labels, **({f"{PREFIX}worker": "true"} if self.uniform != "none" else {})}

    @property
    def spread(self) -> list[Json]:
        """The spread constraints that keep it off nodes."""
        said = self.spec.get("topologySpreadConstraints") or ()
        return [] if self.bound else [one for one in said if one["whenUnsatisfiable"] == "DoNotSchedule"]

    @property
    def repels_itself(self) -> list[str]:
        """The topology keys in whose domains there can be one such pod only."""
        terms = ((self.spec.get("affinity") or {}).get("podAntiAffinity") or {}).get(_REQUIRED) or ()
        found = [term["topologyKey"] for term in terms if oracle_topology.repels_itself(term, self.final_labels)]
        return [] if self.bound else found

    @property
    def tags(self) -> set[str]:
        """All tags of all pools of the processing element."""
        return {tag for _, pool in self.pools for tag in pool.tags}

    @property
    def bound(self) -> bool:
        """Whether the pod goes past the scheduler."""
        return bool(self.spec.get("nodeName")) or self.binds

    @property
    def binds(self) -> bool:
        """Whether the pod is to go past the scheduler for a ``host("…")``."""
        names = [clause.argument for clause in self.of(ClauseName.HOST) if isinstance(clause.argument, str)]
        if self.spec.get("nodeName"):
            return bool(names)
        waiting = any(pool.elastic or self._incomplete(pool) for _, pool in self.pools)
        if not names or waiting or self.spec.get("schedulingGates"):
            return False
        if self.wanted_binding != "auto":
            return self.wanted_binding == "nodeName"
        owners = [owner["kind"] for owner in self.owners if owner.get("controller")]
        meant = [node for node in self.cluster.nodes if all(is_host(node, name) for name in names)]
        return (
            set(owners) <= {"ProcessingElement"} and not self.arbitrated and len(meant) == 1 and self._ample(meant[0])
        )

    @property
    def arbitrated(self) -> bool:
        """Whether there is something that only the scheduler keeps: about other pods, or hardware that may be gone."""
        about = {ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION}
        if (
            self.equipment.wanted
            or self.company
            or self.uniform != "none"
            or any(clause.name in about for clause in self.clauses)
        ):
            return True
        if self.spec.get("topologySpreadConstraints"):
            return True
        affinity = self.spec.get("affinity") or {}
        own = [affinity.get(kind) or {} for kind in ("podAffinity", "podAntiAffinity")]
        return any(terms for found in own for name, terms in found.items() if "Scheduling" in name) or self._shunned

    @property
    def _shunned(self) -> bool:
        """Whether somebody of its job is alone, or nobody knows."""
        models = [job for job in self.cluster.jobs if (job.namespace, job.name) == (self.namespace, self.job)]
        told = [text for job in models for element in job.elements for _, text in element.placements]
        alone = any("hostIsolation" in text for text in told)
        live = (pod for pod in self.cluster.pods if (pod.namespace, pod.job) == (self.namespace, self.job))
        return bool(self.job) and (
            not models or alone or any(pod.isolated and pod.node and not pod.terminating for pod in live)
        )

    def _ample(self, node: Node) -> bool:
        """Whether four times what one of the pods requests is free there, and nobody guards the node or its host."""
        here = [pod for pod in self.cluster.pods if pod.node == node.name]
        return not any(pod.guards and self._near(node, pod.node) for pod in self.cluster.pods) and all(
            node.allocatable.get(resource, 0) - sum(pod.requests.get(resource, 0) for pod in here) >= 4 * amount
            for resource, amount in self.one.items()
        )

    def _near(self, node: Node, name: str) -> bool:
        """Whether that node is this one, or shares its host name, by which the pods of our clusters guard."""
        host = node.labels.get(_HOSTNAME)
        alike = {found.name for found in self.cluster.nodes if host and found.labels.get(_HOSTNAME) == host}
        return name in alike | {node.name}

    def _incomplete(self, pool: Pool) -> bool:
        """Whether a host of the pool is yet to get its label."""
        whole = pool.phase == "Ready" and len(standing(pool, self.cluster.nodes)) == len(pool.assigned)
        return pool.sized and not whole

    @property
    def requests(self) -> dict[str, int]:
        """What counts as requested: what one pod asks for."""
        return self.one

    @property
    def one(self) -> dict[str, int]:
        """The sum over the containers: milli-units of cpu, bytes of memory, counts of everything else."""
        total = {"pods": 1}
        given = {need: requests for need, (requests, _) in self.equipment.given.items()}
        for (_, resource), requests in (self.own | given).items():
            total[resource] = total.get(resource, 0) + requests
        return total

    @property
    def own(self) -> dict[Need, int]:
        """What each container requests itself."""
        return amounts(self.spec, "requests")

    @property
    def had(self) -> dict[Need, Amounts]:
        """What its containers would like to have, and ask for themselves."""
        return {need: found for need, found in self.equipment.wanted if self.own.get(need) == found[0]}

    @property
    def wanted(self) -> list[tuple[Need, Amounts]]:
        """What its containers would like to have, and do not ask for themselves."""
        return [(need, amounts) for need, amounts in self.equipment.wanted if need not in self.own]

    def _pools(self, pools: Sequence[Pool]) -> Iterator[tuple[PlacementClause, Pool]]:
        for clause in self.clauses:
            if isinstance(clause.argument, PoolName) and clause.argument.name != "$default":
                named = [
                    pool for pool in pools if pool.namespace == self.namespace and pool.spl_name == clause.argument.name
                ]
                own = [pool for pool in named if self.job and pool.job == self.job]
                meant = own or [pool for pool in named if pool.job is None]
                yield from (
                    (clause, pool) for pool in meant if len(meant) == 1 and _usable(pool, clause.argument.index)
                )


def _usable(pool: Pool, index: int | None) -> bool:
    """Whether a preferred pool counts; any other that is unusable refuses the pod before it is judged."""
    size = pool.size if pool.hosts is None else len(pool.hosts)
    return pool.phase not in {"Failed", "Releasing"} and (index is None or index < (size or 0))


def amounts(spec: Json, part: str) -> dict[Need, int]:
    """The requests or limits of all containers."""
    return {
        (container["name"], resource): amount(resource, str(text))
        for container in spec.get("containers") or ()
        for resource, text in ((container.get("resources") or {}).get(part) or {}).items()
    }


def amount(resource: str, text: str) -> int:
    """The amounts that the strategies write: ``500m``, ``2``, ``64Mi``."""
    if resource == "cpu":
        return int(text.removesuffix("m")) * (1 if text.endswith("m") else 1000)
    return int(text.removesuffix("Mi")) * (2**20 if text.endswith("Mi") else 1)
