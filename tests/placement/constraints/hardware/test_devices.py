"""Devices that a pod wants: nodes without them are out, and what is not known refuses nobody."""

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, Json, decided, node, nodes, pod, typed
from tests.placement.devices.clusters import (
    CLASS,
    GPU,
    MODEL,
    RESOURCE,
    asking,
    devices_of,
    equipped,
    held,
    large,
    on,
    template,
    wanting,
)
from tests.placement.hardware_containers import amount, required
from tests.placement.planning.at_once import job_spec, judged
from webhook.placement.constraints.constraint import Spread
from webhook.placement.constraints.hardware import devices
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.devices.published.claims import (
    Agreement,
    ClaimAllocation,
    ClaimSpec,
    DeviceChoice,
    DeviceRequest,
    ResourceClaim,
)
from webhook.placement.devices.published.device import Attribute, Device, Reach
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text.rule import Rule
from webhook.placement.workload.workload import decide_replicas

ONE, TWO, THREE = (wanting(DeviceChoice(GPU, count=count)) for count in (1, 2, 3))


def made_from(*names: str, **tweaks: object) -> Json:
    claims = [{"name": f"c{at}", "resourceClaimTemplateName": name} for at, name in enumerate(names)]
    return pod(resourceClaims=claims, **tweaks)


def named(*names: str) -> Json:
    return pod(resourceClaims=[{"name": name, "resourceClaimName": name} for name in names])


def used(name: str, node: str, *numbers: int) -> ResourceClaim:
    """A claim that has these devices of the node, and that a pod uses."""
    return replace(held(name, node, *numbers), reserved=True)


def with_template(spec: ClaimSpec, inventory: Inventory | None = None) -> Inventory:
    inventory = inventory or equipped()
    template(inventory, "t", spec)
    return inventory


def candidates(found: Json, inventory: Inventory) -> list[str]:
    decision = decided(found, inventory)
    assert decision.verdict, decision.message
    names = inventory.nodes.names
    return [names[slot] for slot in sorted(names) if decision.verdict.candidates >> slot & 1]


def message(found: Json, inventory: Inventory) -> list[str]:
    decision = decided(found, inventory)
    assert decision.refused
    return decision.message.splitlines()


# Claims of templates


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (ONE, ["node-a", "node-b"]),
        (TWO, ["node-a"]),
        (wanting(DeviceChoice(GPU), DeviceChoice(GPU)), ["node-a"]),
        (wanting(DeviceChoice(GPU, selectors=(large(80),))), ["node-b"]),
        (wanting(DeviceChoice(GPU, all=True)), ["node-a", "node-b"]),
        (
            ClaimSpec((DeviceRequest("r", (DeviceChoice(GPU, "many", count=3), DeviceChoice(GPU, "few"))),)),
            ["node-a", "node-b"],
        ),
        (ClaimSpec(), ["node-a", "node-b", "node-c"]),
    ],
    ids=["one", "two", "two requests", "large", "all", "the second choice", "nothing"],
)
def test_nodes_with_the_devices(spec: ClaimSpec, expected: list[str]) -> None:
    assert candidates(made_from("t"), with_template(spec)) == expected


UNREAD = "ResourceClaimTemplate t: devices of {} are not judged, since {} cannot be read; the pod may wait for them"


@pytest.mark.parametrize(
    ("unread", "nodes_", "said"),
    [
        ([Reach("node-b")], ["node-a", "node-b"], UNREAD.format("1 node", "ResourceSlice odd-0")),
        (
            [Reach("node-b"), Reach("node-c"), Reach("gone"), Reach("node-a")],
            ["node-a", "node-b", "node-c"],
            UNREAD.format("2 nodes", "2 ResourceSlices"),
        ),
        (
            [Reach(everywhere=True)],
            ["node-a", "node-b", "node-c"],
            UNREAD.format("2 nodes", "ResourceSlice odd-0"),
        ),
    ],
    ids=["of one node", "of several nodes", "of all nodes"],
)
def test_a_slice_that_cannot_be_read_refuses_nothing(unread: list[Reach], nodes_: list[str], said: str) -> None:
    inventory = with_template(TWO)
    for at, reach in enumerate(unread):
        inventory.devices.put_slice(DeviceSlice(f"odd-{at}", GPU, f"odd-{at}", reach=reach, unread=True))
    assert candidates(made_from("t"), inventory) == nodes_
    assert decided(made_from("t"), inventory).warnings == (said,)


def test_a_slice_that_can_be_read_again_counts_as_it_is() -> None:
    inventory = with_template(THREE)
    inventory.devices.put_slice(replace(on("node-b", 0), unread=True))
    assert candidates(made_from("t"), inventory) == ["node-b"]
    inventory.devices.put_slice(on("node-b", 2))
    assert message(made_from("t"), inventory)[0].endswith("0 of 3 nodes can run this pod.")


def test_devices_that_others_have_come_free() -> None:
    inventory = with_template(TWO)
    inventory.devices.put_claim(held("other", "node-a", 0, 1))
    assert candidates(made_from("t"), inventory) == ["node-a"]


def test_too_few_devices() -> None:
    assert message(made_from("t"), with_template(THREE)) == [
        "ResourceClaimTemplate t cannot hold: 0 of 3 nodes can run this pod.",
        f"  1 node has only 2 of 3 devices of DeviceClass {GPU}",
        f"  1 node has only 1 of 3 devices of DeviceClass {GPU}",
        f"  1 node has no device of DeviceClass {GPU}",
        (
            "Nearest fix: lower count of request r0 of ResourceClaimTemplate t to 2 (this opens 1 node), or drop "
            "ResourceClaimTemplate t (3 nodes would fit)."
        ),
    ]


def test_the_lower_count_fits() -> None:
    assert candidates(made_from("t"), with_template(TWO)) == ["node-a"]


def test_a_lower_count_of_all_nodes_that_have_fewer() -> None:
    inventory = equipped(on("node-a", 1), on("node-b", 1))
    assert message(made_from("t"), with_template(TWO, inventory))[-1] == (
        "Nearest fix: lower count of request r0 of ResourceClaimTemplate t to 1 (this opens 2 nodes), or drop "
        "ResourceClaimTemplate t (3 nodes would fit)."
    )


def test_no_device_that_is_large_enough() -> None:
    wanted = DeviceChoice(GPU, selectors=(MODEL, large(100)), capacity=(("memory", 2**30 * 10**9),))
    assert message(made_from("t"), with_template(wanting(wanted))) == [
        "ResourceClaimTemplate t cannot hold: 0 of 3 nodes can run this pod.",
        f'  3 nodes have no device of DeviceClass {GPU} with model == "A100" and memory >= 100Gi and memory 1Gi',
        (
            f'Nearest fix: add a node with a device of DeviceClass {GPU} with model == "A100" and memory >= 100Gi and '
            "memory 1Gi, or drop ResourceClaimTemplate t (3 nodes would fit)."
        ),
    ]


def test_a_node_with_several_devices_is_asked_for() -> None:
    found = message(made_from("t"), with_template(wanting(DeviceChoice(GPU, selectors=(large(100),), count=2))))
    assert found[-1].startswith(f"Nearest fix: add a node with 2 devices of DeviceClass {GPU} with memory >= 100Gi, or")


def test_all_of_too_few_is_not_lowered() -> None:
    spec = ClaimSpec((DeviceRequest("r", (DeviceChoice(GPU, selectors=(large(100),), all=True),)),))
    assert f"add a node with a device of DeviceClass {GPU}" in message(made_from("t"), with_template(spec))[-1]


def test_a_node_that_is_selected_has_too_few() -> None:
    found = message(made_from("t", nodeSelector={"kubernetes.io/hostname": "node-b"}), with_template(TWO))
    assert found == [
        (
            "nodeSelector kubernetes.io/hostname=node-b and ResourceClaimTemplate t cannot both hold: 0 of 3 nodes can "
            "run this pod."
        ),
        "  2 nodes do not have the label kubernetes.io/hostname=node-b",
        f"  1 node has only 1 of 2 devices of DeviceClass {GPU}",
        (
            "Nearest fix: lower count of request r0 of ResourceClaimTemplate t to 1 (this opens 1 node), or drop "
            "nodeSelector kubernetes.io/hostname=node-b (1 node would fit)."
        ),
    ]


def test_a_refusal_is_counted_under_devices() -> None:
    refusal = decided(made_from("t"), with_template(THREE)).refusal
    assert refusal
    assert refusal.rules == (Rule.DEVICES,)


# Several claims


def test_claims_that_fit_alone_but_not_together() -> None:
    inventory = with_template(TWO)
    template(inventory, "one", ONE)
    assert message(made_from("one", "t"), inventory) == [
        "ResourceClaimTemplate one and ResourceClaimTemplate t cannot hold: 0 of 3 nodes can run this pod.",
        f"  1 node has only 1 of 2 devices of DeviceClass {GPU}",
        "  1 node does not have all devices of ResourceClaimTemplate one and ResourceClaimTemplate t at the same time",
        f"  1 node has no device of DeviceClass {GPU}",
        (
            "Nearest fix: lower count of request r0 of ResourceClaimTemplate t to 1 (this opens 1 node), or drop "
            "ResourceClaimTemplate one and ResourceClaimTemplate t (3 nodes would fit)."
        ),
    ]


def test_three_claims_are_named_in_short() -> None:
    inventory = with_template(ONE)
    template(inventory, "u", ONE)
    template(inventory, "v", ONE)
    assert message(made_from("t", "u", "v"), inventory)[0] == (
        "ResourceClaimTemplate t and 2 more cannot hold: 0 of 3 nodes can run this pod."
    )


def test_claims_that_fit_together_on_one_node() -> None:
    inventory = with_template(ONE)
    template(inventory, "u", ONE)
    assert candidates(made_from("t", "u"), inventory) == ["node-a"]


def test_a_claim_that_fits_nowhere_is_named_alone() -> None:
    inventory = with_template(THREE)
    template(inventory, "one", ONE)
    assert message(made_from("one", "t"), inventory)[0] == (
        "ResourceClaimTemplate t cannot hold: 0 of 3 nodes can run this pod."
    )


def test_two_claims_of_one_template() -> None:
    inventory = with_template(TWO)
    assert message(made_from("t", "t"), inventory)[:3] == [
        "2 claims of ResourceClaimTemplate t cannot hold: 0 of 3 nodes can run this pod.",
        f"  1 node has only 1 of 2 devices of DeviceClass {GPU}",
        "  1 node does not have all devices of 2 claims of ResourceClaimTemplate t at the same time",
    ]
    assert "drop 2 claims of ResourceClaimTemplate t (3 nodes would fit)" in message(made_from("t", "t"), inventory)[-1]


def test_a_lower_count_that_does_not_help_is_not_proposed() -> None:
    inventory = with_template(TWO)
    template(inventory, "u", ONE)
    template(inventory, "v", ONE)
    assert message(made_from("t", "u", "v"), inventory)[-1] == (
        f"Nearest fix: add a node with 4 devices of DeviceClass {GPU}, or drop ResourceClaimTemplate t and 2 more "
        "(3 nodes would fit)."
    )


# What helps


def fix(found: Json, inventory: Inventory) -> str:
    """The fix that comes before the clause to drop."""
    return message(found, inventory)[-1].removeprefix("Nearest fix: ").removesuffix(".").partition(", or ")[0]


def test_a_lower_count_leaves_devices_to_the_other_claims_of_the_pod() -> None:
    inventory = with_template(wanting(DeviceChoice(GPU, count=4)), equipped(on("node-a", 3)))
    template(inventory, "one", ONE)
    assert fix(made_from("one", "t"), inventory) == (
        "lower count of request r0 of ResourceClaimTemplate t to 2 (this opens 1 node)"
    )


def test_a_count_is_lowered_as_little_as_it_has_to_be() -> None:
    """A node with more devices, of which not all are alike, is looked at as well."""
    odd = [Device(f"odd-{at}", (Attribute("root", "ab"[at % 2]),)) for at in range(6)]
    alike = [Device(f"alike-{at}", (Attribute("root", "a"),)) for at in range(2)]
    slices = (
        DeviceSlice(name, GPU, name, reach=Reach(node=name), devices=tuple(devices_))
        for name, devices_ in (("node-a", odd), ("node-b", alike))
    )
    inventory = with_template(
        wanting(DeviceChoice(GPU, count=4), agreements=(Agreement(match=f"{GPU}/root"),)), equipped(*slices)
    )
    assert fix(made_from("t"), inventory) == (
        "lower count of request r0 of ResourceClaimTemplate t to 3 (this opens 1 node)"
    )


def test_the_count_of_one_of_two_equal_templates_is_lowered_in_that_alone() -> None:
    inventory = with_template(THREE, equipped(on("node-a", 4), on("node-b", 2)))
    template(inventory, "u", THREE)
    assert fix(made_from("t", "u"), inventory) == (
        "lower count of request r0 of ResourceClaimTemplate t to 1 (this opens 1 node)"
    )


def test_the_count_of_an_alternative_is_named_with_it() -> None:
    request = DeviceRequest("r", (DeviceChoice(GPU, "large", count=5), DeviceChoice(GPU, "small", count=4)))
    assert fix(made_from("t"), with_template(ClaimSpec((request,)))) == (
        "lower count of request r/large of ResourceClaimTemplate t to 2 (this opens 1 node)"
    )


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        ([wanting(DeviceChoice(GPU, selectors=(large(100),))), ONE, TWO], "{size} and 3 devices {gpu}"),
        (
            [
                wanting(
                    DeviceChoice(GPU, selectors=(large(100),)),
                    DeviceChoice(GPU, selectors=(large(90),)),
                    DeviceChoice(GPU),
                )
            ],
            "all devices of ResourceClaimTemplate t0",
        ),
        (
            [
                wanting(DeviceChoice(GPU, selectors=(large(100),)), agreements=(Agreement(match=f"{GPU}/model"),)),
                wanting(DeviceChoice(GPU), agreements=(Agreement(match=f"{GPU}/model"),)),
            ],
            "all devices of ResourceClaimTemplate t0 and ResourceClaimTemplate t1",
        ),
        (
            [
                wanting(
                    DeviceChoice(GPU, selectors=(large(100),)),
                    DeviceChoice(GPU),
                    agreements=(Agreement(match=f"{GPU}/root"),),
                )
            ],
            "all devices of ResourceClaimTemplate t0",
        ),
        (
            [wanting(DeviceChoice(GPU, selectors=(large(100),)), agreements=(Agreement(match=f"{GPU}/root"),))],
            "{size} and attribute gpu.example.com/root",
        ),
        (
            [
                wanting(
                    DeviceChoice(GPU, selectors=(large(100),), count=2), agreements=(Agreement(distinct=f"{GPU}/root"),)
                )
            ],
            "all devices of ResourceClaimTemplate t0",
        ),
    ],
    ids=["two sorts", "three sorts", "two agreements", "agreeing requests", "an attribute", "different values"],
)
def test_a_new_node_has_all_devices_of_the_pod(specs: list[ClaimSpec], expected: str) -> None:
    inventory = equipped()
    for at, spec in enumerate(specs):
        template(inventory, f"t{at}", spec)
    gpu = f"of DeviceClass {GPU}"
    size = f"a device {gpu} with memory >= 100Gi"
    found = made_from(*(f"t{at}" for at in range(len(specs))))
    assert fix(found, inventory) == f"add a node with {expected.format(gpu=gpu, size=size)}"


def test_all_that_a_new_node_needs_is_said_unless_it_takes_too_many_words() -> None:
    first, second, third = (f'device.attributes["{GPU}"].model == "{letter * 60}"' for letter in "ABC")
    one = DeviceChoice(GPU, selectors=(first,))
    said = f'a device of DeviceClass {GPU} with model == "{"A" * 60}"'
    two = f'2 devices of DeviceClass {GPU} with model == "{"B" * 60}"'
    short = wanting(one, DeviceChoice(GPU, selectors=(second,), count=2))
    assert fix(made_from("t"), with_template(short)) == f"add a node with {said} and {two}"
    long = wanting(one, DeviceChoice(GPU, selectors=(second, third), count=2))
    assert fix(made_from("t"), with_template(long)) == "add a node with all devices of ResourceClaimTemplate t"


def test_no_node_is_proposed_beside_a_request_for_every_device() -> None:
    """The other request may be for a device that this one takes."""
    inventory = with_template(wanting(DeviceChoice(GPU, all=True), DeviceChoice(GPU, selectors=(large(100),))))
    assert fix(made_from("t"), inventory).startswith("drop ResourceClaimTemplate t")


CORES: Json = {"name": "main", "resources": {"requests": {"cpu": "9"}}}


def test_a_new_node_with_more_cores_has_the_devices_as_well() -> None:
    assert fix(made_from("t", containers=[CORES]), with_template(TWO)) == (
        f"add a node with cpu 9 to offer and 2 devices of DeviceClass {GPU}"
    )


def test_no_node_with_more_cores_is_proposed_if_its_devices_cannot_be_said() -> None:
    both = (*devices_of(1, 80), replace(devices_of(1)[0], name="small"))
    inventory = equipped(DeviceSlice("s", GPU, "node-a", reach=Reach(node="node-a"), devices=both))
    every = wanting(DeviceChoice(GPU, selectors=(large(60),), all=True), DeviceChoice(GPU))
    assert fix(made_from("t", containers=[CORES]), with_template(every, inventory)) == (
        "lower requests cpu 9 to cpu 8 (1 node would fit)"
    )


def test_lower_requests_keep_resources_that_a_class_maps() -> None:
    """Such a resource has a clause of its own, also of a pod that is read again because it is given hardware."""
    found = asking(3)
    found["metadata"]["annotations"] = required({"device": {"class": GPU}})
    found["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
    inventory = equipped(on("node-a", 2), on("node-b", 1))
    assert message(found, inventory)[::4] == [
        "requests example.com/gpu 3 cannot hold: 0 of 3 nodes can run this pod.",
        (
            "Nearest fix: lower requests example.com/gpu to 1 (this opens 1 node), or drop requests example.com/gpu 3 "
            "(2 nodes would fit)."
        ),
    ]


def test_claims_that_are_named_together_are_not_named_again() -> None:
    inventory = with_template(TWO)
    template(inventory, "one", ONE)
    inventory.devices.put_slice(on("node-c", 4))
    found = message(made_from("one", "t", nodeSelector={"kubernetes.io/hostname": "node-a"}), inventory)
    assert found[0] == (
        "nodeSelector kubernetes.io/hostname=node-a and ResourceClaimTemplate one and ResourceClaimTemplate t cannot "
        "both hold: 0 of 3 nodes can run this pod."
    )


# Claims by name


def test_a_claim_that_is_to_be_allocated() -> None:
    inventory = equipped()
    inventory.devices.put_claim(ResourceClaim("default", "mine", TWO))
    assert candidates(named("mine"), inventory) == ["node-a"]


def test_an_allocated_claim_ties_the_pod_to_its_nodes() -> None:
    inventory = equipped()
    inventory.devices.put_claim(used("mine", "node-b", 0))
    assert candidates(named("mine"), inventory) == ["node-b"]


def test_an_allocated_claim_without_users_may_get_other_devices() -> None:
    inventory = equipped(on("node-a", 2), on("node-b", 1), on("node-c", 1))
    inventory.devices.put_claim(held("mine", "node-b", 0, spec=TWO))
    assert candidates(named("mine"), inventory) == ["node-a", "node-b"]
    inventory.devices.drop_slice("slice-node-b")
    assert candidates(named("mine"), inventory) == ["node-a", "node-b"]
    inventory.devices.drop_slice("slice-node-a")
    assert candidates(named("mine"), inventory) == ["node-b"]
    pinned = pod(
        nodeSelector={"kubernetes.io/hostname": "node-c"}, resourceClaims=named("mine")["spec"]["resourceClaims"]
    )
    assert f"  1 node has only 1 of 2 devices of DeviceClass {GPU}" in message(pinned, inventory)


def test_what_such_a_claim_keeps_is_not_given_to_another_claim_of_the_pod() -> None:
    inventory = equipped(on("node-a", 1), on("node-b", 2))
    template(inventory, "t", ONE)
    inventory.devices.put_claim(held("mine", "node-a", 0))
    claims = named("mine")["spec"]["resourceClaims"] + made_from("t")["spec"]["resourceClaims"]
    assert candidates(pod(resourceClaims=claims), inventory) == ["node-b"]


def test_three_such_claims_are_not_judged() -> None:
    inventory = equipped(on("node-a", 3), on("node-b", 1))
    for at in range(3):
        inventory.devices.put_claim(held(f"mine-{at}", "node-b", 0))
    assert candidates(named("mine-0", "mine-1"), inventory) == ["node-a", "node-b"]
    decision = decided(named("mine-0", "mine-1", "mine-2"), inventory)
    assert decision.warnings == (
        "spec.resourceClaims: ResourceClaims are not judged; the pod waits until devices that meet them are free",
    )


def test_a_claim_without_users_is_not_refused_for_a_class_that_is_gone() -> None:
    inventory = equipped(classes=())
    inventory.devices.put_claim(held("mine", "node-b", 0))
    decision = decided(named("mine"), inventory)
    assert decision.warnings == (f"ResourceClaim mine: DeviceClass {GPU} does not exist; the pod waits for it",)


@pytest.mark.parametrize(("nodes_", "spread"), [(1, Spread.TOGETHER), (2, Spread.FREE)])
def test_pods_that_share_a_loose_claim_run_together_unless_several_nodes_can_use_it(
    nodes_: int, spread: Spread
) -> None:
    inventory = equipped()
    claim = held("mine", "node-b", 0)
    terms = tuple(NodeTerm(match_fields=(Requirement("metadata.name", "In", (f"node-{at}",)),)) for at in "ab"[:nodes_])
    assert claim.allocation
    inventory.devices.put_claim(replace(claim, allocation=replace(claim.allocation, terms=terms)))
    world = World(inventory, Policy())
    ask, _ = read(typed(named("mine")), NAMESPACE, world)
    (room,) = (found for found in devices.parse(ask, world) if isinstance(found, devices.DeviceRoom))
    assert room.spread is spread


def test_an_allocated_claim_for_every_node_ties_nothing() -> None:
    inventory = equipped()
    inventory.devices.put_claim(ResourceClaim("default", "mine", ONE, ClaimAllocation()))
    assert len(candidates(named("mine"), inventory)) == 3


def test_a_claim_has_what_another_one_of_the_pod_wants() -> None:
    inventory = with_template(ONE)
    inventory.devices.put_claim(used("mine", "node-a", 0, 1))
    both = pod(
        resourceClaims=[
            {"name": "a", "resourceClaimName": "mine"},
            {"name": "b", "resourceClaimTemplateName": "t"},
        ]
    )
    assert message(both, inventory) == [
        "ResourceClaim mine and ResourceClaimTemplate t cannot both hold: 0 of 3 nodes can run this pod.",
        "  2 nodes cannot use the devices that ResourceClaim mine has",
        ("  1 node does not have all devices of ResourceClaimTemplate t in addition to those of its other claims"),
        "Nearest fix: drop ResourceClaim mine (2 nodes would fit).",
    ]


# Resources that a class maps


@pytest.mark.parametrize(("count", "expected"), [(1, ["node-a", "node-b"]), (2, ["node-a"])])
def test_a_mapped_resource_counts_the_devices_of_the_class(count: int, expected: list[str]) -> None:
    assert candidates(asking(count), equipped()) == expected


def test_a_mapped_resource_of_which_no_node_has_enough() -> None:
    found = message(asking(3), equipped())
    assert (found[0], found[-1]) == (
        "requests example.com/gpu 3 cannot hold: 0 of 3 nodes can run this pod.",
        (
            "Nearest fix: lower requests example.com/gpu to 2 (this opens 1 node), or drop requests example.com/gpu 3 "
            "(3 nodes would fit)."
        ),
    )


def test_a_node_that_offers_the_resource_needs_no_devices() -> None:
    machines = [*nodes(3), node("node-d", **{RESOURCE: 2})]
    inventory = equipped(machines=machines)
    assert candidates(asking(2), inventory) == ["node-a", "node-d"]
    assert "  1 node offers less than example.com/gpu 3" in message(asking(3), inventory)


def test_a_mapped_resource_beside_a_claim() -> None:
    inventory = with_template(ONE)
    both = {RESOURCE: "1"}
    found = pod(
        resourceClaims=[{"name": "a", "resourceClaimTemplateName": "t"}],
        containers=[{"name": "main", "resources": {"requests": both, "limits": both}}],
        initContainers=[{"name": "first"}],
    )
    assert candidates(found, inventory) == ["node-a"]
    template(inventory, "t", TWO)
    assert message(found, inventory)[0] == (
        "ResourceClaimTemplate t and requests example.com/gpu 1 cannot hold: 0 of 3 nodes can run this pod."
    )


def test_too_many_mapped_resources_are_not_judged() -> None:
    classes = [CLASS, DeviceClass("b", "example.com/b"), DeviceClass("c", "example.com/c")]
    found = decided(asking(9, "example.com/b", "example.com/c"), equipped(classes=classes))
    assert not found.refused
    assert found.warnings[0].startswith("example.com/b, example.com/c and 1 more: devices of DeviceClasses")


def test_hardware_that_is_a_mapped_resource_is_not_judged() -> None:
    found = decided(pod(annotations=required(amount(RESOURCE, 9))), equipped())
    assert (found.refused, found.warnings) == (
        False,
        (f"{RESOURCE}: devices of DeviceClass {GPU} are not judged; the pod waits until some are free",),
    )


# What is not known


def test_without_slices_nothing_is_judged() -> None:
    inventory = with_template(THREE)
    inventory.devices.read = False
    said = "spec.resourceClaims: ResourceClaims are not judged; the pod waits until devices that meet them are free"
    found = decided(made_from("t"), inventory)
    assert (found.refused, found.warnings) == (False, (said,))


def test_many_claims_are_not_judged() -> None:
    found = decided(made_from(*(f"t{at}" for at in range(9))), equipped())
    assert found.warnings[0].startswith("spec.resourceClaims: ResourceClaims are not judged")


PLUS = f'device.attributes["{GPU}"].model == "A" + "100"'
MISSING = f'device.attributes["{GPU}"].missing == 1'


@pytest.mark.parametrize(
    ("spec", "doubt"),
    [
        (
            wanting(DeviceChoice("gone")),
            "DeviceClass gone does not exist; the pod waits for it",
        ),
        (
            wanting(DeviceChoice(GPU, selectors=(PLUS,))),
            (
                '"device.attributes[\\"gpu.example.com\\"].model == \\"A\\" + \\"100\\"" cannot be evaluated here; its '
                "devices are not judged"
            ),
        ),
        (
            wanting(DeviceChoice(GPU, selectors=(PLUS.replace(" + ", "\n  + ") + "\n",))),
            (
                '"device.attributes[\\"gpu.example.com\\"].model == \\"A\\" + \\"100\\"" cannot be evaluated here; its '
                "devices are not judged"
            ),
        ),
        (
            wanting(DeviceChoice("odd")),
            "the selectors of DeviceClass odd cannot be evaluated here; its devices are not judged",
        ),
        (
            wanting(DeviceChoice("new")),
            "the selectors of DeviceClass new cannot be evaluated here; its devices are not judged",
        ),
        (
            wanting(DeviceChoice("torn")),
            "DeviceClass torn cannot be read: why; its devices are not judged",
        ),
        (
            ClaimSpec(fault="why"),
            "it cannot be read: why; its devices are not judged",
        ),
        (
            ClaimSpec(unread="requests[0].exactly.allocationMode"),
            "requests[0].exactly.allocationMode is not known here; its devices are not judged",
        ),
        (
            wanting(DeviceChoice("silent", count=9)),
            "no driver offers devices of DeviceClass silent, so they are not judged; the pod waits",
        ),
        (
            wanting(DeviceChoice(GPU, selectors=(MISSING.replace(" == ", " ==\n  ") + "\n",), count=9)),
            (
                'devices of 2 nodes are not judged, for which "device.attributes[\\"gpu.example.com\\"].missing == 1" '
                "cannot be evaluated; the pod may wait for them"
            ),
        ),
    ],
    ids=[
        "no class",
        "selector",
        "selector of two lines",
        "class",
        "new class",
        "torn class",
        "torn template",
        "new field",
        "no driver",
        "failing",
    ],
)
def test_what_is_not_known_is_a_warning(spec: ClaimSpec, doubt: str) -> None:
    silent = DeviceClass("silent", selectors=('device.driver == "silent"',))
    odd, new = DeviceClass("odd", selectors=(PLUS,)), DeviceClass("new", unread="spec.selectors[0]")
    torn = DeviceClass("torn", fault="why")
    found = decided(made_from("t"), with_template(spec, equipped(classes=(CLASS, silent, odd, new, torn))))
    assert (found.refused, found.warnings) == (False, (f"ResourceClaimTemplate t: {doubt}",))


def test_a_selector_that_fails_for_some_devices_is_a_warning() -> None:
    spec = wanting(DeviceChoice(GPU, selectors=(MODEL,)))
    plain = DeviceSlice("plain", GPU, "more", reach=Reach(node="node-a"), devices=(Device("plain"),))
    found = decided(made_from("t"), with_template(spec, equipped(on("node-a", 1), plain)))
    assert (found.refused, found.warnings) == (
        False,
        (
            (
                'ResourceClaimTemplate t: "device.attributes[\\"gpu.example.com\\"].model == \\"A100\\"" cannot be '
                "evaluated for some devices; the pod may wait until they are gone"
            ),
        ),
    )


def test_devices_that_are_being_updated_refuse_no_pod() -> None:
    updating = replace(on("node-b", 1), expected=2)
    found = decided(made_from("t"), with_template(TWO, equipped(on("node-a", 1), updating)))
    assert (found.refused, found.warnings) == (
        False,
        ("ResourceClaimTemplate t: devices of 1 node are not judged; the pod may wait for them",),
    )


@pytest.mark.parametrize(
    ("claim", "doubt"),
    [
        (None, "this claim does not exist; the pod waits for it"),
        (
            ResourceClaim("default", "mine", ONE, terminating=True),
            "the claim is being deleted; the pod waits for a new one of that name",
        ),
    ],
    ids=["missing", "being deleted"],
)
def test_a_claim_that_cannot_be_used_is_a_warning(claim: ResourceClaim | None, doubt: str) -> None:
    inventory = equipped()
    if claim:
        inventory.devices.put_claim(claim)
    found = decided(named("mine"), inventory)
    assert (found.refused, found.warnings) == (False, (f"ResourceClaim mine: {doubt}",))


def test_a_claim_that_names_nothing_is_a_warning_of_its_field() -> None:
    found = decided(pod(resourceClaims=[{"name": "gpu", "source": {"resourceClaimTemplateName": "t"}}]), equipped())
    assert found.warnings == (
        (
            "spec.resourceClaims: an entry has neither resourceClaimName nor resourceClaimTemplateName; "
            "the API server refuses the pod for that"
        ),
    )


def test_a_template_that_is_missing_is_a_warning() -> None:
    found = decided(made_from("gone"), equipped())
    assert found.warnings == ("ResourceClaimTemplate gone: this template does not exist; the pod waits for it",)


# Many pods


def replicas(found: Json, count: int, inventory: Inventory) -> str:
    several = Replicas(count, f"replicas {count}")
    decision = decide_replicas(typed(found), NAMESPACE, inventory, Policy(), several)
    return decision.message


def test_each_replica_takes_devices() -> None:
    inventory = with_template(ONE)
    assert not replicas(made_from("t", owner="ReplicaSet"), 3, inventory)
    assert replicas(made_from("t", owner="ReplicaSet"), 4, inventory).splitlines() == [
        "ResourceClaimTemplate t and replicas 4 cannot both hold: 3 of 4 pods fit on 2 of 3 nodes.",
        f"  1 node has no device of DeviceClass {GPU}",
        "Nearest fix: lower replicas to 3, or drop ResourceClaimTemplate t (4 of 4 would fit).",
    ]


def test_replicas_with_a_mapped_resource() -> None:
    assert not replicas(asking(1), 3, equipped())
    assert replicas(asking(1), 4, equipped()).startswith("requests example.com/gpu 1 and replicas 4 cannot both hold")


def test_replicas_on_nodes_that_offer_the_resource_are_not_counted_by_devices() -> None:
    machines = [*nodes(3), node("node-d", **{RESOURCE: 2})]
    assert not replicas(asking(1), 4, equipped(machines=machines))


def test_replicas_share_a_claim_on_one_node() -> None:
    inventory = equipped(machines=[node(f"node-{letter}", cpu=2000) for letter in "abc"])
    inventory.devices.put_claim(ResourceClaim("default", "mine", ONE))
    found = pod(
        resourceClaims=[{"name": "mine", "resourceClaimName": "mine"}],
        containers=[{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
        owner="ReplicaSet",
    )
    assert not replicas(found, 2, inventory)
    assert "ResourceClaim mine" in replicas(found, 3, inventory)


def test_replicas_share_a_claim_of_devices_for_every_node() -> None:
    fabric = DeviceSlice("fabric", GPU, "fabric", reach=Reach(everywhere=True), devices=on("", 1).devices)
    inventory = equipped(fabric, machines=[node(f"node-{letter}", cpu=2000) for letter in "abc"])
    inventory.devices.put_claim(ResourceClaim("default", "mine", ONE))
    found = pod(
        resourceClaims=[{"name": "mine", "resourceClaimName": "mine"}],
        containers=[{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
        owner="ReplicaSet",
    )
    assert not replicas(found, 6, inventory)


def test_elements_of_a_job_take_devices() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    element = {"template": {"spec": {"containers": [{"name": "main"}], "resourceClaims": claims}}}
    inventory = with_template(ONE)

    def said(count: int) -> str:
        return judged(job_spec(*({"name": f"app-{at}", **element} for at in range(count))), inventory).text

    assert not said(3)
    assert said(4).splitlines() == [
        ("ResourceClaimTemplate t cannot hold: 3 of 4 processing elements fit (app-0, app-1, app-2 and 1 more)."),
        f"  1 node has no device of DeviceClass {GPU}",
        "Nearest fix: drop ResourceClaimTemplate t (all 4 would fit), or run 3 of these 4.",
    ]
