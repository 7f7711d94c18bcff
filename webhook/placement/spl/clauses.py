"""Placement clauses of SPL as values (``docs/annotations.md``)."""

import enum
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from webhook.placement.spl.literals import encode

DEFAULT_POOL: Final = "$default"
"""SPL's name for the pool of all hosts."""


class ClauseName(enum.StrEnum):
    """The clauses there are; the ``partition`` ones steer fusion, which is over when a pod is made."""

    HOST = "host"
    COLOCATION = "hostColocation"
    EXLOCATION = "hostExlocation"
    ISOLATION = "hostIsolation"
    PARTITION_COLOCATION = "partitionColocation"
    PARTITION_EXLOCATION = "partitionExlocation"
    PARTITION_ISOLATION = "partitionIsolation"


class PoolName(Struct, frozen=True, gc=False):
    """A host pool as ``host(P)`` names it, or one of its hosts (``index``, from 0) as ``host(P[5])`` does."""

    name: str
    index: int | None = None

    def __str__(self) -> str:
        """As SPL writes it: ``P`` or ``P[5]``."""
        return self.name if self.index is None else f"{self.name}[{self.index}]"


class Clause(Struct, frozen=True, gc=False):
    """One placement clause of one operator.

    ``argument`` is the text of a string, a pool (of ``host`` only), or ``None`` for the two clauses that stand alone.
    ``operator`` is empty where the clause belongs to the processing element itself. ``offset`` counts characters of the
    text that the clause was read from.
    """

    name: ClauseName
    argument: str | PoolName | None = None
    operator: str = ""
    offset: int = 0
    text: str = ""
    """The clause as SPL writes it, without its operator, in printable ASCII; it parses back to the same."""

    def __post_init__(self) -> None:
        """Put the clause into words once: it is kept for all pods that say the same."""
        if isinstance(self.argument, str):
            text = f"{self.name.value}({encode(self.argument)})"
        else:
            text = self.name.value if self.argument is None else f"{self.name.value}({self.argument})"
        force_setattr(self, "text", text)

    def __str__(self) -> str:
        """The same as ``text``."""
        return self.text
