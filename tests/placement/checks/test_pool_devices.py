"""HostPools that ask for devices of their hosts: which nodes have them, and what is said where too few have."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.builders import node, nodes, pool
from tests.placement.devices.clusters import CLASS, GPU, MODEL, devices_of, equipped, held, large, on
from tests.placement.planning.at_once import element, job_spec, judged
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.checks.completion import Completion, complete
from webhook.placement.checks.pool_growth import pool_growth
from webhook.placement.devices.published.device import Attribute, Counters, Device, Reach, Traits
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools import host_devices
from webhook.placement.request.world import World
from webhook.placement.text import keys

ONE, TWO = DescribedDevices(GPU), DescribedDevices(GPU, count=2)
BROKEN = "device.nothing("
HEAD = "HostPool Gpus cannot be completed: it needs {} hosts and {} eligible"


def asking(*wishes: DescribedDevices, size: int = 2, elastic: bool = False, assigned: Sequence[str] = ()) -> Pool:
    """A pool that is yet to get its hosts, or some of them."""
    return pool("Gpus", size=size, devices=wishes, elastic=elastic, assigned=assigned, phase=Phase.PENDING)


def completion(wanted: Pool, inventory: Inventory | None = None, policy: Policy | None = None) -> Completion:
    return complete(wanted, World(inventory or equipped(), policy or Policy()))


def said(wanted: Pool, inventory: Inventory | None = None) -> list[str]:
    """The lines of the refusal."""
    refusal = completion(wanted, inventory).refusal
    assert refusal is not None
    return refusal.text.splitlines()


@pytest.mark.parametrize(
    ("wishes", "size", "expected"),
    [
        ([ONE], 2, ("node-a", "node-b")),
        ([TWO], 1, ("node-a",)),
        ([DescribedDevices(GPU, large(80))], 1, ("node-b",)),
        ([ONE, DescribedDevices(GPU, MODEL, 2)], 1, ("node-a",)),
        ([], 3, ("node-a", "node-b", "node-c")),
    ],
    ids=["one device", "two devices", "a selector", "two kinds", "none"],
)
def test_hosts_are_nodes_with_the_devices(wishes: list[DescribedDevices], size: int, expected: tuple[str, ...]) -> None:
    found = completion(asking(*wishes, size=size))
    assert (found.hosts, found.refusal, found.doubt) == (expected, None, "")


def test_too_few_nodes_have_enough() -> None:
    assert said(asking(TWO)) == [
        HEAD.format(2, "1 node is") + ".",
        "  1 node has only 1 of 2 devices of DeviceClass gpu.example.com",
        "  1 node has no device of DeviceClass gpu.example.com",
        (
            "Nearest fix: add a node with 2 devices of DeviceClass gpu.example.com, or lower size to 1, "
            "or lower devices[0].count to 1."
        ),
    ]
    assert completion(asking(replace(TWO, count=1))).refusal is None


def test_a_condition_is_said_in_words() -> None:
    assert said(asking(DescribedDevices(GPU, large(80)))) == [
        HEAD.format(2, "1 node is") + ".",
        "  2 nodes have no device of DeviceClass gpu.example.com with memory >= 80Gi",
        "Nearest fix: add a node with 1 device of DeviceClass gpu.example.com with memory >= 80Gi, or lower size to 1.",
    ]


def test_of_several_kinds_the_one_is_lowered_that_helps() -> None:
    wanted = asking(DescribedDevices(GPU, MODEL), DescribedDevices(GPU, large(20), 3), size=1)
    assert said(wanted)[-1] == (
        f'Nearest fix: add a node with 1 device of DeviceClass {GPU} with model == "A100" '
        f"and 3 devices of DeviceClass {GPU} with memory >= 20Gi, or lower devices[1].count to 2."
    )
    assert completion(asking(wanted.devices[0], replace(wanted.devices[1], count=2), size=1)).refusal is None


def test_no_lower_count_is_named_that_does_not_help() -> None:
    """Each node has at most one kind of devices."""
    other = DeviceClass("other.example.com", selectors=('device.driver == "other.example.com"',))
    slices = [on("node-a", 2), replace(on("node-b", 1), driver=other.name)]
    wanted = asking(replace(TWO, count=3), DescribedDevices(other.name, count=3), size=1)
    assert "lower" not in said(wanted, equipped(*slices, classes=[CLASS, other]))[-1]


ROOT = "resource.kubernetes.io/pcieRoot"
PAIR = DescribedDevices(GPU, count=2, same=ROOT)


def rooted(*by_node: str) -> Inventory:
    """Nodes with a device for each letter, which stands for its PCIe root; a dash stands for a device without one."""
    machines = nodes(len(by_node))
    slices = [
        replace(on(one.name, 1), devices=tuple(
            Device(f"gpu-{at}", (Attribute(ROOT, root),) if root != "-" else ()) for at, root in enumerate(roots)
        ))
        for one, roots in zip(machines, by_node, strict=True) if roots
    ]  # fmt: skip
    return equipped(*slices, machines=machines)


def test_hosts_have_devices_with_the_same_attribute() -> None:
    inventory = rooted("ab", "aba", "--", "a-a")
    assert completion(asking(PAIR), inventory).hosts == ("node-b", "node-d")
    assert completion(asking(replace(PAIR, count=1), size=3), inventory).hosts == ("node-a", "node-b", "node-d")


def test_too_few_devices_have_the_same_attribute() -> None:
    inventory = rooted("abc", "aab", "--", "a", "")
    wanted = asking(replace(PAIR, count=3), size=2)
    assert said(wanted, inventory) == [
        HEAD.format(2, "0 nodes are") + ".",
        f"  1 node has only 2 of 3 devices of DeviceClass {GPU} with the same {ROOT}",
        f"  1 node has only 1 of 3 devices of DeviceClass {GPU} with the same {ROOT}",
        f"  1 node has only 1 of 3 devices of DeviceClass {GPU}",
        f"  1 node has no device of DeviceClass {GPU} with attribute {ROOT}",
        f"  1 node has no device of DeviceClass {GPU}",
        (
            f"Nearest fix: add 2 nodes with 3 devices of DeviceClass {GPU} with the same {ROOT}, "
            "or lower devices[0].count to 1."
        ),
    ]
    assert completion(asking(replace(PAIR, count=1)), inventory).refusal is None


def test_devices_count_whoever_has_them() -> None:
    inventory = equipped()
    inventory.devices.put_claim(held("other", "node-a", 0, 1))
    assert completion(asking(TWO, size=1), inventory).hosts == ("node-a",)


def test_partitions_of_a_device_count_each_although_not_all_can_be_had_at_a_time() -> None:
    consumes = Traits(consumes=(Counters("memory", (("memory", 40),)),))
    parts = tuple(Device(f"part-{at}", traits=consumes) for at in range(3))
    inventory = equipped(
        DeviceSlice("parts", GPU, "a", expected=2, reach=Reach("node-a"), devices=parts),
        DeviceSlice("memory", GPU, "a", expected=2, reach=Reach("node-a"),
                    counters=(Counters("memory", (("memory", 80),)),)),
    )  # fmt: skip
    assert completion(asking(DescribedDevices(GPU, count=3), size=1), inventory).hosts == ("node-a",)


def test_a_device_that_is_tainted_does_not_count() -> None:
    inventory = equipped()
    inventory.devices.put_rule(TaintRule("broken", Taint("broken", "", "NoSchedule"), pool="node-a", device="gpu-1"))
    [_, first, *_] = said(asking(TWO, size=1), inventory)
    assert first == "  2 nodes have only 1 of 2 devices of DeviceClass gpu.example.com"


def test_a_host_stays_without_its_devices() -> None:
    found = completion(asking(TWO, assigned=["node-c"]))
    assert (found.hosts, found.refusal) == (("node-c", "node-a"), None)


def test_where_devices_are_not_known_no_pool_can_ask_for_them() -> None:
    inventory = equipped()
    inventory.devices.read = False
    assert said(asking(ONE), inventory) == [
        HEAD.format(2, "0 nodes are") + ", since the devices of nodes are not known.",
        "  3 nodes have devices that are not known",
        "Nearest fix: leave out devices, or serve resource.k8s.io/v1 and give the right to read it.",
    ]
    assert completion(asking(ONE, assigned=["node-a", "node-c"]), inventory).refusal is None
    assert completion(asking(), inventory).refusal is None


@pytest.mark.parametrize(
    ("name", "fix"),
    [("gpus.example.com", "name DeviceClass gpu.example.com"), ("sriov", "create DeviceClass sriov")],
    ids=["mistyped", "missing"],
)
def test_a_class_that_does_not_exist(name: str, fix: str) -> None:
    assert said(asking(ONE, DescribedDevices(name))) == [
        HEAD.format(2, "0 nodes are") + ".",
        "  2 nodes have no device of DeviceClass " + name,
        "  1 node has no device of DeviceClass gpu.example.com",
        f"Nearest fix: {fix}.",
    ]


def test_another_name_of_a_class_may_not_be_enough() -> None:
    wanted = asking(DescribedDevices("gpus.example.com", count=2))
    assert said(wanted)[-1] == f"Nearest fix: name DeviceClass {GPU} (1 of 2 would be eligible)."
    assert said(asking(TWO))[0] == HEAD.format(2, "1 node is") + "."


@pytest.mark.parametrize(
    ("wish", "classes", "why"),
    [
        (DescribedDevices(GPU, BROKEN), [CLASS], f', since "{BROKEN}" cannot be evaluated'),
        (ONE, [replace(CLASS, fault="it is odd")], ", since DeviceClass gpu.example.com cannot be read"),
        (ONE, [replace(CLASS, unread="spec.odd")], ", since DeviceClass gpu.example.com cannot be read"),
    ],
    ids=["a selector", "a fault of the class", "an unknown field of the class"],
)
def test_what_cannot_be_judged_is_a_warning(wish: DescribedDevices, classes: list[DeviceClass], why: str) -> None:
    found = completion(asking(wish), equipped(classes=classes))
    assert (found.refusal, found.warning) == (None, "")
    assert found.doubt == f"HostPool Gpus: devices of 2 hosts are not judged{why}"


def test_nodes_that_may_lack_devices_come_last() -> None:
    """One of the three has a slice that its driver has not published completely."""
    inventory = equipped(replace(on("node-a", 1), expected=2), on("node-b", 2), on("node-c", 2))
    assert completion(asking(TWO), inventory).hosts == ("node-b", "node-c")
    found = completion(asking(TWO, size=3), inventory)
    assert (found.hosts, found.refusal) == (("node-b", "node-c", "node-a"), None)
    assert found.doubt == "HostPool Gpus: devices of 1 host are not judged"


def test_an_elastic_pool_waits_for_nodes_with_the_devices() -> None:
    found = completion(asking(TWO, elastic=True))
    assert found.refusal is None
    assert found.warning == f"no hosts yet: {HEAD.format(2, '1 node is')}."


def test_what_devices_new_nodes_have_is_not_known() -> None:
    inventory = equipped()
    inventory.node_groups.put(NodeGroup("NodePool", "gpus"))
    world = World(inventory, Policy(scale_up="auto"))
    assert complete(asking(TWO, elastic=True), world).warning.endswith(
        " NodePool gpus can make the missing nodes, provided that they have the devices."
    )
    growth = pool_growth(pool("Any", size=4, elastic=True), 1, world)
    assert growth
    assert growth.notice == "NodePool gpus can make the missing nodes"


def test_a_label_helps_nodes_with_the_devices_alone() -> None:
    machines = [node("node-a", labels={keys.TAG: "ib"}), node("node-b"), node("node-c")]
    wanted = pool("Gpus", size=2, tags=["ib"], devices=[ONE], phase=Phase.PENDING)
    lines = said(wanted, equipped(machines=machines))
    fix = "label one more node streams.ibm.com/hostpool=ib (only 1 of 2 nodes helps)"
    assert lines[-1].startswith(f"Nearest fix: {fix}")


def told_apart(count: int) -> Inventory:
    """So many nodes, each with a device that has a serial number of its own."""
    machines = nodes(count)
    slices = [
        replace(on(one.name, 1), devices=(Device("gpu-0", (Attribute("serial", f"s{at}"),)),))
        for at, one in enumerate(machines)
    ]
    return equipped(*slices, machines=machines)


def test_a_look_goes_on_where_the_last_one_ended() -> None:
    """Selectors that tell all nodes apart; who is in no hurry looks at all of them at once."""
    inventory = told_apart(300)
    wanted = asking(DescribedDevices(GPU, f'device.attributes["{GPU}"].serial != "s0"'))
    looks = [host_devices.nodes_with_devices(wanted, inventory) for _ in range(3)]
    first, second, last = (found.nodes.bit_count() for found in looks)
    assert 50 < first < second - 50 < last - 100
    assert last == 299
    assert {(found.nodes | found.unknown).bit_count() for found in looks} <= {299, 300}
    assert [found.complete for found in looks] == [False, False, True]
    other = asking(DescribedDevices(GPU, f'device.attributes["{GPU}"].serial != "s1"'))
    assert host_devices.nodes_with_devices(other, inventory, unhurried=True).complete


def test_a_pool_without_devices_looks_at_none() -> None:
    inventory = equipped(machines=nodes(2))
    found = host_devices.nodes_with_devices(asking(), inventory)
    assert (found.able, found.lacks) == (0b11, ())


@pytest.mark.parametrize(("count", "judged"), [(1100, True), (13000, False)], ids=["in several looks", "not in all"])
def test_what_was_not_looked_at_refuses_nobody(count: int, *, judged: bool) -> None:
    """More devices than a look evaluates: no selector is to blame, and the next answer goes on from there."""
    many = tuple(replace(one, attributes=(Attribute("serial", at),)) for at, one in enumerate(devices_of(count)))
    inventory = equipped(replace(on("node-a", 1), devices=many))
    wanted = asking(DescribedDevices(GPU, f'device.attributes["{GPU}"].serial == -1'), size=1)
    first = completion(wanted, inventory)
    assert (first.refusal is not None) is judged
    assert first.doubt == ("" if judged else "HostPool Gpus: devices of 1 host are not judged")


# Pools of Jobs


def of_job(count: int, selector: str = "") -> JobVerdict:
    """The verdict on a Job with an element, and a pool of two hosts with such devices."""
    devices = {"class": GPU, "count": count} | ({"selector": selector} if selector else {})
    declared = {"name": "Gpus", "size": 2, "devices": [devices]}
    return judged(job_spec(element("host(Gpus)"), pools=(declared,)), equipped())


def test_a_job_is_refused_whose_pool_too_few_nodes_have_devices_for() -> None:
    assert not of_job(1).refused
    lines = of_job(2).text.splitlines()
    assert lines[1:3] == [
        "  1 node has only 1 of 2 devices of DeviceClass gpu.example.com",
        "  1 node has no device of DeviceClass gpu.example.com",
    ]
    assert lines[-1] == "Nearest fix: lower the size of HostPool Gpus to 1."


def test_a_job_is_warned_of_what_cannot_be_judged_of_its_pool() -> None:
    why = f', since "{BROKEN}" cannot be evaluated'
    assert of_job(1, BROKEN).warnings == (f"HostPool Gpus: devices of 2 hosts are not judged{why}",)


def test_nodes_that_differ_are_looked_at_before_the_pool_of_a_job_is_planned() -> None:
    """Only the last node has the device, and more nodes come before it than one look goes at."""
    there = told_apart(900)
    wanted = {"class": GPU, "selector": f'device.attributes["{GPU}"].serial == "s899"'}
    declared = {"name": "Gpus", "size": 1, "devices": [wanted]}
    verdict = judged(job_spec(element("host(Gpus)"), pools=(declared,)), there)
    assert verdict.answer
    assert verdict.answer.placed
    assert verdict.warnings == ()
    assert list(verdict.answer.placed.hosts.values()) == [{0: 899}]
