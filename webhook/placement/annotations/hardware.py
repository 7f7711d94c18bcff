"""A requirement of hardware: an amount of a resource for a container, or a label that the node must carry.

Names and meaning are those of the EMCO HPA intents (``docs/hardware.md``).
"""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.quantity import format_quantity

LIGHTEST: Final = 1
HEAVIEST: Final = 10
"""Weights of what is only wanted; the heaviest is asked for first."""


class Hardware(Struct, frozen=True, gc=False):
    """One requirement; ``field`` is where it was written.

    Of an allocatable one, ``requests`` and ``limits`` are in billionths of a unit, ``requests`` always there, and
    ``container`` names who gets them, empty for the only one there is. Any other has the ``value`` of a node label.
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
        """Whether it is an amount that a container is given."""
        return self.value is None

    @property
    def clause(self) -> str:
        """How messages name it: ``hardware nvidia.com/gpu 1``, ``hardware disktype=ssd``."""
        amount = f"={self.value}" if self.value is not None else f" {format_quantity(self.requests)}"
        return f"hardware {self.name}{amount}"

    @property
    def need(self) -> Requirement:
        """The node label that it asks for."""
        return Requirement(self.name, "In", (self.value or "",))


SEVERAL: Final = " + "
"""What stands between requirements that are named together."""


def meant(hardware: Iterable[Hardware], texts: Collection[str]) -> tuple[Hardware, ...]:
    """The mandatory requirements that these texts name, each text one of them or several."""
    clauses = {clause for text in texts for clause in text.split(SEVERAL)}
    return tuple(found for found in hardware if found.mandatory and found.clause in clauses)


def by_weight(hardware: Hardware) -> tuple[int, str, str]:
    """The order in which wishes are met: the heaviest first, then by name."""
    return -hardware.weight, hardware.name, hardware.container
