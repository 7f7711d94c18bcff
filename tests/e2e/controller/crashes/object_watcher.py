"""A watch that records every state that objects ever had."""

import contextlib
import threading
from types import TracebackType
from typing import Final, Self

from tests.e2e.client.api import Api, Object
from tests.e2e.controller.crashes.invariants import shared
from tests.e2e.controller.pools import ALL

_SILENCE: Final = 120.0
"""Seconds without any event after which a watch ends; tests are never quiet for so long."""

_SECONDS: Final = 5


class ObjectWatcher:
    """``with Witness(api, path) as object_watcher``: ``history`` is every state since then, by order of time."""

    def __init__(self, api: Api, path: str) -> None:
        self.history: list[Object] = []
        self.cut_off = False
        """Whether it has seen no more for some reason of its own."""
        self._over = False
        version = api.get(path, limit="1")["metadata"]["resourceVersion"]
        self._stream = api.watch(path, _SILENCE, resourceVersion=version)
        self._thread = threading.Thread(target=self._watch, name="witness", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self._stream.end()
        self._thread.join(_SECONDS)

    def of(self, name: str) -> list[Object]:
        """The states of the objects of a name, one after the other."""
        return [one for one in list(self.history) if one["metadata"]["name"] == name]

    def see(self, kind: str, one: Object) -> None:
        """An event: ``ADDED``, ``MODIFIED`` or ``DELETED``, with the object as it is then, or was last."""
        if kind != "DELETED":
            self.history.append(one)

    def _watch(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # it is ended in the middle of a line
            for event in self._stream:
                self.see(event["type"], event["object"])
        self.cut_off = not self._over


class PoolWatcher(ObjectWatcher):
    """Sees HostPools; in ``wrongs`` is whatever was ever wrong with exclusive hosts."""

    def __init__(self, api: Api) -> None:
        super().__init__(api, ALL)
        self.wrongs: list[str] = []
        self._pools: dict[str, Object] = {}

    def see(self, kind: str, one: Object) -> None:
        """Compare all pools with one another whenever one of them changes."""
        super().see(kind, one)
        uid = one["metadata"]["uid"]
        self._pools = {other: pool for other, pool in self._pools.items() if other != uid}
        if kind != "DELETED":
            self._pools[uid] = one
        self.wrongs += shared(self._pools.values())
