"""The product's verdict on a scenario of devices, compared with what the scheduler does with its pods."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fidelity.comparison import (
    AGREED,
    CORNERED,
    FALSE_REFUSAL,
    HEDGED,
    INVALID,
    MISPLACED,
    MISSED_REFUSAL,
    FidelityResult,
)
from tests.fidelity.devices.device_scenario import DeviceScenario
from tests.scheduling import product_answers
from tests.scheduling.product_answers import ELASTIC, Ruling
from webhook.controller.claimtemplates.template_object import template_object
from webhook.placement.annotations.hardware_text import read_annotation
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]


@dataclass(frozen=True)
class DeviceVerdict:
    """What was said of a scenario's subject, and its pods as the webhook leaves them, refused or not.

    ``templates`` are what the controller makes for the pods.
    """

    scenario: DeviceScenario
    ruling: Ruling
    pods: Sequence[Object]
    templates: Sequence[Object] = field(default=())

    @property
    def admitted(self) -> bool:
        """Whether it was."""
        return self.ruling.pod is not None

    @property
    def invalid(self) -> bool:
        """Whether it was refused for a rule about no cluster."""
        return not self.admitted and not self.ruling.wants_nodes


def judged(scenario: DeviceScenario) -> DeviceVerdict:
    """The verdict."""
    cluster = scenario.cluster
    ask = product_answers.admitted if scenario.kind == "pod" else product_answers.submitted
    ruling = ask(scenario.subject, cluster)
    made = [product_answers.admitted(pod, cluster, ELASTIC).pod for pod in scenario.pods]
    # Parts that are one object in Python are two on the wire.
    pods = json.loads(json.dumps([one for one in made if one is not None]))
    return DeviceVerdict(scenario, ruling, pods, list(described_templates(scenario.mark, scenario.pods)))


def described_templates(space: str, pods: Iterable[Json]) -> Iterator[Object]:
    """The templates that the controller makes of what the pods describe."""
    texts = {pod["metadata"].get("annotations", {}).get(keys.HARDWARE, "") for pod in pods}
    needs = [need for text in texts for need in read_annotation(text)[0]]
    described = {one.device.described for one in needs if one.device and one.device.described}
    return (template_object(space, one) for one in described)


def compared(verdict: DeviceVerdict, ends: Sequence[Json]) -> FidelityResult:
    """The verdict against the pods as they are in the end."""
    places = {one["metadata"]["name"]: one["spec"].get("nodeName", "") for one in ends}
    if verdict.invalid or len(places) < len(verdict.scenario.pods):
        return FidelityResult(INVALID, verdict.ruling.message)
    for name, place in places.items():
        if place and (why := _ruled_out(verdict.scenario, place)):
            return FidelityResult(MISPLACED, f"{name} is on {place}, although: {why}")
    runs = all(places.values())
    if not verdict.admitted:
        why = f"bound to {places}, although: {verdict.ruling.message}"
        return FidelityResult(FALSE_REFUSAL, why) if runs else FidelityResult(AGREED)
    if runs:
        return FidelityResult(AGREED)
    if verdict.ruling.warnings or verdict.scenario.held:
        return FidelityResult(HEDGED)
    waits = "; ".join(_why(one) for one in ends if not one["spec"].get("nodeName"))
    return FidelityResult(CORNERED if any(places.values()) else MISSED_REFUSAL, waits)


def _ruled_out(scenario: DeviceScenario, place: str) -> str:
    """What the product would say of one of the pods that can be on that node alone; empty if it takes it."""
    pod = scenario.pods[0]
    selected = {**pod["spec"]["nodeSelector"], keys.HOSTNAME: place}
    pinned = {**pod, "spec": {**pod["spec"], "nodeSelector": selected}}
    return product_answers.admitted(pinned, scenario.cluster).message


def _why(pod: Json) -> str:
    conditions = pod.get("status", {}).get("conditions", ())
    said = next((one.get("message", "") for one in conditions if one["type"] == "PodScheduled"), "not tried")
    return f"{pod['metadata']['name']} waits: {' '.join(said.split())}"
