"""Parser of a hardware requirement for devices: the ResourceClaim or ResourceClaimTemplate that ``device`` names.

In place of a name it may hold the description of which the controller makes a template (``docs/devices.md``).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.described_devices import DescribedDevices, read_description
from webhook.placement.annotations.hardware_fields import DEVICE_FIELDS, Fields
from webhook.placement.field_rules.rules import TextRule
from webhook.placement.kube.names import NAME_LIMIT, OBJECT_NAME
from webhook.placement.text.problem import Problem

SOURCES: Final[Mapping[str, TextRule]] = {
    "claim": TextRule(
        about="Name of the ResourceClaim; all pods share its devices.",
        least=1,
        most=NAME_LIMIT,
        pattern=OBJECT_NAME,
        form="is not the name of a ResourceClaim",
    ),
    "template": TextRule(
        about="Name of the ResourceClaimTemplate; each pod gets a claim of its own.",
        least=1,
        most=NAME_LIMIT,
        pattern=OBJECT_NAME,
        form="is not the name of a ResourceClaimTemplate",
    ),
}
"""The rules of the fields of ``device`` that name an object."""

_OTHERS: Final = ("name", "requests", "limits", "units", "value")
"""Fields of resources and labels."""


class DeviceSource(Struct, frozen=True, gc=False):
    """The ResourceClaim of that name, or the ResourceClaimTemplate that the pod gets a claim of its own from.

    A template that the controller makes has the content ``described``.
    """

    claim: str = ""
    template: str = ""
    described: DescribedDevices | None = None

    @property
    def part(self) -> tuple[str, str]:
        """What the clause about the devices names, as for claims that the pod has itself."""
        return ("claim", self.claim) if self.claim else ("template", self.template)

    @property
    def named(self) -> str:
        """The object that says what devices there are to be."""
        return f"ResourceClaim {self.claim}" if self.claim else f"ResourceClaimTemplate {self.template}"

    def __str__(self) -> str:
        """The source in messages."""
        return self.named if self.described is None else str(self.described)


def names_device(fields: Fields) -> bool:
    """Whether the requirement is for devices."""
    return any(f"device.{name}" in fields for name in DEVICE_FIELDS)


def read_device(fields: Fields) -> tuple[DeviceSource | None, list[Problem]]:
    """The source of the devices, or ``None`` and all problems."""
    stated = {name: fields[f"device.{name}"] for name in DEVICE_FIELDS if f"device.{name}" in fields}
    problems = [*_foreign(fields)]
    path = next(iter(stated.values())).path.rpartition(".")[0]
    named = [name for name in SOURCES if name in stated]
    if len(named) > 1:
        problems.append(Problem(path, "names both a claim and a template: remove one of them"))
    if named and len(named) < len(stated):
        described = next(name for name in stated if name not in SOURCES)
        problems.append(Problem(path, f"names a {named[0]}, which already defines its devices: remove {described}"))
    for name in named:
        problems += SOURCES[name].problems(stated[name].path, stated[name].word)
    if named:
        claim, template = (stated[name].word if name in stated else "" for name in SOURCES)
        return None if problems else DeviceSource(claim, template), problems
    devices, wrong = read_description(stated, path)
    if devices is None or problems:
        return None, [*problems, *wrong]
    return DeviceSource(template=devices.template, described=devices), []


def _foreign(fields: Fields) -> Iterator[Problem]:
    """Problems of fields that a requirement for devices does not have."""
    for name in _OTHERS:
        if name in fields:
            message = "belongs to a resource or a node label, and this requirement is for devices"
            yield Problem(fields[name].path, message)
    if "allocatable" in fields and fields["allocatable"].word == "false":
        yield Problem(fields["allocatable"].path, "devices are allocatable")
