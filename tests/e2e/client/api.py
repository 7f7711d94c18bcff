"""A small client of the API server: objects as dictionaries, over connections that are kept open."""

import contextlib
import dataclasses
import http.client
import json
import select
import ssl
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from tests.e2e.client.paths import collection, item
from tests.e2e.client.watch_stream import Stream
from tests.e2e.controlplane.identities import Identity

Object: TypeAlias = dict[str, Any]

MERGE: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
APPLY: Final = "application/apply-patch+yaml"
STRATEGIC: Final = "application/strategic-merge-patch+json"

_SECONDS: Final = 120
"""Longer than the 30 s that the longest webhook may take."""


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What the API server said: status code, decoded body, and the texts of its warnings."""

    code: int
    body: Any
    warnings: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The message of a refusal."""
        return str(self.body.get("message", "")) if isinstance(self.body, dict) else str(self.body)


class RefusedError(Exception):
    """An answer with a status code of 400 or more."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{answer.code}: {answer.message}")
        self.answer = answer
        self.code = answer.code
        self.message = answer.message


class Api:
    """The API server, as one identity sees it. Safe to use from several threads."""

    def __init__(self, port: int, authority: Path, identity: Identity) -> None:
        self.identity = identity
        self._port = port
        self._tls = ssl.create_default_context(cafile=authority)
        self._idle: list[http.client.HTTPSConnection] = []  # lists append and pop atomically

    def send(self, method: str, path: str, body: object = None, *, content: str = "application/json") -> Answer:
        """One request, whatever the answer."""
        connection = self._connection()
        headers = {"Authorization": f"Bearer {self.identity.token}", "Content-Type": content}
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, headers)
            reply = connection.getresponse()
            text = reply.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        warnings = tuple(_warning_text(line) for line in reply.headers.get_all("Warning", ()))
        return Answer(reply.status, _decoded(text), warnings)

    def call(self, method: str, path: str, body: object = None, *, content: str = "application/json") -> Answer:
        """One request that succeeds; raises RefusedError."""
        answer = self.send(method, path, body, content=content)
        if answer.code >= http.HTTPStatus.BAD_REQUEST:
            raise RefusedError(answer)
        return answer

    def get(self, path: str, **query: str) -> Any:
        """What is there; raises RefusedError."""
        return self.call("GET", _with(path, query)).body

    def find(self, path: str) -> Any:
        """What is there, or None."""
        answer = self.send("GET", path)
        if answer.code == http.HTTPStatus.NOT_FOUND:
            return None
        if answer.code >= http.HTTPStatus.BAD_REQUEST:
            raise RefusedError(answer)
        return answer.body

    def create(self, thing: Object, **query: str) -> Object:
        """Create an object of any kind, in its namespace or ``default``; ``dryRun="All"`` only asks."""
        created: Object = self.call("POST", _with(collection(thing), query), thing).body
        return created

    def patch(self, path: str, change: object, *, content: str = MERGE) -> Object:
        """Change an object."""
        changed: Object = self.call("PATCH", path, change, content=content).body
        return changed

    def apply(self, thing: Object, field_manager: str = "e2e") -> Object:
        """Create or change an object so that it says this (server-side apply)."""
        return self.patch(_with(item(thing), {"fieldManager": field_manager, "force": "true"}), thing, content=APPLY)

    def delete(self, path: str, **query: str) -> None:
        """Delete what is there; nothing there is fine."""
        answer = self.send("DELETE", _with(path, query))
        if answer.code >= http.HTTPStatus.BAD_REQUEST and answer.code != http.HTTPStatus.NOT_FOUND:
            raise RefusedError(answer)

    def watch(self, path: str, seconds: float, **query: str) -> Stream:
        """A watch on a connection of its own; it ends when the API server is silent for so long."""
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=seconds, context=self._tls)
        with contextlib.ExitStack() as failing:
            failing.callback(connection.close)
            headers = {"Authorization": f"Bearer {self.identity.token}"}
            connection.request("GET", _with(path, {"watch": "true", **query}), headers=headers)
            reply = connection.getresponse()
            if reply.status != http.HTTPStatus.OK:
                raise RefusedError(Answer(reply.status, _decoded(reply.read())))
            failing.pop_all()
        return Stream(connection, reply)

    def close(self) -> None:
        """Hang up."""
        while self._idle:
            self._idle.pop().close()

    def _connection(self) -> http.client.HTTPSConnection:
        """An idle connection, if the API server has not hung up meanwhile, or a new one."""
        with contextlib.suppress(IndexError):
            while True:
                idle = self._idle.pop()
                if idle.sock is not None and not select.select([idle.sock], [], [], 0)[0]:
                    return idle
                idle.close()  # bytes that nobody asked for are the end
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=_SECONDS, context=self._tls)


def _with(path: str, query: dict[str, str]) -> str:
    if not query:
        return path
    return f"{path}{'&' if '?' in path else '?'}{urlencode(query)}"


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")


def _warning_text(header: str) -> str:
    """``299 - "the text"`` without its wrapping (RFC 7234, section 5.5)."""
    return header.split(" ", 2)[2][1:-1].replace('\\"', '"').replace("\\\\", "\\")
