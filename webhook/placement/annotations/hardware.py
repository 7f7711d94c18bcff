"""A hardware requirement as a value: an amount of a resource for a container, or a label that the node must carry.

Fields and their meaning are those of EMCO HPA intents (``docs/hardware.md``).
"""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.quantity import format_quantity

LIGHTEST: Final = 1
HEAVIEST: Final = 10
"""Least and greatest weight of an optional requirement; the heaviest requirement is served first."""


class Hardware(Struct, frozen=True, gc=False):
    """One hardware requirement; ``field`` is the path at which it was written.

    An allocatable requirement has ``requests`` and perhaps ``limits`` of the resource ``name``, in nano-units, and the
    name of the ``container`` that gets them, empty if none was named. Any other requirement has the ``value`` of the
    node label ``name``. A requirement that is not ``mandatory`` is optional.
    """

    field: str
    name: str
    mandatory: bool = True
    weight: int = LIGHTEST
    container: str = ""
    requests: int = 0
    limits: int | None = None
    value: str | None = None

    @property
    def allocatable(self) -> bool:
        """Whether the requirement is an amount of a resource, not a node label."""
        return self.value is None

    @property
    def clause(self) -> str:
        """The requirement in messages: ``hardware nvidia.com/gpu 1``, ``hardware disktype=ssd``."""
        amount = f"={self.value}" if self.value is not None else f" {format_quantity(self.requests)}"
        return f"hardware {self.name}{amount}"

    @property
    def need(self) -> Requirement:
        """The node label that a requirement which is not allocatable asks for."""
        return Requirement(self.name, "In", (self.value or "",))


SEVERAL: Final = " + "
"""Separator of requirements that a message names together."""


def mandatory_named(hardware: Iterable[Hardware], texts: Collection[str]) -> tuple[Hardware, ...]:
    """The mandatory requirements that the texts name; a text may name several, separated by ``SEVERAL``."""
    clauses = {clause for text in texts for clause in text.split(SEVERAL)}
    return tuple(found for found in hardware if found.mandatory and found.clause in clauses)


def by_weight(hardware: Hardware) -> tuple[int, str, str]:
    """Sort key of optional requirements: the heaviest first, then by name and container."""
    return -hardware.weight, hardware.name, hardware.container
