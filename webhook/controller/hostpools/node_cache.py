"""The controller's cache of nodes, fed by the watch and by the answers to its own writes.

An answer may be newer or older than what the watch has brought: the watch may have brought a later change, or the
node's deletion, first. An answer with an older ``resourceVersion`` is ignored, because no later event would correct it.
"""

from typing import Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.api_types import Identified
from webhook.cluster.objects import items, nodes, wire
from webhook.cluster.objects.kinds import NODES, AnyKind
from webhook.cluster.objects.metadata import MalformedError, Notes
from webhook.cluster.objects.sink import Sink
from webhook.placement.objects.node import Node

_UNREADABLE: Final = (MalformedError, *decoding.ERRORS)


class _Versioned(Struct, frozen=True):
    node: Node
    version: int


class NodeCache:
    """Puts watched and answered nodes into ``sink``."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._versions: dict[str, int] = {}

    @property
    def kind(self) -> AnyKind:
        """The kind Node for a watch, with versions."""
        kind: AnyKind = NODES
        return replace(
            kind, read=_read, value_key=lambda versioned: versioned.node.name, put=self._put, drop=self._drop
        )  # fmt: skip

    def learn(self, body: bytes) -> None:
        """Keep a node that the API server has just answered, if it is newer than the cached one."""
        try:
            versioned, _ = _read(Raw(body))
        except _UNREADABLE:
            return  # the watch reports what is wrong with the node
        if versioned.version > self._versions.get(versioned.node.name, versioned.version):
            self._put(self._sink, versioned)

    def _put(self, sink: Sink, versioned: _Versioned) -> None:
        self._versions[versioned.node.name] = versioned.version
        sink.set_node(versioned.node)

    def _drop(self, sink: Sink, name: str) -> None:
        del self._versions[name]
        sink.remove_node(name)


def _read(item: Raw) -> tuple[_Versioned, Notes]:
    node, notes = nodes.node(items.decode(item, wire.NodeObject))
    version = items.decode(item, Identified).metadata.version
    return _Versioned(node, int(version) if version.isdecimal() else 0), notes
