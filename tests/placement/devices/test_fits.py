"""Nodes with devices for claims, as devices and nodes change."""

import pytest
from msgspec.structs import replace

from tests.builders import node
from tests.builders import nodes as some_nodes
from tests.placement.devices.clusters import GI, GPU, MODEL, devices_of, equipped, held, on, wanting
from tests.work import calls
from webhook.placement.devices import fits as fits_module
from webhook.placement.devices.allocation.allocation import Lack
from webhook.placement.devices.fits import BOUNDLESS, Fit, Wanted
from webhook.placement.devices.looks import looks as looks_module
from webhook.placement.devices.published.claims import Agreement, ClaimSpec, DeviceChoice, DeviceRequest
from webhook.placement.devices.published.device import (
    Attribute,
    CapacityPolicy,
    Counters,
    Device,
    DeviceCapacity,
    Reach,
    Traits,
)
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.devices.selectors.selector import NODES, DeviceBudget
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.kube.quantity import NANO
from webhook.placement.kube.selection.tolerations import Taint

ONE, TWO = (wanting(DeviceChoice(GPU, count=count)) for count in (1, 2))
ZONE_A = Reach(terms=(NodeTerm((Requirement("zone", "In", ("a",)),)),))


def fit(
    inventory: Inventory, *claims: ClaimSpec, budget: DeviceBudget | None = None, wanted: Wanted | None = None
) -> Fit:
    return inventory.device_fits.fit(wanted or Wanted(claims), inventory.nodes, budget or DeviceBudget())


def fitting(inventory: Inventory, *claims: ClaimSpec) -> set[str]:
    nodes = fit(inventory, *claims).nodes
    return {name for slot, name in inventory.nodes.names.items() if nodes >> slot & 1}


def test_nodes_with_equal_devices_are_tried_once() -> None:
    """Of equal nodes, and of those without devices, one is looked at; the answer is kept."""
    inventory = equipped(on("node-a", 2), on("node-b", 2))
    budget = DeviceBudget()
    assert fit(inventory, ONE, budget=budget).nodes == 0b011
    assert budget.nodes == DeviceBudget().nodes - 2
    assert fit(inventory, ONE, budget=budget).nodes == 0b011
    assert budget.nodes == DeviceBudget().nodes - 2


def test_changes_of_slices_are_followed() -> None:
    """A slice that changes, comes or goes changes the answer for its node alone."""
    inventory = equipped()
    assert fitting(inventory, TWO) == {"node-a"}
    inventory.devices.put_slice(on("node-b", 2))
    assert fitting(inventory, TWO) == {"node-a", "node-b"}
    inventory.devices.put_slice(on("node-z", 2))
    assert fitting(inventory, TWO) == {"node-a", "node-b"}
    inventory.devices.drop_slice("slice-node-a")
    assert fitting(inventory, TWO) == {"node-b"}
    inventory.devices.put_claim(held("other", "node-b", 0, 1))
    assert fitting(inventory, TWO) == {"node-b"}


def test_many_changes_at_once() -> None:
    """Who missed more changes than are remembered finds out everything again."""
    inventory = equipped()
    assert fitting(inventory, TWO) == {"node-a"}
    for count in range(4100):
        inventory.devices.put_slice(on("node-b", 1 + count % 2))
    assert fitting(inventory, TWO) == {"node-a", "node-b"}


def test_nodes_come_and_go() -> None:
    """Devices of a node count while it is there, whatever slot it has."""
    inventory = equipped()
    inventory.devices.put_slice(on("node-d", 2))
    assert fitting(inventory, TWO) == {"node-a"}
    inventory.set_node(node("node-d"))
    assert fitting(inventory, TWO) == {"node-a", "node-d"}
    inventory.remove_node("node-a")
    inventory.set_node(node("node-e"))
    assert fitting(inventory, TWO) == {"node-d"}
    inventory.set_node(node("node-e", labels={"new": "label"}))
    assert fitting(inventory, TWO) == {"node-d"}


def test_no_nodes() -> None:
    """A cluster without nodes has no devices."""
    inventory = Inventory()
    assert fit(inventory, ONE) == Fit()
    assert not inventory.device_fits.copies(Wanted((ONE,)), inventory.nodes, DeviceBudget()).size


def test_pool_for_nodes_with_a_label() -> None:
    """Nodes can use a pool as their labels say, also after these change."""
    pool = DeviceSlice("fabric", GPU, "fabric", reach=ZONE_A, devices=devices_of(1))
    inventory = equipped(pool, machines=[node("node-a", labels={"zone": "a"}), node("node-b")])
    assert fitting(inventory, ONE) == {"node-a"}
    inventory.set_node(node("node-b", labels={"zone": "a"}))
    assert fitting(inventory, ONE) == {"node-a", "node-b"}
    inventory.devices.drop_slice("fabric")
    assert fitting(inventory, ONE) == set()


def test_pool_for_every_node() -> None:
    """A pool for every node is one that each can use; so is a device that says it of itself."""
    everywhere = Reach(everywhere=True)
    each = Device("each", traits=Traits(Reach(node="node-b")))
    inventory = equipped(
        DeviceSlice("fabric", GPU, "fabric", reach=everywhere, devices=devices_of(1)),
        DeviceSlice("each", GPU, "each", devices=(each, Device("nobody", traits=Traits(Reach())), Device("none"))),
    )
    assert fitting(inventory, ONE) == {"node-a", "node-b", "node-c"}
    assert fitting(inventory, TWO) == {"node-b"}


def test_pool_in_several_slices() -> None:
    """Slices of one pool count together, those of an old generation and of an incomplete pool not at all."""
    parts = [
        DeviceSlice(f"part-{at}", GPU, "node-a", 2, 2, Reach(node="node-a"), (Device(f"d{at}"),)) for at in range(2)
    ]
    old = DeviceSlice("old", GPU, "node-a", 1, 1, Reach(node="node-a"), (Device("old"),))
    inventory = equipped(*parts, old)
    assert fitting(inventory, TWO) == {"node-a"}
    inventory.devices.drop_slice("part-1")
    assert fit(inventory, ONE).unknown == 0b001


def test_a_part_of_a_pool_in_another_place() -> None:
    """A pool is complete by all of its slices, whichever nodes they are for; a newer generation replaces it."""
    here, there = (
        DeviceSlice(f"on-{name}", GPU, "rack", 1, 2, Reach(node=name), devices_of(1)) for name in ("node-a", "node-b")
    )
    inventory = equipped(here, there)
    assert fitting(inventory, ONE) == {"node-a", "node-b"}
    inventory.devices.put_slice(DeviceSlice("on-node-b", GPU, "rack", 2, 1, Reach(node="node-b"), devices_of(1)))
    assert fitting(inventory, ONE) == {"node-b"}


def test_names_that_are_there_twice() -> None:
    """A pool with two devices of one name is not valid, and gives none."""
    inventory = equipped(DeviceSlice("s", GPU, "node-a", reach=Reach(node="node-a"), devices=devices_of(1) * 2))
    assert fit(inventory, ONE).unknown == 0b001


def test_taint_rules() -> None:
    """Devices that a rule taints are given to claims that tolerate it."""
    inventory = equipped()
    assert fitting(inventory, ONE) == {"node-a", "node-b"}
    inventory.devices.put_rule(TaintRule("r", Taint("broken", effect="NoExecute"), pool="node-a"))
    assert fitting(inventory, ONE) == {"node-b"}
    covering = Toleration("broken", "Exists", effect="NoExecute")
    for tolerations, nodes in (
        ((covering,), {"node-a", "node-b"}),
        ((replace(covering, effect="NoSchedule"),), {"node-b"}),
        ((replace(covering, key="hot"),), {"node-b"}),
    ):
        assert fitting(inventory, wanting(DeviceChoice(GPU, tolerations=tolerations))) == nodes
    inventory.devices.drop_rule("r")
    assert fitting(inventory, ONE) == {"node-a", "node-b"}


def test_own_devices() -> None:
    """Devices that the pod has by another claim are not given to it twice."""
    inventory = equipped()
    allocation = held("mine", "node-a", 0).allocation
    assert allocation
    assert fit(inventory, wanted=Wanted((TWO,), allocation.devices)).nodes == 0
    assert fit(inventory, wanted=Wanted((ONE,), allocation.devices)).nodes == 0b011


def test_what_nodes_lack() -> None:
    """A node that has too few devices is under what it lacks first."""
    inventory = equipped()
    choice = TWO.requests[0].choices[0]
    assert fit(inventory, TWO).lacks == {Lack("r0", choice, 2, 1): 0b010, Lack("r0", choice, 2, 0): 0b100}


def test_copies() -> None:
    """A node has devices for as many pods as the claims of all of these fit; where that is not known, for 32."""
    inventory = equipped(on("node-a", 5), on("node-b", 1))
    assert inventory.device_fits.copies(Wanted((TWO,)), inventory.nodes, DeviceBudget()).tolist() == [2, 0, 0]
    unsure = DeviceSlice("part", GPU, "node-c", 1, 2, Reach(node="node-c"), devices_of(1))
    inventory.devices.put_slice(unsure)
    assert inventory.device_fits.copies(Wanted((TWO,)), inventory.nodes, DeviceBudget()).tolist() == [2, 0, 32]


def test_copies_have_a_limit() -> None:
    """Pods with a device that they share are not counted beyond 32."""
    device = Device("d", traits=Traits(shared=True))
    inventory = equipped(DeviceSlice("s", GPU, "node-a", reach=Reach(node="node-a"), devices=(device,)))
    for budget in (DeviceBudget(), DeviceBudget(nodes=3 * 32)):  # one that ends on the way, and one that does not
        assert inventory.device_fits.copies(Wanted((ONE,)), inventory.nodes, budget).tolist() == [32, 0, 0]


def test_a_node_without_devices_for_few_pods_has_none_for_many() -> None:
    """Where so many pods are too many to be searched for, a node that lacked devices for fewer still does."""
    inventory = equipped(on("node-a", 120), on("node-b", 20))
    ten = wanting(DeviceChoice(GPU, count=10))
    assert inventory.device_fits.copies(Wanted((ten,)), inventory.nodes, DeviceBudget()).tolist() == [32, 2, 0]


@pytest.mark.parametrize(("claims", "answer"), [(4, (1, 0)), (8, (0, 1))])
def test_very_many_requests_are_not_searched_for(claims: int, answer: tuple[int, int]) -> None:
    """A search goes deeper with each device: beyond 128 of them it would end at the limit of the language."""
    inventory = equipped(on("node-a", 260), machines=[node("node-a")])
    many = wanting(*[DeviceChoice(GPU)] * 32)
    found = fit(inventory, *[many] * claims)
    assert (found.nodes, found.unknown) == answer


def test_many_alternatives_with_many_selectors_end_with_the_budget() -> None:
    """A claim that takes long on each of many different nodes does not make a decision take long."""
    devices = [
        (Device("d", (Attribute("model", "A100"), Attribute("uuid", str(at)))), *devices_of(63)) for at in range(9)
    ]
    names = [f"node-{at}" for at in range(9)]
    slices = [
        DeviceSlice(name, GPU, name, reach=Reach(node=name), devices=own)
        for name, own in zip(names, devices, strict=True)
    ]
    inventory = equipped(*slices, machines=[node(name) for name in names])
    selectors = tuple(f'device.attributes["{GPU}"].model != "{at}"' for at in range(8))
    choices = tuple(DeviceChoice(GPU, name=f"c{at}", selectors=selectors) for at in range(8))
    each = Agreement(distinct=f"{GPU}/uuid")
    claim = ClaimSpec(tuple(DeviceRequest(f"r{at}", choices) for at in range(16)), (each,))
    budget = DeviceBudget()
    found = fit(inventory, claim, budget=budget)
    assert budget.steps <= 0
    assert budget.nodes > DeviceBudget().nodes - 10
    assert found.unknown.bit_count() >= 7


@pytest.mark.parametrize(
    "budget",
    [DeviceBudget(nodes=1), DeviceBudget(evaluations=0), DeviceBudget(steps=0)],
    ids=["nodes", "evaluations", "steps"],
)
def test_a_budget_that_is_spent(budget: DeviceBudget) -> None:
    """What is not found out in one decision is not known, and is found out later."""
    inventory = equipped()
    assert fit(inventory, TWO, budget=budget).unknown
    assert fit(inventory, TWO).unknown == 0
    assert fitting(inventory, TWO) == {"node-a"}


@pytest.mark.parametrize(
    "budget",
    [DeviceBudget(evaluations=1), DeviceBudget(steps=1)],
    ids=["in the middle of expressions", "in the middle of a search"],
)
def test_a_budget_that_ends_on_the_way(budget: DeviceBudget) -> None:
    """An answer that was not found for want of budget is not kept."""
    distinct = Device("other", (Attribute("model", "B"),))
    slices = DeviceSlice("s", GPU, "node-a", reach=Reach(node="node-a"), devices=(*devices_of(1), distinct))
    inventory = equipped(slices)
    spec = wanting(
        DeviceChoice(GPU, selectors=(f"{MODEL} || device.driver == 'nobody-{budget.steps}'",), count=1),
        DeviceChoice(GPU, count=1),
        DeviceChoice(GPU, count=1),
    )
    assert fit(inventory, spec, budget=budget).unknown & 1
    assert fit(inventory, spec).unknown == 0


def test_a_budget_that_ends_with_the_selectors_leaves_none_for_the_search() -> None:
    inventory = equipped(on("node-a", 64))
    selectors = tuple(f'device.driver != "selectors-cost-steps-{at}"' for at in range(8))
    spec = wanting(DeviceChoice(GPU, selectors=selectors))
    budget = DeviceBudget(steps=1)
    assert fit(inventory, spec, budget=budget).unknown & 1
    assert budget.steps <= 0
    assert fit(inventory, spec).unknown == 0


def test_search_of_which_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many claims, looks and outcomes are remembered; what is forgotten is found out again."""
    monkeypatch.setattr(fits_module, "_KEPT", 1)
    monkeypatch.setattr(fits_module, "_LOOKS", 1)
    monkeypatch.setattr(fits_module, "_OUTCOMES", 1)
    monkeypatch.setattr(looks_module, "_KEPT", 1)
    two = Device("d", (Attribute("a", 1), Attribute("b", 1)))
    inventory = equipped(on("node-a", 2), DeviceSlice("s", GPU, "node-b", reach=Reach(node="node-b"), devices=(two,)))
    modelled = wanting(DeviceChoice(GPU, selectors=(MODEL,)))
    for _ in range(2):
        assert fitting(inventory, TWO) == {"node-a"}
        assert fit(inventory, modelled).unknown == 0b010


def test_looks_that_all_attributes_make() -> None:
    """A selector that looks at every attribute tells devices apart by all of them."""
    inventory = equipped(
        *(
            DeviceSlice(
                f"s-{name}", GPU, name, reach=Reach(node=name), devices=(Device("d", (Attribute(name[-1], name),)),)
            )
            for name in ("node-a", "node-b")
        )
    )
    spec = wanting(DeviceChoice(GPU, selectors=(f'device.attributes["{GPU}"].exists(k, k == "a")',)))
    assert fitting(inventory, spec) == {"node-a"}


def test_agreements_tell_devices_apart() -> None:
    """Attributes on which devices must agree are part of what they look like; true and 1 differ."""
    roots = {"node-a": (1, 1), "node-b": (1, 2), "node-c": (1, True)}
    inventory = equipped(
        *(
            DeviceSlice(
                f"s-{name}",
                GPU,
                name,
                reach=Reach(node=name),
                devices=tuple(Device(f"d{at}", (Attribute("root", value),)) for at, value in enumerate(values)),
            )
            for name, values in roots.items()
        )
    )
    same = wanting(DeviceChoice(GPU, count=2), agreements=(Agreement(match=f"{GPU}/root"),))
    assert fitting(inventory, same) == {"node-a"}
    assert fit(inventory, same).lacks == {Lack(): 0b110}
    every = wanting(DeviceChoice(GPU, all=True), agreements=(Agreement(match=f"{GPU}/root"),))
    assert fit(inventory, every) == Fit(0b001, 0b110)
    each = wanting(DeviceChoice(GPU), DeviceChoice(GPU), agreements=(Agreement(distinct=f"{GPU}/root"),))
    assert fitting(inventory, each) == {"node-b", "node-c"}


def test_counters() -> None:
    """Devices that consume counters of their pool are given as long as these last."""
    memory = Counters("memory", (("gib", 40 * NANO),))
    part = Traits(consumes=(Counters("memory", (("gib", 20 * NANO),)),))
    inventory = equipped(
        DeviceSlice("counters", GPU, "node-a", 1, 2, Reach(node="node-a"), counters=(memory,)),
        DeviceSlice(
            "parts", GPU, "node-a", 1, 2, Reach(node="node-a"), tuple(Device(f"d{at}", traits=part) for at in range(4))
        ),
    )
    assert fitting(inventory, TWO) == {"node-a"}
    assert fitting(inventory, wanting(DeviceChoice(GPU, count=3))) == set()


def test_counters_of_two_drivers_in_pools_of_one_name() -> None:
    """The scheduler may take one of such pools for the other, so that nothing is refused."""
    slices = [
        DeviceSlice(
            f"{driver}-{kind}", driver, "node-a", 1, 2, Reach(node="node-a"),
            () if kind == "c" else (Device("d", traits=Traits(consumes=(Counters("m", (("gib", 1),)),))),),
            (Counters("m", (("gib", 0),)),) if kind == "c" else (),
        )
        for driver in (GPU, "nic.example.com") for kind in "cd"
    ]  # fmt: skip
    assert fit(equipped(*slices), ONE).unknown == 0b001
    assert fit(equipped(*slices[:2]), ONE).unknown == 0


def test_more_devices_than_a_claim_may_have() -> None:
    """A claim has at most 32 devices."""
    inventory = equipped(on("node-a", 40))
    assert fitting(inventory, wanting(DeviceChoice(GPU, count=32))) == {"node-a"}
    assert fitting(inventory, wanting(DeviceChoice(GPU, count=33))) == set()
    assert fitting(inventory, wanting(DeviceChoice(GPU, all=True))) == set()


def test_more_devices_than_are_searched_for() -> None:
    """Claims for very many devices are not judged."""
    assert fit(equipped(), *([wanting(DeviceChoice(GPU, count=30))] * 9)).unknown == 0b111
    updating = DeviceSlice("part", GPU, "node-a", 1, 2, Reach(node="node-a"), devices_of(1))
    assert fit(equipped(updating), wanting(DeviceChoice(GPU, all=True))).unknown == 0b001


def test_all_devices_are_for_each_pod_those_that_have_something_left() -> None:
    """Of two devices that pods share, the first pod takes one whole, and a fourth of the other."""
    policy = CapacityPolicy(20 * GI)
    devices = tuple(
        Device(name, capacity=(DeviceCapacity("memory", 80 * GI, found),), traits=Traits(shared=True))
        for name, found in (("whole", None), ("parts", policy))
    )
    inventory = equipped(DeviceSlice("s", GPU, "node-a", reach=Reach(node="node-a"), devices=devices))
    every = wanting(DeviceChoice(GPU, all=True))
    assert inventory.device_fits.copies(Wanted((every,)), inventory.nodes, DeviceBudget()).tolist() == [4, 0, 0]
    assert fitting(inventory, every, every) == set()  # two claims of one pod want the same devices


def test_what_the_scheduler_may_overlook_takes_so_many_devices() -> None:
    """It compares distinct values with the last device of a request alone, if there are several devices."""
    apart = Agreement(distinct=f"{GPU}/model")  # which all devices have the same of
    inventory = equipped()
    two = wanting(DeviceChoice(GPU, count=2), agreements=(apart,))
    assert fit(inventory, two).unknown == 0b001
    either = ClaimSpec((DeviceRequest("r", (DeviceChoice(GPU, "a", count=3), DeviceChoice(GPU, "b"))),), (apart,))
    assert inventory.device_fits.copies(Wanted((either,)), inventory.nodes, DeviceBudget()).tolist() == [2, 1, 0]


# How many devices there are


def counts(inventory: Inventory, *choices: DeviceChoice, budget: DeviceBudget | None = None) -> list[int]:
    return [*inventory.device_fits.counts(choices, inventory.nodes, budget or DeviceBudget())]


ANY, A100 = DeviceChoice(GPU), DeviceChoice(GPU, selectors=(MODEL,))


def test_devices_of_equal_nodes_are_counted_once() -> None:
    inventory = equipped(on("node-a", 2), on("node-b", 2))
    budget = DeviceBudget()
    for _ in range(2):
        assert counts(inventory, A100, ANY, budget=budget) == [2, 2, 0]
        assert budget.nodes == DeviceBudget().nodes - 2
    inventory.devices.put_slice(on("node-b", 3))
    assert counts(inventory, A100, ANY, budget=budget) == [2, 3, 0]


def test_a_number_that_is_not_found_out_is_boundless_until_it_is() -> None:
    inventory = equipped()
    assert counts(inventory, ANY, budget=DeviceBudget(nodes=1)) == [2, BOUNDLESS, BOUNDLESS]
    assert counts(inventory, A100, budget=DeviceBudget(evaluations=0)) == [BOUNDLESS] * 3
    assert counts(inventory, ANY) == counts(inventory, A100) == [2, 1, 0]


def test_what_a_decision_does_not_find_out_it_does_not_ask_again() -> None:
    """Each group of a Job counts devices, and a later decision, with a budget of its own, does so anew."""
    inventory = equipped()
    budget = DeviceBudget(nodes=1)
    first = inventory.device_fits.counts((ANY,), inventory.nodes, budget)
    budget.renew()
    assert inventory.device_fits.counts((ANY,), inventory.nodes, budget) is first
    assert budget.nodes == 1
    inventory.devices.put_slice(on("node-a", 3))
    assert counts(inventory, ANY, budget=budget) == [BOUNDLESS, 1, BOUNDLESS]
    assert counts(inventory, ANY) == [3, 1, 0]


def test_devices_that_claims_share_are_boundless() -> None:
    shared = replace(on("node-a", 1), devices=(Device("d", traits=Traits(shared=True)),))
    assert counts(equipped(shared), ANY) == [BOUNDLESS, 0, 0]
    unread = replace(on("node-a", 1), unread=True)
    assert counts(equipped(unread), ANY) == [BOUNDLESS, 0, 0]


def test_devices_of_several_nodes_count_on_each() -> None:
    everywhere = DeviceSlice("wide", GPU, "wide", reach=Reach(everywhere=True), devices=devices_of(2))
    assert counts(equipped(everywhere, on("node-a", 1)), ANY) == [3, 2, 2]


def test_numbers_of_many_choices_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fits_module, "_KEPT", 1)
    inventory = equipped()
    budget = DeviceBudget()
    for choice in (ANY, A100, ANY):
        assert counts(inventory, choice, budget=budget) == [2, 1, 0]
    assert budget.nodes < DeviceBudget().nodes - 2 * 3


def test_a_selector_that_differs_on_every_node_is_followed_a_little_in_each_decision() -> None:
    """Of a cluster in which no two nodes look alike to it, a decision evaluates it on some: about 8 ms."""
    names = [f"node-{at}" for at in range(300)]
    slices = [
        DeviceSlice(
            name,
            GPU,
            name,
            reach=Reach(node=name),
            devices=tuple(Device(f"d{at}", (Attribute("uuid", f"{name}-{at}"),)) for at in range(8)),
        )
        for name in names
    ]
    inventory = equipped(*slices, machines=[node(name) for name in names])
    claim = wanting(DeviceChoice(GPU, selectors=(f'device.attributes["{GPU}"].uuid == "x"',)))
    known = 0
    for _ in range(3):
        spent = calls(lambda: fit(inventory, claim))
        assert spent < 20_000  # 14,000
        answered = sum(bits.bit_count() for bits in fit(inventory, claim, budget=DeviceBudget(nodes=0)).lacks.values())
        assert answered > known
        known = answered
    assert known == 3 * NODES


def partitioned(name: str, number: int) -> tuple[DeviceSlice, DeviceSlice]:
    """The partitions of the only device of a node, and the counters that they share, as drivers publish them."""
    consumes = Traits(consumes=(Counters("memory", (("memory", 40),)),))
    parts = tuple(Device(f"part-{at}", (Attribute("serial", f"{name}-{at}"),), (), consumes) for at in range(number))
    memory = (Counters("memory", (("memory", 80),)),)
    return (
        DeviceSlice(f"{name}-parts", GPU, name, 0, 2, Reach(node=name), parts),
        DeviceSlice(f"{name}-memory", GPU, name, 0, 2, Reach(node=name), counters=memory),
    )


def divided(count: int) -> Inventory:
    """A cluster of so many nodes, each with a pool of counters of its own."""
    machines = some_nodes(count)
    return equipped(*(part for one in machines for part in partitioned(one.name, 3)), machines=machines)


def test_counters_of_other_nodes_do_not_make_nodes_differ() -> None:
    inventory, budget = divided(5), DeviceBudget()
    assert fit(inventory, TWO, budget=budget).nodes == 0b11111
    assert budget.nodes == NODES - 1


def test_pools_of_counters_are_not_gone_through_on_each_node() -> None:
    small, large = divided(50), divided(200)
    assert calls(lambda: fit(large, TWO)) < 6 * calls(lambda: fit(small, TWO))


def test_a_look_at_nodes_with_counters_goes_on_where_the_last_one_ended() -> None:
    """Nodes that all look different to the selector are looked at once each."""
    inventory = divided(NODES + 8)
    odd = wanting(DeviceChoice(GPU, selectors=(f'device.attributes["{GPU}"].serial != "node-000-0"',)))
    first, budget = fit(inventory, odd), DeviceBudget()
    assert (first.nodes.bit_count(), first.complete) == (NODES, False)
    assert (fit(inventory, odd, budget=budget).complete, NODES - budget.nodes) == (True, 8)


def test_counters_that_are_not_complete_leave_all_nodes_unsure() -> None:
    """A slice that is missing may be one of any node, until the driver has published it."""
    inventory = equipped(*partitioned("node-a", 2), *partitioned("node-b", 2)[1:])
    found = fit(inventory, TWO)
    assert (found.nodes, found.unknown) == (0b001, 0b110)
    inventory.devices.put_slice(partitioned("node-b", 2)[0])
    found = fit(inventory, TWO)
    assert (found.nodes, found.unknown) == (0b011, 0b000)


# Pools that all nodes can use


def fabric(count: int, model: str = "A100") -> DeviceSlice:
    """A slice of so many devices that every node can use."""
    devices = tuple(Device(f"d{at}", (Attribute("model", model), Attribute("serial", at))) for at in range(count))
    return DeviceSlice("fabric", GPU, "fabric", reach=Reach(everywhere=True), devices=devices)


def test_a_pool_of_all_nodes_is_looked_at_once() -> None:
    """Two nodes that see the same of it cost little more than one, although it has very many devices."""
    costs = []
    for count in (50, 250):
        inventory = equipped(fabric(128), machines=some_nodes(count))
        assert fit(inventory, TWO).nodes.bit_count() == count
        inventory.devices.put_slice(fabric(127))
        costs.append(calls(lambda: fit(inventory, TWO)))  # noqa: B023 -- called at once
    assert costs[1] - costs[0] < 200 * 60  # 40 for each node; 1,000 if each of them looked at all devices


def test_a_change_of_one_node_beside_a_pool_of_all_nodes_concerns_that_node() -> None:
    inventory = equipped(fabric(1), on("node-a", 1), machines=some_nodes(200))
    assert fit(inventory, TWO).nodes == 1
    inventory.devices.put_slice(on("node-h", 1))
    budget = DeviceBudget()
    assert calls(lambda: fit(inventory, TWO, budget=budget)) < 400  # 190; all 200 nodes make 8,000
    assert fit(inventory, TWO).nodes == 0b10000001
    assert budget.nodes == NODES  # it looks as another one does


def test_nodes_that_a_device_of_the_pool_names_see_it_by_themselves() -> None:
    """A device for one node does not make all others differ."""
    own = Device("own", traits=Traits(Reach(node="node-d")))
    each = tuple(Device(f"d{at}", traits=Traits(Reach(everywhere=True))) for at in range(2))
    inventory = equipped(DeviceSlice("each", GPU, "each", devices=(own, *each)), machines=some_nodes(20))
    budget = DeviceBudget()
    assert fit(inventory, wanting(DeviceChoice(GPU, count=3)), budget=budget).nodes == 0b1000
    assert budget.nodes == NODES - 2


def test_a_pool_of_all_nodes_with_a_part_for_one() -> None:
    everywhere, there = (
        DeviceSlice(f"part-{at}", GPU, "both", 1, 2, reach, (Device(f"d{at}"),))
        for at, reach in enumerate((Reach(everywhere=True), Reach(node="node-b")))
    )
    inventory = equipped(everywhere, there)
    assert fitting(inventory, ONE) == {"node-a", "node-b", "node-c"}
    assert fitting(inventory, TWO) == {"node-b"}


def test_a_node_that_comes_takes_nothing_from_what_is_known_of_others() -> None:
    inventory = equipped()
    assert fitting(inventory, ONE) == {"node-a", "node-b"}
    inventory.devices.put_slice(on("node-d", 3))
    inventory.set_node(node("node-d"))
    found = fit(inventory, ONE, budget=DeviceBudget(nodes=0))
    assert (found.nodes, found.unknown, found.complete) == (0b0011, 0b1000, False)
    assert fit(inventory, ONE).nodes == 0b1011


def test_outcomes_of_devices_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fits_module, "_OUTCOMES", 1)
    inventory = equipped()
    for count in (*range(1, 9), 1):
        budget = DeviceBudget()
        inventory.devices.put_slice(on("node-a", count))
        assert fit(inventory, TWO, budget=budget).nodes == (count > 1)
    assert budget.nodes == NODES - 1


def test_looks_of_pools_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks_module, "_KEPT", 1)
    modelled = wanting(DeviceChoice(GPU, selectors=(MODEL,)))
    inventory = equipped(on("node-a", 1, 80), on("node-b", 1, 40), fabric(2, "B"))
    for model, nodes in (("B", {"node-a", "node-b"}), ("A100", {"node-a", "node-b", "node-c"})) * 2:
        inventory.devices.put_slice(fabric(2, model))
        assert fitting(inventory, modelled) == nodes
