"""Hardware requirements for devices, which name a ResourceClaim or a ResourceClaimTemplate."""

import pytest

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_claim import DeviceSource
from webhook.placement.annotations.hardware_text import read_annotation
from webhook.placement.text.problem import render

FIELD = "metadata.annotations[streams.ibm.com/hpa-requirements]"
FIRST = f"{FIELD}[0]"
SHARED, OWN = DeviceSource(claim="shared"), DeviceSource(template="two-gpus")

GOOD: dict[str, tuple[str, Hardware]] = {
    "a claim": ("[{device: {claim: shared}}]", Hardware(FIRST, "", device=SHARED)),
    "a template": ('[{"device":{"template":"two-gpus"}}]', Hardware(FIRST, "", device=OWN)),
    "of a container": (
        "[{device: {template: two-gpus}, container-name: app, allocatable: true}]",
        Hardware(FIRST, "", container="app", device=OWN),
    ),
    "a wish": (
        "[{device: {claim: shared}, mandatory: false, weight: 9}]",
        Hardware(FIRST, "", mandatory=False, weight=9, device=SHARED),
    ),
    "with a name of its own": ("[{name: gpus, spec: {device: {claim: shared}}}]", Hardware(FIRST, "", device=SHARED)),
}


@pytest.mark.parametrize(("text", "expected"), GOOD.values(), ids=GOOD)
def test_a_requirement_for_devices(text: str, expected: Hardware) -> None:
    assert read_annotation(text) == ((expected,), ())


OTHERS = "belongs to a resource or a node label, and this requirement is for devices"
BAD: dict[str, tuple[str, str]] = {
    "both": (
        "[{device: {claim: a, template: b}}]", "[0].device: names both a claim and a template: remove one of them",
    ),
    "no name": ("[{device: {claim: A_b}}]", '[0].device.claim: "A_b" is not the name of a ResourceClaim'),
    "no name of a template": (
        "[{device: {template: a..b}}]", '[0].device.template: "a..b" is not the name of a ResourceClaimTemplate',
    ),
    "a long name": (
        f"[{{device: {{claim: {'a' * 254}}}}}]", "[0].device.claim: 254 characters, at most 253 are allowed",
    ),
    "a resource": ("[{name: cpu, device: {claim: a}}]", f"[0].name: {OTHERS}"),
    "an amount": ("[{limits: 1, device: {claim: a}}]", f"[0].limits: {OTHERS}"),
    "a label": ("[{value: x, device: {claim: a}}]", f"[0].value: {OTHERS}"),
    "a claim that is described": (
        "[{device: {claim: a, count: 2}}]",
        "[0].device: names a claim, which already defines its devices: remove count",
    ),
    "not allocatable": (
        "[{allocatable: false, device: {claim: a}}]", "[0].allocatable: devices are allocatable",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD)
def test_what_is_wrong_with_one_is_said(text: str, expected: str) -> None:
    hardware, problems = read_annotation(text)
    assert (hardware, render(problems)) == ((), f"{FIELD}{expected}")


@pytest.mark.parametrize(
    ("source", "text"), [(SHARED, "ResourceClaim shared"), (OWN, "ResourceClaimTemplate two-gpus")]
)
def test_messages_name_the_source(source: DeviceSource, text: str) -> None:
    one = Hardware(FIRST, "", device=source)
    assert (one.text, one.clause.text, one.clause.parts, one.allocatable) == (
        f"hardware {text}", f"hardware {text}", ((text, 0),), False,
    )  # fmt: skip
