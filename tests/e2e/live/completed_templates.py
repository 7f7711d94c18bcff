"""Random templates, and the objects by which a real API server completes the pods that are made of them."""

import random
from typing import Any, Final

from tests.e2e.client.api import Object

SPACES: Final = ("plain", "defaults", "bounds", "several")

LIMITS: Final[dict[str, list[list[Object]]]] = {
    "plain": [],
    "defaults": [
        [{
            "type": "Container",
            "default": {"cpu": "2", "memory": "1Gi", "example.com/fpga": "1"},
            "defaultRequest": {"cpu": "500m", "example.com/fpga": "1"},
        }],
    ],
    "bounds": [
        [
            {
                "type": "Container",
                "min": {"cpu": "100m", "memory": "64Mi"},
                "max": {"cpu": "4", "memory": "8Gi"},
                "maxLimitRequestRatio": {"cpu": "3"},
            },
            {
                "type": "Pod",
                "min": {"memory": "128Mi"},
                "max": {"cpu": "6", "memory": "12Gi"},
                "maxLimitRequestRatio": {"memory": "4"},
            },
        ],
    ],
    "several": [
        [{"type": "Container", "default": {"cpu": "1"}}],
        [{"type": "Container", "max": {"memory": "2Gi"}, "defaultRequest": {"memory": "1Gi"}}],
        [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}],
    ],
}  # fmt: skip
"""The items of the LimitRanges of each namespace; those of one namespace do not differ in a default."""

CLASSES: Final[list[Object]] = [
    {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "heavy"}, "handler": "h",
        "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
    },
    {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "there"}, "handler": "h",
        "scheduling": {
            "nodeSelector": {"vm": "yes", "zone": "a"},
            "tolerations": [
                {"key": "vm", "operator": "Exists"},
                {"key": "lost", "operator": "Equal", "value": "x", "effect": "NoExecute", "tolerationSeconds": 60},
            ],
        },
    },
    {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "anywhere"}, "handler": "h",
        "scheduling": {"tolerations": [{"operator": "Exists"}]},
    },
    {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000,
    },
    {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "patient"}, "value": 500,
        "preemptionPolicy": "Never",
    },
    {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 10,
        "globalDefault": True,
    },
]  # fmt: skip

_CPUS: Final = ("0", "50m", "100m", "400m", "1", "1500m", "2", "5")
_MEMORY: Final = ("1Mi", "64Mi", "512Mi", "1Gi", "3Gi", "10G", "4.5Gi")
_TOLERATIONS: Final = (
    {"key": "vm", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
    {"key": "lost", "operator": "Equal", "value": "x", "effect": "NoExecute", "tolerationSeconds": 30},
    {"key": "lost", "operator": "Equal", "value": "x", "effect": "NoExecute", "tolerationSeconds": 90},
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
    {"key": "vm", "operator": "Exists", "effect": "NoExecute"},
    {"operator": "Exists", "effect": "NoSchedule"},
)


def limit_ranges() -> list[Object]:
    """The LimitRanges of all namespaces."""
    return [
        {
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": f"l{at}", "namespace": space},
            "spec": {"limits": items},
        }
        for space, found in LIMITS.items()
        for at, items in enumerate(found)
    ]  # fmt: skip


def template(chance: random.Random) -> Object:
    """The spec of a pod that the API server would take in a namespace without LimitRanges, or nearly so."""
    spec: dict[str, Any] = {"containers": [_container(chance, f"c{at}") for at in range(chance.randint(1, 3))]}
    if chance.random() < 0.4:
        spec["initContainers"] = [_container(chance, f"i{at}", init=True) for at in range(chance.randint(1, 2))]
    if chance.random() < 0.2:
        spec["resources"] = _pod_level(chance)
    if chance.random() < 0.5:
        spec["runtimeClassName"] = chance.choice(["heavy", "there", "anywhere", "heavy", "there", "missing"])
    if chance.random() < 0.5:
        spec["priorityClassName"] = chance.choice(["high", "patient", "usual", "system-node-critical", "missing"])
    if chance.random() < 0.1:
        spec["priority"] = chance.choice([10, 1000])
    if chance.random() < 0.1:
        spec["preemptionPolicy"] = chance.choice(["Never", "PreemptLowerPriority"])
    if chance.random() < 0.15:
        spec["overhead"] = chance.choice([{"cpu": "0.25", "memory": "120Mi"}, {"cpu": "1"}])
    if chance.random() < 0.3:
        spec["nodeSelector"] = chance.choice([{"vm": "yes"}, {"zone": "b"}, {"disk": "ssd"}])
    if chance.random() < 0.4:
        spec["tolerations"] = chance.sample(_TOLERATIONS, chance.randint(1, 3))
    return spec


def _container(chance: random.Random, name: str, *, init: bool = False) -> Object:
    """A container that states requests and limits which go together, some of them, or none."""
    found: dict[str, Any] = {"name": name, "image": "example.invalid/image"}
    if init and chance.random() < 0.4:
        found["restartPolicy"] = "Always"
    resources: dict[str, dict[str, str]] = {"requests": {}, "limits": {}}
    for resource, amounts in (("cpu", _CPUS), ("memory", _MEMORY)):
        if chance.random() < 0.5:
            stated = chance.choice(amounts)
            resources[chance.choice(["requests", "limits"])][resource] = stated
            if chance.random() < 0.3:
                resources["requests"][resource] = resources["limits"][resource] = stated
    if chance.random() < 0.1:
        resources["limits"]["example.com/fpga"] = "1"
    found["resources"] = {part: amounts for part, amounts in resources.items() if amounts}
    return found


def _pod_level(chance: random.Random) -> Object:
    amounts = {"cpu": "5500m", "memory": "11Gi"}
    chosen = chance.sample([*amounts], chance.randint(1, 2))
    return {chance.choice(["requests", "limits"]): {resource: amounts[resource] for resource in chosen}}
