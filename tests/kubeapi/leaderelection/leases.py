"""A place for one Lease, in memory: what of an API server an election needs."""

from typing import Any

from kubeapi.client.errors import ApiError
from tests.apiserver.direct import DirectClient
from tests.apiserver.paths import Json
from tests.apiserver.storage import Storage

PATH = "/apis/coordination.k8s.io/v1/namespaces/streams/leases/controller"


class Leases:
    """Obeys at once; ``asked`` are the methods, ``troubles`` are raised one after another, before anything is done."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.troubles: list[ApiError | None] = []
        self._storage = Storage()
        self._client = DirectClient(self._storage)

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
        return self._client.ask(method, path, body)

    @property
    def lease(self) -> Json:
        """The whole of it."""
        return self._storage.objects[PATH]

    @property
    def spec(self) -> Json:
        found: Json = self.lease["spec"]
        return found

    def put(self, **spec: Any) -> None:
        """Somebody else writes it."""
        old = self._storage.objects.get(PATH, {})
        self._storage.put(PATH, {**old, "spec": {**(old.get("spec") or {}), **spec}})

    def store(self, document: Json) -> None:
        """Somebody else writes something else."""
        self._storage.put(PATH, document)

    def delete(self) -> None:
        """Somebody deletes it."""
        self._storage.remove(PATH)
