"""The controller's cache of nodes, fed by the watch and by the answers to its own writes.

An answer may be newer or older than what the watch has brought: the watch may have brought a later change, or the
node's deletion, first. An answer with an older ``resourceVersion`` is ignored, because no later event would correct it.
For the same reason an event that is older than an answer is ignored: the one of the answer follows. A node that had the
mark of a pool a moment ago would otherwise seem to have it again.
"""

from typing import Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.api_types import Identified
from kubeapi.clock import Clock, seconds
from webhook.cluster.objects import items, nodes, wire
from webhook.cluster.objects.kinds import NODES, AnyKind
from webhook.cluster.objects.metadata import MalformedError, Notes
from webhook.cluster.objects.sink import Sink
from webhook.placement.objects.node import Node

_UNREADABLE: Final = (MalformedError, *decoding.ERRORS)


LATE: Final = 60.0
"""Seconds for which older events are ignored after an answer. An API server that was restored from a backup has older
versions for good."""


class _Versioned(Struct, frozen=True):
    node: Node
    version: int


class _AnsweredNode(Struct, frozen=True):
    """The version of an answer that the watch has not brought yet."""

    uid: str
    version: int
    until: float


class NodeCache:
    """Puts watched and answered nodes into ``sink``."""

    def __init__(self, sink: Sink, clock: Clock = seconds) -> None:
        self._sink = sink
        self._clock = clock
        self._versions: dict[str, int] = {}
        self._answered: dict[str, _AnsweredNode] = {}

    @property
    def kind(self) -> AnyKind:
        """The kind Node for a watch, with versions."""
        kind: AnyKind = NODES
        return replace(
            kind, read=_read, value_key=lambda versioned: versioned.node.name, put=self._watched, drop=self._drop
        )  # fmt: skip

    def learn(self, body: bytes) -> None:
        """Keep a node that the API server has just answered, if it is newer than the cached one."""
        try:
            versioned, _ = _read(Raw(body))
        except _UNREADABLE:
            return  # the watch reports what is wrong with the node
        if versioned.version > self._versions.get(versioned.node.name, versioned.version):
            self._put(self._sink, versioned)
            until = self._clock() + LATE
            self._answered[versioned.node.name] = _AnsweredNode(versioned.node.uid, versioned.version, until)

    def _watched(self, sink: Sink, versioned: _Versioned) -> None:
        node, answered = versioned.node, self._answered.get(versioned.node.name)
        if answered is not None:
            same = answered.uid == node.uid
            if same and versioned.version < answered.version and self._clock() < answered.until:
                return
            del self._answered[node.name]
        self._put(sink, versioned)

    def _put(self, sink: Sink, versioned: _Versioned) -> None:
        self._versions[versioned.node.name] = versioned.version
        sink.set_node(versioned.node)

    def _drop(self, sink: Sink, name: str) -> None:
        del self._versions[name]
        self._answered.pop(name, None)
        sink.remove_node(name)


def _read(item: Raw) -> tuple[_Versioned, Notes]:
    node, notes = nodes.node(items.decode(item, wire.NodeObject))
    version = items.decode(item, Identified).metadata.version
    return _Versioned(node, int(version) if version.isdecimal() else 0), notes
