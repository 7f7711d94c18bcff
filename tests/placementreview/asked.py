"""Reviews asked of the cluster of a test, and the manifests that they are about."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from tests.placement.properties.random_choices import RandomChoices
from tests.scheduling import product_answers
from tests.scheduling.pods import Names
from tests.scheduling.state import Cluster
from webhook.admission.review import User
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placementreview.answer import ReviewedCluster, answer
from webhook.placementreview.review import ReviewSpec, ReviewStatus, Visible, WhatIf

Json = Mapping[str, Any]
Object = dict[str, Any]

ALICE = User("alice", groups=("system:authenticated",))
EVERYTHING = Visible(nodes=True, all_pods=True)
NOTHING = Visible()


def asked(
    inventory: Inventory,
    *manifests: Object,
    namespace: str = "default",
    visible: Visible = EVERYTHING,
    policy: Policy = product_answers.POLICY,
    pods: Iterable[Json] = (),
    what_if: WhatIf | None = None,
    plan: bool = False,
    queries: ReviewQueries | None = None,
) -> ReviewStatus:
    """The answer to Alice's review of the manifests."""
    cluster = ReviewedCluster(inventory, policy, tuple(map(dict, pods)))
    spec = ReviewSpec(manifests, plan, what_if)
    return asyncio.run(answer(spec, namespace, cluster, visible, user=ALICE, queries=queries, seconds=2.0))


def of(cluster: Cluster) -> Inventory:
    """The cluster as the product knows it."""
    return product_answers.inventory(cluster)


def hostpool(choices: RandomChoices, names: Names) -> Object:
    """A HostPool made by dice: one that may get its hosts, or not."""
    spec: Object = {"name": f"{names.mark}-new", "mode": choices.pick(["Shared", "Exclusive"])}
    if choices.chance(6):
        spec["size"] = 1 + choices.face(4)
    if choices.chance(3):
        spec["tags"] = ["fast"]
    if choices.chance(2):
        spec["hosts"] = choices.some(names.nodes, min(2, len(names.nodes)), 1)
        spec = {key: value for key, value in spec.items() if key not in {"size", "tags"}}
    metadata = {"name": f"{names.mark}-new", "namespace": names.spaces[0]}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": metadata, "spec": spec}


def streams_job(choices: RandomChoices, names: Names) -> Object:
    """A Job made by dice: elements with clauses about one another, and about a HostPool of its own."""
    clauses = ['hostExlocation("a")', 'hostColocation("t")', "hostIsolation", "host(P)", f'host("{names.nodes[0]}")']
    elements = [
        {
            "name": f"pe-{at}",
            "template": {"spec": {"containers": [_container(choices)]}},
            "operators": [{"name": f"Op{at}", "placement": ", ".join(choices.some(clauses, 2, 1))}],
        }
        for at in range(1 + choices.face(4))
    ]
    pools = [{"name": "P", "mode": "Shared", "size": 1 + choices.face(3)}]
    metadata = {"name": f"{names.mark}-whole", "namespace": names.spaces[0]}
    spec = {"hostPools": pools, "processingElements": elements}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _container(choices: RandomChoices) -> Object:
    return {"name": "streams-runtime", "resources": {"requests": {"cpu": choices.pick(["100m", "1", "3", "90"])}}}
