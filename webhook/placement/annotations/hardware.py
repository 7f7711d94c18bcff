"""A hardware requirement as a value: an amount of a resource or devices for a container, or a label of the node.

Fields and their meaning are those of EMCO HPA intents (``docs/hardware.md``).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.hardware_claim import DeviceSource
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.quantity import format_quantity
from webhook.placement.text.clause import Clause, Source, parts_of

LIGHTEST: Final = 1
HEAVIEST: Final = 10
"""Least and greatest weight of an optional requirement; the heaviest requirement is served first."""


class Hardware(Struct, frozen=True, gc=False):
    """One hardware requirement; ``field`` is the path at which it was written.

    An allocatable requirement has ``requests`` and perhaps ``limits`` of the resource ``name``, in nano-units, and the
    name of the ``container`` that gets them, empty if none was named. Any other requirement has the ``value`` of the
    node label ``name``. A requirement for devices has their ``device`` source, no ``name``, and a ``container``, too. A
    requirement that is not ``mandatory`` is optional.
    """

    field: str
    name: str
    mandatory: bool = True
    weight: int = LIGHTEST
    container: str = ""
    requests: int = 0
    limits: int | None = None
    value: str | None = None
    device: DeviceSource | None = None

    @property
    def allocatable(self) -> bool:
        """Whether the requirement is an amount of a resource: no node label, no devices."""
        return self.value is None and self.device is None

    @property
    def clause(self) -> Clause:
        """The requirement as refusals name it: ``hardware nvidia.com/gpu 1``, ``hardware disktype=ssd``."""
        part = self.name or str(self.device), self.requests if self.value is None else self.value
        return Clause(Source.HARDWARE, (part,), self.text)

    @property
    def text(self) -> str:
        """The requirement in messages."""
        if self.device:
            return f"hardware {self.device}"
        amount = f"={self.value}" if self.value is not None else f" {format_quantity(self.requests)}"
        return f"hardware {self.name}{amount}"

    @property
    def need(self) -> Requirement:
        """The node label that a requirement which is not allocatable asks for."""
        return Requirement(self.name, "In", (self.value or "",))


def together(clauses: Sequence[Clause]) -> Clause:
    """Several requirements as one clause: ``hardware cpu 1 + hardware cpu 2``."""
    parts = tuple(part for clause in clauses for part in clause.parts)
    return Clause(Source.HARDWARE, parts, " + ".join(map(str, clauses)))


def mandatory_named(hardware: Iterable[Hardware], clauses: Iterable[Clause]) -> tuple[Hardware, ...]:
    """The mandatory requirements that are among the clauses."""
    named = parts_of(clauses, Source.HARDWARE)
    return tuple(one for one in hardware if one.mandatory and not named.isdisjoint(one.clause.parts))


def by_weight(hardware: Hardware) -> tuple[int, str, str]:
    """Sort key of optional requirements: the heaviest first, then by name and container."""
    return -hardware.weight, hardware.name, hardware.container
