"""Hardware requirements that describe their devices."""

import pytest

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_claim import DeviceSource
from webhook.placement.annotations.hardware_text import read_annotation
from webhook.placement.text.problem import render

FIELD = "metadata.annotations[streams.ibm.com/hpa-requirements]"
ROOT = "resource.kubernetes.io/pcieRoot"
MEMORY = "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0"

GOOD: dict[str, tuple[str, DescribedDevices, str]] = {
    "a class": (
        "[{device: {class: gpu.example.com}}]",
        DescribedDevices("gpu.example.com"),
        "1 device of DeviceClass gpu.example.com",
    ),
    "a count and a selector": (
        f'[{{"device": {{"class": "gpu.example.com", "selector": "{MEMORY}", "count": 2}}}}]',
        DescribedDevices("gpu.example.com", MEMORY, 2),
        "2 devices of DeviceClass gpu.example.com with memory >= 40Gi",
    ),
    "everything": (
        f'[{{device: {{class: nic, selector: "{MEMORY}", count: 32, sameAttribute: {ROOT}}}}}]',
        DescribedDevices("nic", MEMORY, 32, ROOT),
        f"32 devices of DeviceClass nic with memory >= 40Gi and the same {ROOT}",
    ),
}


@pytest.mark.parametrize(("text", "described", "said"), GOOD.values(), ids=GOOD)
def test_devices_are_described(text: str, described: DescribedDevices, said: str) -> None:
    source = DeviceSource(template=described.template, described=described)
    assert read_annotation(text) == ((Hardware(f"{FIELD}[0]", "", device=source),), ())
    assert (str(source), source.part) == (said, ("template", described.template))


def test_a_long_selector_is_cut_in_messages() -> None:
    said = str(DescribedDevices("gpu", "a" * 1024))
    assert said == f"1 device of DeviceClass gpu with {'a' * 97}..."


BAD: dict[str, tuple[str, str]] = {
    "no class": ("{count: 2}", ".device: needs the class of the devices"),
    "no name of a class": ("{class: G_PU}", '.device.class: "G_PU" is not the name of a DeviceClass'),
    "no devices": ("{class: gpu, count: 0}", '.device.count: "0" is not a whole number from 1 to 32'),
    "too many": ("{class: gpu, count: 33}", '.device.count: "33" is not a whole number from 1 to 32'),
    "no number": ("{class: gpu, count: two}", '.device.count: "two" is not a whole number from 1 to 32'),
    "an attribute without a domain": (
        "{class: gpu, sameAttribute: pcieRoot}",
        (
            '.device.sameAttribute: "pcieRoot" is not the full name of an attribute, such as '
            "resource.kubernetes.io/pcieRoot"
        ),
    ),
    "a long selector": (
        f"{{class: gpu, selector: {'a' * 1025}}}",
        ".device.selector: 1025 characters, at most 1024 are allowed",
    ),
    "a template beside": (
        "{class: gpu, template: a}",
        ".device: names a template, which already defines its devices: remove class",
    ),
}


@pytest.mark.parametrize(("device", "expected"), BAD.values(), ids=BAD)
def test_what_is_wrong_with_a_description_is_said(device: str, expected: str) -> None:
    hardware, problems = read_annotation(f"[{{device: {device}}}]")
    assert (hardware, render(problems)) == ((), f"{FIELD}[0]{expected}")


def test_a_description_has_no_field_of_a_resource() -> None:
    hardware, problems = read_annotation("[{device: {class: gpu}, limits: 1}]")
    assert hardware == ()
    assert render(problems) == (
        f"{FIELD}[0].limits: belongs to a resource or a node label, and this requirement is for devices"
    )


def test_the_template_is_named_by_the_content_alone() -> None:
    names = {
        DescribedDevices("gpu").template,
        DescribedDevices("gpu", count=2).template,
        DescribedDevices("gpu", "true").template,
        DescribedDevices("gpu", same="a.example/b").template,
        DescribedDevices("nic").template,
    }
    assert (len(names), DescribedDevices("gpu").template) == (5, "hpa-3460509aa92e1a96")
