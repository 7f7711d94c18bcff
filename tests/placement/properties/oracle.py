"""Whether a pod may run on a node, asked node by node in plain loops over plain values.

Written from the product's documents (``docs/verdicts.md``), not from its code: nothing of the decision core is used
but the values that describe a cluster and the parser of placement text.
"""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tests.placement.properties.asked import PREFIX, Asked
from tests.placement.properties.clusters import Cluster, Name, digest, standing
from tests.placement.properties.selectors import affinity_holds, selector_holds, tolerated
from webhook.placement.clauses import Clause, ClauseName, PoolName
from webhook.placement.cluster import BoundPod, Node, Pool
from webhook.placement.spl import parse_placement

HOSTNAME = "kubernetes.io/hostname"
MEMBERSHIP = "streams.ibm.com.node-restriction.kubernetes.io/hostpool."


class Oracle:
    """One pod of a namespace in one cluster; ``hosts`` are those that sized and literal pools have or would get."""

    def __init__(
        self, pod: Mapping[str, Any], namespace: str, cluster: Cluster, hosts: Mapping[Name, Mapping[int, str]]
    ) -> None:
        self.cluster, self.hosts = cluster, hosts
        self.asked = Asked(pod, namespace, cluster.pools, cluster.nodes)
        live = [
            found for found in cluster.pods if found.node and found.namespace == namespace and not found.terminating
        ]
        self.siblings = [found for found in live if self.asked.job and found.job == self.asked.job]
        self.model = next(
            (job for job in cluster.jobs if (job.namespace, job.name) == (namespace, self.asked.job)), None
        )

    def candidates(self) -> set[str]:
        """The nodes that the pod may run on."""
        return {node.name for node in self.cluster.nodes if not self.objection(node)}

    def objection(self, node: Node) -> str:
        """The first family that rules the node out, in the order of reasons; nothing if it may run the pod."""
        families = (
            self.named, self.pooled, self.own, self.untainted, self.nobody_elses, self.roomy, self.together, self.apart,
            self.isolated,
        )  # fmt: skip
        return next((family.__name__ for family in families if not family(node)), "")

    def named(self, node: Node) -> bool:
        """It is the host of every ``host("…")``."""
        texts = [clause.argument for clause in self.asked.of(ClauseName.HOST) if isinstance(clause.argument, str)]
        return all(self.is_host(node, text) for text in texts)

    def is_host(self, node: Node, text: str) -> bool:
        """Whether the text is the address, or else the name, of the node."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return node.name == text
        return address in map(ipaddress.ip_address, node.addresses)

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
        return self._hold(node, others)

    def _hold(self, node: Node, others: list[BoundPod]) -> bool:
        return all(
            wanted + sum(pod.requests.get(resource, 0) for pod in others) <= node.allocatable.get(resource, 0)
            for resource, wanted in self.asked.requests.items()
            if wanted
        )

    def together(self, node: Node) -> bool:
        """It runs the pods of the colocation group, if there are any, and holds ours beside them."""
        tokens = self.asked.tokens(ClauseName.COLOCATION)
        if not tokens:
            return True
        group = self.group(tokens)
        keys = {f"{PREFIX}hostcolocation.{digest(token)}": token for token in group}
        if len(group) > 1:
            keys[f"{PREFIX}hostcolocation.{digest(chr(10).join(sorted(group)))}"] = "group"
        members = [pod for pod in self.siblings if any(pod.labels.get(key) == value for key, value in keys.items())]
        here = [pod for pod in members if pod.node == node.name]
        held = {pod.node for pod in members} & {found.name for found in self.cluster.nodes}
        return self._own_hostname(node) and (not held or (bool(here) and self._hold(node, here)))

    def group(self, tokens: set[str]) -> set[str]:
        """The tokens that meet these, directly or by way of others, in the job's processing elements."""
        sets: dict[str, set[str]] = {}
        for element, _, clauses in self.model_clauses():
            named = {str(found.argument) for found in clauses if found.name is ClauseName.COLOCATION}
            sets[element] = sets.get(element, set()) | named
        group, size = set(tokens), 0
        while size != len(group):
            size = len(group)
            group = group.union(*(found for found in sets.values() if found & group))
        return group

    def model_clauses(self) -> Iterator[tuple[str, str, tuple[Clause, ...]]]:
        """Element, operator and clauses of everything in the Job object that can be read."""
        for element in self.model.elements if self.model else ():
            for operator, text in element.placements:
                clauses, problems = parse_placement(text, "")
                if not problems:
                    yield element.name, operator, clauses

    def apart(self, node: Node) -> bool:
        """It runs no pod of the job with one of our exlocation tokens, and has a host name of its own."""
        tokens = self.asked.tokens(ClauseName.EXLOCATION)
        held = {
            pod.node
            for pod in self.siblings
            for token in tokens
            if pod.labels.get(f"{PREFIX}hostexlocation.{digest(token)}") == token
        }
        return not tokens or (self._own_hostname(node) and node.name not in held)

    def isolated(self, node: Node) -> bool:
        """It runs no isolated one of the job's other processing elements, and if we are isolated, no other at all."""
        others = [pod for pod in self.siblings if not self.asked.pe or pod.pe != self.asked.pe]
        here = [pod for pod in others if pod.node == node.name]
        if self.asked.of(ClauseName.ISOLATION):
            return self._own_hostname(node) and not here
        host = node.labels.get(HOSTNAME)
        alike = {found.name for found in self.cluster.nodes if host and found.labels.get(HOSTNAME) == host}
        return not any(pod.isolated and pod.node in alike | {node.name} for pod in others)

    def _own_hostname(self, node: Node) -> bool:
        label = node.labels.get(HOSTNAME)
        return label is not None and [found.labels.get(HOSTNAME) for found in self.cluster.nodes].count(label) == 1
