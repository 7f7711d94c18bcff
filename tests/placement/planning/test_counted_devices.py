"""Devices of elements of different templates, counted as resources: what a refusal says, and that none is false."""

import itertools
from random import Random

import pytest
from msgspec.structs import replace

from tests.builders import JOB
from tests.placement.devices import worlds
from tests.placement.devices.brute_force import BruteForce
from tests.placement.devices.clusters import CLASS, GPU, RESOURCE, equipped, held, large, on, template, wanting
from tests.placement.jobs.test_job_workloads import judged as workloads
from tests.placement.jobs.test_job_workloads import own
from tests.placement.planning.at_once import job_spec, judged
from tests.placement.planning.test_planned_devices import PAIR, asked, element, rooted
from tests.suite.example_count import some_of
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice, DeviceRequest
from webhook.placement.devices.published.device import Device, Reach, Traits
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.planning import counted_devices

GPUS = f"devices of DeviceClass {GPU}"
FIRST, SECOND = "ResourceClaimTemplate one", "ResourceClaimTemplate two"
FIT = "would fit), or run 1 of these 2."
BOTH = f"{SECOND} and {FIRST}"


def lines(verdict: JobVerdict) -> list[str]:
    assert verdict.refused
    return [line.strip() for line in verdict.text.split("\n")]


def test_a_refusal_says_how_many_devices_there_are_and_what_would_help() -> None:
    assert lines(asked(equipped(), element("x", "two"), element("y", "one"), element("z", "one"))) == [
        f"{BOTH} cannot both hold: 2 of 3 processing elements fit (x, y, z).",
        "2 nodes have only 3 of 4 devices of DeviceClass gpu.example.com together",
        "1 node has only 1 of 2 devices of DeviceClass gpu.example.com",
        "1 node has no device of DeviceClass gpu.example.com",
        f"Nearest fix: add a node with 2 {GPUS} free, or drop {SECOND} (all 3 would fit), or run 2 of these 3.",
    ]


def test_devices_on_one_node() -> None:
    spec = [element("x", "one", cpu="1"), element("y", "one")]
    assert lines(asked(equipped(on("node-a", 1)), *spec)) == [
        "ResourceClaimTemplate one cannot hold: 1 of 2 processing elements fits (x, y).",
        "2 nodes have no device of DeviceClass gpu.example.com",
        "1 node has only 1 of 2 devices of DeviceClass gpu.example.com",
        f"Nearest fix: add a node with cpu 1, a device of DeviceClass {GPU} free, or drop {FIRST} (all 2 {FIT}",
    ]
    assert not asked(equipped(on("node-a", 2)), *spec).text


def test_each_piece_of_advice_helps() -> None:
    spec = [element("x", "two"), element("y", "one"), element("z", "one")]
    assert asked(equipped(), *spec).refused
    assert not asked(equipped(on("node-a", 2), on("node-b", 1), on("node-c", 2)), *spec).refused
    assert not asked(equipped(), element("x"), *spec[1:]).refused
    assert not asked(equipped(), *spec[:2]).refused


def test_workloads_of_a_job_have_devices_together() -> None:
    inventory = equipped()
    template(inventory, "one", wanting(DeviceChoice(GPU)))
    template(inventory, "two", wanting(DeviceChoice(GPU, count=2)))
    small, large_ = ([{"name": "c", "resourceClaimTemplateName": name}] for name in ("one", "two"))
    others = own("source", resourceClaims=large_)
    assert not workloads(own("sink", count=1, resourceClaims=small), others, inventory=inventory).refused
    assert workloads(own("sink", count=2, resourceClaims=small), others, inventory=inventory).text.startswith(
        f"The workloads of job {JOB} together: {BOTH} cannot both hold: "
        "2 of 3 pods fit (Deployment source, Deployment sink).\n"
        "  2 nodes have only 3 of 4 devices of DeviceClass gpu.example.com together\n"
    )


def test_workloads_of_a_job_are_warned_of_devices_that_are_not_known_to_be_enough() -> None:
    """Equal pods, and of four devices only two of the same root: numbers do not tell that three pods lack some."""
    inventory = equipped(rooted("node-a", "r0", "r0", "r0", "r0", "r1", "r2"))
    template(inventory, "pair", PAIR)
    pair = [{"name": "c", "resourceClaimTemplateName": "pair"}]
    found = workloads(
        own("sink", count=2, resourceClaims=pair), own("source", resourceClaims=pair), inventory=inventory
    )
    said = "no plan was found in which each node has devices for all that it runs: some pods may have to wait"
    assert (found.text, found.warnings) == ("", (f"Deployment source, Deployment sink: {said}",))


def test_a_part_of_a_pods_devices_is_counted_with_others() -> None:
    """One claim of the pod is of another class, of which no other pod wants any."""
    nic = DeviceClass("nic", "", selectors=('device.driver == "nic"',))
    ports = DeviceSlice("ports", "nic", "ports", reach=Reach(node="node-a"), devices=(Device("p"),))
    inventory = equipped(on("node-a", 1), ports, classes=(CLASS, nic))
    template(inventory, "port", wanting(DeviceChoice("nic")))
    said = asked(inventory, element("x", "one", "port"), element("y", "one")).text
    assert said.startswith("ResourceClaimTemplate one cannot hold: 1 of 2 processing elements fits (x, y).")
    assert "1 node has only 1 of 2 devices of DeviceClass gpu.example.com" in said


def test_devices_that_others_hold_count_since_they_come_free() -> None:
    inventory = equipped()
    inventory.devices.put_claim(replace(held("other", "node-a", 0, 1), reserved=True))
    assert not asked(inventory, element("x", "two"), element("y", "one")).text


def test_devices_of_one_kind_among_those_of_another() -> None:
    """Each has a device of its own kind, and all kinds together are too few."""
    inventory = equipped(on("node-a", 2, 80), on("node-b", 1, 40))
    template(inventory, "large", wanting(DeviceChoice(GPU, selectors=(large(80),))))
    template(inventory, "some", wanting(DeviceChoice(GPU, selectors=(large(20),))))
    spec = [element("x", "large", "large"), element("y", "some"), element("z", "some", cpu="1")]
    both = "of DeviceClass gpu.example.com with memory >= 80Gi or memory >= 20Gi"
    assert f"2 nodes have only 3 of 4 devices {both} together" in asked(inventory, *spec).text
    assert not asked(inventory, *spec[:2]).text
    two = [element("x", "large", "large"), element("y", "large")]
    assert "2 nodes have only" not in (text := asked(inventory, *two).text)
    assert "1 node has only 2 of 3 devices of DeviceClass gpu.example.com with memory >= 80Gi" in text


def test_many_kinds_are_counted_by_class_and_together(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 5
    for most in (16, 4):
        monkeypatch.setattr(counted_devices, "_MANY", most)
        inventory = equipped(on("node-a", many - 1, 80))
        spec = []
        for at in range(many):
            template(inventory, f"t{at}", wanting(DeviceChoice(GPU, selectors=(large(at + 1),))))
            spec.append(element(f"e{at}", f"t{at}"))
        said = f"1 node has only {many - 1} of {many} devices of DeviceClass gpu.example.com with memory >= "
        assert said in asked(inventory, *spec).text
        assert not asked(inventory, *spec[1:]).text


def test_of_alternatives_the_one_that_takes_least_counts() -> None:
    inventory = equipped(on("node-a", 2))
    either = DeviceRequest("r", (DeviceChoice(GPU, "both", count=2), DeviceChoice(GPU, "single")))
    template(inventory, "either", ClaimSpec((either,)))
    template(inventory, "all", wanting(DeviceChoice(GPU, all=True)))
    template(inventory, "admin", wanting(DeviceChoice(GPU, count=2, admin=True)))
    assert not asked(inventory, element("x", "either"), element("y", "one")).text
    assert asked(inventory, element("x", "either"), element("y", "two")).text
    assert not asked(inventory, element("x", "admin"), element("y", "two")).text
    assert "1 node has only 2 of 3 devices" in asked(inventory, element("x", "all"), element("y", "two")).text


def test_what_pods_share_does_not_count() -> None:
    one = on("node-a", 1)
    shared = replace(one, devices=(Device("d", traits=Traits(shared=True)),))
    for inventory in (equipped(shared), equipped(replace(one, expected=2), on("node-b", 1))):
        assert not asked(inventory, element("x", "one"), element("y", "one", cpu="1")).text


def test_elements_that_run_have_their_devices() -> None:
    """A mapped resource on a node that offers it itself takes no device, and on another node it does."""
    spec = [element("x", **{RESOURCE: "1"}), element("y", "one"), element("z", "one", cpu="1")]
    assert "have only 2 of 3 devices" in asked(equipped(on("node-a", 1), on("node-b", 1)), *spec).text
    offering = equipped(on("node-a", 1), on("node-b", 1))
    there = offering.nodes.nodes[offering.nodes.slot_of["node-c"]]
    offering.set_node(replace(there, allocatable={**there.allocatable, RESOURCE: 1}))
    assert not asked(offering, *spec).text


# Against all ways to place the elements


def test_no_job_is_refused_whose_devices_could_be_had_and_others_are_warned() -> None:
    """Worlds of slices with attributes, taints, shared and partitioned devices, and claims of every kind."""
    refused = fits = 0
    for seed in range(some_of(1500, every_day=60)):
        draw = Random(seed)  # noqa: S311 -- a world, no secret
        found = [worlds.world(draw.randrange(10**6)) for _ in range(2)]
        machines = {f"node-{'ab'[at]}": _own_slices(one.slices) for at, one in enumerate(found)}
        wants = [_small(worlds.world(draw.randrange(10**6)).claims) for _ in range(draw.choice((2, 2, 3)))]
        inventory = _inventory(machines, found[0].rules)
        for at, claims in enumerate(wants):
            for number, spec in enumerate(claims):
                template(inventory, f"t{at}-{number}", spec)
        elements = [
            element(f"e{at}", *(f"t{at}-{number}" for number in range(len(claims)))) for at, claims in enumerate(wants)
        ]
        verdict = judged(job_spec(*elements), inventory)
        alone = [judged(job_spec(one), inventory).refused for one in elements]
        possible = _possible(machines, found[0].rules, wants)
        fits += possible
        together = verdict.refused and not any(alone)
        refused += together
        assert not (verdict.refused and possible), (seed, verdict.text)
        assert possible or verdict.refused or verdict.warnings, seed
    assert fits > some_of(1500, every_day=60) / 10
    assert refused > some_of(1500, every_day=60) / 100


def _own_slices(slices: list[DeviceSlice]) -> list[DeviceSlice]:
    """The slices of the node itself."""
    return [one for one in slices if one.reach == Reach(node=worlds.NODE)]


def _small(claims: list[ClaimSpec]) -> list[ClaimSpec]:
    """The first claim, so that all assignments can be tried."""
    return claims[:1]


def _inventory(machines: dict[str, list[DeviceSlice]], rules: list[TaintRule]) -> Inventory:
    slices = [
        replace(one, name=f"{one.name}-{name}", pool=f"{one.pool}-{name}", reach=Reach(node=name))
        for name, own in machines.items()
        for one in own
    ]
    inventory = equipped(*slices or (on("node-c", 1),), classes=(DeviceClass("class", ""),))
    for rule in rules:
        inventory.devices.put_rule(rule)
    return inventory


def _possible(machines: dict[str, list[DeviceSlice]], rules: list[TaintRule], wants: list[list[ClaimSpec]]) -> bool:
    for where in itertools.product(machines, repeat=len(wants)):
        if all(
            _able(own, rules, [spec for at, claims in enumerate(wants) if where[at] == name for spec in claims])
            for name, own in machines.items()
        ):
            return True
    return False


def _able(slices: list[DeviceSlice], rules: list[TaintRule], claims: list[ClaimSpec]) -> bool:
    """Whether the node has the devices; requests with selectors that fail for some device are left out."""

    def there(*some: ClaimSpec) -> BruteForce:
        return BruteForce(worlds.PlacedWorld(slices, rules, [], list(some)), held=False)

    def fails(*some: ClaimSpec) -> bool:
        tried = there(*some)
        return not tried.allocates() and tried.failed

    known = []
    for claim in claims:
        if fails(claim):
            left = tuple(request for request in claim.requests if not fails(ClaimSpec((request,))))
            known += [ClaimSpec(left)] if left else []
        else:
            known.append(claim)
    return not known or there(*known).allocates()
