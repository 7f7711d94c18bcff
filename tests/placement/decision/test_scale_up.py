"""Pods that no node can run, where node groups may make one: they wait for it, or are refused with reasons."""

from typing import Any

import pytest

from tests.builders import GIB, Json, bound_pod, cluster, decided, node, pod, pool
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.wait import WaitCause
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import ANYTHING, LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault

AUTO = Policy(scale_up="auto")
SSD = LabelValues.one_of("ssd")
HDD = LabelValues.one_of("hdd")
SPOT = NodeGroup("NodePool", "spot-a", labels={"disktype": HDD})


def with_groups(*groups: NodeGroup, **parts: Any) -> Inventory:
    """A cluster of one node, and these groups."""
    inventory = cluster(parts.pop("nodes", [node("node-a")]), **parts)
    for group in groups:
        inventory.node_groups.put(group)
    return inventory


def ssd(**tweaks: Any) -> Json:
    """A pod for nodes with ``disktype=ssd``."""
    return pod(nodeSelector={"disktype": "ssd"}, **tweaks)


def waits(decision: Decision) -> str:
    """The first line of what an admitted pod waits for."""
    assert decision.additions is not None, decision.message
    assert decision.wait is not None
    assert decision.wait.cause is WaitCause.SCALE_UP
    assert decision.additions.waits == decision.wait.text
    assert decision.warnings[-1] == decision.wait.headline
    assert decision.additions.node_name == ""
    return decision.wait.headline


def reasons(decision: Decision) -> list[str]:
    """The lines of a refusal between its first and its last."""
    assert decision.refused
    assert len(decision.message) <= MESSAGE_LIMIT
    return [line.strip() for line in decision.message.split("\n")[1:-1]]


def test_a_pod_waits_for_a_group_that_can_make_a_node() -> None:
    group = NodeGroup("NodePool", "fast", labels={"disktype": SSD}, offers={"cpu": 4000})
    found = decided(ssd(requests={"cpu": "4"}), with_groups(group), AUTO)
    assert waits(found) == "no node yet: NodePool fast can make one"
    assert found.wait
    assert found.wait.text.split("\n")[1] == ("nodeSelector disktype=ssd cannot hold: 0 of 1 node can run this pod.")


def test_a_pod_that_no_group_can_make_a_node_for_is_refused_with_the_reason_of_each() -> None:
    infra = Taint("dedicated", "infra", "NoSchedule")
    found = decided(
        ssd(requests={"cpu": "4", "memory": "2Gi"}),
        with_groups(
            SPOT,
            NodeGroup("NodePool", "closed", closed="is being deleted"),
            NodeGroup("NodePool", "small", labels={"disktype": SSD}, offers={"cpu": 2000}),
            NodeGroup("NodePool", "spent", labels={"disktype": SSD}, remaining={"cpu": 9000, "memory": GIB}),
            NodeGroup("NodePool", "tainted", labels={"disktype": SSD}, taints=(infra,)),
        ),
        AUTO,
    )
    assert reasons(found) == [
        "1 node does not have the label disktype=ssd",
        "NodePool closed is being deleted",
        "NodePool spent has memory 1Gi left of its limits",
        "NodePool spot-a makes no nodes with disktype=ssd (it makes hdd)",
        "NodePool small: a new node has less than cpu 4",
        "NodePool tainted: a new node has the taint dedicated=infra:NoSchedule",
    ]
    assert found.fault is Fault.FORBIDDEN


def test_reasons_beyond_the_limit_are_counted_together() -> None:
    """Those of the nodes and those of the groups."""
    taints = [Taint(f"example.com/{letter * 60}", "", "NoSchedule") for letter in "abcdefghijkl"]
    tainted = [node(f"node-{at}", labels={"disktype": "ssd"}, taints=[taint]) for at, taint in enumerate(taints)]
    found = decided(ssd(), with_groups(SPOT, nodes=tainted), AUTO)
    assert found.refusal is not None
    assert (len(found.refusal.reasons), found.refusal.reasons[-1]) == (
        13,
        "NodePool spot-a makes no nodes with disktype=ssd (it makes hdd)",
    )
    *shown, rest = reasons(found)
    assert rest == f"and {13 - len(shown)} more reasons"
    assert all("has the taint" in line for line in shown)


def test_many_groups_are_counted() -> None:
    groups = [NodeGroup("NodePool", f"p{at}", labels={"disktype": HDD}) for at in range(12)]
    found = reasons(decided(ssd(), with_groups(*groups), AUTO))
    assert len(found) == 10
    assert found[-1] == "4 more node groups make no such node"


def test_several_groups_are_named_in_the_order_of_their_weights() -> None:
    groups = [NodeGroup("NodePool", f"p{at}", labels={"disktype": SSD}, weight=at) for at in range(5)]
    found = waits(decided(ssd(), with_groups(*groups), AUTO))
    assert found == "no node yet: NodePool p4, NodePool p3, NodePool p2 and 2 more can make one"


def test_what_is_not_known_of_a_new_node_is_said() -> None:
    group = NodeGroup("NodePool", "fast", labels={"disktype": SSD}, offers={"memory": 64 * GIB})
    selected = pod(
        nodeSelector={"disktype": "ssd", "topology.kubernetes.io/zone": "a"},
        requests={"cpu": "4", "memory": "1Gi", "example.com/fpga": "1"},
    )
    assert waits(decided(selected, with_groups(group), AUTO)) == (
        "no node yet: NodePool fast can make one if its nodes have cpu 4, example.com/fpga 1, "
        "the label topology.kubernetes.io/zone"
    )


def test_devices_of_a_new_node_are_not_known() -> None:
    inventory = with_groups(NodeGroup("NodePool", "gpu", labels={"disktype": SSD}))
    inventory.devices.put_class(DeviceClass("gpu.example.com", "example.com/gpu"))
    found = decided(ssd(requests={"example.com/gpu": "1"}), inventory, AUTO)
    assert waits(found) == "no node yet: NodePool gpu can make one if its nodes have the devices of its claims"


@pytest.mark.parametrize(
    ("found", "policy"),
    [
        pytest.param(ssd(), Policy(), id="the setting is off"),
        pytest.param(pod('host("gone")'), AUTO, id="a host by name"),
        pytest.param(ssd(placement="host(Sized)"), AUTO, id="hosts of a pool with a size"),
        pytest.param(ssd(tolerations=[{"operator": "Exists"}]), AUTO, id="a pod that tolerates everything"),
        pytest.param(ssd(nodeName="node-a"), AUTO, id="a node of its own"),
    ],
)
def test_pods_that_are_refused_as_if_there_were_no_groups(found: Json, policy: Policy) -> None:
    anything = NodeGroup("MachineSet", "ms", unstated="any")
    pools = [pool("Sized", size=1, assigned=["node-a"])]
    with_group = decided(found, with_groups(anything, pools=pools), policy)
    assert with_group.refused
    assert with_group.message == decided(found, with_groups(pools=pools), Policy()).message


def test_without_any_group_the_answer_is_that_of_a_cluster_of_fixed_size() -> None:
    assert decided(ssd(), with_groups(), AUTO).message == decided(ssd(), with_groups()).message


def test_a_shape_in_the_settings_is_a_group() -> None:
    shapes = (NodeGroup("node shape", "large", labels={"disktype": SSD}),)
    found = decided(ssd(), with_groups(), Policy(scale_up="auto", node_shapes=shapes))
    assert waits(found) == "no node yet: node shape large can make one"


def test_a_pod_that_some_node_can_run_waits_for_none() -> None:
    found = decided(pod(), with_groups(SPOT), AUTO)
    assert (found.wait, found.scale_up, found.warnings) == (None, None, ())


def test_a_contradiction_is_refused_whatever_groups_there_are() -> None:
    anything = NodeGroup("MachineSet", "ms", unstated="any")
    found = decided(
        pod('hostColocation("a"), hostExlocation("b")', labels={keys.WORKER: "x"}), with_groups(anything), AUTO
    )
    assert (found.refused, found.fault) == (True, Fault.INVALID)


def test_an_elastic_installation_waits_for_any_node() -> None:
    found = decided(ssd(), with_groups(SPOT), Policy(scale_up="auto", elastic=True))
    assert found.wait
    assert found.wait.cause is WaitCause.ELASTIC


def test_a_new_node_runs_no_pods_yet() -> None:
    """Exlocation keeps the pod off the node there is."""
    apart = 'hostExlocation("t")'
    label = {keys.EXLOCATION + keys.digest("t"): "t"}
    inventory = with_groups(NodeGroup("NodePool", "any"), pods=[bound_pod("node-a", labels=label)])
    found = decided(pod(apart), inventory, AUTO)
    assert waits(found) == "no node yet: NodePool any can make one"
    assert found.additions is not None
    assert found.additions.away.required
    assert not any(need.key == "metadata.name" for term in found.additions.terms for need in term.match_fields or ())


def test_a_pod_beside_a_live_one_waits_for_no_new_node() -> None:
    together = 'hostColocation("t")'
    label = {keys.COLOCATION + keys.digest("t"): "t"}
    inventory = with_groups(
        NodeGroup("NodePool", "any"), nodes=[node("node-a", cpu=1000)], pods=[bound_pod("node-a", labels=label)]
    )
    assert decided(pod(together, requests={"cpu": "2"}), inventory, AUTO).refused


def test_the_tag_of_a_pool_without_a_size_is_a_label_of_new_nodes() -> None:
    tagged = NodeGroup("NodePool", "tagged", labels={keys.TAG: LabelValues.one_of("ib")})
    inventory = with_groups(tagged, SPOT, pools=[pool(tags=["ib"])])
    assert waits(decided(pod("host(MyPool)"), inventory, AUTO)) == "no node yet: NodePool tagged can make one"


def test_each_alternative_of_an_affinity_is_tried() -> None:
    """An empty term matches no node, and names of nodes are no names of new ones."""
    terms: list[Json] = [
        {},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]},
        {"matchExpressions": [{"key": "disktype", "operator": "In", "values": ["nvme"]}]},
        {"matchExpressions": [{"key": "disktype", "operator": "In", "values": ["hdd"]}]},
    ]

    def affine(terms: list[Json]) -> Json:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        return pod(affinity={"nodeAffinity": required})

    assert waits(decided(affine(terms), with_groups(SPOT), AUTO)) == "no node yet: NodePool spot-a can make one"
    assert reasons(decided(affine(terms[:3]), with_groups(SPOT), AUTO))[1] == (
        "NodePool spot-a makes no nodes with metadata.name=gone (the name of a new node is not known)"
    )


def test_a_pod_of_too_many_alternatives_is_not_compared_with_all_groups() -> None:
    needs = [{"key": "disktype", "operator": "In", "values": [f"v{at}"]} for at in range(1000)]
    required = {"nodeSelectorTerms": [{"matchExpressions": [need]} for need in needs]}
    found = pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})
    groups = [NodeGroup("NodePool", f"p{at:02}", labels={"disktype": HDD}) for at in range(25)]
    shown = reasons(decided(found, with_groups(*groups), AUTO))
    assert shown[1:] == [
        "24 node groups were not compared: the pod has too many node terms",
        "NodePool p00 makes no nodes with disktype=v0 (it makes hdd)",
    ]


def test_labels_of_a_group_with_nodes_are_those_of_the_nodes_there_are() -> None:
    """A misspelt label waits for no node of such a group."""
    running = NodeGroup("MachineSet", "ms", unstated="live")
    label = {keys.EXLOCATION + keys.digest("t"): "t"}
    inventory = with_groups(
        running, nodes=[node("node-a", labels={"disktype": "ssd"})], pods=[bound_pod("node-a", labels=label)]
    )
    apart = 'hostExlocation("t")'
    assert waits(decided(ssd(placement=apart), inventory, AUTO)).startswith("no node yet: MachineSet ms can make one")
    misspelt = decided(pod(apart, nodeSelector={"disktype": "sssd"}), inventory, AUTO)
    assert reasons(misspelt)[-1] == "MachineSet ms makes no nodes with disktype=sssd (it makes ssd)"


def test_a_preference_is_not_an_obstacle() -> None:
    mapped = {keys.MAPPED: "true", keys.MAPPING_KEY: "gpu", keys.MAPPING_OPERATOR: "Exists", keys.PREFERRED: "mapping"}
    group = NodeGroup("NodePool", "fast", labels={"disktype": SSD, "rack": ANYTHING})
    assert (
        waits(decided(ssd(annotations=mapped), with_groups(group), AUTO)) == "no node yet: NodePool fast can make one"
    )


def test_the_world_without_new_nodes_is_that_of_the_setting_off() -> None:
    inventory = with_groups(NodeGroup("MachineSet", "ms", unstated="any"))
    world, off = World(inventory, AUTO), World(inventory, Policy())
    assert world.without_new_nodes().policy == Policy()
    assert world.policy == AUTO
    assert off.without_new_nodes() is off
