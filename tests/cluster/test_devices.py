"""ResourceSlices, ResourceClaims, templates, DeviceClasses and DeviceTaintRules as the API server writes them."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.cluster.objects import (
    GPUS,
    claim_template,
    device_class,
    one_gpu,
    resource_claim,
    resource_slice,
    taint_rule,
)
from webhook.cluster.objects.device_claims import read_claim, read_template
from webhook.cluster.objects.device_classes import read_class, read_rule
from webhook.cluster.objects.device_slices import read_slice
from webhook.cluster.objects.items import Item
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.devices.published.claims import (
    Agreement,
    ClaimAllocation,
    ClaimSpec,
    ClaimTemplate,
    DeviceChoice,
    DeviceName,
    DeviceRequest,
    HeldDevice,
    ResourceClaim,
)
from webhook.placement.devices.published.device import (
    PLAIN,
    Attribute,
    CapacityPolicy,
    Counters,
    Device,
    DeviceCapacity,
    Reach,
    Traits,
    Value,
    Version,
)
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.kube.quantity import NANO
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.device_classes import DeviceClass

IN_A = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
TERMS = (NodeTerm(match_expressions=(Requirement("zone", "In", ("a",)),)),)
GI = 2**30 * NANO
TAINT = {"key": "example.com/hot", "value": "yes", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
HOT = Taint("example.com/hot", "yes", "NoExecute")
TOLERATION = {"key": "example.com/hot", "operator": "Exists"}
CEL = {"cel": {"expression": "device.attributes['a'].b"}}


def device(**fields: object) -> dict[str, Any]:
    return {"name": "gpu-0", **fields}


def read_device(slice_fields: object = None, **fields: object) -> Device:
    """The only device of a slice."""
    stated: Any = slice_fields or {}
    (found,) = read_slice(resource_slice("s", device(**fields), **stated))[0].devices
    return found


def without(source: dict[str, Any], part: str) -> dict[str, Any]:
    """The object without that part."""
    return {name: value for name, value in source.items() if name != part}


# Slices


def test_a_slice() -> None:
    assert read_slice(resource_slice("s", device())) == (
        DeviceSlice("s", GPUS, "node-a", 1, 1, Reach("node-a"), (Device("gpu-0"),)),
        [],
    )


@pytest.mark.parametrize(
    ("spec", "reach"),
    [
        ({"nodeSelector": IN_A}, Reach(terms=TERMS)),
        ({"nodeSelector": {}}, Reach()),
        ({"allNodes": True}, Reach(everywhere=True)),
        ({"allNodes": False}, Reach()),
        ({"perDeviceNodeSelection": True}, None),
    ],
    ids=["of some nodes", "of none", "of every node", "of no node", "said by each device"],
)
def test_nodes_of_a_slice(spec: dict[str, Any], reach: Reach | None) -> None:
    found, _ = read_slice(resource_slice("s", nodeName=None, **spec))
    assert found.reach == reach


def test_a_slice_of_counters() -> None:
    counters = [{"name": "memory", "counters": {"bytes": {"value": "80Gi"}, "blocks": {"value": "7"}}}, {"name": "b"}]
    found, _ = read_slice(resource_slice("s", sharedCounters=counters, devices=None))
    assert found.counters == (Counters("memory", (("blocks", 7 * NANO), ("bytes", 80 * GI))), Counters("b"))


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"string": "H100"}, "H100"),
        ({"bool": False}, False),
        ({"int": -3}, -3),
        ({"version": "12.8.0"}, Version("12.8.0")),
        ({"strings": ["a", "b"]}, ("a", "b")),
        ({"bools": [True]}, (True,)),
        ({"ints": [1, 2]}, (1, 2)),
        ({"versions": ["1.0.0"]}, (Version("1.0.0"),)),
        ({"duration": "5s"}, None),
    ],
)
def test_an_attribute(said: dict[str, Any], value: Value) -> None:
    assert read_device(attributes={"x": said}).attributes == (Attribute("x", value),)


def test_attributes_and_capacities_are_in_the_order_of_their_names() -> None:
    attributes = {"b": {"int": 1}, "a": {"bool": True}}
    found = read_device(attributes=attributes, capacity={"memory": {"value": "80Gi"}, "cores": {"value": 6}})
    assert (found.attributes, found.capacity) == (
        (Attribute("a", True), Attribute("b", 1)),  # noqa: FBT003 -- its value
        (DeviceCapacity("cores", 6 * NANO), DeviceCapacity("memory", 80 * GI)),
    )


@pytest.mark.parametrize(
    ("said", "policy"),
    [
        ({"default": "1Gi", "validValues": ["4Gi", "2Gi"]}, CapacityPolicy(GI, (2 * GI, 4 * GI))),
        (
            {"validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}},
            CapacityPolicy(ranged=True, least=GI, most=8 * GI, step=GI),
        ),
        ({"validRange": {}}, CapacityPolicy(ranged=True)),
    ],
    ids=["values", "a range", "an open range"],
)
def test_a_capacity_that_is_consumed_in_parts(said: dict[str, Any], policy: CapacityPolicy) -> None:
    found = read_device(capacity={"memory": {"value": "80Gi", "requestPolicy": said}})
    assert found.capacity == (DeviceCapacity("memory", 80 * GI, policy),)


def test_nodes_of_a_device() -> None:
    found = read_device({"nodeName": None, "perDeviceNodeSelection": True}, nodeName="node-b")
    assert found.traits == Traits(Reach("node-b"))


def test_what_few_devices_have() -> None:
    consumes = [{"counterSet": "memory", "counters": {"bytes": {"value": "10Gi"}}}]
    found = read_device(
        consumesCounters=consumes, taints=[TAINT], allowMultipleAllocations=True, bindsToNode=True, nodeName="ignored"
    )
    assert found.traits == Traits(None, (Counters("memory", (("bytes", 10 * GI),)),), (HOT,), shared=True, binds=True)


def test_a_taint_that_only_informs_repels_no_pod() -> None:
    assert read_device(taints=[{"key": "example.com/seen", "effect": "None"}]).traits is PLAIN


def test_equal_parts_of_devices_are_one_object() -> None:
    fields = {"attributes": {"model": {"string": "H100"}}, "capacity": {"memory": {"value": "80Gi"}}}
    one, other = read_device(taints=[TAINT], **fields), read_device(taints=[TAINT], **fields)
    assert one.attributes[0] is other.attributes[0]
    assert one.capacity[0] is other.capacity[0]
    assert one.traits is other.traits


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (
            resource_slice("s", device(capacity={"memory": {"value": "much"}})),
            'spec.devices[0].capacity[memory].value: "much" is not a quantity',
        ),
        (
            resource_slice("s", device(capacity={"m": {"value": 1, "requestPolicy": {"default": "x"}}})),
            'spec.devices[0].capacity[m].requestPolicy.default: "x" is not a quantity',
        ),
        (
            resource_slice("s", device(capacity={"m": {"value": 1, "requestPolicy": {"validValues": ["-1"]}}})),
            'spec.devices[0].capacity[m].requestPolicy.validValues: "-1" is not a quantity',
        ),
        (
            resource_slice("s", device(capacity={"m": {"value": 1, "requestPolicy": {"validRange": {"max": "x"}}}})),
            'spec.devices[0].capacity[m].requestPolicy.validRange.max: "x" is not a quantity',
        ),
        (
            resource_slice("s", sharedCounters=[{"name": "b", "counters": {"c": {"value": ""}}}]),
            'spec.sharedCounters[0].counters[c]: "" is not a quantity',
        ),
        (
            resource_slice("s", device(consumesCounters=[{"counterSet": "b", "counters": {"c": {"value": "x"}}}])),
            'spec.devices[0].consumesCounters[0].counters[c]: "x" is not a quantity',
        ),
        (resource_slice("s", devices=5), "spec.devices: expected `array | null`, got `int`"),
    ],
)
def test_of_a_slice_that_cannot_be_read_the_pool_and_the_node_are_known(found: dict[str, Any], message: str) -> None:
    assert read_slice(found) == (
        DeviceSlice("s", GPUS, "node-a", 1, 1, Reach("node-a"), unread=True),
        [f"{message}; nothing is refused for lack of its devices"],
    )


@pytest.mark.parametrize(
    ("spec", "reach"),
    [
        ({"nodeName": None, "nodeSelector": IN_A}, Reach(terms=TERMS)),
        ({"nodeName": None, "perDeviceNodeSelection": True}, Reach(everywhere=True)),
        ({"nodeName": 7}, Reach(everywhere=True)),
    ],
    ids=["of some nodes", "said by each device", "of no legible node"],
)
def test_nodes_that_may_have_the_devices_of_a_slice_that_cannot_be_read(spec: dict[str, Any], reach: Reach) -> None:
    found, _ = read_slice(resource_slice("s", devices=5, **spec))
    assert (found.unread, found.reach) == (True, reach)


def test_a_slice_without_a_name_is_not_used() -> None:
    with pytest.raises(MalformedError, match=r"^metadata\.name: missing$"):
        read_slice(without(resource_slice(devices=5), "metadata"))


# Claims


def test_a_claim() -> None:
    spec = ClaimSpec((DeviceRequest("gpu", (DeviceChoice(GPUS),)),))
    assert read_claim(resource_claim()) == (ResourceClaim("default", "gpu", spec), [])


def test_a_claim_without_anything() -> None:
    assert read_claim({"metadata": {"name": "c"}}) == (ResourceClaim("default", "c", ClaimSpec()), [])


@pytest.mark.parametrize(
    ("exactly", "choice"),
    [
        ({"allocationMode": "ExactCount", "count": 3}, DeviceChoice(GPUS, count=3)),
        ({"allocationMode": "All"}, DeviceChoice(GPUS, all=True)),
        ({"adminAccess": True}, DeviceChoice(GPUS, admin=True)),
        ({"selectors": [CEL, CEL]}, DeviceChoice(GPUS, selectors=("device.attributes['a'].b",) * 2)),
        ({"tolerations": [TOLERATION]}, DeviceChoice(GPUS, tolerations=(Toleration("example.com/hot", "Exists"),))),
        (
            {"capacity": {"requests": {"memory": "2Gi", "cores": 1}}},
            DeviceChoice(GPUS, capacity=(("cores", NANO), ("memory", 2 * GI))),
        ),
        ({"capacity": {}}, DeviceChoice(GPUS)),
    ],
    ids=["count", "all", "admin", "selectors", "tolerations", "capacity", "no capacity"],
)
def test_what_a_request_wants(exactly: dict[str, Any], choice: DeviceChoice) -> None:
    assert read_claim(resource_claim("c", one_gpu(**exactly)))[0].spec == ClaimSpec((DeviceRequest("gpu", (choice,)),))


def test_alternatives_and_constraints() -> None:
    alternatives = [{"name": "large", "deviceClassName": "a"}, {"name": "small", "deviceClassName": "b", "count": 2}]
    constraints = [{"requests": ["gpu"], "matchAttribute": "x/root"}, {"distinctAttribute": "x/slot"}]
    requests = [{"name": "gpu", "firstAvailable": alternatives}]
    found, _ = read_claim(resource_claim("c", {"devices": {"requests": requests, "constraints": constraints}}))
    assert found.spec == ClaimSpec(
        (DeviceRequest("gpu", (DeviceChoice("a", "large"), DeviceChoice("b", "small", count=2))),),
        (Agreement(("gpu",), match="x/root"), Agreement(distinct="x/slot")),
    )


LATER = {"name": "a", "deviceClassName": GPUS, "allocationMode": "Most"}


@pytest.mark.parametrize(
    ("devices", "path"),
    [
        ({"requests": [{"name": "gpu"}]}, "requests[0]"),
        (one_gpu(allocationMode="Most")["devices"], "requests[0].exactly.allocationMode"),
        (one_gpu(count=-5)["devices"], "requests[0].exactly.count"),
        (one_gpu(selectors=[{"regex": "a"}])["devices"], "requests[0].exactly.selectors"),
        ({"requests": [{"name": "g", "firstAvailable": [LATER]}]}, "requests[0].firstAvailable[0].allocationMode"),
        ({"constraints": [{"lessThan": "x"}]}, "constraints[0]"),
    ],
)
def test_what_is_unknown_here_is_named(devices: dict[str, Any], path: str) -> None:
    assert read_claim(resource_claim("c", {"devices": devices}))[0].spec.unread == f"spec.devices.{path}"
    assert read_template(claim_template("t", {"devices": devices}))[0].spec.unread == f"spec.spec.devices.{path}"


def named(*nodes: str, key: str = "metadata.name") -> dict[str, Any]:
    """The selector of these nodes by their names."""
    return {"nodeSelectorTerms": [{"matchFields": [{"key": key, "operator": "In", "values": nodes}]}]}


def on_nodes(*nodes: str, key: str = "metadata.name") -> tuple[NodeTerm, ...]:
    return (NodeTerm(match_fields=(Requirement(key, "In", nodes),)),)


def test_claims_of_one_node_keep_its_name_alone() -> None:
    """Terms that say the same are made of it, as they were."""
    status = {"allocation": {"nodeSelector": named("node-a")}}
    found = [read_claim(resource_claim(name, status=status))[0].allocation for name in ("a", "b")]
    assert [one and one.nodes for one in found] == [on_nodes("node-a")] * 2
    assert ClaimAllocation().nodes is None
    assert ClaimAllocation(terms=TERMS).nodes == TERMS


def test_what_is_allocated_to_a_claim() -> None:
    name = {"request": "gpu", "driver": GPUS, "pool": "node-a", "device": "gpu-0"}
    full = {
        **name,
        "adminAccess": True,
        "tolerations": [TOLERATION],
        "shareID": "a671734a-e8e5-11e4-8fde-42010af09327",
        "consumedCapacity": {"memory": "2Gi"},
    }
    allocation = {"devices": {"results": [name, full]}, "nodeSelector": IN_A}
    status = {"allocation": allocation, "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}
    owners = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1", "controller": True},
        {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "2"},
        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "3", "controller": True},
    ]
    found, _ = read_claim(
        resource_claim(status=status, ownerReferences=owners, deletionTimestamp="2026-01-01T00:00:00Z")
    )
    held = HeldDevice(DeviceName(GPUS, "node-a", "gpu-0"), "gpu")
    shared = replace(
        held,
        admin=True,
        share="a671734a-e8e5-11e4-8fde-42010af09327",
        consumed=(("memory", 2 * GI),),
        tolerations=(Toleration("example.com/hot", "Exists"),),
    )
    assert (found.allocation, found.reserved, found.owner, found.terminating) == (
        ClaimAllocation((held, shared), TERMS), True, "p", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("allocation", "value"),
    [
        ({}, ClaimAllocation()),
        ({"nodeSelector": {}}, ClaimAllocation(terms=())),
        ({"nodeSelector": named("node-a")}, ClaimAllocation(node="node-a")),
        ({"nodeSelector": named("node-a", "node-b")}, ClaimAllocation(terms=on_nodes("node-a", "node-b"))),
        ({"nodeSelector": named("a", key="metadata.uid")}, ClaimAllocation(terms=on_nodes("a", key="metadata.uid"))),
    ],
    ids=["on every node", "on none", "on one", "on two", "by another field"],
)
def test_an_allocation_without_devices(allocation: dict[str, Any], value: ClaimAllocation) -> None:
    assert read_claim(resource_claim(status={"allocation": allocation}))[0].allocation == value


MUCH = 'devices.requests[0].exactly.capacity.requests[memory]: "much" is not a quantity'
NO_OBJECT = "expected `object`, got `int`"
REFUSES_NOTHING = "nothing is refused for lack of its devices"


@pytest.mark.parametrize(
    ("spec", "faults"),
    [
        (one_gpu(capacity={"requests": {"memory": "much"}}), (f"spec.{MUCH}", f"spec.spec.{MUCH}")),
        ({"devices": 5}, tuple(f"{path}.devices: {NO_OBJECT}" for path in ("spec", "spec.spec"))),
    ],
    ids=["an amount", "a type"],
)
def test_a_claim_or_template_that_cannot_be_read_says_why(spec: dict[str, Any], faults: tuple[str, str]) -> None:
    claim, told = read_claim(resource_claim("c", spec))
    template, told_of_template = read_template(claim_template("t", spec))
    assert (claim, template) == (
        ResourceClaim("default", "c", ClaimSpec(fault=faults[0])),
        ClaimTemplate("default", "t", ClaimSpec(fault=faults[1])),
    )
    assert [*told, *told_of_template] == [f"{fault}; {REFUSES_NOTHING}" for fault in faults]


@pytest.mark.parametrize("read", [read_claim, read_template, read_class])
def test_one_without_a_name_cannot_be_used(read: Callable[[Item], object]) -> None:
    with pytest.raises(MalformedError, match="metadata.name: missing"):
        read({"spec": {"selectors": 5, "devices": 5}})


def test_a_class_that_cannot_be_read_still_maps_its_resource() -> None:
    spec = {"extendedResourceName": "example.com/gpu", "selectors": 5}
    found, notes = read_class({**device_class(GPUS, created="2026-01-01T00:00:00Z"), "spec": spec})
    fault = "spec.selectors: expected `array | null`, got `int`"
    assert found == DeviceClass(GPUS, "example.com/gpu", "2026-01-01T00:00:00Z", fault=fault)
    assert notes == [f"{fault}; {REFUSES_NOTHING}"]


def test_all_claims_of_a_template_share_its_spec() -> None:
    one, other = read_claim(resource_claim("a"))[0], read_claim(resource_claim("b"))[0]
    assert one.spec is other.spec
    assert read_template(claim_template()) == (ClaimTemplate("default", "gpus", one.spec), [])


# Classes and taint rules


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ({}, DeviceClass(GPUS, created="2026-01-01T00:00:00Z")),
        (
            {"extendedResourceName": "example.com/gpu", "selectors": [CEL]},
            DeviceClass(GPUS, "example.com/gpu", "2026-01-01T00:00:00Z", ("device.attributes['a'].b",)),
        ),
        ({"selectors": [{"regex": "a"}]}, DeviceClass(GPUS, "", "2026-01-01T00:00:00Z", unread="spec.selectors")),
    ],
    ids=["of every device", "of a resource", "of an unknown kind"],
)
def test_a_class(spec: dict[str, Any], value: DeviceClass) -> None:
    found = {**device_class(GPUS, created="2026-01-01T00:00:00Z"), "spec": spec}
    assert read_class(found) == (value, [])


def test_a_class_that_was_never_stored_has_no_time() -> None:
    assert read_class({"metadata": {"name": "c"}}) == (DeviceClass("c"), [])


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        (
            {"driver": GPUS, "pool": "node-a", "device": "gpu-0"},
            TaintRule("r", Taint("example.com/broken", effect="NoSchedule"), GPUS, "node-a", "gpu-0"),
        ),
        ({}, TaintRule("r", Taint("example.com/broken", effect="NoSchedule"))),
    ],
    ids=["of one device", "of every device"],
)
def test_a_taint_rule(selector: dict[str, str], value: TaintRule) -> None:
    assert read_rule(taint_rule("r", **selector)) == (value, [])


def test_a_taint_rule_without_a_selector_taints_nothing() -> None:
    rule = taint_rule("r")
    del rule["spec"]["deviceSelector"]
    found, _ = read_rule(rule)
    assert found is not None
    assert not found.selects


def test_a_taint_rule_that_only_informs_is_left_out() -> None:
    assert read_rule(taint_rule("r", "None")) == (None, [])


@pytest.mark.parametrize("selector", [{"deviceClassName": "x"}, {"selectors": [CEL]}])
def test_a_taint_rule_of_a_class_or_an_expression_is_not_read(selector: dict[str, Any]) -> None:
    with pytest.raises(MalformedError) as raised:
        read_rule(taint_rule("r", **selector))
    assert str(raised.value) == "spec.deviceSelector: deviceClassName and selectors are not read"
