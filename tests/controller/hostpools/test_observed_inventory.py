"""Changes get into the inventory, and to those who listen, with what was there before."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.placement.devices.clusters import CLASS, on, wanting
from webhook.cluster.objects.sink import Sink
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.placement.devices.published.claims import ClaimName, ClaimTemplate, ResourceClaim
from webhook.placement.devices.published.devices import DevicePart
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.node_claim import node_claim
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.node_pool import NodePoolSpec, StatedNodePool
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool

NODE = Node("node-a", uid="1", labels={"rack": "r1"})
POD = PodInfo(uid="p1", namespace="apps", node="node-a", requests={"cpu": 1000}, job="parallel", pe="pe-1")
STRANGER = PodInfo(uid="p2", namespace="apps", node="node-a", requests={"cpu": 500})
POOL = Pool("apps", "ib-blue", "P1", size=2)
JOB = StreamsJob("apps", "parallel", (Element("pe-1"),))

Heard = list[tuple[Any, Any, Any]]


@pytest.fixture
def watched() -> ObservedInventory:
    watched = ObservedInventory(Inventory())
    watched.set_node(NODE)
    return watched


def listen(listeners: list[Any]) -> Heard:
    heard: Heard = []
    listeners.append(lambda *change: heard.append(change))
    return heard


def test_it_is_a_sink() -> None:
    sink: Sink = ObservedInventory(Inventory())
    sink.set_node(NODE)
    assert not sink.has_pod("p1")


def test_every_change_gets_into_the_inventory(watched: ObservedInventory) -> None:
    watched.set_pod(POD)
    watched.set_pool(POOL)
    watched.set_job(JOB)
    inventory = watched.inventory
    assert (inventory.nodes.get("node-a"), inventory.has_pod("p1")) == (NODE, True)
    assert (list(inventory.pools), list(inventory.jobs)) == ([("apps", "ib-blue")], [("apps", "parallel")])
    assert watched.pod_uids == {"p1"}


def test_every_removal_gets_into_the_inventory(watched: ObservedInventory) -> None:
    watched.set_pod(POD)
    watched.set_pool(POOL)
    watched.set_job(JOB)
    watched.remove_pod("p1")
    watched.remove_pool("apps", "ib-blue")
    watched.remove_job("apps", "parallel")
    watched.remove_node("node-a")
    inventory = watched.inventory
    assert (inventory.nodes.get("node-a"), watched.has_pod("p1")) == (None, False)
    assert (inventory.pools, inventory.jobs) == ({}, {})


CHANGES: list[Any] = [
    pytest.param(
        "on_node", ObservedInventory.set_node, NODE, replace(NODE, labels={}), lambda w: w.remove_node("node-a"),
        "node-a", id="node",
    ),
    pytest.param(
        "on_pod",
        ObservedInventory.set_pod,
        POD,
        replace(POD, terminating=True),
        lambda w: w.remove_pod("p1"),
        "p1",
        id="pod",
    ),
    pytest.param(
        "on_pool", ObservedInventory.set_pool, POOL, replace(POOL, size=3), lambda w: w.remove_pool("apps", "ib-blue"),
        ("apps", "ib-blue"), id="pool",
    ),
    pytest.param(
        "on_job", ObservedInventory.set_job, JOB, replace(JOB, elements=()), lambda w: w.remove_job("apps", "parallel"),
        ("apps", "parallel"), id="job",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("listeners", "put", "first", "then", "remove", "key"), CHANGES)
def test_listeners_hear_of_what_comes_changes_and_goes(
    listeners: str,
    put: Callable[..., None],
    first: Any,
    then: Any,
    remove: Callable[[ObservedInventory], None],
    key: Any,
) -> None:
    watched = ObservedInventory(Inventory())
    heard = listen(getattr(watched, listeners))
    put(watched, first)
    put(watched, then)
    remove(watched)
    assert heard == [(key, None, first), (key, first, then), (key, then, None)]


@pytest.mark.parametrize(("listeners", "put", "first", "then", "remove", "key"), CHANGES)
def test_what_says_the_same_again_is_not_news(
    listeners: str,
    put: Callable[..., None],
    first: Any,
    then: Any,
    remove: Callable[[ObservedInventory], None],
    key: Any,
) -> None:
    del then, remove, key
    watched = ObservedInventory(Inventory())
    put(watched, first)
    heard = listen(getattr(watched, listeners))
    put(watched, replace(first))
    assert heard == []


def test_what_a_pod_without_a_job_was_is_not_known(watched: ObservedInventory) -> None:
    heard = listen(watched.on_pod)
    watched.set_pod(STRANGER)
    watched.set_pod(replace(STRANGER, terminating=True))
    watched.remove_pod("p2")
    assert [(key, before) for key, before, _ in heard] == [("p2", None)] * 3


def test_where_all_pods_are_strangers_everybody_knows_what_it_was() -> None:
    watched = ObservedInventory(Inventory([]))
    heard = listen(watched.on_pod)
    watched.set_pod(STRANGER)
    watched.set_pod(replace(STRANGER))
    watched.remove_pod("p2")
    assert heard == [("p2", None, STRANGER), ("p2", STRANGER, None)]


def test_a_pod_that_leaves_its_job_is_remembered_once_more(watched: ObservedInventory) -> None:
    watched.set_pod(POD)
    heard = listen(watched.on_pod)
    outside = replace(POD, job="", pe="")
    watched.set_pod(outside)
    watched.remove_pod("p1")
    assert heard == [("p1", POD, outside), ("p1", None, None)]


def test_listeners_find_the_inventory_up_to_date(watched: ObservedInventory) -> None:
    seen: list[bool] = []
    watched.on_pod.append(lambda uid, _before, _after: seen.append(watched.inventory.has_pod(uid)))
    watched.set_pod(POD)
    watched.remove_pod("p1")
    assert seen == [True, False]


def test_a_listener_that_fails_spares_the_object_and_the_others(
    watched: ObservedInventory, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_change: object) -> None:
        raise KeyError("surprise")

    watched.on_pool.append(fail)
    heard = listen(watched.on_pool)
    watched.set_pool(POOL)
    assert (len(heard), ("apps", "ib-blue") in watched.inventory.pools) == (1, True)
    assert [record.getMessage() for record in caplog.records] == ["a listener has failed at ('apps', 'ib-blue')"]


def test_other_devices_are_told_and_claims_are_not(watched: ObservedInventory) -> None:
    heard: list[str] = []
    devices, of = watched.devices, on("node-a", 2)
    devices.on_change.append(lambda: heard.append("change"))
    changes: list[tuple[Callable[[], object], int]] = [
        (lambda: devices.put_class(CLASS), 1),
        (lambda: devices.put_class(CLASS), 0),
        (lambda: devices.put_slice(of), 1),
        (lambda: devices.put_template(ClaimTemplate("apps", "t", wanting())), 1),
        (lambda: devices.put_rule(TaintRule("r", Taint("key", "", "NoSchedule"))), 1),
        (lambda: devices.put_claim(ResourceClaim("apps", "c", wanting())), 0),
        (lambda: devices.drop_claim("apps", "c"), 0),
        (lambda: [devices.listed(part, readable=True) for part in DevicePart], 1),
        (lambda: devices.drop_rule("r"), 1),
        (lambda: devices.drop_template("apps", "t"), 1),
        (lambda: devices.drop_slice(of.name), 1),
        (lambda: devices.drop_class(CLASS.name), 1),
    ]
    templates: list[ClaimName] = []
    devices.on_template.append(templates.append)
    for change, times in changes:
        heard.clear()
        change()
        assert len(heard) == times
    assert templates == [("apps", "t")] * 2


def test_other_numa_zones_are_told_and_equal_ones_are_not(watched: ObservedInventory) -> None:
    heard: list[str] = []
    watched.topologies.on_change.append(lambda: heard.append("change"))
    zones = NodeTopology(TopologyPolicy.SINGLE, TopologyScope.POD, (NumaZone(),))
    changes: list[tuple[Callable[[], object], int]] = [
        (lambda: watched.topologies.put("node-a", zones), 1),
        (lambda: watched.topologies.put("node-a", zones), 1),
        (lambda: watched.topologies.drop("node-a"), 2),
        (lambda: watched.topologies.drop("node-a"), 2),
    ]
    for change, count in changes:
        change()
        assert len(heard) == count


def test_listeners_hear_of_node_groups_that_change() -> None:
    watched = ObservedInventory(Inventory())
    groups, heard = watched.node_groups, list[str]()
    groups.on_change.append(lambda: heard.append("change"))
    pool = StatedNodePool("p", NodePoolSpec(limits={"nodes": "2"}))
    joined = node_claim("c", "p", {"cpu": "3"}, joined=True, ending=False)
    steps: list[tuple[Callable[[], object], int]] = [
        (lambda: groups.put(NodeGroup("MachineSet", "m")), 1),
        (lambda: groups.put(NodeGroup("MachineSet", "m")), 0),
        (lambda: groups.drop("MachineSet", "", "m"), 1),
        (lambda: groups.put_node_pool(pool), 1),
        (lambda: groups.claims_listed(readable=True), 0),
        (lambda: groups.put_claim(joined), 1),
        (lambda: groups.put_claim(joined), 0),
        (lambda: groups.drop_claim("c"), 1),
        (lambda: groups.drop_node_pool("p"), 1),
        (lambda: groups.drop_node_pool("p"), 0),
    ]
    for step, count in steps:
        heard.clear()
        step()
        assert len(heard) == count
