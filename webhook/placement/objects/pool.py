"""A HostPool object as a plain value, with its phase and its hosts."""

import enum
from typing import Literal

from msgspec import Struct

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.kube.pod import LabelSelector


class Phase(enum.StrEnum):
    """The phase of a HostPool (``status.phase``)."""

    PENDING = "Pending"
    READY = "Ready"
    FAILED = "Failed"
    RELEASING = "Releasing"


class PoolHost(Struct, frozen=True, gc=False):
    """An entry of a HostPool's ``status.hosts``; a replaced node keeps the index of the entry."""

    index: int
    name: str
    uid: str = ""


class Pool(Struct, frozen=True, gc=False):
    """A HostPool object (``docs/hostpool.md``).

    ``name`` is the object's name, ``spl_name`` the name in ``host(P)``. ``hosts`` are the names or addresses of a
    literal pool, and ``None`` for every other pool; ``size`` is the number of hosts of a sized pool. ``devices`` are
    those that a node has when it becomes a host, whichever pod holds them. ``assigned`` is ``status.hosts``, ``reason``
    says why the pool failed, and ``created`` is the creation time of the object in RFC 3339, empty if the API server
    has not created it.
    """

    namespace: str
    name: str
    spl_name: str
    job: str | None = None
    hosts: tuple[str, ...] | None = None
    size: int | None = None
    tags: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    devices: tuple[DescribedDevices, ...] = ()
    mode: Literal["Shared", "Exclusive"] = "Shared"
    elastic: bool = False
    phase: Phase = Phase.PENDING
    assigned: tuple[PoolHost, ...] = ()
    reason: str = ""
    created: str = ""

    @property
    def sized(self) -> bool:
        """Whether the controller assigns hosts to the pool: it has a size, or a list of hosts."""
        return self.size is not None or self.hosts is not None

    @property
    def served(self) -> bool:
        """Whether the pool has got its hosts: it is Ready or Releasing, or has hosts in its status."""
        return self.phase in {Phase.READY, Phase.RELEASING} or bool(self.assigned)

    @property
    def exclusive(self) -> bool:
        """Whether the mode is Exclusive: other processing elements cannot run on the pool's hosts."""
        return self.mode == "Exclusive"
