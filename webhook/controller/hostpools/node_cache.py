"""Nodes as the controller keeps them: by what the watch tells, and by the answers to its own writes.

An answer is newer than what the watch has told so far, or older: the watch may have told of later changes, or of the
node's end, before the answer was looked at. Versions tell which, and what is older is not learned: nothing would ever
put it right again.
"""

from typing import Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from webhook.cluster.client.api_types import Identified
from webhook.cluster.objects import items, translate, wire
from webhook.cluster.objects.kinds import NODES, AnyKind
from webhook.cluster.objects.sink import Sink
from webhook.cluster.objects.translate import MalformedError, Notes
from webhook.placement.inventory.objects import Node

_UNREADABLE: Final = (MalformedError, *items.ERRORS)


class _Versioned(Struct, frozen=True):
    node: Node
    version: int


class NodeCache:
    """Puts nodes into ``sink``, be they watched or answered."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._versions: dict[str, int] = {}

    @property
    def kind(self) -> AnyKind:
        """How they are watched."""
        kind: AnyKind = NODES
        return replace(
            kind, read=_read, value_key=lambda found: found.node.name, put=self._put, drop=self._drop
        )  # fmt: skip

    def learn(self, body: bytes) -> None:
        """A node as the API server has just answered, if that is news."""
        try:
            found, _ = _read(Raw(body))
        except _UNREADABLE:
            return  # the watch says what is wrong with it
        if found.version > self._versions.get(found.node.name, found.version):
            self._put(self._sink, found, found.node.name)

    def _put(self, sink: Sink, found: _Versioned, _: str) -> None:
        self._versions[found.node.name] = found.version
        sink.set_node(found.node)

    def _drop(self, sink: Sink, name: str) -> None:
        del self._versions[name]
        sink.remove_node(name)


def _read(item: Raw) -> tuple[_Versioned, Notes]:
    node, notes = translate.node(items.decode(item, wire.Node))
    version = items.decode(item, Identified).metadata.version
    return _Versioned(node, int(version) if version.isdecimal() else 0), notes
