"""Nodes whose kubelets cannot align a pod with their NUMA zones do not run it."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, Json, cluster, node, nodes, pod, typed
from tests.placement.hardware_containers import amount, required
from tests.work import calls
from webhook.placement.constraints.hardware.numa import NAMED
from webhook.placement.decision.decision import Decision, decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.request.world import World

SINGLE, RESTRICTED = TopologyPolicy.SINGLE, TopologyPolicy.RESTRICTED
CONTAINER, POD = TopologyScope.CONTAINER, TopologyScope.POD


def zones(policy: TopologyPolicy, *cores: int, scope: TopologyScope = CONTAINER, **devices: int) -> NodeTopology:
    """Zones of so many cores; ``nic`` devices are in the last one."""
    nics = [0] * (len(cores) - 1) + [devices.get("nic", 0)]
    held = [(("cpu", count * NANO), ("example.com/nic", nic * NANO)) for count, nic in zip(cores, nics, strict=True)]
    return NodeTopology(policy, scope, tuple(NumaZone(each, each) for each in held))


def known(count: int, *topologies: NodeTopology | None) -> Inventory:
    """So many nodes, the first of which have these zones."""
    inventory = cluster(nodes(count))
    for name, topology in zip(sorted(inventory.nodes.slot_of), topologies, strict=False):
        if topology is not None:
            inventory.topologies.put(name, topology)
    return inventory


def guaranteed(cpu: str = "4", *more: Json, **others: str) -> Json:
    """A pod whose container has limits that are its requests."""
    resources = {"requests": {"cpu": cpu, "memory": "1Gi", **others}, "limits": {"cpu": cpu, "memory": "1Gi", **others}}
    found = pod()
    found["spec"]["containers"] = [{"name": "runtime", "image": "i", "resources": resources}, *more]
    return found


def decided(found: Json, inventory: Inventory) -> Decision:
    return decide(typed(found), NAMESPACE, World(inventory, Policy()))


def kept_from(decision: Decision) -> list[Any]:
    """The nodes that the patch keeps the pod from."""
    assert decision.additions is not None, decision.message
    return [list(need.values or ()) for term in decision.additions.terms for need in term.match_expressions or ()]


def test_a_pod_that_no_kubelet_can_align_is_refused() -> None:
    decision = decided(guaranteed(), known(2, zones(SINGLE, 3, 3), zones(SINGLE, 3, 3)))
    assert decision.message == (
        "requests cpu 4 by NUMA zone cannot hold: 0 of 2 nodes can run this pod.\n"
        "  2 nodes have no NUMA zone with cpu 4 of container runtime (policy single-numa-node)\n"
        "Nearest fix: add a node with NUMA zones for cpu 4, or lower requests cpu 4 by NUMA zone to cpu 3 (2 nodes "
        "would fit)."
    )


def test_one_that_some_can_align_is_kept_from_the_others() -> None:
    decision = decided(guaranteed(), known(3, zones(SINGLE, 3, 3), zones(SINGLE, 4, 4)))
    (names,) = kept_from(decision)
    assert (len(names), decision.warnings) == (1, ())


@pytest.mark.parametrize(
    "topology",
    [
        None,
        zones(SINGLE, 4, 1),
        zones(RESTRICTED, 2, 2),
        zones(TopologyPolicy.BEST_EFFORT, 1, 1),
        zones(TopologyPolicy.NONE, 1, 1),
        NodeTopology(SINGLE, CONTAINER, (NumaZone(),)),
        NodeTopology(SINGLE, CONTAINER, ()),
        NodeTopology(RESTRICTED, POD, ()),
        NodeTopology(SINGLE, CONTAINER, zones(SINGLE, 1).zones * 9),
    ],
    ids=[
        "unknown",
        "one zone",
        "all zones",
        "best-effort",
        "none",
        "without amounts",
        "single-numa-node without zones",
        "restricted without zones",
        "too many zones",
    ],
)
def test_other_nodes_run_it(topology: NodeTopology | None) -> None:
    decision = decided(guaranteed(), known(1, topology))
    assert (decision.message, kept_from(decision), decision.warnings) == ("", [], ())


@pytest.mark.parametrize(
    "found",
    [
        guaranteed("3500m"),
        guaranteed("4", {"name": "mesh", "image": "i"}),
        pod(),
    ],
    ids=["a part of a core", "a sidecar without limits", "no requests"],
)
def test_what_kubelets_do_not_align_runs_anywhere(found: Json) -> None:
    assert decided(found, known(1, zones(SINGLE, 3, 3))).message == ""


def test_a_pod_with_resources_of_its_own_is_not_judged() -> None:
    found = guaranteed()
    found["spec"]["resources"] = {"limits": {"cpu": "4", "memory": "1Gi"}}
    assert decided(found, known(1, zones(SINGLE, 3, 3))).message == ""


def test_cores_and_devices_of_one_container_come_from_one_zone() -> None:
    found = guaranteed("4", **{"example.com/nic": "1"})
    assert "no NUMA zone with cpu 4, example.com/nic 1 of container runtime" in refusal(
        found, zones(SINGLE, 4, 3, nic=2)
    )
    assert refusal(found, zones(SINGLE, 3, 4, nic=2)) == ""


def refusal(found: Json, topology: NodeTopology) -> str:
    """The refusal where the only node, which has enough of all, has these zones."""
    inventory = cluster(nodes(1, **{"example.com/nic": 8})) if "nic" in str(found) else cluster(nodes(1))
    (name,) = inventory.nodes.slot_of
    inventory.topologies.put(name, topology)
    return decided(found, inventory).message


def test_containers_that_have_no_zone_each_are_refused() -> None:
    other = {"name": "b", "image": "i", "resources": guaranteed()["spec"]["containers"][0]["resources"]}
    assert decided(guaranteed("4", other), known(1, zones(SINGLE, 4, 4))).message == ""
    refused = decided(guaranteed("4", other), known(1, zones(SINGLE, 7, 1))).message
    assert (
        "1 node has no NUMA zones that cpu 8 of all containers can be aligned with (policy single-numa-node)" in refused
    )


def test_a_pod_is_aligned_as_a_whole_by_the_scope_of_pods() -> None:
    other = {"name": "b", "image": "i", "resources": guaranteed()["spec"]["containers"][0]["resources"]}
    assert decided(guaranteed("4", other), known(1, zones(SINGLE, 8, 1, scope=POD))).message == ""
    assert (
        "cpu 8 of all containers" in decided(guaranteed("4", other), known(1, zones(SINGLE, 7, 4, scope=POD))).message
    )


def test_hardware_that_is_required_is_aligned_as_well() -> None:
    found = pod(annotations=required({"name": "cpu", "limits": 4, "requests": 4}, amount("memory", 1000, units="MB")))
    decision = decided(found, known(1, zones(SINGLE, 3, 3)))
    assert "by NUMA zone" in decision.message


def test_from_very_many_nodes_a_pod_is_not_kept_by_name_but_warned() -> None:
    decision = decided(guaranteed(), known(NAMED + 2, *[zones(SINGLE, 3, 3)] * (NAMED + 1)))
    assert kept_from(decision) == []
    assert decision.warnings == (
        "requests cpu 4 by NUMA zone: the kubelets of 65 nodes cannot align this and turn the pod away",
    )


@pytest.mark.parametrize("labels", [{}, {"kubernetes.io/hostname": "node-c"}], ids=["without", "of another node"])
def test_of_a_node_without_a_hostname_of_its_own_a_pod_is_warned(labels: dict[str, str]) -> None:
    inventory = known(3, zones(SINGLE, 3, 3), zones(SINGLE, 3, 3))
    inventory.set_node(replace(inventory.nodes.nodes[inventory.nodes.slot_of["node-b"]], labels=labels))
    decision = decided(guaranteed(), inventory)
    assert kept_from(decision) == [["node-a"]]
    assert decision.warnings == (
        "requests cpu 4 by NUMA zone: the kubelet of 1 node cannot align this and turns the pod away",
    )


def test_each_node_is_counted_by_what_its_own_kubelet_cannot_align() -> None:
    found = guaranteed("4")
    found["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "node-b"}
    message = decided(found, known(2, zones(SINGLE, 3, 3), zones(RESTRICTED, 3))).message
    assert "1 node has no NUMA zones that cpu 4 of container runtime can be aligned with (policy restricted)" in message
    assert "single-numa-node" not in message


def test_nodes_with_equal_zones_are_known_apart() -> None:
    inventory = known(2, zones(SINGLE, 3, 3), zones(SINGLE, 3, 3))
    inventory.topologies.drop("node-a")
    (names,) = kept_from(decided(guaranteed(), inventory))
    assert names == ["node-b"]


def test_zones_of_a_node_that_does_not_exist_change_nothing() -> None:
    inventory = known(1)
    inventory.topologies.put("gone", zones(SINGLE, 1))
    assert decided(guaranteed(), inventory).message == ""
    inventory.topologies.drop("gone")
    inventory.topologies.drop("gone")
    assert (inventory.topologies.by_node, inventory.topologies.version) == ({}, 2)


def test_zones_that_change_are_seen() -> None:
    inventory = known(1, zones(SINGLE, 3, 3))
    (name,) = inventory.nodes.slot_of
    assert decided(guaranteed(), inventory).message
    inventory.topologies.put(name, zones(SINGLE, 4))
    inventory.topologies.put(name, zones(SINGLE, 4))
    assert (decided(guaranteed(), inventory).message, inventory.topologies.version) == ("", 3)
    inventory.topologies.put(name, zones(TopologyPolicy.NONE, 1))
    assert inventory.topologies.by_node == {}


def fix(found: Json, inventory: Inventory) -> str:
    """The last alternative of what would help."""
    return decided(found, inventory).message.splitlines()[-1].rpartition(", or ")[2].removesuffix(".")


def container(name: str, cpu: str, **others: str) -> Json:
    amounts = {"cpu": cpu, "memory": "1Gi", **others}
    return {"name": name, "image": "i", "resources": {"requests": amounts, "limits": amounts}}


NIC = "example.com/nic"


def with_nics(*topologies: NodeTopology | None) -> Inventory:
    """Nodes with as many cores as their zones have, and two devices."""
    cores = [sum(dict(zone.allocatable)["cpu"] for zone in one.zones) // NANO if one else 6 for one in topologies]
    found = cluster(node(f"node-{at}", cpu=1000 * count, **{NIC: 2}) for at, count in enumerate(cores))
    for at, topology in enumerate(topologies):
        if topology:
            found.topologies.put(f"node-{at}", topology)
    return found


WAITING: Json = {"initContainers": [container("first", "6")]}


@pytest.mark.parametrize(
    ("found", "topologies", "expected"),
    [
        (guaranteed("6", **{NIC: "1"}), [zones(SINGLE, 5, 4, nic=1)], "cpu 4"),
        (guaranteed("4", **{NIC: "2"}), [zones(SINGLE, 4, 4, nic=1)], f"{NIC} 1"),
        (guaranteed("8"), [zones(SINGLE, 5, 4), zones(SINGLE, 6, 1)], "cpu 6"),
        (guaranteed("8"), [zones(SINGLE, 5, 4), None], "cpu 6"),
        (guaranteed("6", **{NIC: "1"}), [zones(RESTRICTED, 5, 5, nic=1)], "cpu 5"),
        (guaranteed("4", container("b", "3")), [zones(SINGLE, 5, 1)], "cpu 5 (b: cpu 1)"),
        (guaranteed("3", container("b", "3")), [zones(SINGLE, 3, 2)], "cpu 5 (b: cpu 2)"),
        (guaranteed("4", container("b", "3")), [zones(SINGLE, 3, 3)], "cpu 6 (runtime: cpu 3)"),
        (guaranteed("4", container("b", "3")), [zones(SINGLE, 5, 3, scope=POD)], "cpu 5 (b: cpu 1)"),
        (guaranteed("4", container("b", "3")), [zones(SINGLE, 3, scope=POD)], "cpu 3 (runtime: cpu 2, b: cpu 1)"),
        (guaranteed("4", container("b", "3")), [zones(SINGLE, 1, scope=POD)], ""),
        (pod(containers=[container("a", "2")], **WAITING), [zones(SINGLE, 5, 5)], "cpu 5 (first: cpu 5)"),
    ],
)
def test_a_request_is_lowered_to_what_a_zone_has(
    found: Json, topologies: list[NodeTopology | None], expected: str
) -> None:
    text = fix(found, with_nics(*topologies))
    assert text.partition(" by NUMA zone to ")[2].rpartition(" (")[0] == expected, text


def test_of_zones_that_have_more_together_than_their_node_no_more_is_used_than_it_has() -> None:
    inventory = with_nics(zones(SINGLE, 5, 5))
    inventory.set_node(node("node-0", cpu=8000))
    assert fix(guaranteed("6", container("b", "6")), inventory) == (
        "Nearest fix: lower requests cpu 12 by NUMA zone to cpu 8 (runtime: cpu 5, b: cpu 3) (1 node would fit)"
    )


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        pytest.param([(8, 1), (6, 2)], f"cpu 8, {NIC} 1", id="most cores"),
        pytest.param([(8, 0), (6, 2), (6, 1)], "cpu 6", id="something of each"),
    ],
)
def test_of_nodes_with_the_same_zones_one_offers_all_that_is_left(
    offered: list[tuple[int, int]], expected: str
) -> None:
    inventory = with_nics(*[zones(SINGLE, 9, nic=2)] * len(offered))
    for at, (cores, nics) in enumerate(offered):
        inventory.set_node(node(f"node-{at}", cpu=1000 * cores, **{NIC: nics}))
    text = fix(guaranteed("10", **{NIC: "2"}), inventory)
    assert text.rpartition(" to ")[2] == f"{expected} (1 node would fit)"


def test_sixteen_kinds_of_zones_are_looked_at() -> None:
    kinds = [zones(SINGLE, cores, 1) for cores in range(1, 18)]
    assert fix(guaranteed("20"), with_nics(*kinds)).endswith(
        "lower requests cpu 20 by NUMA zone to cpu 16 (2 nodes would fit)"
    )


def test_amounts_that_zones_do_not_state_are_not_lowered_to_zones() -> None:
    """Neither less cpu nor less memory is enough, and an amount of one of them is not said."""
    assert decided(pod(containers=[container("a", "6", memory="900Gi")]), with_nics(zones(SINGLE, 5, 5))).message == (
        "requests cpu 6, memory 900Gi cannot hold: 0 of 1 node can run this pod.\n"
        "  1 node has less than memory 900Gi\n"
        "Nearest fix: lower requests cpu 6, memory 900Gi and requests cpu 6 by NUMA zone (1 node would fit)."
    )
    given = required({"resource": amount(NIC, 1, requests=1)})
    found = pod(annotations=given, containers=[container("runtime", "8", memory="900Gi")])
    assert decided(found, with_nics(zones(SINGLE, 5, 4, nic=2))).message == (
        "requests cpu 8, memory 900Gi cannot hold: 0 of 1 node can run this pod.\n"
        "  1 node has less than memory 900Gi\n"
        "Nearest fix: lower requests cpu 8, memory 900Gi (1 node would fit)."
    )


def test_all_that_is_aligned_is_lowered_where_the_first_container_is_said_to_need_too_much() -> None:
    """No zone has the cores of the first; the devices of the second are more than the node has."""
    found = guaranteed("7", container("b", "9", **{NIC: "3"}))
    assert fix(found, with_nics(zones(SINGLE, 5, 2, nic=2))) == (
        "Nearest fix: lower requests cpu 16 by NUMA zone to "
        f"cpu 7, {NIC} 2 (runtime: cpu 5, b: cpu 2, {NIC} 2) (1 node would fit)"
    )


def test_devices_of_a_pod_without_guaranteed_cores_are_lowered_to_none() -> None:
    found = pod(containers=[{"name": "main", "image": "i", "resources": {"limits": {NIC: "2"}}}])
    assert fix(found, with_nics(zones(SINGLE, 5, 4))) == (
        f"lower requests {NIC} 2 by NUMA zone to {NIC} 0 (1 node would fit)"
    )


def test_amounts_of_hardware_requirements_are_not_said() -> None:
    given = required({"resource": amount(NIC, 1, requests=1)})
    found = pod(annotations=given, containers=[container("runtime", "8")])
    assert fix(found, with_nics(zones(SINGLE, 5, 4, nic=2))).startswith("lower requests cpu 8")


@pytest.mark.parametrize("topology", [zones(SINGLE, 3, 3), None], ids=["known", "unknown"])
def test_a_refusal_looks_at_kinds_of_zones_and_not_at_each_node(topology: NodeTopology | None) -> None:
    found = guaranteed("8")

    def refused(count: int) -> int:
        inventory = with_nics(zones(SINGLE, 5, 4), *[topology] * count)
        assert "by NUMA zone to cpu " in fix(found, inventory)
        return calls(lambda: decided(found, inventory))

    assert refused(500) <= refused(50) + 50


@pytest.mark.parametrize("scope", [CONTAINER, POD])
@pytest.mark.parametrize("others", [10, 11, 30, 900])
def test_a_refusal_of_many_containers_is_cheap(others: int, scope: TopologyScope) -> None:
    """There are more choices of zones for 30 containers than could be tried in a year."""
    many = [container(f"c{at}", "1") for at in range(others)]
    inventory = with_nics(zones(SINGLE, 8, 8, scope=scope), zones(SINGLE, 8, 8, scope=scope))
    for name in ("node-0", "node-1"):
        inventory.set_node(node(name, cpu=2_000_000))
    found = guaranteed("9" if scope is CONTAINER else "17", *many)
    assert calls(lambda: decided(found, inventory)) < 80_000 + 200 * others
    assert (" by NUMA zone to cpu " in fix(found, inventory)) is (others <= 11 and scope is CONTAINER)


def test_what_is_refused_for_other_clauses_is_not_lowered_to_zones() -> None:
    found = pod(requests={"cpu": "4"}, nodeSelector={"disk": "ssd"})
    assert "by NUMA zone" not in decided(found, with_nics(zones(SINGLE, 5, 4))).message
