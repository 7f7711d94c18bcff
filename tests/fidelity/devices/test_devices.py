"""Scenarios of devices: what is in them, and which outcome each end of their pods has."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.fidelity.comparison import (
    AGREED,
    CORNERED,
    FALSE_REFUSAL,
    HEDGED,
    INVALID,
    MISPLACED,
    MISSED_REFUSAL,
)
from tests.fidelity.devices.device_scenario import VERSION, DeviceScenario
from tests.fidelity.devices.device_verdict import compared, judged
from tests.fidelity.devices.random_devices import device_scenario
from tests.fidelity.journal import Journal, entry
from tests.fidelity.report import device_page
from webhook.placement.text import keys

SEED = 11
MARK = "d0"
CLASS = f"{MARK}-gpu"


def node(at: int) -> dict[str, Any]:
    labels = {"case": MARK, keys.HOSTNAME: f"{MARK}-n{at}"}
    room = {"cpu": "8", "memory": "8Gi", "pods": "20"}
    metadata = {"name": f"{MARK}-n{at}", "uid": f"uid-of-{at}", "labels": labels}
    return {"metadata": metadata, "spec": {"taints": []}, "status": {"allocatable": room, "addresses": []}}


def published(at: int, count: int) -> dict[str, Any]:
    """The slice of a node with so many devices."""
    name = f"{MARK}-n{at}"
    devices = [{"name": f"gpu{number}"} for number in range(count)]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "pool": pool, "nodeName": name, "devices": devices}
    return {"apiVersion": VERSION, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def device_class() -> dict[str, Any]:
    return {"apiVersion": VERSION, "kind": "DeviceClass", "metadata": {"name": CLASS}, "spec": {}}


def wanting(count: int, *, replicas: int = 0, described: str = CLASS, held: bool = False) -> DeviceScenario:
    """A pod that describes so many devices, or a Deployment; of three nodes one has two, and one has one."""
    need = f"[{{device: {{class: {described}, count: {count}}}}}]"
    metadata = {"labels": {keys.JOB: MARK}, "annotations": {keys.HARDWARE: need}}
    spec = {"nodeSelector": {"case": MARK}, "containers": [{"name": "main", "image": "x"}]}
    pod = {"metadata": {**metadata, "name": "p", "namespace": MARK, "uid": "p"}, "spec": spec}
    subject = {"apiVersion": "v1", "kind": "Pod", **pod}
    if replicas:
        template = {"metadata": {**metadata, "labels": {keys.JOB: MARK, "app": "w"}}, "spec": spec}
        told = {"replicas": replicas, "selector": {"matchLabels": {"app": "w"}}, "template": template}
        named = {"name": "w", "namespace": MARK}
        subject = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": named, "spec": told}
    devices = [device_class(), published(0, 2), published(1, 1)]
    if held:
        result = {"request": "r", "driver": "gpu.example.com", "pool": f"{MARK}-n0", "device": "gpu0"}
        claim = {"apiVersion": VERSION, "kind": "ResourceClaim", "metadata": {"name": "held", "namespace": MARK}}
        devices.append({**claim, "spec": {}, "status": {"allocation": {"devices": {"results": [result]}}}})
    return DeviceScenario(0, MARK, tuple(map(node, range(3))), tuple(devices), subject)


def ends(scenario: DeviceScenario, *places: str) -> Sequence[dict[str, Any]]:
    """The pods of the scenario, each on that node, or waiting."""
    conditions = [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are\n available"}]
    return [
        {**pod, "spec": {**pod["spec"], **({"nodeName": place} if place else {})}, "status": {"conditions": conditions}}
        for pod, place in zip(scenario.pods, places, strict=False)
    ]


OUTCOMES = {
    "runs": (wanting(2), ("d0-n0",), AGREED),
    "refused and waits": (wanting(3), ("",), AGREED),
    "refused and runs": (wanting(3), ("d0-n0",), MISPLACED),
    "on a node without such devices": (wanting(2), ("d0-n1",), MISPLACED),
    "admitted and waits": (wanting(2), ("",), MISSED_REFUSAL),
    "waits for what others hold": (wanting(2, held=True), ("",), HEDGED),
    "waits for a class": (wanting(1, described="other"), ("",), HEDGED),
    "all of a Deployment": (wanting(1, replicas=3), ("d0-n0", "d0-n0", "d0-n1"), AGREED),
    "too many of a Deployment": (wanting(1, replicas=4), ("d0-n0", "d0-n0", "d0-n1", ""), AGREED),
    "too many that run": (wanting(1, replicas=4), ("d0-n0", "d0-n0", "d0-n1", "d0-n1"), FALSE_REFUSAL),
    "some of a Deployment": (wanting(1, replicas=2), ("d0-n0", ""), CORNERED),
    "a rule of ours": (wanting(33), ("",), INVALID),
    "not created": (wanting(1), (), INVALID),
}


@pytest.mark.parametrize(("scenario", "places", "outcome"), OUTCOMES.values(), ids=OUTCOMES.keys())
def test_each_end_has_its_outcome(scenario: DeviceScenario, places: Sequence[str], outcome: str) -> None:
    assert compared(judged(scenario), ends(scenario, *places)).outcome == outcome


def test_why_a_pod_waits_is_told() -> None:
    scenario = wanting(2)
    assert compared(judged(scenario), ends(scenario, "")).why == "p waits: 0/3 nodes are available"


def test_the_controllers_templates_are_made() -> None:
    (template,) = judged(wanting(2)).templates
    assert template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] == 2


def test_a_number_is_a_scenario_and_every_family_is_there() -> None:
    some = [device_scenario(SEED, number) for number in range(200)]
    assert device_scenario(SEED, 5) == some[5] != device_scenario(SEED + 1, 5)
    assert "kind: ResourceSlice" in repr(some[0])
    assert {family for one in some for family in one.families()} == {
        "a pod", "a workload", "held devices", "several claims", "claims by name", "described devices",
        "mapped resources", "alternatives", "all of a kind", "administration", "same attribute", "distinct attributes",
        "consumed capacity", "tolerations of taints", "partitions", "shared devices", "taints",
        "pools of several nodes",
    }  # fmt: skip


def test_verdicts_are_of_all_kinds() -> None:
    some = [judged(device_scenario(SEED, number)) for number in range(60)]
    assert not [one for one in some if one.invalid]
    assert len({(one.admitted, bool(one.ruling.warnings)) for one in some}) >= 3


def test_the_page_about_devices() -> None:
    journal = Journal(None, SEED)
    scenario = wanting(2)
    result = compared(judged(scenario), ends(scenario, ""))
    journal.add([entry(SEED, scenario, result, admitted=True, seconds=1.5)])
    page = device_page(journal)
    assert "1 scenarios of devices, 2 seconds of playing." in page
    assert "- missed refusal, pod 0: p waits: 0/3 nodes are available" in page
