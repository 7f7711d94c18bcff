"""``Storage``: objects by path as kube-apiserver keeps them, with one counter of versions for everything."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from tests.apiserver.paths import ApiPath, Json, api_path, node_path, pool_path
from tests.apiserver.selectors import Selector

DELETED_AT: Final = "2026-01-01T00:00:00Z"
"""The ``deletionTimestamp`` of everything that is deleted."""


class RefusedError(Exception):
    """What a Status of a failure says: HTTP status, reason and message."""

    def __init__(self, code: int, reason: str, message: str = "") -> None:
        super().__init__(message or f"because {reason}")
        self.code = code
        self.reason = reason


class Change(NamedTuple):
    """One write. ``before`` is ``None`` of an object that is new, ``after`` of one that is gone.

    The object of a deletion is ``before`` with the version of the deletion.
    """

    version: int
    collection: str
    before: Json | None
    after: Json | None

    def event(self, selects: Callable[[Json | None], bool]) -> Json | None:
        """What a watch of the selected objects is told; ``None`` if it is told nothing.

        An object that is selected no longer is told as a deletion of what it was before.
        """
        before, after = selects(self.before), selects(self.after)
        if after:
            return {"type": "MODIFIED" if before else "ADDED", "object": self.after}
        return {"type": "DELETED", "object": _at_version(self.before or {}, self.version)} if before else None


class Storage:
    """``objects`` by path are never changed in place; ``changes`` are all writes that are not compacted.

    ``listeners`` are called after every write. ``writer`` is whose request is being obeyed, ``None`` for anybody who
    uses the methods of this class. ``version`` may be set to that of an older backup.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.changes: list[Change] = []
        self.listeners: list[Callable[[Change], None]] = []
        self.writer: object = None
        self.graceful: Callable[[Json], bool] = lambda _: False
        """Which objects a DELETE only marks: pods that a kubelet has to end."""
        self.version = 100
        self._compacted = 0
        self._pages: dict[str, tuple[int, list[Json]]] = {}
        self._tokens = itertools.count()

    # What people and other programs do

    def create(self, path: str, **fields: Any) -> Json:
        """Store a new object; name and namespace are those of the path."""
        assert path not in self.objects, path
        where = _api_path(path)
        names = {"name": where.name, **({"namespace": where.namespace} if where.namespace else {})}
        return self.write(path, {"metadata": {**names, **fields.pop("metadata", {})}, **fields})

    def put(self, path: str, thing: Json) -> Json:
        """Store what somebody has just written, even if it is the same as before: it always takes a version.

        An object of another uid is another object, so the old one is deleted first. Nothing is checked or added but
        uid, resourceVersion and generation; if the metadata is damaged, not even that.
        """
        old, uid = self.objects.get(path), _metadata(thing).get("uid")
        if old is not None and uid is not None and _metadata(old).get("uid") != uid:
            self.remove(path)
        return self._store(path, thing)

    def change(self, path: str, patch: Json) -> Json:
        """A merge patch of the whole object, its status and all, by somebody who knows what he does."""
        old = self.objects[path]
        new: Json = merged(old, patch)
        held, holds = (bool(_metadata(each).get("finalizers")) for each in (old, new))
        if new["metadata"].get("deletionTimestamp") and held and not holds:
            return self.remove(path, new)
        return self.write(path, new)

    def delete(self, path: str) -> Json:
        """The object is gone, or about to go if it has finalizers."""
        metadata = _metadata(self.objects[path])
        if not metadata.get("finalizers"):
            return self.remove(path)
        return self.change(path, {"metadata": {"deletionTimestamp": metadata.get("deletionTimestamp", DELETED_AT)}})

    def compact(self) -> None:
        """Forget all history: watches of older versions, and lists that are under way, are gone."""
        self._compacted = self.version
        self.changes.clear()
        self._pages.clear()

    # What there is

    def all(self, collection: str) -> list[Json]:
        """The objects of a collection in the order in which they were made."""
        return [found for path, found in self.objects.items() if _api_path(path).collection == collection]

    def node(self, name: str) -> Json:
        return self.objects[node_path(name)]

    def pool(self, name: str, namespace: str = "default") -> Json:
        return self.objects[pool_path(name, namespace)]

    # What requests do

    def write(self, path: str, new: Json) -> Json:
        """Store an object; a write that changes nothing takes no version."""
        old = self.objects.get(path)
        if old is not None and self._stamped(path, new, int(_metadata(old).get("resourceVersion", 0))) == old:
            return old
        return self._store(path, new)

    def remove(self, path: str, last: Json | None = None) -> Json:
        """Remove an object whatever its finalizers; ``last`` is its last state if that was never stored."""
        self.version += 1
        gone = _at_version(last or self.objects[path], self.version)
        del self.objects[path]
        self._changed(path, gone, None)
        return gone

    def page(self, where: ApiPath, query: Mapping[str, str]) -> Json:
        """A list, or a page of it, in the order of names; raises RefusedError if the list is too old to continue."""
        if token := query.get("continue"):
            if token not in self._pages:
                raise RefusedError(410, "Expired", "The provided continue parameter is too old")
            version, rest = self._pages[token]
        else:
            version, rest = self.version, self._listed(where, query)
        limit = int(query.get("limit", 0)) or len(rest)
        metadata = {"resourceVersion": str(version)}
        if len(rest) > limit:
            # A client has to quote what is not allowed in a query.
            metadata["continue"] = f"{where.resource}-{version}-{next(self._tokens)}+/="
            self._pages[metadata["continue"]] = version, rest[limit:]
        return {"kind": "List", "metadata": metadata, "items": rest[:limit] or None}

    def events(self, seen: int, where: ApiPath, query: Mapping[str, str]) -> list[Json]:
        """The events of a watch after version ``seen``; raises RefusedError if that is too old."""
        if seen < self._compacted:
            raise RefusedError(410, "Expired", f"too old resource version: {seen} ({self._compacted})")
        selects = Selector(query, where.namespace)
        changes = (one for one in self.changes if one.version > seen and one.collection == where.collection)
        return [event for one in changes if (event := one.event(selects))]

    def _listed(self, where: ApiPath, query: Mapping[str, str]) -> list[Json]:
        selects = Selector(query, where.namespace)
        found = ((_api_path(path), item) for path, item in self.objects.items() if selects(item))
        of_kind = [(at.namespace, at.name, item) for at, item in found if at.collection == where.collection]
        return [item for _, _, item in sorted(of_kind, key=lambda each: each[:2])]

    def _store(self, path: str, new: Json) -> Json:
        self.version += 1
        old = self.objects.get(path)
        self.objects[path] = new = self._stamped(path, new, self.version)
        self._changed(path, old, new)
        return new

    def _stamped(self, path: str, new: Json, version: int) -> Json:
        """The object with the uid, generation and version that it is stored with."""
        if not isinstance(new.get("metadata", {}), dict):
            return new
        old = self.objects.get(path)
        stated = _metadata(new if old is None else old)
        metadata = {
            "uid": stated.get("uid", f"uid-{version}"),
            **_metadata(new),
            "generation": stated.get("generation", 1) + (old is not None and _desired(old) != _desired(new)),
            "resourceVersion": str(version),
        }
        return {**new, "metadata": metadata}

    def _changed(self, path: str, before: Json | None, after: Json | None) -> None:
        change = Change(self.version, _api_path(path).collection, before, after)
        self.changes.append(change)
        for listener in self.listeners:
            listener(change)


def merged(old: Any, change: Any) -> Any:
    """RFC 7396."""
    if not isinstance(change, dict):
        return change
    kept = dict(old) if isinstance(old, dict) else {}
    for name, value in change.items():
        if value is None:
            kept.pop(name, None)
        else:
            kept[name] = merged(kept.get(name), value)
    return kept


def _api_path(path: str) -> ApiPath:
    where = api_path(path)
    assert where is not None, path
    return where


def _metadata(thing: Json) -> Json:
    found = thing.get("metadata")
    return found if isinstance(found, dict) else {}


def _desired(thing: Json) -> Json:
    """What a generation is about."""
    return {name: value for name, value in thing.items() if name not in {"metadata", "status"}}


def _at_version(thing: Json, version: int) -> Json:
    return {**thing, "metadata": {**_metadata(thing), "resourceVersion": str(version)}}
