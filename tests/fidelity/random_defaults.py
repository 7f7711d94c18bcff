"""What the API server adds to the pods of random scenarios: LimitRanges, RuntimeClasses and PriorityClasses."""

import copy
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.fidelity.scenario import FidelityScenario
from tests.fidelity.worlds import templates
from tests.scheduling.amounts import counted, requested
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]

_FEWEST: Final = 200
"""Thousandths of a core below which nobody holds what is left of a node."""


def with_pod_defaults(scenario: FidelityScenario, dice: random.Random) -> FidelityScenario:
    """The scenario; in one of six with one or two kinds of objects by which the API server completes its pods."""
    specs = list(templates(scenario.subject))
    if dice.random() > 1 / 6 or not specs or any(spec.get("resources") for spec in specs):
        return scenario
    found = replace(scenario, subject=copy.deepcopy(scenario.subject))
    for family in dice.sample([_with_limits, _with_runtime, _with_priorities], dice.choice((1, 1, 2))):
        found = family(found, dice)
    return found


def _with_limits(scenario: FidelityScenario, dice: random.Random) -> FidelityScenario:
    """Defaults for containers that state nothing, and now and then bounds."""
    containers = dice.choice(
        [
            {"defaultRequest": {"cpu": dice.choice(["500m", "1", "2", "4"])}},
            {"default": {"cpu": dice.choice(["1", "2"])}, "defaultRequest": {"cpu": "500m"}},
            {"default": {"cpu": "1", "memory": "1Gi"}},
            {"max": {"cpu": dice.choice(["1", "2"])}},
            {"min": {"cpu": dice.choice(["250m", "1"])}, "max": {"cpu": "4"}},
        ]
    )
    limits = [{"type": "Container", **containers}]
    if "default" in containers and dice.random() < 1 / 2:
        limits.append({"type": "Pod", "max": {"cpu": dice.choice(["1", "2"])}})
    metadata = {"name": f"{scenario.mark}-limits", "namespace": scenario.space}
    made = {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": limits}}
    return replace(scenario, defaults=(*scenario.defaults, made))


def _with_runtime(scenario: FidelityScenario, dice: random.Random) -> FidelityScenario:
    """A RuntimeClass with overhead, a node label or a toleration, which some of the pods name."""
    name = f"{scenario.mark}-runtime"
    made: Object = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "vm"}
    if dice.random() < 2 / 3:
        made["overhead"] = {"podFixed": {"cpu": dice.choice(["250m", "1", "2"])}}
    scheduling: Object = {}
    node = dice.choice(scenario.nodes)
    labels = sorted(node["metadata"]["labels"].keys() - {"case", keys.HOSTNAME})
    if labels and dice.random() < 1 / 3:
        key = dice.choice(labels)
        scheduling["nodeSelector"] = {key: node["metadata"]["labels"][key]}
    taints = [taint for one in scenario.nodes for taint in one["spec"].get("taints", ())]
    if taints and dice.random() < 2 / 3:
        scheduling["tolerations"] = [{"key": dice.choice(taints)["key"], "operator": "Exists"}]
    if scheduling:
        made["scheduling"] = scheduling
    specs = list(templates(scenario.subject))
    for spec in [one for one in specs if dice.random() < 2 / 3] or specs:
        spec["runtimeClassName"] = name
    return replace(scenario, defaults=(*scenario.defaults, made))


def _with_priorities(scenario: FidelityScenario, dice: random.Random) -> FidelityScenario:
    """Pods of a low class that hold what is free on some nodes; most subjects are of a higher class.

    What is launched again finds nobody of a low class: its first launch would have preempted some of them. Nor does a
    DaemonSet: a verdict about one counts nodes that are full for now.
    """
    mark = scenario.mark
    classes: list[Object] = [_class(f"{mark}-low", 10), _class(f"{mark}-high", 1000)]
    if dice.random() < 1 / 4:
        classes[1]["preemptionPolicy"] = "Never"
    if dice.random() < 3 / 4:
        for spec in templates(scenario.subject):
            spec["priorityClassName"] = f"{mark}-high"
            if not spec["containers"][0].get("resources"):
                spec["containers"][0]["resources"] = {"requests": {"cpu": dice.choice(["500m", "1"])}}
    own = copy.deepcopy(scenario.pods)
    for pod in own:
        pod["spec"]["terminationGracePeriodSeconds"] = 0  # there is no kubelet that would end them
    held = () if scenario.restarted or scenario.everywhere else tuple(_holders(scenario, dice))
    return replace(scenario, pods=(*own, *held), defaults=(*scenario.defaults, *classes))


def _class(name: str, value: int) -> Object:
    metadata = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value}


def _holders(scenario: FidelityScenario, dice: random.Random) -> Iterator[Object]:
    share = dice.choice((1 / 2, 1, 1))
    for at, node in enumerate(scenario.nodes):
        name = node["metadata"]["name"]
        used = [requested(pod).get("cpu", 0) for pod in scenario.pods if pod["spec"]["nodeName"] == name]
        free = counted(node["status"]["allocatable"]).get("cpu", 0) - sum(used)
        room = counted(node["status"]["allocatable"]).get("pods", 0) > len(used)
        if dice.random() < share and free > _FEWEST and room:
            yield _holder(scenario, f"{scenario.mark}-l{at}", name, dice.choice((free, free, free - 100, free // 2)))


def _holder(scenario: FidelityScenario, name: str, node: str, cpu: int) -> Object:
    container = {"name": "main", "image": "example.invalid/main", "resources": {"requests": {"cpu": f"{cpu}m"}}}
    spec = {
        "containers": [container],
        "nodeSelector": {"case": scenario.mark},
        "nodeName": node,
        "priorityClassName": f"{scenario.mark}-low",
        "priority": 10,
        "preemptionPolicy": "PreemptLowerPriority",
        "terminationGracePeriodSeconds": 0,
    }
    metadata = {"name": name, "namespace": scenario.space, "uid": f"uid-of-{name}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}
