"""Elements of a Job that want different devices: a plan has devices for all on each node, or a warning says so."""

import itertools
from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import nodes
from tests.placement.devices.clusters import CLASS, GI, GPU, RESOURCE, equipped, held, large, on, template, wanting
from tests.placement.planning.at_once import AtOnce, job_spec, judged
from tests.suite.example_count import some_of
from webhook.placement.devices.published.claims import Agreement, DeviceChoice, ResourceClaim
from webhook.placement.devices.published.device import Attribute, CapacityPolicy, Device, DeviceCapacity, Reach, Traits
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.planning import planned_devices

ONE, TWO, THREE = (wanting(DeviceChoice(GPU, count=count)) for count in (1, 2, 3))

PAIR = wanting(DeviceChoice(GPU, count=2), agreements=(Agreement((), "example.com/root"),))

CROWDED = (
    "no plan was found in which each node has devices for all that it runs: some processing elements may have to wait"
)


IN_TURN = (
    "each pod is given the first devices that meet its claims, which others on its node may need: some processing "
    "elements may have to wait"
)


def element(name: str, *claims: str, node: str = "", **requests: str) -> dict[str, Any]:
    """An element whose pod has a claim of each of these templates, or the claim ``=name``."""
    spec: dict[str, Any] = {"containers": [{"name": "main", "resources": {"limits": requests, "requests": requests}}]}
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    spec["resourceClaims"] = [
        {"name": f"c{at}", "resourceClaimName": claim[1:]}
        if claim.startswith("=")
        else {"name": f"c{at}", "resourceClaimTemplateName": claim}
        for at, claim in enumerate(claims)
    ]
    return {"name": name, "template": {"spec": spec}}


def asked(inventory: Inventory, *elements: dict[str, Any]) -> JobVerdict:
    for name, spec in (("one", ONE), ("two", TWO), ("three", THREE)):
        template(inventory, name, spec)
    return judged(job_spec(*elements), inventory)


def places(verdict: JobVerdict, inventory: Inventory) -> dict[str, str]:
    """The node of each element by the plan."""
    assert verdict.group is not None
    assert verdict.answer is not None
    assert verdict.answer.placed is not None
    names = inventory.nodes.names
    return {
        name: names[slot]
        for member, slots in zip(verdict.group.members, verdict.answer.placed.slots, strict=True)
        for name, slot in zip(member.names, slots, strict=True)
    }


def test_elements_that_lack_devices_together_are_planned_apart() -> None:
    """``node-a`` has two devices, and ``node-b`` one."""
    inventory = equipped()
    for elements in itertools.permutations([element("x", "two"), element("y", "one")]):
        verdict = asked(inventory, *elements)
        assert (verdict.text, verdict.warnings) == ("", ())
        assert places(verdict, inventory) == {"x": "node-a", "y": "node-b"}


def test_what_no_plan_has_devices_for_is_a_warning() -> None:
    """Of two devices on each of two roots no pair and two others can be had: numbers alone do not tell."""
    inventory = equipped(rooted("node-a", "r0", "r0", "r1", "r1"))
    apart = wanting(DeviceChoice(GPU, count=2), agreements=(Agreement((), distinct="example.com/root"),))
    template(inventory, "apart", apart)
    template(inventory, "pair", PAIR)
    verdict = asked(inventory, element("x", "apart"), element("y", "pair"))
    assert (verdict.text, verdict.warnings) == ("", (f"x, y: {CROWDED}",))


def test_pods_that_take_from_each_other_what_they_need_are_a_warning() -> None:
    """The scheduler gives each pod the first devices, and takes none back: after any device, no pair may be left."""
    mixed = rooted("node-a", "r0", "r1", "r0")
    template(inventory := equipped(mixed), "pair", PAIR)
    for elements in itertools.permutations([element("x", "one"), element("y", "pair")]):
        verdict = asked(inventory, *elements)
        names = ", ".join(one["name"] for one in elements)
        assert (verdict.text, verdict.warnings) == ("", (f"{names}: {IN_TURN}",))
    template(sorted_well := equipped(rooted("node-a", "r1", "r0", "r0")), "pair", PAIR)
    assert asked(sorted_well, element("x", "one"), element("y", "pair")).warnings == ()


def test_equal_pods_that_take_from_each_other_what_they_need_are_a_warning() -> None:
    """Two devices are shared: one of them twice, if each pod takes one of the others beside it."""
    memory = (DeviceCapacity("memory", 40 * GI, CapacityPolicy(20 * GI)),)
    shared = Device("shared", (), memory, Traits(shared=True))
    plain = [Device(f"plain-{at}") for at in range(2)]
    there = DeviceSlice("slice", GPU, "node-a", reach=Reach(node="node-a"), devices=(*plain, shared))
    inventory = equipped(there)
    assert asked(inventory, element("x", "two"), element("y", "two")).warnings == (f"x: {IN_TURN}",)
    first = replace(there, devices=(shared, *plain))
    assert asked(equipped(first), element("x", "two"), element("y", "two")).warnings == ()


@pytest.mark.untraced
def test_what_is_not_known_of_a_node_is_no_reason_to_say_that_pods_take_from_each_other() -> None:
    many = [element(f"e{at}", "three", cpu=f"{at + 1}m") for at in range(50)]
    assert not any(IN_TURN in said for said in asked(equipped(on("node-a", 160)), *many).warnings)
    unread = equipped(replace(rooted("node-a", "r0", "r1", "r0"), unread=True))
    template(unread, "pair", PAIR)
    verdict = asked(unread, element("x", "one", node="node-a"), element("y", "pair", node="node-a"))
    assert not verdict.refused
    assert not any(IN_TURN in said for said in verdict.warnings)


def test_of_more_devices_of_a_node_than_are_searched_for_no_order_is_tried() -> None:
    inventory = equipped(on("node-a", 140))
    template(inventory, "many", wanting(DeviceChoice(GPU, count=27)))
    found = asked(inventory, *(element(f"e{at}", "many") for at in range(5)))
    assert (found.text, found.warnings) == ("", ())


def test_devices_that_are_not_judged_are_a_warning_of_the_element() -> None:
    said = "processing element x: ResourceClaimTemplate"
    unread = equipped(replace(on("node-a", 2), unread=True), on("node-b", 1))
    why = "devices of 1 node are not judged, since ResourceSlice slice-node-a cannot be read; the pod may wait for them"
    assert asked(unread, element("x", "three")).warnings == (f"{said} three: {why}",)
    silent = equipped(classes=(CLASS, DeviceClass("nic", "", selectors=('device.driver == "nic"',))))
    template(silent, "port", wanting(DeviceChoice("nic")))
    none = "no driver offers devices of DeviceClass nic, so they are not judged; the pod waits"
    assert asked(silent, element("x", "port")).warnings == (f"{said} port: {none}",)


def test_what_certainly_no_plan_has_devices_for_is_refused() -> None:
    """Each element wants a pair of one root, and of four devices only two are of the same root."""
    inventory = equipped(rooted("node-a", "r0", "r0", "r1", "r2"), rooted("node-b", "r0", "r1"))
    template(inventory, "pair", PAIR)
    said = asked(inventory, element("x", "pair"), element("y", "pair", cpu="1")).text
    assert said == (
        "ResourceClaimTemplate pair cannot hold: 1 of 2 processing elements fits (x, y).\n"
        "  1 node does not have all devices of ResourceClaimTemplate pair at the same time\n"
        "  1 node has no device of DeviceClass gpu.example.com\n"
        "  1 node does not have devices for all of these at the same time\n"
        "Nearest fix: add a node with cpu 1, the devices of its claims free, or drop ResourceClaimTemplate pair "
        "(all 2 would fit), or run 1 of these 2."
    )
    more = equipped(rooted("node-a", "r0", "r0", "r1", "r2"), rooted("node-b", "r0", "r0"))
    template(more, "pair", PAIR)
    assert not asked(more, element("x", "pair"), element("y", "pair", cpu="1")).warnings


def test_pods_that_run_and_several_of_one_element_leave_a_warning() -> None:
    """That another plan has devices for all is not ruled out where an element has several pods on the node."""
    inventory = equipped(rooted("node-a", "r0", "r0", "r0", "r0", "r1", "r2"))
    template(inventory, "pair", PAIR)
    equal = [element(name, "pair") for name in ("x", "y")]
    found = asked(inventory, *equal, element("z", "pair", cpu="1"))
    assert (found.text, found.warnings) == ("", (f"x, z: {CROWDED}",))


def test_of_many_elements_on_a_node_no_smaller_crowd_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned_devices, "_LARGE", 3)
    inventory = equipped(rooted("node-a", "r0", "r0", "r1", "r1", "r2", "r3"), rooted("node-b", "r0", "r0"))
    for at in range(4):
        template(inventory, f"p{at}", PAIR)
    found = asked(inventory, *(element(f"e{at}", f"p{at}") for at in range(4)))
    assert (found.text, found.warnings) == ("", (f"e0, e1, e2: {CROWDED}",))


def test_more_plans_than_are_looked_at_leave_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned_devices, "_TRIES", 1)
    inventory = equipped(rooted("node-a", "r0", "r0", "r1", "r2"))
    template(inventory, "pair", PAIR)
    assert asked(inventory, element("x", "pair"), element("y", "pair", cpu="1")).warnings == (f"x, y: {CROWDED}",)


def test_where_time_is_over_no_other_plan_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take a count of all devices."""
    inventory = equipped(rooted("node-a", "r0", "r0", "r1", "r2"))
    template(inventory, "pair", PAIR)
    solving = AtOnce()
    crowds = planned_devices._crowds  # noqa: SLF001 -- called as it is

    async def last(*asked: Any) -> Any:
        solving.seconds = 0.0
        return await crowds(*asked)

    monkeypatch.setattr(planned_devices, "_crowds", last)
    monkeypatch.setattr(planned_devices, "_kept_away", None)
    found = judged(job_spec(element("x", "pair"), element("y", "pair", cpu="1")), inventory, solving)
    assert found.warnings == (f"x, y: {CROWDED}",)


def rooted(name: str, *roots: str) -> DeviceSlice:
    """The slice of a node with a device of each of these roots."""
    devices = tuple(Device(f"d{at}", (Attribute("example.com/root", root),)) for at, root in enumerate(roots))
    return DeviceSlice(f"slice-{name}", GPU, name, reach=Reach(node=name), devices=devices)


def test_many_elements_are_spread_over_the_nodes_with_devices() -> None:
    """Each wants a device by a template of its own, and each node has eight."""
    machines = nodes(6)
    inventory = equipped(*(on(one.name, 8) for one in machines), machines=machines)
    for at in range(48):
        template(inventory, f"t{at}", ONE)
    verdict = asked(inventory, *(element(f"e{at}", f"t{at}") for at in range(48)))
    assert (verdict.text, verdict.warnings) == ("", ())
    assert Counter(places(verdict, inventory).values()) == {one.name: 8 for one in machines}


def test_elements_share_a_claim() -> None:
    inventory = equipped()
    inventory.devices.put_claim(ResourceClaim("default", "mine", TWO))
    assert not asked(inventory, element("x", "=mine"), element("y", "=mine", cpu="1")).warnings
    crowded = asked(inventory, element("x", "=mine"), element("y", "one", node="node-a"))
    assert crowded.warnings == (f"x, y: {CROWDED}",)


def test_what_is_allocated_is_not_given_to_others() -> None:
    inventory = equipped()
    inventory.devices.put_claim(replace(held("mine", "node-a", 0), reserved=True))
    spec = [element("x", "=mine", "one"), element("y", "one", node="node-a", cpu="1")]
    assert asked(inventory, *spec).warnings == (f"x, y: {CROWDED}",)
    assert not asked(inventory, spec[0], element("y", "one", cpu="1")).warnings
    loose = equipped()
    loose.devices.put_claim(held("mine", "node-a", 0))
    assert not asked(loose, element("x", "=mine", node="node-a"), element("y", "one", node="node-a", cpu="1")).warnings


def test_a_node_that_offers_a_mapped_resource_needs_no_devices_for_it() -> None:
    machines = [replace(one, allocatable={**one.allocatable, RESOURCE: 2}) for one in nodes(1)]
    for cluster, refused in ((equipped(on("node-a", 1), machines=machines), False), (equipped(on("node-a", 1)), True)):
        found = asked(
            cluster, element("x", node="node-a", **{RESOURCE: "1"}), element("y", "one", node="node-a", cpu="1")
        )
        assert (found.refused, found.warnings) == (refused, ())


# Against all ways to place the elements


@pytest.mark.untraced
def test_a_job_is_refused_if_and_only_if_no_plan_has_devices_for_all() -> None:
    fits = 0
    for seed in range(some_of(600, every_day=30)):
        draw = Random(seed)  # noqa: S311 -- a world, no secret
        memory = {f"node-{name}": [draw.choice((40, 80)) for _ in range(draw.randrange(4))] for name in "abc"}
        inventory = equipped(*(_slice(name, sizes) for name, sizes in memory.items()))
        wants = [(draw.choice((1, 1, 2)), draw.choice((0, 80))) for _ in range(draw.choice((2, 3, 3, 4)))]
        for at, (count, least) in enumerate(wants):
            selectors = (large(least),) if least else ()
            template(inventory, f"t{at}", wanting(DeviceChoice(GPU, selectors=selectors, count=count)))
        verdict = judged(job_spec(*(element(f"e{at}", f"t{at}") for at in range(len(wants)))), inventory)
        possible = any(
            all(_enough(memory[name], [wants[at] for at in range(len(wants)) if where[at] == name]) for name in memory)
            for where in itertools.product(memory, repeat=len(wants))
        )
        fits += possible
        if not any(memory.values()):
            assert not verdict.text, seed  # no driver is known
            continue
        assert verdict.refused is not possible, seed
        if possible:
            assert not any(CROWDED in said for said in verdict.warnings), seed
            found = places(verdict, inventory)
            for name, sizes in memory.items():
                assert _enough(sizes, [wants[int(one[1:])] for one, node in found.items() if node == name]), seed
    assert fits > some_of(600, every_day=30) / 3


def _slice(name: str, sizes: list[int]) -> DeviceSlice:
    devices = tuple(
        Device(f"d{at}", (Attribute("model", "A100"),), (DeviceCapacity("memory", size * GI),))
        for at, size in enumerate(sizes)
    )
    return DeviceSlice(f"slice-{name}", GPU, name, reach=Reach(node=name), devices=devices)


def _enough(sizes: list[int], wants: list[tuple[int, int]]) -> bool:
    """Whether devices of these sizes are enough: the large ones for those that need them, any others for the rest."""
    big = sum(count for count, least in wants if least)
    return big <= sum(size >= 80 for size in sizes) and sum(count for count, _ in wants) <= len(sizes)
