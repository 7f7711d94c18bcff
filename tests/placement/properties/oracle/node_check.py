"""Whether a pod may run on a node, asked node by node in plain loops over plain values.

Written from the product's documents (``docs/verdicts.md``), not from its code: nothing of the decision core is used
but the values that describe a cluster and the parser of placement text.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from tests.placement.properties.clusters import Cluster, Name, digest, is_host, standing
from tests.placement.properties.oracle.hardware import Amounts, Need
from tests.placement.properties.oracle.job_pods import HOSTNAME, Neighbourhood
from tests.placement.properties.oracle.request import PREFIX, OracleRequest
from tests.placement.properties.oracle.selectors import affinity_holds, holds, selector_holds, tolerated
from tests.placement.properties.oracle.topology import Domains
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Pool
from webhook.placement.spl.clauses import ClauseName, PoolName

MEMBERSHIP = "streams.ibm.com.node-restriction.kubernetes.io/hostpool."


class Oracle(Neighbourhood):
    """One pod of a namespace in one cluster; ``hosts`` are those that sized and literal pools have or would get."""

    def __init__(
        self, pod: Mapping[str, Any], namespace: str, cluster: Cluster, hosts: Mapping[Name, Mapping[int, str]]
    ) -> None:
        super().__init__(OracleRequest(pod, namespace, cluster), cluster)
        self.hosts = hosts

    def candidates(self) -> set[str]:
        """The nodes that the pod may run on."""
        return {node.name for node in self.cluster.nodes if not self.objection(node)}

    def granted(self) -> tuple[dict[Need, Amounts], set[str]]:
        """What the pod gets of what it only wants, and the candidates that offer all of it.

        One by one, as long as a single node offers it beside all the rest, with enough of it not in use. What it asks
        for already counts as given before all others.
        """
        given: dict[Need, Amounts] = {}
        offering = [node for node in self.cluster.nodes if not self.objection(node)]
        had = {resource: self.asked.requests.get(resource, 0) for _, resource in self.asked.had}
        able = [node for node in offering if all(self.has_free(node, *need) for need in had.items())]
        for need, amounts in self.asked.wanted:
            more = given | {need: amounts}
            total = dict(self.asked.requests)
            for (_, resource), (requests, _) in more.items():
                total[resource] = total.get(resource, 0) + requests
            has = [node for node in able if self.offers(node, total) and self.has_free(node, need[1], total[need[1]])]
            if has:
                given, able = more, has
                offering = [node for node in offering if self.offers(node, total)]
        return given, {node.name for node in offering}

    def offers(self, node: Node, total: Mapping[str, int]) -> bool:
        """Whether it has so much to give."""
        return all(node.allocatable.get(resource, 0) >= wanted for resource, wanted in total.items())

    def has_free(self, node: Node, resource: str, wanted: int) -> bool:
        """Whether so much of it is not in use there."""
        used = sum(pod.requests.get(resource, 0) for pod in self.cluster.pods if pod.node == node.name)
        return node.allocatable.get(resource, 0) - used >= wanted

    def objection(self, node: Node) -> str:
        """The first family that rules the node out, in the order of reasons; nothing if it may run the pod."""
        families = (
            self.named, self.pooled, self.mapped, self.own, self.labelled, self.untainted, self.nobody_elses,
            self.roomy, self.together, self.apart, self.tolerated_by_exlocated, self.isolated, self.uniform,
            self.tolerated_by_workers, self.accompanied, self.even,
        )  # fmt: skip
        return next((family.__name__ for family in families if not family(node)), "")

    def even(self, node: Node) -> bool:
        """It is in a domain of every spread constraint, and in none that would be too far ahead of another."""
        return all(one.key in node.labels and (not one.known or one.takes(node)) for one in self.domains())

    def domains(self) -> list[Domains]:
        """The pod's spread constraints, with what runs in their domains."""
        asked = self.asked
        labels, job_pods = asked.final_labels, self.job_pods
        found = [Domains(said, labels, asked.job, job_pods) for said in asked.spread]
        labelled = [node for node in self.cluster.nodes if all(one.key in node.labels for one in found)]
        for one in found:
            one.count(labelled, self.required, self.open)
        return found

    def required(self, node: Node) -> bool:
        """It meets all that the pod will require of the node itself, in its selector or its node affinity."""
        names = (ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION)
        uniform = any(self.asked.uniformly(how) for how in ("all-same-node", "all-separate-nodes"))
        name = node.labels.get(HOSTNAME)
        own = name is not None and [other.labels.get(HOSTNAME) for other in self.cluster.nodes].count(name) == 1
        seen = own or not (uniform or self.asked.company or any(map(self.asked.of, names)))
        families = (self.named, self.pooled, self.mapped, self.own, self.labelled)
        return seen and all(family(node) for family in families)

    def open(self, node: Node) -> bool:
        """Its taints are tolerated, those of exclusive pools as if they were there already."""
        return self.untainted(node) and self.nobody_elses(node)

    def named(self, node: Node) -> bool:
        """It is the host of every ``host("…")``."""
        texts = [clause.argument for clause in self.asked.of(ClauseName.HOST) if isinstance(clause.argument, str)]
        return all(self.is_host(node, text) for text in texts)

    def is_host(self, node: Node, text: str) -> bool:
        """Whether the text is the address, or else the name, of the node."""
        return is_host(node, text)

    def pooled(self, node: Node) -> bool:
        """It is a host of every pool: by index, by membership, by tags counted over all pools, by selector."""
        return "host" in self.asked.soft or all(
            self._member(node, pool, clause.argument.index if isinstance(clause.argument, PoolName) else None)
            and self.tagged(node.labels, pool)
            and (pool.selector is None or selector_holds(msgspec.to_builtins(pool.selector), node.labels))
            for clause, pool in self.asked.pools
        )

    def _member(self, node: Node, pool: Pool, index: int | None) -> bool:
        if not pool.sized:
            return True
        hosts = self.hosts[pool.namespace, pool.name]
        return node.name in hosts.values() if index is None else hosts.get(index) == node.name

    def tagged(self, labels: Mapping[str, str], pool: Pool) -> bool:
        """Whether the labels are those of the pool's tags: one key for the only tag of all pools, else a key each."""
        if len(self.asked.tags) == 1:
            return all(labels.get(PREFIX + "hostpool") == tag for tag in pool.tags)
        return all(f"hostpool.streams.ibm.com/{tag}" in labels for tag in pool.tags)

    def mapped(self, node: Node) -> bool:
        """It meets every expression of the worker mapping."""
        return "mapping" in self.asked.soft or all(holds(need, self._labels(node)) for need in self.asked.mapped)

    def own(self, node: Node) -> bool:
        """It is what the pod's own node name, selector and required affinity ask for."""
        spec, labels = self.asked.spec, self._labels(node)
        if spec.get("nodeName") and spec["nodeName"] != node.name:
            return False
        wanted = (spec.get("nodeSelector") or {}).items()
        return all(labels.get(key) == value for key, value in wanted) and affinity_holds(
            spec.get("affinity"), node.name, labels
        )

    def _labels(self, node: Node) -> dict[str, str]:
        """The node's labels, with those of pools as if they were there already."""
        labels = {key: value for key, value in node.labels.items() if not key.startswith(MEMBERSHIP)}
        for (namespace, name), hosts in self.hosts.items():
            for index, host in hosts.items():
                if host == node.name:
                    labels[MEMBERSHIP + digest(f"{namespace}/{name}")] = str(index)
        return labels

    def labelled(self, node: Node) -> bool:
        """It has every label that its hardware must have."""
        labels = self._labels(node)
        return all(labels.get(key) == value for key, value in self.asked.equipment.labels.items())

    def untainted(self, node: Node) -> bool:
        """Every taint that keeps pods away is tolerated; that of exclusive pools is another matter."""
        hard = [taint for taint in node.taints if taint.effect in {"NoSchedule", "NoExecute"}]
        tolerations = self.asked.spec.get("tolerations") or ()
        return all(
            tolerated((taint.key, taint.value, taint.effect), tolerations)
            for taint in hard
            if taint.key != PREFIX + "exclusive"
        )

    def nobody_elses(self, node: Node) -> bool:
        """It belongs to no exclusive pool but the pod's own."""
        own = {f"{pool.namespace}.{pool.name}" for _, pool in self.asked.pools if pool.mode == "Exclusive"}
        for taint in node.taints:
            if taint.key == PREFIX + "exclusive" and taint.effect != "PreferNoSchedule" and taint.value not in own:
                return False
        return not any(
            pool.mode == "Exclusive"
            and f"{pool.namespace}.{pool.name}" not in own
            and node.name in standing(pool, self.cluster.nodes).values()
            for pool in self.cluster.pools
        )

    def roomy(self, node: Node) -> bool:
        """It offers the requests: all of it, or what is free of it where nobody would wait."""
        others = [pod for pod in self.cluster.pods if pod.node == node.name] if self.asked.bound else []
        return self.hold(node, others)
