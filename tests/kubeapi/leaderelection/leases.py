"""A place for one Lease, in memory: what of an API server an election needs."""

import json
from typing import Any

from kubeapi.client.errors import ApiError, Cause
from tests.cluster.live.objectserver import Json, ObjectServer, RefusedError

PATH = "/apis/coordination.k8s.io/v1/namespaces/streams/leases/controller"

_CAUSES = {"NotFound": Cause.MISSING, "AlreadyExists": Cause.EXISTS, "Conflict": Cause.CONFLICT}


class Leases:
    """Obeys at once; ``asked`` are the methods, ``troubles`` are raised one after another, before anything is done."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.troubles: list[ApiError | None] = []
        self._server = ObjectServer()

    async def read(self, path: str) -> bytes:
        return await self.ask("GET", path)

    async def create(self, path: str, body: object) -> bytes:
        return await self.ask("POST", path, body)

    async def replace(self, path: str, body: object) -> bytes:
        return await self.ask("PUT", path, body)

    async def ask(self, method: str, path: str, body: Any = None) -> bytes:
        self.asked.append(method)
        if self.troubles and (trouble := self.troubles.pop(0)):
            raise trouble
        return self.obey(method, path, body)

    def obey(self, method: str, path: str, body: Any) -> bytes:
        try:
            return json.dumps(self._server.obey(method, path, body)[1]).encode()
        except RefusedError as error:
            raise ApiError(_CAUSES[error.reason], str(error)) from None

    @property
    def lease(self) -> Json:
        """The whole of it."""
        return self._server.objects[PATH]

    @property
    def spec(self) -> Json:
        found: Json = self.lease["spec"]
        return found

    def put(self, **spec: Any) -> None:
        """Somebody else writes it."""
        old = self._server.objects.get(PATH, {})
        self._server.put(PATH, {**old, "spec": {**(old.get("spec") or {}), **spec}})

    def store(self, document: Json) -> None:
        """Somebody else writes something else."""
        self._server.put(PATH, document)

    def delete(self) -> None:
        """Somebody deletes it."""
        del self._server.objects[PATH]
