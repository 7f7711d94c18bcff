"""How many equal pods fit, asked node by node and pod by pod."""

from collections.abc import Sequence

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json
from tests.placement.properties.oracle.node_check import Oracle
from tests.placement.properties.oracle.request import OracleRequest
from tests.placement.properties.oracle.topology import Domains
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.objects.node import Node
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.workload.workload import decide_replicas


class ReplicasRequest(OracleRequest):
    """What so many pods on one node need together."""

    count = 1

    @property
    def requests(self) -> dict[str, int]:
        """As much as all of them."""
        return {resource: amount * self.count for resource, amount in self.one.items()}


class Many:
    """The judge of a pod, asked about several of it."""

    def __init__(self, pod: Json, cluster: Cluster) -> None:
        self.judge: Oracle = decision_core.oracle(pod, cluster)
        self.asked = self.judge.asked = ReplicasRequest(pod, TEAM, cluster)

    @property
    def apart(self) -> bool:
        """Whether no two of them can share a node: by a token, or because each is another element to the others."""
        alone = self.asked.of(ClauseName.ISOLATION) and not self.asked.pe
        uniform = self.asked.uniformly("all-separate-nodes")
        return bool(self.asked.tokens(ClauseName.EXLOCATION) or alone or uniform or self.asked.shuns_itself)

    @property
    def together(self) -> bool:
        """Whether all of them have to share a node."""
        return bool(self.asked.tokens(ClauseName.COLOCATION)) or self.asked.uniformly("all-same-node")

    def room(self, most: int) -> int:
        """How many of them fit, at most ``most``."""
        held = {node: self._on(node, min(most, 1) if self.apart else most) for node in range(len(self.nodes))}
        if self.together:
            return max((self._placed({node: count}) for node, count in held.items()), default=0)
        return min(most, self._placed(held))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes."""
        return self.judge.cluster.nodes

    @property
    def limited(self) -> bool:
        """Whether domains bound their number."""
        return bool(self.asked.spread or self.asked.repels_itself)

    def _placed(self, held: dict[int, int]) -> int:
        """How many can be placed one after the other, each where fewest are, while nodes hold so many each."""
        spread, taken = self.judge.domains(), set[tuple[str, str]]()
        for count in range(sum(held.values()) + 1):
            where = [at for at, left in held.items() if left and self._takes(self.nodes[at], spread, taken)]
            if not where:
                return count
            at = min(where, key=lambda at: [one.counts.get(self.nodes[at].labels[one.key], 0) for one in spread])
            held[at] -= 1
            for one in spread:
                one.place(self.nodes[at])
            taken |= self._own(self.nodes[at])
        raise AssertionError

    def _takes(self, node: Node, spread: Sequence[Domains], taken: set[tuple[str, str]]) -> bool:
        return not taken & self._own(node) and all(one.takes(node) for one in spread)

    def _own(self, node: Node) -> set[tuple[str, str]]:
        """The domains of the node that hold one of the pods only."""
        return {(key, node.labels[key]) for key in self.asked.repels_itself if key in node.labels}

    def _on(self, node: int, most: int) -> int:
        """How many fit on the node: one more, as long as nobody objects, whatever is spread where."""
        for count in range(1, most + 1):
            self.asked.count = count
            if self.judge.objection(self.nodes[node]) not in {"", "even"}:
                return count - 1
        return most


def decided(pod: Json, cluster: Cluster, count: int, *, owner: str = "", **how: bool) -> Decision:
    """How the core judges so many of the pod, in turn or suspended."""
    replicas = Replicas(count, f"replicas {count}", owner=owner, **how)
    return decide_replicas(
        decision_core.read(pod), TEAM, decision_core.inventory(cluster), decision_core.POLICY, replicas
    )
