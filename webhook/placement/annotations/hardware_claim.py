"""Parser of a hardware requirement for devices: the ResourceClaim or ResourceClaimTemplate that ``device`` names.

A claim belongs to somebody who made it, so a requirement does not describe devices: it names what describes them
(``docs/devices.md``).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

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
"""The rules of the fields of ``device``."""

_OTHERS: Final = ("name", "requests", "limits", "units", "value")
"""Fields of resources and labels."""


class DeviceSource(Struct, frozen=True, gc=False):
    """The ResourceClaim of that name, or the ResourceClaimTemplate that the pod gets a claim of its own from."""

    claim: str = ""
    template: str = ""

    @property
    def part(self) -> tuple[str, str]:
        """What the clause about the devices names, as for claims that the pod has itself."""
        return ("claim", self.claim) if self.claim else ("template", self.template)

    def __str__(self) -> str:
        """The source in messages."""
        return f"ResourceClaim {self.claim}" if self.claim else f"ResourceClaimTemplate {self.template}"


def names_device(fields: Fields) -> bool:
    """Whether the requirement is for devices."""
    return any(f"device.{name}" in fields for name in DEVICE_FIELDS)


def read_device(fields: Fields) -> tuple[DeviceSource | None, list[Problem]]:
    """The source of the devices, or ``None`` and all problems."""
    stated = {name: fields[f"device.{name}"] for name in DEVICE_FIELDS if f"device.{name}" in fields}
    problems = [*_foreign(fields)]
    if len(stated) > 1:
        path = stated["claim"].path.removesuffix(".claim")
        problems.append(Problem(path, "names a claim and a template: one of them must go"))
    for name, at in stated.items():
        problems += SOURCES[name].problems(at.path, at.word)
    if problems:
        return None, problems
    return DeviceSource(**{name: at.word for name, at in stated.items()}), []


def _foreign(fields: Fields) -> Iterator[Problem]:
    """Problems of fields that a requirement for devices does not have."""
    for name in _OTHERS:
        if name in fields:
            message = "belongs to a resource or a node label, and this requirement is for devices"
            yield Problem(fields[name].path, message)
    if "allocatable" in fields and fields["allocatable"].word == "false":
        yield Problem(fields["allocatable"].path, "devices are allocatable")
