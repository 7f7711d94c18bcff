"""Whether a pod may be on a node beside those that are there: the part of the oracle that knows the pod's job."""

from collections.abc import Iterator

from tests.placement.properties.clusters import Cluster, digest
from tests.placement.properties.oracle.request import PREFIX, OracleRequest
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.placement import parse_placement

HOSTNAME = "kubernetes.io/hostname"


class Neighbourhood:
    """One pod and the live pods of its job."""

    def __init__(self, asked: OracleRequest, cluster: Cluster) -> None:
        self.cluster, self.asked = cluster, asked
        live = [pod for pod in cluster.pods if pod.node and pod.namespace == asked.namespace and not pod.terminating]
        self.job_pods = [pod for pod in live if asked.job and pod.job == asked.job]
        self.model = next(
            (job for job in cluster.jobs if (job.namespace, job.name) == (asked.namespace, asked.job)), None
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
        members = [pod for pod in self.job_pods if any(pod.labels.get(key) == value for key, value in keys.items())]
        here = [pod for pod in members if pod.node == node.name]
        held = {pod.node for pod in members} & {found.name for found in self.cluster.nodes}
        return self.own_hostname(node) and (not held or (bool(here) and self.hold(node, here)))

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

    def model_clauses(self) -> Iterator[tuple[str, str, tuple[PlacementClause, ...]]]:
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
            for pod in self.job_pods
            for token in tokens
            if pod.labels.get(f"{PREFIX}hostexlocation.{digest(token)}") == token
        }
        return not tokens or (self.own_hostname(node) and node.name not in held)

    def isolated(self, node: Node) -> bool:
        """It runs no isolated one of the job's other processing elements, and if we are isolated, no other at all."""
        others = [pod for pod in self.job_pods if not self.asked.pe or pod.pe != self.asked.pe]
        here = [pod for pod in others if pod.node == node.name]
        if self.asked.of(ClauseName.ISOLATION):
            return self.own_hostname(node) and not here
        host = node.labels.get(HOSTNAME)
        alike = {found.name for found in self.cluster.nodes if host and found.labels.get(HOSTNAME) == host}
        return not any(pod.isolated and pod.node in alike | {node.name} for pod in others)

    def tolerated_by_exlocated(self, node: Node) -> bool:
        """No live pod on its host requires pods of one of our exlocation tokens to keep away from it."""
        tokens = {str(clause.argument) for clause in self.asked.clauses if clause.name is ClauseName.EXLOCATION}
        return self._welcome(node, {(f"{PREFIX}hostexlocation.{digest(token)}", token) for token in tokens})

    def tolerated_by_workers(self, node: Node) -> bool:
        """No live worker on its host requires other workers to keep away from it."""
        return self._welcome(node, {(f"{PREFIX}worker", "true")} if self.asked.uniform != "none" else set())

    def _welcome(self, node: Node, marks: set[tuple[str, str]]) -> bool:
        hosts = {found.name: found.labels.get(HOSTNAME) for found in self.cluster.nodes}
        here = node.labels.get(HOSTNAME)
        return not any(marks.intersection(pod.repels) for pod in self.job_pods if here and hosts.get(pod.node) == here)

    def uniform(self, node: Node) -> bool:
        """It runs the job's other workers, if there are any, with room for all; or it runs none of them."""
        workers = [pod for pod in self.job_pods if pod.labels.get(f"{PREFIX}worker") == "true"]
        here = [pod for pod in workers if pod.node == node.name]
        if self.asked.uniformly("all-same-node"):
            held = {pod.node for pod in workers} & {found.name for found in self.cluster.nodes}
            return self.own_hostname(node) and (not held or (bool(here) and self.hold(node, here)))
        return not self.asked.uniformly("all-separate-nodes") or (self.own_hostname(node) and not here)

    def accompanied(self, node: Node) -> bool:
        """The scheduler can see who else is on it, if that matters."""
        return not self.asked.company or self.own_hostname(node)

    def own_hostname(self, node: Node) -> bool:
        """Whether the scheduler sees who else is on it: it has a host name that is no other node's."""
        label = node.labels.get(HOSTNAME)
        return label is not None and [found.labels.get(HOSTNAME) for found in self.cluster.nodes].count(label) == 1

    def hold(self, node: Node, others: list[PodInfo]) -> bool:
        """Whether the node offers what the pod requests beside the others."""
        return all(
            wanted + sum(pod.requests.get(resource, 0) for pod in others) <= node.allocatable.get(resource, 0)
            for resource, wanted in self.asked.requests.items()
            if wanted
        )
