"""Random worlds of slices, classes, claims and holders, small enough for all assignments to be tried."""

from random import Random
from typing import Final

from msgspec import Struct

from webhook.placement.devices.published.claims import (
    Agreement,
    ClaimAllocation,
    ClaimSpec,
    DeviceChoice,
    DeviceName,
    DeviceRequest,
    HeldDevice,
    ResourceClaim,
)
from webhook.placement.devices.published.device import (
    Attribute,
    CapacityPolicy,
    Counters,
    Device,
    DeviceCapacity,
    Reach,
    Traits,
    Version,
)
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.kube.quantity import NANO
from webhook.placement.kube.selection.tolerations import Taint

GPU: Final = "gpu.example.com"
NIC: Final = "nic.example.com"
NODE: Final = "n1"
ZONE: Final = {"zone": "a"}
GI: Final = 2**30 * NANO

SELECTORS: Final = (
    f'device.driver == "{GPU}"',
    f'device.attributes["{GPU}"].model == "A100"',
    f'"model" in device.attributes["{GPU}"] && device.attributes["{GPU}"].model != "A100"',
    f'cel.bind(gpu, device.attributes["{GPU}"], has(gpu.numa) && gpu.numa == 0)',
    f'device.capacity["{GPU}"].memory.compareTo(quantity("40Gi")) >= 0',
    f'device.attributes["{NIC}"].?version.hasValue() && device.attributes["{NIC}"].version.isLessThan(semver("2.0.0"))',
    "device.allowMultipleAllocations",
)
"""Selectors that the oracle knows by their place; the second and the fifth fail for a device without the entry."""


class PlacedWorld(Struct):
    """A world as its objects, and claims of a pod that is to run on the node."""

    slices: list[DeviceSlice]
    rules: list[TaintRule]
    holders: list[ResourceClaim]
    claims: list[ClaimSpec]


def world(seed: int) -> PlacedWorld:
    """The world of that seed."""
    draw = Random(seed)  # noqa: S311 -- a world, no secret
    slices = [part for driver in (GPU, NIC) for part in _pool(draw, driver)]
    return PlacedWorld(slices, _rules(draw), _holders(draw, slices), _claims(draw))


def _claims(draw: Random) -> list[ClaimSpec]:
    return [_claim(draw) for _ in range(draw.choice((1, 1, 2)))]


def _claim(draw: Random) -> ClaimSpec:
    requests = []
    for number in range(draw.choice((1, 1, 2))):
        alternatives = draw.choice((1, 1, 1, 2))
        names = [""] if alternatives == 1 else [f"s{i}" for i in range(alternatives)]
        requests.append(DeviceRequest(f"r{number}", tuple(_choice(draw, name) for name in names)))
    return ClaimSpec(tuple(requests), tuple(_agreement(draw) for _ in range(draw.choice((0, 0, 1, 2)))))


def _choice(draw: Random, name: str) -> DeviceChoice:
    return DeviceChoice(
        "class",
        name,
        selectors=(
            *(SELECTORS[:1] if draw.random() < 0.7 else ()),  # as a class says it
            *draw.sample(SELECTORS, draw.choice((0, 0, 1, 1, 2))),
        ),
        count=draw.choice((1, 1, 1, 2, 3)),
        all=draw.random() < 0.15,
        admin=not name and draw.random() < 0.1,
        tolerations=draw.choice(
            (
                (),
                (),
                (Toleration("broken", "Exists"),),
                (Toleration(None, None, "hot"),),
                (Toleration(None, "Exists", effect="NoExecute"),),
            )
        ),
        capacity=draw.choice(((), (), (), (("memory", 30 * GI),), (("memory", 50 * GI),))),
    )


def _agreement(draw: Random) -> Agreement:
    requests = draw.choice(((), (), ("r0",), ("r0", "r1/s1"), ("r1",)))
    name = draw.choice((f"{GPU}/numa", f"{GPU}/model", "example.com/root"))
    return Agreement(requests, match=name) if draw.random() < 0.6 else Agreement(requests, distinct=name)


def _pool(draw: Random, driver: str) -> list[DeviceSlice]:
    count = draw.choice((1, 1, 2))
    kind = draw.choice(("node", "node", "node", "all", "terms", "device"))
    counted = driver == GPU and draw.random() < 0.3
    pool = draw.choice((NODE, f"pool-{driver}"))
    stale = draw.random() < 0.1
    slices, number = [], 0
    for part in range(count):
        devices = []
        for _ in range(draw.choice((0, 1, 2, 2, 3))):
            name = "d0" if draw.random() < 0.02 else f"d{number}"
            devices.append(_device(draw, name, counted=counted, placed=kind == "device"))
            number += 1
        generation = 1 if stale and part else 2
        slices.append(
            DeviceSlice(
                f"{driver}-{part}", driver, pool, generation, count + counted, _reach(draw, kind), tuple(devices)
            )
        )
    if counted:
        sets = (Counters("memory", (("slices", 3 * NANO),)),) * (2 if draw.random() < 0.05 else 1)
        slices.append(DeviceSlice(f"{driver}-counters", driver, pool, 2, count + 1, Reach(node=NODE), counters=sets))
    if draw.random() < 0.08:
        slices.pop()
    return slices


def _reach(draw: Random, kind: str) -> Reach | None:
    match kind:
        case "node":
            return Reach(node=NODE if draw.random() < 0.9 else "n2")
        case "all":
            return Reach(everywhere=True)
        case "terms":
            return Reach(terms=(NodeTerm((Requirement("zone", "In", (draw.choice("ab"),)),)),))
        case _:
            return None


def _device(draw: Random, name: str, *, counted: bool, placed: bool) -> Device:
    attributes = []
    if draw.random() < 0.95:
        attributes.append(Attribute("model", draw.choice(("A100", "H100"))))
    if draw.random() < 0.8:
        attributes.append(Attribute(draw.choice(("numa", f"{GPU}/numa")), draw.choice((0, 1, True))))
    if draw.random() < 0.5:
        attributes.append(Attribute("example.com/root", draw.choice(("p0", "p1", Version("1.0.0")))))
    if draw.random() < 0.5:
        attributes.append(Attribute("version", Version(draw.choice(("1.2.3", "2.0.0-rc.1", "2.1.0")))))
    shared = draw.random() < 0.2
    policy = (
        draw.choice((None, CapacityPolicy(20 * GI, ranged=True, least=10 * GI, most=40 * GI, step=10 * GI)))
        if shared
        else None
    )
    memory = (DeviceCapacity("memory", draw.choice((40, 80)) * GI, policy),) if draw.random() < 0.95 else ()
    return Device(name, tuple(attributes), memory, _traits(draw, shared=shared, counted=counted, placed=placed))


def _traits(draw: Random, *, shared: bool, counted: bool, placed: bool) -> Traits:
    consumes: tuple[Counters, ...] = ()
    if counted and draw.random() < 0.8:
        counter = "slices" if draw.random() < 0.97 else "gone"
        consumes = (Counters("memory", ((counter, draw.choice((1, 1, 2)) * NANO),)),)
    taints = (Taint("broken", draw.choice(("", "hot")), draw.choice(("NoSchedule", "NoExecute", "None"))),)
    reach = draw.choice((Reach(node=NODE), Reach(everywhere=True), Reach(node="n2"), Reach())) if placed else None
    return Traits(reach, consumes, taints if draw.random() < 0.15 else (), shared)


def _rules(draw: Random) -> list[TaintRule]:
    if draw.random() < 0.85:
        return []
    return [TaintRule("r", Taint("broken", "hot", "NoSchedule"), device="d1", driver=draw.choice(("", GPU)))]


def _holders(draw: Random, slices: list[DeviceSlice]) -> list[ResourceClaim]:
    claims = []
    for part in slices:
        for device in part.devices:
            if draw.random() > 0.25:
                continue
            name = DeviceName(part.driver, part.pool, device.name)
            if device.traits.shared:
                consumed = tuple((found.name, draw.choice((10, 30)) * GI) for found in device.capacity)
                held = HeldDevice(name, "r", share="s", consumed=consumed)
            else:
                held = HeldDevice(name, "r", admin=draw.random() < 0.2)
            claims.append(ResourceClaim("team", f"c{len(claims)}", ClaimSpec(), ClaimAllocation((held,))))
    return claims
