"""A cluster of 2,000 nodes with whatever makes decisions expensive: many labels, taints, pools, pods and elements."""

import functools

from tests.builders import bound_pod, cluster, job, node, pool
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase
from webhook.placement.text import keys

TOKENS = 32
MANY = 2000


@functools.cache
def large_cluster() -> Inventory:
    """The cluster, which tests do not change; made when the first of them runs."""
    return cluster(
        [
            node(
                f"node-{at:04}",
                labels={f"k{at % 64}": "v", "size": str(at)}
                | {f"{keys.TAGS}t{tag}": "" for tag in range(at % 3, TOKENS, 2)},
                taints=[Taint("a", str(at % 50), "NoSchedule")] if at % 2 else [],
                addresses=[f"10.0.{at // 256}.{at % 256}"],
            )
            for at in range(MANY)
        ],
        pools=[
            *(pool(f"P{at}x", size=5, phase=Phase.PENDING) for at in range(MANY)),
            *(pool(f"T{at}", tags=[f"t{at}"]) for at in range(TOKENS)),
        ],
        pods=[bound_pod(f"node-{at:04}", pe=f"parallel-{at}") for at in range(MANY)],
        jobs=[job({f"parallel-{at}": f'hostColocation("t{at}"), hostColocation("t{at + 1}")' for at in range(1000)})],
    )
