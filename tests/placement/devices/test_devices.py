"""Tests of the collection of devices: what it finds by node, pool and name, and what it tells of changes."""

import pytest

from webhook.placement.devices.published.changes import Changes
from webhook.placement.devices.published.claims import (
    ClaimAllocation,
    ClaimSpec,
    ClaimTemplate,
    DeviceName,
    HeldDevice,
    ResourceClaim,
)
from webhook.placement.devices.published.device import (
    Counters,
    Device,
    Reach,
    Traits,
    attribute,
    capacity,
    shared_traits,
)
from webhook.placement.devices.published.devices import DevicePart, Devices
from webhook.placement.devices.published.slices import DevicePool, DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.device_classes import DeviceClass

DRIVER = "gpu.example.com"
POOL = DevicePool(DRIVER, "n1")
GPU = DeviceName(DRIVER, "n1", "gpu-0")


def on(node: str, pool: str = "", name: str = "") -> DeviceSlice:
    """A slice of one device of the node."""
    return DeviceSlice(
        name or f"slice-{node}", DRIVER, pool or node, reach=Reach(node=node), devices=(Device("gpu-0"),)
    )


def holding(*held: HeldDevice, name: str = "claim") -> ResourceClaim:
    """A claim to which the devices are allocated."""
    return ResourceClaim("team", name, ClaimSpec(), ClaimAllocation(held))


def names(devices: Devices) -> list[str]:
    """Those of the slices of the pool, in the order in which they came."""
    return [part.name for part in devices.slices_of(POOL)]


def test_slices_by_node_and_pool() -> None:
    """Slices are found by node and by pool, and one that is gone is not."""
    devices = Devices()
    assert devices.empty
    devices.put_slice(on("n1"))
    devices.put_slice(on("n1", name="second"))
    assert not devices.empty
    assert names(devices) == ["slice-n1", "second"]
    assert list(devices.local_pools("n1")) == [POOL]
    devices.drop_slice("slice-n1")
    assert names(devices) == ["second"]
    assert list(devices.local_pools("n1")) == [POOL]
    devices.drop_slice("second")
    devices.drop_slice("second")
    assert devices.empty
    assert not devices.slices_of(POOL)
    assert not list(devices.local_pools("n1"))


@pytest.mark.parametrize(
    "wide",
    [
        DeviceSlice("s", DRIVER, "fabric", reach=Reach(everywhere=True)),
        DeviceSlice("s", DRIVER, "fabric"),
        DeviceSlice("s", DRIVER, "fabric", reach=Reach(node="n1"), counters=(Counters("memory"),)),
    ],
    ids=["every node", "each device", "counters"],
)
def test_slice_of_several_nodes(wide: DeviceSlice) -> None:
    """A slice that is not of one node, or has counters, is in the list of pools that are not of one node."""
    devices = Devices()
    devices.put_slice(wide)
    assert list(devices.wide_pools()) == [DevicePool(DRIVER, "fabric")]
    assert list(devices.shared_pools()) == ([] if wide.counters else [DevicePool(DRIVER, "fabric")])
    assert not list(devices.local_pools("n1"))
    version = devices.changes.version
    devices.drop_slice("s")
    assert not list(devices.wide_pools())
    assert not list(devices.shared_pools())
    assert devices.changes.since(version) is None


def test_equal_slice_changes_nothing() -> None:
    """A slice that is put again as it is changes no version."""
    devices = Devices()
    devices.put_slice(on("n1"))
    version = devices.version
    devices.put_slice(on("n1"))
    assert devices.version == version
    devices.put_slice(on("n2", name="slice-n1"))
    assert devices.changes.since(version) == {"n1", "n2"}
    assert list(devices.local_pools("n2")) == [DevicePool(DRIVER, "n2")]
    assert not list(devices.local_pools("n1"))


def test_holders() -> None:
    """A device is held while claims have it. That changes nothing of what its node has."""
    devices = Devices()
    devices.put_slice(on("n1"))
    version = devices.changes.version
    held, admin = HeldDevice(GPU, "gpu"), HeldDevice(GPU, "watch", admin=True)
    devices.put_claim(holding(held))
    devices.put_claim(holding(admin, name="monitor"))
    assert devices.holders(GPU) == (held, admin)
    assert devices.changes.since(version) == set()
    devices.drop_claim("team", "claim")
    assert devices.holders(GPU) == (admin,)
    devices.put_claim(ResourceClaim("team", "monitor", ClaimSpec()))
    assert devices.holders(GPU) == ()
    devices.drop_claim("team", "claim")
    assert [claim.name for claim in devices.claims()] == ["monitor"]


def test_claims_share_a_device_or_have_several() -> None:
    """Each allocation of a device is told, in the order in which claims came; other devices are not touched."""
    devices, other = Devices(), DeviceName(DRIVER, "n1", "gpu-1")
    both, shared = (HeldDevice(GPU), HeldDevice(other)), HeldDevice(other, share="s")
    devices.put_claim(holding(*both, name="both"))
    devices.put_claim(holding(shared, name="shared"))
    assert [*devices.claim_keys] == ["team/both", "team/shared"]
    assert (devices.holders(GPU), devices.holders(other)) == (both[:1], (both[1], shared))
    devices.drop_claim("team", "both")
    assert (devices.holders(GPU), devices.holders(other)) == ((), (shared,))
    assert [*devices.claim_keys] == ["team/shared"]


def test_reservation_changes_no_node() -> None:
    """A claim that another pod uses too has the same devices: no node is looked at again."""
    devices = Devices()
    devices.put_claim(holding(HeldDevice(GPU)))
    version, total = devices.changes.version, devices.version
    devices.put_claim(holding(HeldDevice(GPU)))
    assert devices.version == total
    devices.put_claim(ResourceClaim("team", "claim", ClaimSpec(), ClaimAllocation((HeldDevice(GPU),)), reserved=True))
    assert devices.version == total + 1
    assert devices.changes.since(version) == set()
    assert devices.claim(("team", "claim")) is not None


def test_templates() -> None:
    """A template is found by namespace and name until it is gone."""
    devices = Devices()
    template = ClaimTemplate("team", "gpu", ClaimSpec())
    devices.put_template(template)
    version = devices.version
    devices.put_template(ClaimTemplate("team", "gpu", ClaimSpec()))
    assert devices.version == version
    assert devices.template(("team", "gpu")) is template
    devices.drop_template("team", "gpu")
    version = devices.version
    devices.drop_template("team", "gpu")
    assert devices.version == version
    assert devices.template(("team", "gpu")) is None


def test_rules() -> None:
    """A taint rule may be about devices of every node, as long as it is there."""
    devices = Devices()
    rule = TaintRule("r", Taint("broken", effect="NoSchedule"), driver=DRIVER)
    devices.put_rule(rule)
    assert list(devices.rules()) == [rule]
    version = devices.changes.version
    devices.drop_rule("r")
    assert devices.changes.since(version) is None
    assert not list(devices.rules())
    version = devices.version
    devices.drop_rule("r")
    assert devices.version == version


@pytest.mark.parametrize(
    ("driver", "pool", "device", "selects", "taints"),
    [
        ("", "", "", True, True),
        ("", "", "", False, False),
        (DRIVER, "n1", "gpu-0", True, True),
        ("nic.example.com", "", "", True, False),
        ("", "n2", "", True, False),
        ("", "", "gpu-1", True, False),
    ],
)
def test_rule_taints(driver: str, pool: str, device: str, *, selects: bool, taints: bool) -> None:
    """A rule is about the devices of its driver, pool and name."""
    assert TaintRule("r", Taint("broken"), driver, pool, device, selects).taints(GPU) is taints


def test_classes() -> None:
    """DeviceClasses are part of the collection, and of its version."""
    devices = Devices()
    devices.put_class(DeviceClass("gpu"))
    assert devices.classes.get("gpu") == DeviceClass("gpu")
    assert devices.version == 1
    devices.drop_class("gpu")
    assert devices.classes.get("gpu") is None


def test_changes_forgotten() -> None:
    """Who has not looked for long is told that all nodes may have changed."""
    changes = Changes()
    changes.on("n1")
    for _ in range(4096):
        changes.on("n2")
    assert changes.since(1) == {"n2"}
    assert changes.since(0) is None


def test_equal_parts_are_shared() -> None:
    """Equal attributes, capacities and traits of devices are one object; values of different types differ."""
    assert attribute("model", "A100") is attribute("model", "A100")
    assert attribute("count", 1) is not attribute("count", value=True)
    assert capacity("memory", 40) is capacity("memory", 40)
    assert shared_traits(Traits(shared=True)) is shared_traits(Traits(shared=True))


def test_devices_are_judged_once_all_parts_are_known() -> None:
    """Nothing is judged while one of the parts is not listed, or cannot be read any more; both are changes."""
    devices = Devices()
    first, *others = DevicePart
    for part in others:
        devices.listed(part, readable=True)
    assert (devices.read, devices.version) == (False, 0)
    devices.listed(first, readable=False)
    assert (devices.read, devices.version) == (False, 0)
    devices.listed(first, readable=True)
    devices.listed(first, readable=True)
    assert (devices.read, devices.version) == (True, 1)
    devices.listed(first, readable=False)
    assert (devices.read, devices.version) == (False, 2)


def test_a_node_has_a_pool_until_the_last_of_its_slices_is_gone() -> None:
    """Its other pools are not touched."""
    devices = Devices()
    for name, pool in (("a", "x"), ("b", "x"), ("c", "y")):
        devices.put_slice(DeviceSlice(name, DRIVER, pool, reach=Reach(node="n1")))
    found = []
    for name in ("a", "b", "c"):
        found.append([pool.pool for pool in devices.local_pools("n1")])
        devices.drop_slice(name)
    assert found == [["x", "y"], ["x", "y"], ["y"]]
    assert not list(devices.local_pools("n1"))
