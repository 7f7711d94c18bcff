"""An API server in memory for nodes, pods and host pools: versions, conflicts, finalizers, lists, and watches."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from kubeapi.client.errors import ApiError, Cause
from tests.cluster.live.objectserver import merged

Json = dict[str, Any]

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
POOLS = "/apis/streams.ibm.com/v1/streamshostpools"


class Change(NamedTuple):
    """What a watch tells; ``body`` is the object as it is now, or was last."""

    collection: str
    type: str
    before: Json | None
    after: Json | None
    body: bytes


def collection_of(path: str) -> str:
    return NODES if path.startswith(NODES) else POOLS if "streamshostpools" in path else PODS


def pool_path(name: str, namespace: str = "default") -> str:
    return f"/apis/streams.ibm.com/v1/namespaces/{namespace}/streamshostpools/{name}"


def node_path(name: str) -> str:
    return f"{NODES}/{name}"


def pod_path(name: str, namespace: str = "default") -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


class Kube:
    """``objects`` by path are never changed in place; ``changes`` are all that ever happened to them."""

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.changes: list[Change] = []
        self.listeners: list[Callable[[Change], None]] = []
        self.writer: object = None
        """Whose request is being obeyed; ``None`` for people."""
        self._version = 100

    # What people and other programs do

    def create(self, path: str, **fields: Any) -> Json:
        assert path not in self.objects, path
        name = path.rpartition("/")[2]
        parts = path.split("/")
        metadata = {"name": name, "uid": f"uid-{self._version}", "generation": 1, **fields.pop("metadata", {})}
        if "namespaces" in parts:
            metadata["namespace"] = parts[parts.index("namespaces") + 1]
        return self._store(path, {"metadata": metadata, **fields})

    def change(self, path: str, patch: Json) -> Json:
        """A merge patch of the whole object, its status and all, by somebody who knows what he does."""
        old = self.objects[path]
        new: Json = merged(old, patch)
        held, holds = (bool(each["metadata"].get("finalizers")) for each in (old, new))
        if new["metadata"].get("deletionTimestamp") and held and not holds:
            self._remove(path, new)
            return new
        return self._store(path, new)

    def delete(self, path: str) -> None:
        """It is gone, or about to go if somebody holds it."""
        old = self.objects[path]
        if old["metadata"].get("finalizers"):
            self.change(path, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
        else:
            self._remove(path, old)

    def all(self, collection: str) -> list[Json]:
        return [found for path, found in self.objects.items() if collection_of(path) == collection]

    def node(self, name: str) -> Json:
        return self.objects[node_path(name)]

    def pool(self, name: str, namespace: str = "default") -> Json:
        return self.objects[pool_path(name, namespace)]

    # What is asked of it

    def read(self, path: str) -> bytes:
        if "?" in path:
            return self._list(path)
        if path not in self.objects:
            raise ApiError(Cause.MISSING, f"the API server answers 404: no {path}")
        return msgspec.json.encode(self.objects[path])

    def merge_patch(self, path: str, body: Any, writer: object = None) -> bytes:
        self.writer = writer
        try:
            return self._patch(path, body)
        finally:
            self.writer = None

    def _patch(self, path: str, body: Any) -> bytes:
        body = json.loads(msgspec.json.encode(body))
        target = path.removesuffix("/status")
        self.read(target)
        old = self.objects[target]
        if (
            body.get("metadata", {}).get("resourceVersion", old["metadata"]["resourceVersion"])
            != (old["metadata"]["resourceVersion"])
        ):
            raise ApiError(Cause.CONFLICT, "the API server answers 409: the object has been modified")
        if target != path:
            return msgspec.json.encode(
                self._store(target, {**old, "status": merged(old.get("status"), body["status"])})
            )
        new = merged(old, {key: value for key, value in body.items() if key != "status"})
        if fault := _fault(old, new):
            raise ApiError(Cause.INVALID, f"the API server answers 422: {fault}")
        if old["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers"):
            self._remove(target, new)
            return msgspec.json.encode(new)
        return msgspec.json.encode(self._store(target, new))

    def _list(self, path: str) -> bytes:
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        steps = parts.path.split("/")
        namespace = steps[steps.index("namespaces") + 1] if "namespaces" in steps else None
        found = [
            each
            for each in self.all(collection_of(parts.path))
            if namespace in {None, each["metadata"].get("namespace")} and _selected(each, query)
        ]
        start, limit = int(query.get("continue", "0")), int(query["limit"])
        more = {"continue": str(start + limit)} if len(found) > start + limit else {}
        return msgspec.json.encode({"metadata": more, "items": found[start : start + limit]})

    def _store(self, path: str, new: Json) -> Json:
        old = self.objects.get(path)
        if old is not None and new == old:
            return old
        self._version += 1
        generation = new["metadata"]["generation"] + (old is not None and old.get("spec") != new.get("spec"))
        new = {**new, "metadata": {**new["metadata"], "resourceVersion": str(self._version), "generation": generation}}
        self.objects[path] = new
        self._tell(path, "MODIFIED" if old else "ADDED", old, new)
        return new

    def _remove(self, path: str, last: Json) -> None:
        self._version += 1
        del self.objects[path]
        self._tell(path, "DELETED", last, None)

    def _tell(self, path: str, kind: str, before: Json | None, after: Json | None) -> None:
        change = Change(collection_of(path), kind, before, after, msgspec.json.encode(after or before))
        self.changes.append(change)
        for listener in self.listeners:
            listener(change)


def _fault(old: Json, new: Json) -> str:
    """The rules of the API server that matter here."""
    if new["metadata"]["uid"] != old["metadata"]["uid"]:
        return "metadata.uid is immutable"
    taints = [(taint["key"], taint["effect"]) for taint in new.get("spec", {}).get("taints", ())]
    if len(set(taints)) < len(taints):
        return "spec.taints: duplicate"
    added = set(new["metadata"].get("finalizers", ())) - set(old["metadata"].get("finalizers", ()))
    if added and old["metadata"].get("deletionTimestamp"):
        return "metadata.finalizers: no new finalizers can be added if the object is being deleted"
    return ""


def _selected(pod: Json, query: Json) -> bool:
    labels = pod["metadata"].get("labels", {})
    for term in filter(None, query.get("labelSelector", "").split(",")):
        key, _, value = term.partition("=")
        if key not in labels or (value and labels[key] != value):
            return False
    fields = {
        "spec.nodeName": pod.get("spec", {}).get("nodeName", ""),
        "status.phase": (pod.get("status") or {}).get("phase"),
    }
    for term in filter(None, query.get("fieldSelector", "").split(",")):
        name, unequal, wanted = term.partition("!=")
        if not unequal:
            name, _, wanted = term.partition("=")
        if (fields[name] == wanted) == bool(unequal):
            return False
    return True
