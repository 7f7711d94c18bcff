"""Nodes whose devices changed. Cached outcomes of all other nodes remain valid."""

from collections import deque
from collections.abc import Set as AbstractSet
from typing import Final

_KEPT: Final = 4096
"""Maximum number of changes kept; a reader that is further behind starts over."""


class Changes:
    """The last changes of devices; ``version`` counts them."""

    __slots__ = ("_log", "version")

    def __init__(self) -> None:
        self.version = 0
        self._log: deque[str | None] = deque(maxlen=_KEPT)
        """The node of each of the last changes; ``None`` if any node may have other devices."""

    def on(self, node: str) -> None:
        """The devices of that node changed, or who holds them."""
        self._add(node)

    def everywhere(self) -> None:
        """Devices of any node may have changed."""
        self._add(None)

    def since(self, version: int) -> AbstractSet[str] | None:
        """The nodes with changes since that version; ``None`` if that may be all of them."""
        count = self.version - version
        if count > len(self._log):
            return None
        nodes = set[str]()
        for i in range(len(self._log) - count, len(self._log)):
            if (node := self._log[i]) is None:
                return None
            nodes.add(node)
        return nodes

    def _add(self, node: str | None) -> None:
        self.version += 1
        self._log.append(node)
