"""To what a refusal lowers requests is followed: such a pod is admitted, and with the next larger amounts it is not."""

import pytest

from tests.builders import OUTRIGHT, Json, bound_pod, cluster, decided, node, nodes, pod
from tests.workload_templates import crowded
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text import keys

BOUND = {keys.BIND: "true"}
MANY = {f"example.com/r{at}": "2" for at in range(12)}
BUSY = cluster([node(cpu=8000)], pods=[bound_pod("node-a", requests={"cpu": 5000})])
GPU = "nvidia.com/gpu"


def advice(decision: Decision) -> str:
    """The last alternative of a refusal."""
    return decision.message.rpartition("Nearest fix: ")[2].rpartition("or ")[2]


def cores(cpu: str, side: str = "500m", memory: str = "1Gi") -> Json:
    """A pod with bound cores, and a container beside them that shares cores."""
    amounts = [{"cpu": cpu, "memory": memory}, {"cpu": side, "memory": memory}]
    return pod(
        annotations=BOUND,
        containers=[
            {"name": name, "resources": {"requests": one, "limits": one}}
            for name, one in zip(("pe", "side"), amounts, strict=True)
        ],
    )


def test_bound_cores_stay_whole() -> None:
    inventory = cluster(nodes(1))
    assert advice(decided(cores("16"), inventory)) == (
        "lower requests cpu 16500m, memory 2Gi to cpu 7500m (1 node would fit)."
    )
    assert not decided(cores("7"), inventory).refused
    assert decided(cores("8"), inventory).refused


def test_each_container_keeps_a_bound_core_and_some_memory() -> None:
    """Where a node has just enough for that, that is what is left."""
    inventory = cluster([node(cpu=1001, memory=2)])
    assert advice(decided(cores("4"), inventory)) == (
        "lower requests cpu 4500m, memory 2Gi to cpu 1001m, memory 2 (1 node would fit)."
    )
    assert not decided(cores("1", side="1m", memory="1"), inventory).refused


def test_on_a_node_that_the_pod_is_bound_to_what_is_free_counts() -> None:
    def bound(cpu: str) -> Decision:
        return decided(pod('host("node-a")', requests={"cpu": cpu}, annotations=OUTRIGHT), BUSY)

    assert advice(bound("16")) == "lower requests cpu 16 to cpu 3 (1 node would fit)."
    assert not bound("3").refused
    assert bound("4").refused


def test_replicas_that_are_bound_to_a_node_share_what_is_free() -> None:
    def bound(cpu: str) -> Decision:
        return crowded(None, 3, BUSY, requests={"cpu": cpu}, nodeName="node-a")

    assert advice(bound("3")) == "lower requests cpu 3 to cpu 1 (3 of 3 would fit)."
    assert not bound("1").refused


@pytest.mark.parametrize(
    ("requests", "inventory", "expected", "lower"),
    [
        pytest.param({GPU: "1"}, cluster(nodes(2)), f"drop requests {GPU} 1 (2 nodes would fit).", {}, id="nothing"),
        pytest.param(
            {"cpu": "16", GPU: "1"},
            cluster(nodes(2)),
            f"lower requests cpu 16, {GPU} 1 to cpu 8, {GPU} 0 (2 nodes would fit).",
            {"cpu": "8", GPU: "0"},
            id="nothing of one resource",
        ),
        pytest.param(
            {"cpu": "16", **MANY},
            cluster([node(**dict.fromkeys(MANY, 2))]),
            "lower requests cpu 16, example.com/r0 2, example.com/r1 2, exam... to cpu 8 (1 node would fit).",
            {"cpu": "8", **MANY},
            id="many resources of which one is short",
        ),
    ],
)
def test_requests_are_lowered_to_the_largest_amounts(
    requests: dict[str, str], inventory: Inventory, expected: str, lower: dict[str, str]
) -> None:
    assert advice(decided(pod(requests=requests), inventory)) == expected
    assert not decided(pod(requests=lower), inventory).refused


def test_of_too_many_resources_no_amounts_are_said() -> None:
    many = {f"example.com/r{at}": "2" for at in range(33)}
    one = cluster([node(**dict.fromkeys(many, 1))])
    assert advice(decided(pod(requests=many), one)).startswith("lower requests example.com/r0 2, ")
    assert " to " not in advice(decided(pod(requests=many), one))


def test_of_many_short_resources_only_the_first_keep_a_part() -> None:
    """Eight are searched; of the last four, of which one of two is free, nothing is left."""
    inventory = cluster([node(**dict.fromkeys(MANY, 1))])
    fix = decided(pod(requests=MANY), inventory).message.rpartition(" to ")[2]
    amounts = dict(part.split(" ") for part in fix.partition(" (")[0].split(", "))
    assert sorted(amounts.values()) == ["0"] * 4 + ["1"] * 8
    assert not decided(pod(requests=amounts), inventory).refused
