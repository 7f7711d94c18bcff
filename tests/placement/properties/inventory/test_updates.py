"""An inventory kept up to date one object at a time answers like one that is built from the final state."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.inventory.test_order import answer
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import clusters
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.pools.allocation import allocate

Key = tuple[str, ...]
Update = tuple[str, Key, Any]
"""Kind of an object, its key, and the object itself; nothing where it is removed."""

SETTERS: dict[str, Callable[[Inventory, Any], None]] = {
    "node": Inventory.set_node, "pod": Inventory.set_pod, "pool": Inventory.set_pool, "job": Inventory.set_job,
}  # fmt: skip
REMOVERS: dict[str, Callable[..., None]] = {
    "node": Inventory.remove_node, "pod": Inventory.remove_pod, "pool": Inventory.remove_pool,
    "job": Inventory.remove_job,
}  # fmt: skip


def objects(cluster: Cluster) -> list[Update]:
    """Everything in a cluster with its key."""
    return [
        *(("node", (node.name,), node) for node in cluster.nodes),
        *(("pod", (pod.uid,), pod) for pod in cluster.pods),
        *(("pool", (pool.namespace, pool.name), pool) for pool in cluster.pools),
        *(("job", (job.namespace, job.name), job) for job in cluster.jobs),
    ]


def history(choices: RandomChoices, *clusters: Cluster) -> list[Update]:
    """Up to 60 updates: objects of any of the clusters come, change into another's, go, and come back."""
    known = [update for cluster in clusters for update in objects(cluster)]
    if not known:
        return []
    chosen = [choices.pick(known) for _ in range(choices.face(60))]
    return [(kind, key, None if choices.chance(2) else value) for kind, key, value in chosen]


def apply(inventory: Inventory, update: Update) -> None:
    kind, key, value = update
    if value is None:
        REMOVERS[kind](inventory, *key)
    else:
        SETTERS[kind](inventory, value)


def final(updates: list[Update]) -> Inventory:
    """An inventory that has only ever known what is left in the end."""
    left: dict[tuple[str, Key], Update] = {}
    for update in updates:
        left[update[:2]] = update
    inventory = Inventory()
    for update in sorted(left.values(), key=lambda found: found[:2]):
        if update[2] is not None:
            apply(inventory, update)
    return inventory


def room(inventory: Inventory) -> dict[str, list[tuple[int, int]]]:
    """What each node has to give and what of it is used."""
    capacity = inventory.nodes.capacity
    return {
        node.name: [
            (capacity.allocatable(resource, slot), capacity.used(resource, slot))
            for resource in ("cpu", "memory", "pods", "example.com/gpu")
        ]
        for slot, node in inventory.nodes.nodes.items()
    }


@given(clusters(), clusters(), drawn(125, lambda choices: choices), st.lists(requested(), min_size=2, max_size=3))
@examples(250)
def test_updates_end_where_a_fresh_start_does(
    one: Cluster, two: Cluster, choices: RandomChoices, pods: list[Json]
) -> None:
    updates = history(choices, one, two)
    inventory = Inventory()
    for at, update in enumerate(updates):
        apply(inventory, update)
        if at % 7 == 0:
            answer(pods[0], inventory)  # whatever the inventory remembers of an answer must not outlive the next update
    fresh = final(updates)
    assert room(inventory) == room(fresh)
    one_host, other = (decision_core.names(found.nodes.own_hostname, found) for found in (inventory, fresh))
    assert one_host == other
    for pod in pods:
        assert answer(pod, inventory) == answer(pod, fresh)
    for pool in fresh.pools.values():
        if pool.sized:
            assert allocate(pool, inventory, decision_core.POLICY) == allocate(pool, fresh, decision_core.POLICY)


@given(clusters(), drawn(125, lambda choices: choices))
@examples(100)
def test_nothing_is_left_when_everything_is_removed(cluster: Cluster, choices: RandomChoices) -> None:
    inventory = Inventory()
    known = objects(cluster)
    for update in (*known, *history(choices, cluster)):
        apply(inventory, update)
    for kind, key, _ in choices.shuffled(known):
        apply(inventory, (kind, key, None))
    index = inventory.nodes
    assert (index.nodes, index.slot_of, index.everything, index.own_hostname) == ({}, {}, 0, 0)
    assert not any((index.has, index.labels, index.addresses, index.tainted, *index.taints.values()))
    assert not any((inventory.pools, inventory.jobs, inventory.pools.members, [*inventory.jobs_with_pods()]))
