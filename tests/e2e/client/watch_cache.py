"""The present state of some objects, kept by a list and a watch in a thread."""

import contextlib
import http.client
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.client.watch_stream import Stream

_QUIET_SECONDS: Final = 20.0
"""A watch that says nothing for so long is opened again; bounds how long an end may go unnoticed."""

_AGAIN_SECONDS: Final = 0.05
"""Pause before listing again while the API server is down."""

_STOP_SECONDS: Final = 5

_ENDINGS: Final = (OSError, http.client.HTTPException, RefusedError, ValueError)
"""How a watch ends: the connection, a half-sent line, or a refusal such as 410 Gone. All of them mean: list again."""


class Watching:
    """Objects below a path by ``namespace/name``. ``changed`` is called in the watch's thread after every change."""

    def __init__(self, api: Api, path: str, changed: Callable[[], None], **query: str) -> None:
        self.objects: dict[str, Object] = {}
        self.listed = threading.Event()
        self._api = api
        self._path = path
        self._query = query
        self._changed = changed
        self._over = threading.Event()
        self._stream: Stream | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch {path}", daemon=True)

    def start(self) -> None:
        """List and watch from now on."""
        self._thread.start()

    def stop(self) -> None:
        """No more of it."""
        self._over.set()
        if self._stream is not None:
            self._stream.end()
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(*_ENDINGS):
                self._watch(self._list())
            if not self._over.is_set():
                time.sleep(_AGAIN_SECONDS)

    def _list(self) -> str:
        """Takes what there is; returns the version to watch from."""
        listed: dict[str, Any] = self._api.get(self._path, **self._query)
        self.objects = {_name(one): one for one in listed["items"]}
        self.listed.set()
        self._changed()
        return str(listed["metadata"]["resourceVersion"])

    def _watch(self, version: str) -> None:
        self._stream = self._api.watch(self._path, _QUIET_SECONDS, resourceVersion=version, **self._query)
        if self._over.is_set():  # stop did not see this stream
            self._stream.end()
        for event in self._stream:
            if self._over.is_set() or event["type"] == "ERROR":
                return
            one = event["object"]
            if event["type"] == "DELETED":
                self.objects = {name: kept for name, kept in self.objects.items() if name != _name(one)}
            else:
                self.objects = {**self.objects, _name(one): one}  # a new dictionary: readers are in other threads
            self._changed()


def _name(one: Object) -> str:
    return f"{one['metadata'].get('namespace', '')}/{one['metadata']['name']}"
