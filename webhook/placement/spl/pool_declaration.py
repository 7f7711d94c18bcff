"""A host pool as an SPL application declares it."""

from typing import Literal

from msgspec import Struct

from webhook.placement.spl.literals import encode

Mode = Literal["Shared", "Exclusive"]
"""Whether others may use a pool's hosts too."""


class PoolDeclaration(Struct, frozen=True, gc=False):
    """One declaration of ``config hostPool``.

    ``hosts`` of a literal pool are names or addresses, and such a pool has nothing else; ``None`` for ``createPool``,
    whose ``size`` is a number of hosts, or ``None`` for as many as there are.
    """

    name: str
    hosts: tuple[str, ...] | None = None
    size: int | None = None
    tags: tuple[str, ...] = ()
    mode: Mode = "Shared"

    def __str__(self) -> str:
        """As SPL writes it, in printable ASCII: ``P1=createPool({size=10u, tags=["ib","blue"]}, Sys.Shared)``."""
        if self.hosts is not None:
            return f"{self.name}={_list(self.hosts)}"
        attributes = [] if self.size is None else [f"size={self.size}u"]
        if self.tags:
            attributes.append(f"tags={_list(self.tags)}")
        braces = f"{{{', '.join(attributes)}}}, " if attributes else ""
        return f"{self.name}=createPool({braces}Sys.{self.mode})"


def _list(texts: tuple[str, ...]) -> str:
    return f"[{','.join(map(encode, texts))}]"
