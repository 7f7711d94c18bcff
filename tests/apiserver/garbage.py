"""``GarbageCollector``: deletes what has lost its owners, and lets go of owners that wait for what they own."""

from collections.abc import Iterator

from tests.apiserver.paths import Json
from tests.apiserver.requests import FOREGROUND, delete
from tests.apiserver.storage import Storage


class GarbageCollector:
    """Looks at all objects of a storage whenever :meth:`sweep` is called."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._swept_version = -1

    def sweep(self) -> None:
        """Do all that follows from what there is, until nothing does; nothing follows from what was swept before."""
        if self._storage.version != self._swept_version:
            while self._swept():
                pass
            self._swept_version = self._storage.version

    def _swept(self) -> bool:
        objects = self._storage.objects
        uids = {found["metadata"].get("uid") for found in objects.values()}
        for path, found in list(objects.items()):
            metadata = found["metadata"]
            owners = [owner["uid"] for owner in metadata.get("ownerReferences") or ()]
            deleting = bool(metadata.get("deletionTimestamp"))
            if owners and not deleting and not uids.intersection(owners):
                delete(self._storage, path, "")
                return True
            if deleting and FOREGROUND in (metadata.get("finalizers") or ()) and self._let_go(path, found):
                return True
        return False

    def _let_go(self, path: str, owner: Json) -> bool:
        """Delete what the owner waits for, or let it go; false if there is nothing to do but wait."""
        waits = False
        for below, found in self._blocking(owner["metadata"]["uid"]):
            waits = True
            if not found["metadata"].get("deletionTimestamp"):
                delete(self._storage, below, "Foreground")
                return True
        if not waits:
            finalizers = [name for name in owner["metadata"]["finalizers"] if name != FOREGROUND]
            self._storage.change(path, {"metadata": {"finalizers": finalizers or None}})
        return not waits

    def _blocking(self, uid: str) -> Iterator[tuple[str, Json]]:
        for path, found in list(self._storage.objects.items()):
            for owner in found["metadata"].get("ownerReferences") or ():
                if owner["uid"] == uid and owner.get("blockOwnerDeletion"):
                    yield path, found
