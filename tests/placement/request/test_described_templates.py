"""Pods whose requirements describe devices are judged as if the template existed, unless it cannot be had."""

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, Json, cluster, nodes, pod, typed
from tests.placement.hardware_containers import amount, required
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.decision.decision import decide
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.devices.published.claims import ClaimTemplate
from webhook.placement.devices.published.described import MADE_LIMIT, spec_of
from webhook.placement.devices.published.device import Attribute, Device, Reach
from webhook.placement.devices.published.devices import DevicePart
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.request.world import World
from webhook.placement.workload.workload import decide_replicas

CLASS = "gpu.example.com"
ROOT = "resource.kubernetes.io/pcieRoot"
FIELD = "metadata.annotations[streams.ibm.com/hpa-requirements][0]"


def world(*roots: str, read: bool = True) -> World:
    """A node with a device on each of these PCIe roots."""
    inventory = cluster(nodes(1))
    (node,) = inventory.nodes.slot_of
    for part in DevicePart if read else ():
        inventory.devices.listed(part, readable=True)
    inventory.devices.put_class(DeviceClass(CLASS))
    devices = tuple(Device(f"gpu-{at}", (Attribute(ROOT, root),)) for at, root in enumerate(roots))
    inventory.devices.put_slice(DeviceSlice("s", CLASS, node, 1, 1, Reach(node), devices))
    return World(inventory, Policy())


def asking(*more: Json, **fields: object) -> Json:
    return pod(annotations=required({"device": {"class": CLASS, **fields}}, *more))


def test_devices_that_a_node_has_are_given_whether_or_not_the_template_exists() -> None:
    found, described = world("r"), DescribedDevices(CLASS)
    before = decide(typed(asking()), NAMESPACE, found)
    found.inventory.devices.put_template(ClaimTemplate(NAMESPACE, described.template, spec_of(described), made=True))
    after = decide(typed(asking()), NAMESPACE, found)
    for decision in (before, after):
        assert (decision.message, decision.warnings) == ("", ())
        assert decision.additions is not None
        (claim,) = decision.additions.claims
        assert claim.resource_claim_template_name == described.template
    assert before.additions == after.additions


def test_a_count_that_no_node_has_is_refused_and_the_fix_lowers_or_drops_the_requirement() -> None:
    decision = decide(typed(asking(amount("cpu", 1), count=3)), NAMESPACE, world("a", "b"))
    assert decision.message == (
        f"hardware 3 devices of DeviceClass {CLASS} cannot hold: 0 of 1 node can run this pod.\n"
        f"  1 node has only 2 of 3 devices of DeviceClass {CLASS}\n"
        f"Nearest fix: lower count of hardware 3 devices of DeviceClass {CLASS} to 2 (this opens 1 node), or drop "
        f"hardware 3 devices of DeviceClass {CLASS} (1 node would fit)."
    )
    lowered = decide(typed(asking(amount("cpu", 1), count=2)), NAMESPACE, world("a", "b"))
    assert lowered.message == ""


@pytest.mark.parametrize(("roots", "fits"), [(("a", "a"), True), (("a", "b"), False)], ids=["one root", "two roots"])
def test_devices_agree_in_the_attribute(roots: tuple[str, ...], *, fits: bool) -> None:
    decision = decide(typed(asking(count=2, sameAttribute=ROOT)), NAMESPACE, world(*roots))
    assert (decision.message == "") is fits
    if not fits:
        assert f"does not have all 2 devices of DeviceClass {CLASS} with the same {ROOT} at the same time" in (
            decision.message
        )


def test_each_device_meets_the_selector() -> None:
    selector = "device.attributes['resource.kubernetes.io'].pcieRoot == 'b'"
    refused = decide(typed(asking(count=2, selector=selector)), NAMESPACE, world("a", "b"))
    given = decide(typed(asking(selector=selector)), NAMESPACE, world("a", "b"))
    assert "1 node has only 1 of 2 devices" in refused.message
    assert given.message == ""


def test_a_selector_that_cannot_be_evaluated_is_a_warning_that_quotes_it() -> None:
    decision = decide(typed(asking(selector="device.attributes.foo(")), NAMESPACE, world("a"))
    assert decision.message == ""
    assert decision.warnings == (
        (
            f"hardware 1 device of DeviceClass {CLASS} with device.attributes.foo(: "
            '"device.attributes.foo(" cannot be evaluated here; its devices are not judged'
        ),
    )


def test_a_class_that_does_not_exist_is_a_warning() -> None:
    found = pod(annotations=required({"device": {"class": "other"}}))
    decision = decide(typed(found), NAMESPACE, world("a"))
    assert (decision.message, decision.warnings) == (
        "",
        ("hardware 1 device of DeviceClass other: DeviceClass other does not exist; the pod waits for it",),
    )


def test_each_container_has_devices_of_its_own() -> None:
    found = asking({"device": {"class": CLASS}, "container-name": "other"})
    found["spec"]["containers"].append({"name": "other"})
    found["metadata"]["annotations"]["streams.ibm.com/container"] = "runtime"
    decision = decide(typed(found), NAMESPACE, world("a"))
    assert decision.message.startswith(
        f"2 claims of hardware 1 device of DeviceClass {CLASS} cannot hold: 0 of 1 node can run this pod."
    )
    assert decide(typed(found), NAMESPACE, world("a", "b")).message == ""


def test_the_pods_of_a_deployment_are_counted() -> None:
    found, inventory = typed(asking()), world("a", "b").inventory
    two, three = (
        decide_replicas(found, NAMESPACE, inventory, Policy(), Replicas(count, f"replicas {count}")) for count in (2, 3)
    )
    assert two.message == ""
    assert "2 of 3 pods fit on 1 of 1 node" in three.message


def test_a_template_of_that_name_with_other_content_is_a_refusal() -> None:
    found, described = world("a"), DescribedDevices(CLASS)
    other = ClaimTemplate(NAMESPACE, described.template, spec_of(DescribedDevices(CLASS, count=2)))
    for template in (other, replace(other, spec=spec_of(described), configured=True)):
        found.inventory.devices.put_template(template)
        assert decide(typed(asking()), NAMESPACE, found).message == (
            f"{FIELD}: ResourceClaimTemplate {described.template}, which stands for hardware 1 device of DeviceClass "
            f"{CLASS}, has different content in this namespace: delete it, and the controller recreates it"
        )


def full(count: int) -> World:
    """A world in whose namespace the controller has made so many templates."""
    found = world("a")
    for number in range(count):
        described = DescribedDevices(f"class-{number}")
        template = ClaimTemplate(NAMESPACE, described.template, spec_of(described), made=True)
        found.inventory.devices.put_template(template)
    return found


def test_more_than_a_hundred_templates_are_a_refusal() -> None:
    assert decide(typed(asking()), NAMESPACE, full(MADE_LIMIT - 1)).message == ""
    found = full(MADE_LIMIT)
    assert decide(typed(asking()), NAMESPACE, found).message == (
        f"{FIELD}: this namespace has 100 templates of described devices, and the controller makes at most 100: name a "
        "template of your own, or delete those that no pod uses; the controller does so after ten minutes"
    )
    known = pod(annotations=required({"device": {"class": "class-7"}}))
    assert decide(typed(known), NAMESPACE, found).message == ""
    found.inventory.devices.drop_template(NAMESPACE, DescribedDevices("class-7").template)
    assert decide(typed(asking()), NAMESPACE, found).message == ""


def test_where_no_template_is_made_one_has_to_be_named() -> None:
    found = World(world("a").inventory, Policy(described_devices=False))
    assert decide(typed(asking()), NAMESPACE, found).message == (
        f"{FIELD}: no controller makes the template of hardware 1 device of DeviceClass {CLASS}: name a claim or a "
        "template of your own"
    )


def test_a_template_of_the_users_own_is_judged_beside() -> None:
    found = world("a", "b")
    spec = spec_of(DescribedDevices(CLASS))
    found.inventory.devices.put_template(ClaimTemplate(NAMESPACE, "own", spec))
    asked = pod(annotations=required({"device": {"class": CLASS}}, {"device": {"template": "own"}}))
    assert decide(typed(asked), NAMESPACE, found).message == ""
    alone = world("a")
    alone.inventory.devices.put_template(ClaimTemplate(NAMESPACE, "own", spec))
    assert "1 node does not have all devices of hardware" in decide(typed(asked), NAMESPACE, alone).message


def test_nothing_is_judged_where_devices_are_not_read() -> None:
    decision = decide(typed(asking(count=3)), NAMESPACE, world("a", read=False))
    assert (decision.message, decision.warnings) == (
        "",
        ("spec.resourceClaims: ResourceClaims are not judged; the pod waits until devices that meet them are free",),
    )


def test_devices_that_are_not_mandatory_are_not_asked_for() -> None:
    found = pod(annotations=required({"device": {"class": CLASS}, "mandatory": False}))
    decision = decide(typed(found), NAMESPACE, world("a"))
    assert decision.warnings == (
        f"hardware 1 device of DeviceClass {CLASS} is not requested: whether its devices are free is not judged",
    )
    assert decision.additions is not None
    assert decision.additions.claims == ()
