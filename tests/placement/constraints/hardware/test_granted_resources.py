"""Room for what hardware requirements give to containers."""

from typing import Any

import pytest

from tests.builders import OUTRIGHT, Json, bound_pod, cluster, decided, node, nodes, pod
from tests.placement.hardware_containers import GPU, amount, container, equipped, required
from webhook.placement.inventory.inventory import Inventory

TWO = cluster(nodes(2))
ONE_GPU = cluster([equipped("node-a", 1), node("node-b")])


def asking(*requirements: Json, **tweaks: Any) -> Json:
    placement, more = tweaks.pop("placement", None), tweaks.pop("annotations", {})
    return pod(placement, annotations=required(*requirements) | more, **tweaks)


REFUSALS: dict[str, tuple[Json, Inventory, str]] = {
    "a device that nobody offers": (
        asking(amount(GPU, 1)),
        TWO,
        (
            "hardware example.com/gpu 1 cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have less than example.com/gpu 1\n"
            "Nearest fix: add a node with example.com/gpu 1 to offer, "
            "or drop hardware example.com/gpu 1 (2 nodes would fit)."
        ),
    ),
    "more cores than any node has": (
        asking(amount("cpu", 9)),
        TWO,
        (
            "hardware cpu 9 cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have less than cpu 9\n"
            "Nearest fix: add a node with cpu 9 to offer, or drop hardware cpu 9 (2 nodes would fit)."
        ),
    ),
    "cores here, a device there": (
        asking(amount("cpu", 9), amount(GPU, 1)),
        cluster([node("node-a", cpu=16000), equipped("node-b", 1)]),
        (
            "hardware cpu 9 and hardware example.com/gpu 1 cannot both hold: 0 of 2 nodes can run this pod.\n"
            "  1 node has less than cpu 9\n"
            "  1 node has less than example.com/gpu 1\n"
            "Nearest fix: add a node with cpu 9 to offer, or drop hardware cpu 9 (1 node would fit)."
        ),
    ),
    "two containers that get the same": (
        asking(amount(GPU, 1, of="a"), amount(GPU, 2, of="b"), containers=[container("a"), container("b")]),
        cluster([equipped("node-a", 2)]),
        (
            "hardware example.com/gpu 1 + hardware example.com/gpu 2 cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node has less than example.com/gpu 3\n"
            "Nearest fix: add a node with example.com/gpu 3 to offer, "
            "or drop hardware example.com/gpu 1 + hardware example.com/gpu 2 (1 node would fit)."
        ),
    ),
    "a container beside one that is given some": (
        asking(amount(GPU, 1, of="a"), containers=[container("a"), container("b", {GPU: 1}, {GPU: 1})]),
        ONE_GPU,
        (
            "hardware example.com/gpu 1 and requests example.com/gpu 1 cannot both hold: "
            "0 of 2 nodes can run this pod.\n"
            "  2 nodes have less than example.com/gpu 2\n"
            "Nearest fix: add a node with example.com/gpu 2 to offer, "
            "or drop hardware example.com/gpu 1 (1 node would fit)."
        ),
    ),
    "a requirement and what the pod requests itself": (
        asking(amount(GPU, 1), requests={"memory": "64Gi"}),
        ONE_GPU,
        (
            "requests memory 64Gi cannot hold: 0 of 2 nodes can run this pod.\n"
            "  1 node has less than example.com/gpu 1\n"
            "  1 node has less than memory 64Gi\n"
            "Nearest fix: add a node with memory 64Gi to offer, or lower requests memory 64Gi to memory "
            "32Gi (1 node would fit)."
        ),
    ),
    "a node that is full, where nobody would wait": (
        asking(amount(GPU, 1), placement='host("node-a")', annotations=OUTRIGHT),
        cluster([equipped("node-a", 1)], pods=[bound_pod("node-a", job="", requests={GPU: 1})]),
        (
            'host("node-a") and hardware example.com/gpu 1 cannot both hold: 0 of 1 node can run this pod.\n'
            "  1 node has less than example.com/gpu 1 free\n"
            'Nearest fix: free example.com/gpu 1 on one node, or drop host("node-a") (1 node would fit).'
        ),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_a_pod_is_refused(found: Json, inventory: Inventory, expected: str) -> None:
    assert decided(found, inventory).message == expected


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        pytest.param("20", "add a node with cpu 9 to offer, or lower hardware cpu 9 (2 nodes would fit).", id="more"),
        pytest.param("1", "add a node with cpu 9 to offer, or drop hardware cpu 9 (2 nodes would fit).", id="less"),
    ],
)
def test_what_a_requirement_overrules_counts_no_longer(own: str, expected: str) -> None:
    assert decided(asking(amount("cpu", 9), requests={"cpu": own}), TWO).message.endswith(expected)


def test_an_amount_that_is_in_use_can_be_waited_for() -> None:
    inventory = cluster([equipped("node-a", 1)], pods=[bound_pod("node-a", job="", requests={GPU: 1})])
    assert not decided(asking(amount(GPU, 1)), inventory).refused


def test_what_the_pod_as_a_whole_requests_is_what_counts() -> None:
    assert decided(asking(amount("cpu", 2), resources={"requests": {"cpu": "9"}}), TWO).message == (
        "requests cpu 9 cannot hold: 0 of 2 nodes can run this pod.\n"
        "  2 nodes have less than cpu 9\n"
        "Nearest fix: lower requests cpu 9 (2 nodes would fit)."
    )
