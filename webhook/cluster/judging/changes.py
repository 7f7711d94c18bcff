"""``ChangeLog``: tells listeners what the watches write into the inventory, so that other processes can do so too."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from webhook.cluster.objects.kinds import KINDS, AnyKind
from webhook.cluster.objects.sink import Sink


class InventoryChange(Struct, frozen=True, gc=False):
    """An object that was put into the inventory, or the key of one that is ``gone``; ``kind`` is a place in a list.

    ``listed`` tells that the kind was listed, or could not be: ``value`` is whether it could.
    """

    kind: int
    value: Any
    gone: bool = False
    listed: bool = False


class ChangeLog:
    """The kinds that are watched, each of which tells all ``listeners`` of its changes; these raise no errors.

    The own inventory comes first, whatever becomes of what is told. A change that raises an error there is told as
    well, and raises the same error in the other one.
    """

    def __init__(self, kinds: Sequence[AnyKind] = KINDS) -> None:
        self.listeners: list[Callable[[InventoryChange], object]] = []
        self._kinds = tuple(kinds)

    def kinds(self) -> tuple[AnyKind, ...]:
        """The kinds for watches whose changes are told."""
        return tuple(self._told(place, kind) for place, kind in enumerate(self._kinds))

    def apply(self, change: InventoryChange, sink: Sink) -> None:
        """Do to the sink what the change did to the inventory."""
        kind = self._kinds[change.kind]
        if change.listed:
            kind.listed(sink, change.value)
        elif change.gone:
            kind.drop(sink, change.value)
        else:
            kind.put(sink, change.value)

    def _tell(self, change: InventoryChange) -> None:
        for listener in tuple(self.listeners):  # one may leave as it listens
            listener(change)

    def _told(self, place: int, kind: AnyKind) -> AnyKind:
        def put(sink: Sink, value: Any) -> None:  # noqa: ANN401 -- of that kind
            try:
                kind.put(sink, value)
            finally:
                self._tell(InventoryChange(place, value))

        def drop(sink: Sink, key: str) -> None:
            try:
                kind.drop(sink, key)
            finally:
                self._tell(InventoryChange(place, key, gone=True))

        def listed(sink: Sink, readable: bool) -> None:  # noqa: FBT001 -- as kinds call it
            try:
                kind.listed(sink, readable)
            finally:
                self._tell(InventoryChange(place, readable, listed=True))

        return replace(kind, put=put, drop=drop, listed=listed)
