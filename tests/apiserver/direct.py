"""``DirectClient``: requests to a ``Storage`` without a network, obeyed at once, for simulated time."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from kubeapi.client.errors import ApiError, Cause, FailedRequest
from tests.apiserver.requests import obey
from tests.apiserver.storage import RefusedError, Storage

_CAUSES = {
    "NotFound": Cause.MISSING,
    "AlreadyExists": Cause.EXISTS,
    "Conflict": Cause.CONFLICT,
    "Invalid": Cause.INVALID,
    "Expired": Cause.GONE,
    "Forbidden": Cause.FORBIDDEN,
    "InternalError": Cause.BROKEN,
}


class DirectClient:
    """Answers as ``ObjectClient`` does; ``writer`` is the storage's writer meanwhile. Refusals raise ApiError."""

    def __init__(self, storage: Storage, writer: object = None) -> None:
        self._storage = storage
        self._writer = writer

    def read(self, path: str) -> bytes:
        return self.ask("GET", path)

    def merge_patch(self, path: str, body: object) -> bytes:
        return self.ask("PATCH", path, body)

    def create(self, path: str, body: object) -> bytes:
        return self.ask("POST", path, body)

    def json_patch(self, path: str, operations: object) -> bytes:
        return self.ask("PATCH", path, operations)

    def delete(self, path: str, *, uid: str = "", version: str = "", propagation: str = "") -> bytes:
        wanted = {name: value for name, value in (("uid", uid), ("resourceVersion", version)) if value}
        return self.ask("DELETE", path, {"preconditions": wanted, "propagationPolicy": propagation})

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        parts = urlsplit(path)
        sent = json.loads(msgspec.json.encode(body))
        self._storage.writer = self._writer
        try:
            _, answer = obey(self._storage, method, parts.path, sent, dict(parse_qsl(parts.query)))
        except RefusedError as error:
            failed = FailedRequest(method=method, path=path, code=error.code, detail=str(error))
            text = f"the API server answers {error.code}: {error}"
            raise ApiError(_CAUSES[error.reason], text, request=failed) from None
        finally:
            self._storage.writer = None
        return msgspec.json.encode(answer)
