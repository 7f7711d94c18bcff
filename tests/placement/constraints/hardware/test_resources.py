"""Room for the pod's requests."""

import pytest

from tests.builders import GIB, OUTRIGHT, Json, bound_pod, cluster, decided, node, nodes, pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.amounts import amount, ordered
from webhook.placement.text import keys

ASKS = {"cpu": "2", "memory": "1Gi"}
FULL = cluster(nodes(2), pods=[bound_pod(on, job="", requests={"cpu": 7000}) for on in ("node-a", "node-b")])
BUSY = cluster(
    nodes(2),
    pods=[
        bound_pod("node-a", job="", requests={"cpu": 7000}),
        bound_pod("node-b", job="", requests={"memory": 32 * GIB}),
    ],
)


@pytest.mark.parametrize(
    ("resource", "value", "expected"),
    [
        pytest.param("cpu", 1500, "1500m", id="milli-units of cpu"),
        pytest.param("cpu", 2000, "2", id="whole cores"),
        pytest.param("memory", GIB, "1Gi", id="bytes"),
        pytest.param("example.com/gpu", 3, "3", id="counts"),
    ],
)
def test_an_amount_is_written_as_kubernetes_does(resource: str, value: int, expected: str) -> None:
    assert amount(resource, value) == expected


def test_resources_come_in_a_fixed_order() -> None:
    assert ordered({"z": 1, "a": 1, "memory": 1, "cpu": 1}) == ["cpu", "memory", "a", "z"]


def test_resources_that_are_not_asked_for_are_not_named() -> None:
    assert ordered({"z": 1, "cpu": 1}) == ["cpu", "z"]


REFUSALS: dict[str, tuple[Json, Inventory, str]] = {
    "more than any node offers": (
        pod(requests={"cpu": "16"}),
        cluster(nodes(2)),
        (
            "requests cpu 16 cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have less than cpu 16\n"
            "Nearest fix: add a node with cpu 16 to offer, or lower requests cpu 16 to cpu 8 (2 nodes would fit)."
        ),
    ),
    "more than the only node offers": (
        pod(requests={"cpu": "16", "memory": "64Gi"}),
        cluster(nodes(1)),
        (
            "requests cpu 16, memory 64Gi cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node has less than cpu 16\n"
            "Nearest fix: add a node with cpu 16, memory 64Gi to offer, "
            "or lower requests cpu 16, memory 64Gi to cpu 8, memory 32Gi (1 node would fit)."
        ),
    ),
    "each node lacks something else": (
        pod(requests={"cpu": "8", "memory": "32Gi"}),
        cluster([node("node-a", cpu=4000), node("node-b", memory=GIB)]),
        (
            "requests cpu 8, memory 32Gi cannot hold: 0 of 2 nodes can run this pod.\n"
            "  1 node has less than cpu 8\n"
            "  1 node has less than memory 32Gi\n"
            "Nearest fix: add a node with cpu 8, memory 32Gi to offer, "
            "or lower requests cpu 8, memory 32Gi to memory 1Gi (1 node would fit)."
        ),
    ),
    "a device that nobody offers": (
        pod(requests={"nvidia.com/gpu": "1"}),
        cluster(nodes(2)),
        (
            "requests nvidia.com/gpu 1 cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have less than nvidia.com/gpu 1\n"
            "Nearest fix: add a node with nvidia.com/gpu 1 to offer, "
            "or drop requests nvidia.com/gpu 1 (2 nodes would fit)."
        ),
    ),
    "no pods at all": (
        pod(),
        cluster(nodes(1, pods=0)),
        (
            "No node is open to this pod: 0 of 1 node can run this pod.\n"
            "  1 node runs its maximum number of pods\n"
            "Nearest fix: add a node with room for one more pod."
        ),
    ),
    "nothing free on the node it is bound to": (
        pod('host("node-a")', requests=ASKS, annotations=OUTRIGHT),
        FULL,
        (
            'host("node-a") and requests cpu 2, memory 1Gi cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-a\n"
            "  1 node has less than cpu 2 free\n"
            'Nearest fix: free cpu 2, memory 1Gi on one node, or drop host("node-a") (2 nodes would fit).'
        ),
    ),
    "free room elsewhere": (
        pod('host("node-a")', requests=ASKS, annotations=OUTRIGHT),
        BUSY,
        (
            'host("node-a") and requests cpu 2, memory 1Gi cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-a\n"
            "  1 node has less than cpu 2 free\n"
            'Nearest fix: free cpu 2, memory 1Gi on one node, or drop host("node-a") (2 nodes would fit).'
        ),
    ),
    "as many pods as they may": (
        pod(nodeSelector={"disk": "ssd"}),
        cluster([*nodes(2, pods=0), node("node-c", labels={"disk": "ssd"}, pods=0)]),
        (
            "No node is open to this pod: 0 of 3 nodes can run this pod.\n"
            "  2 nodes do not have the label disk=ssd\n"
            "  1 node runs its maximum number of pods\n"
            "Nearest fix: add a node with room for one more pod and the label disk=ssd."
        ),
    ),
    "several full nodes": (
        pod(),
        cluster(nodes(2, pods=0)),
        (
            "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
            "  2 nodes run their maximum number of pods\n"
            "Nearest fix: add a node with room for one more pod."
        ),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pod_without_room_is_refused(found: Json, inventory: Inventory, expected: str) -> None:
    assert decided(found, inventory).message == expected


ONE_CPU = pod('host("node-a")', requests={"cpu": "1"}, annotations=OUTRIGHT)


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        pytest.param(ONE_CPU, "free cpu 1 on one node", id="cpu is free already"),
        pytest.param(ONE_CPU, "lower requests cpu 1 (", id="nor is it the cpu"),
        pytest.param(
            pod('host("node-a")', annotations=OUTRIGHT), "add a node with room", id="another node is not the one"
        ),
    ],
)
def test_more_of_what_a_full_node_does_not_lack_is_not_a_fix(found: Json, wrong: str) -> None:
    inventory = cluster([node(pods=1)], pods=[bound_pod(job="")])
    assert wrong not in decided(found, inventory).message


@pytest.mark.parametrize(
    ("found", "refused"),
    [
        pytest.param(pod(requests=ASKS), False, id="a pod that the scheduler places waits for room"),
        pytest.param(pod(requests=ASKS, nodeName="node-a"), True, id="a pod that is bound does not"),
        pytest.param(pod('host("node-a")', requests=ASKS, annotations=OUTRIGHT), True, id="nor one that will be bound"),
        pytest.param(pod('host("node-a")', requests=ASKS), False, id="one that need not be bound waits"),
        pytest.param(pod('host("node-a")', requests=ASKS, owner="ReplicaSet"), False, id="one tied by affinity waits"),
        pytest.param(
            pod('host("node-a")', requests=ASKS, annotations={keys.PREFERRED: "host"}), False, id="so does a preference"
        ),
        pytest.param(
            pod('host("node-a")', requests={"cpu": "1"}, annotations=OUTRIGHT), False, id="exactly what is free"
        ),
    ],
)
def test_free_room_is_needed_where_nothing_would_wait_for_it(found: Json, *, refused: bool) -> None:
    assert decided(found, FULL).refused is refused


def test_all_containers_count() -> None:
    containers = [{"name": name, "resources": {"requests": {"cpu": "5"}}} for name in ("a", "b")]
    assert decided(pod(containers=containers), cluster(nodes(1))).refused


def test_a_quantity_that_is_none_is_a_problem() -> None:
    found = pod(containers=[{"name": "a", "resources": {"requests": {"cpu": "two"}}}])
    assert decided(found, cluster(nodes(1))).message == (
        'spec.containers[0].resources.requests[cpu]: "two" is not a Kubernetes quantity'
    )
