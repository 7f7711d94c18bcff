"""Clusters that replicas are crowded into."""

from tests.builders import cluster, node, nodes, pool
from webhook.placement.text import keys

TAGGED = {keys.TAG: "x"}
THREE = cluster(nodes(3))
POOLS = cluster(
    [node("node-a", labels=TAGGED), node("node-b", labels=TAGGED), node("node-c", labels={"disk": "ssd"})],
    [
        pool(tags=["x"]),
        pool("Sized", size=2, assigned=["node-a", "node-b"]),
        pool("Closed", size=1, mode="Exclusive", assigned=["node-c"]),
    ],
)
OPEN = cluster([node("node-a", labels=TAGGED), node("node-b", labels=TAGGED), node("node-c")], [pool(tags=["x"])])
