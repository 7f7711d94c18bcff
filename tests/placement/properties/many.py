"""How many equal pods fit, asked node by node and pod by pod."""

from tests.placement.properties import core
from tests.placement.properties.asked import Asked
from tests.placement.properties.clusters import TEAM, Cluster, Json
from tests.placement.properties.oracle import Oracle
from webhook.placement.clauses import ClauseName
from webhook.placement.cluster import Node
from webhook.placement.crowd import Replicas
from webhook.placement.decision import Decision
from webhook.placement.workload import decide_replicas


class Several(Asked):
    """What so many pods on one node need together."""

    count = 1

    @property
    def requests(self) -> dict[str, int]:
        """As much as all of them."""
        return {resource: amount * self.count for resource, amount in self.one.items()}


class Many:
    """The judge of a pod, asked about several of it."""

    def __init__(self, pod: Json, cluster: Cluster) -> None:
        self.judge: Oracle = core.oracle(pod, cluster)
        self.asked = self.judge.asked = Several(pod, TEAM, cluster)

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
        held = [self._on(node, min(most, 1) if self.apart else most) for node in self.judge.cluster.nodes]
        return min(most, max(held, default=0) if self.together else sum(held))

    def _on(self, node: Node, most: int) -> int:
        """How many fit on the node: one more, as long as nobody objects."""
        for count in range(1, most + 1):
            self.asked.count = count
            if self.judge.objection(node):
                return count - 1
        return most


def decided(pod: Json, cluster: Cluster, count: int, *, owner: str = "") -> Decision:
    """What the core decides about so many of the pod."""
    replicas = Replicas(count, f"replicas {count}", owner=owner)
    return decide_replicas(core.read(pod), TEAM, core.inventory(cluster), core.POLICY, replicas)
