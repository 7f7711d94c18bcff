"""Random machines with NUMA zones, and random pods whose containers use them."""

import random
from typing import Any, Final

import msgspec

from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.alignment import misfit
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.request.numa_needs import needs_of

Json = dict[str, Any]

DEVICES: Final = ("a.com/nic", "b.com/gpu")
UNIT: Final = 1 << 20
"""Memory comes in so many bytes."""


def random_question(random_source: random.Random, containers: int) -> Json:
    """A machine and a pod of so many containers, as the program ``topology-opinion`` reads them."""
    zones = [random_zone(random_source) for _ in range(random_source.choice((1, 2, 2, 2, 3, 4)))]
    if not any(zone["ReservedCores"] for zone in zones):
        zones[0]["ReservedCores"] = 1
    if not any(zone["ReservedMemory"] for zone in zones):
        zones[0]["ReservedMemory"] = UNIT
    return {
        "Policy": random_source.choice(("none", "best-effort", "restricted", "restricted", *["single-numa-node"] * 2)),
        "Scope": random_source.choice(("container", "pod")),
        "Zones": zones,
        "Sockets": random_source.choice((1, len(zones))),
        "AlignBySocket": False,
        "StaticCores": random_source.random() < 0.9,
        "StaticMemory": random_source.random() < 0.6,
        "Burstable": random_source.random() < 0.15,
        "Containers": [random_container(random_source, at) for at in range(containers)],
    }


def random_zone(random_source: random.Random) -> Json:
    """A zone of some cores, not all of which are reserved."""
    return {
        "Cores": random_source.randint(2, 8),
        "ReservedCores": random_source.choice((0, 0, 1)),
        "Memory": random_source.randint(4, 16) * UNIT,
        "ReservedMemory": random_source.choice((0, 0, UNIT)),
        "Devices": {name: count for name in DEVICES if (count := random_source.choice((0, 1, 2, 4)))},
    }


def random_container(random_source: random.Random, at: int) -> Json:
    """A container that uses cores and memory, and perhaps devices; the first one is no init container."""
    cores = random_source.choice(("1500m", *map(str, (1, 2, 3, 4, 5, 6, 8, 10))))
    requests = {"cpu": cores, "memory": str(random_source.randint(1, 14) * UNIT)}
    for name in DEVICES:
        if random_source.random() < 0.3:
            requests[name] = str(random_source.randint(1, 4))
    kind = random_source.random() if at else 1
    return {"Requests": requests, "Init": kind < 0.2, "Sidecar": 0.2 <= kind < 0.35}


def topology_of(question: Json) -> NodeTopology:
    """The zones as an agent publishes them: cores and memory where they are given out exclusively."""
    return NodeTopology(
        TopologyPolicy(question["Policy"]),
        TopologyScope(question["Scope"]),
        tuple(
            NumaZone(_amounts(question, zone, reserved=False), _amounts(question, zone, reserved=True))
            for zone in question["Zones"]
        ),
    )


def _amounts(question: Json, zone: Json, *, reserved: bool) -> tuple[tuple[str, int], ...]:
    amounts = dict(zone["Devices"])
    if question["StaticCores"]:
        amounts["cpu"] = zone["Cores"] - (zone["ReservedCores"] if reserved else 0)
    if question["StaticMemory"]:
        amounts["memory"] = zone["Memory"] - (zone["ReservedMemory"] if reserved else 0)
    return tuple(sorted((name, amount * NANO) for name, amount in amounts.items()))


def pod_of(question: Json) -> PodSpec:
    """The pod as the webhook reads it."""
    main, before = [], []
    for at, stated in enumerate(question["Containers"]):
        requests = stated["Requests"]
        limits = {name: amount for name, amount in requests.items() if not (question["Burstable"] and name == "memory")}
        made: Json = {"name": f"c{at}", "resources": {"requests": requests, "limits": limits}}
        if stated["Sidecar"]:
            made["restartPolicy"] = "Always"
        (before if stated["Init"] or stated["Sidecar"] else main).append(made)
    return msgspec.convert({"containers": main, "initContainers": before}, PodSpec)


def admitted(question: Json, *, certain: bool) -> bool:
    """What this project says of the question."""
    return misfit(topology_of(question), needs_of(pod_of(question)), certain=certain) is None


def enough(question: Json) -> bool:
    """Whether the machine has what the pod requests, which other constraints see to."""
    for resource in ("cpu", "memory", *DEVICES):
        has = sum(dict(zone.allocatable).get(resource, 0) for zone in topology_of(everything(question)).zones)
        wanted = sum(_nano(container["Requests"].get(resource, "0")) for container in question["Containers"])
        if wanted > has:
            return False
    return True


def everything(question: Json) -> Json:
    """The same question about a machine that tells of all of its resources."""
    return {**question, "StaticCores": True, "StaticMemory": True}


def _nano(amount: str) -> int:
    return int(amount.removesuffix("m")) * NANO // 1000 if amount.endswith("m") else int(amount) * NANO
