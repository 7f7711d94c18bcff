"""Claims, volumes and storage classes, as far as they say which nodes a volume can be used on (``docs/volumes.md``).

Clusters have tens of thousands of claims, of which decisions need few. A snapshot holds all of them. Of a live cluster
only what one decision needs is read, when it is made.
"""

import enum
from typing import Final

from msgspec import Struct

from webhook.placement.kube.pod import NodeTerm

ClaimName = tuple[str, str]
"""A PersistentVolumeClaim: namespace and name."""


class Claim(Struct, frozen=True, gc=False):
    """A PersistentVolumeClaim: the ``volume`` that it is bound to, empty if none, and its StorageClass.

    ``storage_class`` is ``None`` if the claim names none, and empty if it wants none.
    """

    namespace: str
    name: str
    volume: str = ""
    storage_class: str | None = None


class PersistentVolume(Struct, frozen=True, gc=False):
    """A PersistentVolume: its node must match one of ``terms``; ``None`` if any node can use it."""

    name: str
    terms: tuple[NodeTerm, ...] | None = None


class StorageClass(Struct, frozen=True, gc=False):
    """A StorageClass: ``waits`` tells that a volume is chosen with the node of its first pod (WaitForFirstConsumer).

    New volumes are made on nodes that match one of ``terms``, ``None`` standing for any; with ``by_hand`` none are
    made. ``default`` marks the class of claims that name none.
    """

    name: str
    waits: bool = False
    by_hand: bool = False
    terms: tuple[NodeTerm, ...] | None = None
    default: bool = False


class Unread(enum.Enum):
    """In place of an object that was not read."""

    UNREAD = enum.auto()


UNREAD: Final = Unread.UNREAD


class Volumes:
    """What is known of claims, volumes and classes.

    An object that is not there is UNREAD, unless it was looked for in vain (``missing``): then it is ``None``.
    """

    __slots__ = ("_claims", "_classes", "_volumes")

    def __init__(self) -> None:
        self._claims: dict[ClaimName, Claim | None] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._classes: dict[str, StorageClass] = {}

    def put_claim(self, claim: Claim) -> None:
        """Add the claim, or replace the one with its name."""
        self._claims[claim.namespace, claim.name] = claim

    def drop_claim(self, namespace: str, name: str) -> None:
        """Forget the claim, whether or not it is known."""
        self._claims.pop((namespace, name), None)

    def missing(self, name: ClaimName) -> None:
        """Record that the claim does not exist."""
        self._claims[name] = None

    def put_volume(self, volume: PersistentVolume) -> None:
        """Add the volume, or replace the one with its name."""
        self._volumes[volume.name] = volume

    def drop_volume(self, name: str) -> None:
        """Forget the volume."""
        self._volumes.pop(name, None)

    def put_class(self, storage_class: StorageClass) -> None:
        """Add the class, or replace the one with its name."""
        self._classes[storage_class.name] = storage_class

    def drop_class(self, name: str) -> None:
        """Forget the class."""
        self._classes.pop(name, None)

    def claim(self, name: ClaimName) -> Claim | Unread | None:
        """The claim of that namespace and name."""
        return self._claims.get(name, UNREAD)

    def volume(self, name: str) -> PersistentVolume | None:
        """The volume of that name; ``None`` if it is not known."""
        return self._volumes.get(name)

    def class_named(self, name: str | None) -> StorageClass | None:
        """The class of that name, the default one for ``None``; ``None`` if it is not known.

        Of several default classes the last by name counts: the API server takes the newest.
        """
        if name is not None:
            return self._classes.get(name)
        defaults = sorted(storage_class.name for storage_class in self._classes.values() if storage_class.default)
        return self._classes[defaults[-1]] if defaults else None
