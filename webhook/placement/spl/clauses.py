"""Placement clauses of SPL, such as ``host("node-a")`` and ``hostIsolation``, as values (``docs/annotations.md``)."""

import enum
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from webhook.placement.spl.literals import encode
from webhook.placement.text.clause import Clause, Source

DEFAULT_POOL: Final = "$default"
"""SPL's name for the pool of all hosts."""


class ClauseName(enum.StrEnum):
    """The words that begin a clause. ``partition`` clauses steer fusion, which is over when a pod is created."""

    HOST = "host"
    COLOCATION = "hostColocation"
    EXLOCATION = "hostExlocation"
    ISOLATION = "hostIsolation"
    PARTITION_COLOCATION = "partitionColocation"
    PARTITION_EXLOCATION = "partitionExlocation"
    PARTITION_ISOLATION = "partitionIsolation"


PARTITION_CLAUSES: Final = frozenset(
    {
        ClauseName.PARTITION_COLOCATION,
        ClauseName.PARTITION_EXLOCATION,
        ClauseName.PARTITION_ISOLATION,
    }
)
"""Clauses that have no effect on a pod."""


class PoolName(Struct, frozen=True, gc=False):
    """The argument of ``host(P)``, or of ``host(P[5])``, which means one host of the pool: ``index`` counts from 0."""

    name: str
    index: int | None = None

    def __str__(self) -> str:
        """The argument as SPL text: ``P`` or ``P[5]``."""
        return self.name if self.index is None else f"{self.name}[{self.index}]"


class PlacementClause(Struct, frozen=True, gc=False):
    """One placement clause of one operator.

    ``argument`` is the value of a string, a pool (of ``host`` only), or ``None`` for ``hostIsolation`` and
    ``partitionIsolation``. ``operator`` is the operator's name, empty where the clause belongs to the whole processing
    element. ``offset`` is the character at which the clause begins in the text it was read from.
    """

    name: ClauseName
    argument: str | PoolName | None = None
    operator: str = ""
    offset: int = 0
    text: str = ""
    """The clause as SPL text in printable ASCII, without its operator; the text parses back to the same clause."""
    written: Clause = Clause(Source.PLACEMENT, (), "")
    """The clause as refusals name it, without its operator and place."""

    def __post_init__(self) -> None:
        """Make the last two once: a parsed clause is cached and shared by all pods with the same annotation."""
        if isinstance(self.argument, str):
            text = f"{self.name.value}({encode(self.argument)})"
        else:
            text = self.name.value if self.argument is None else f"{self.name.value}({self.argument})"
        force_setattr(self, "text", text)
        part = self.name, self.argument
        force_setattr(self, "written", Clause(Source.PLACEMENT, (part,), text))

    def __str__(self) -> str:
        """Return ``text``."""
        return self.text
