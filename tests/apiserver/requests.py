"""What requests do to a ``Storage``: preconditions, patches, deletions and the rules of kube-apiserver."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import jsonpatch

from tests.apiserver.paths import ApiPath, Json, api_path
from tests.apiserver.storage import DELETED_AT, RefusedError, Storage, merged

NO_QUERY: Final[Mapping[str, str]] = MappingProxyType({})

FOREGROUND: Final = "foregroundDeletion"
"""The finalizer of an object that is deleted after all that it owns."""

_UNCONDITIONAL: Final = ("/api/v1/", "/apis/apps/", "/apis/batch/", "/apis/events.k8s.io/")
"""Of these groups an object may be replaced without saying which version is replaced."""


def obey(
    storage: Storage, method: str, path: str, body: Any = None, query: Mapping[str, str] = NO_QUERY
) -> tuple[int, Json]:
    """HTTP status and body of the answer; raises RefusedError. A list of operations is a JSON patch.

    A watch is not answered here: its events are ``Storage.events``.
    """
    where = api_path(path)
    if where is None or where.subresource not in {"", "status"}:
        raise RefusedError(404, "NotFound", "the server could not find the requested resource")
    if method == "POST":
        return 201, _created(storage, f"{path}/{body['metadata']['name']}", where, body)
    if not where.name:
        assert method == "GET", (method, path)
        return 200, storage.page(where, query)
    path = path.removesuffix("/status") if where.subresource else path
    old = storage.objects.get(path)
    if old is None:
        raise RefusedError(404, "NotFound", f"{path} not found")
    match method:
        case "GET":
            return 200, old
        case "DELETE":
            _check((body or {}).get("preconditions", {}), old, "uid", "resourceVersion")
            return 200, delete(storage, path, (body or {}).get("propagationPolicy", ""))
        case "PUT":
            return 200, _updated(storage, path, where, _replacement(where, old, body))
        case _:
            assert method == "PATCH", method
            return 200, _updated(storage, path, where, _patched(old, body))


def _created(storage: Storage, path: str, where: ApiPath, body: Json) -> Json:
    if path in storage.objects:
        raise RefusedError(409, "AlreadyExists", f"{path} already exists")
    metadata = {**body["metadata"], **({"namespace": where.namespace} if where.namespace else {})}
    return storage.write(path, {**body, "metadata": metadata})


def delete(storage: Storage, path: str, propagation: str) -> Json:
    """Delete an object, or begin to: the garbage collector, or the kubelet, ends what waits for it."""
    metadata = storage.objects[path]["metadata"]
    if propagation == "Foreground" and FOREGROUND not in (metadata.get("finalizers") or ()):
        storage.change(path, {"metadata": {"finalizers": [*(metadata.get("finalizers") or ()), FOREGROUND]}})
    if storage.graceful(storage.objects[path]):
        return storage.change(path, {"metadata": {"deletionTimestamp": metadata.get("deletionTimestamp", DELETED_AT)}})
    return storage.delete(path)


def _replacement(where: ApiPath, old: Json, body: Json) -> Json:
    """The body of a PUT: a uid is a precondition, and of some kinds the version has to be stated."""
    metadata = body["metadata"]
    _check(metadata, old, "uid")
    if not metadata.get("resourceVersion") and not where.collection.startswith(_UNCONDITIONAL):
        raise RefusedError(422, "Invalid", "metadata.resourceVersion: must be specified for an update")
    return body


def _patched(old: Json, body: Any) -> Json:
    if not isinstance(body, list):
        found: Json = merged(old, body)
        return found
    try:
        found = jsonpatch.apply_patch(old, body)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        raise RefusedError(422, "Invalid", str(error)) from None
    return found


def _updated(storage: Storage, path: str, where: ApiPath, new: Json) -> Json:
    """Store what an object is to be, or end it with its last finalizer."""
    old = storage.objects[path]
    _check(new["metadata"], old, "resourceVersion")
    new = _of_subresource(where, old, new)
    if fault := _fault(old, new):
        raise RefusedError(422, "Invalid", fault)
    if old["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers"):
        return storage.remove(path, new)
    return storage.write(path, new)


def _check(wanted: Json, old: Json, *fields: str) -> None:
    for field in fields:
        if wanted.get(field) and wanted[field] != old["metadata"].get(field):
            raise RefusedError(409, "Conflict", f"the object has been modified: it has another {field}")


def _of_subresource(where: ApiPath, old: Json, new: Json) -> Json:
    """The status changes where the path says so, and nothing else does; when an object was deleted never changes."""
    source, kept = (new, old) if where.subresource else (old, new)
    status = {"status": source["status"]} if "status" in source else {}
    found = {**{name: value for name, value in kept.items() if name != "status"}, **status}
    deleted = {name: value for name, value in old["metadata"].items() if name == "deletionTimestamp"}
    metadata = {name: value for name, value in found["metadata"].items() if name != "deletionTimestamp"}
    return {**found, "metadata": {**metadata, **deleted}}


def _fault(old: Json, new: Json) -> str:
    """The rules of objects that matter here."""
    if new["metadata"].get("uid") not in {None, old["metadata"].get("uid")}:
        return "metadata.uid is immutable"
    taints = [(taint["key"], taint.get("effect")) for taint in (new.get("spec") or {}).get("taints") or ()]
    if len(set(taints)) < len(taints):
        return "spec.taints: duplicate"
    added = set(new["metadata"].get("finalizers") or ()) - set(old["metadata"].get("finalizers") or ())
    if added and old["metadata"].get("deletionTimestamp"):
        return "metadata.finalizers: no new finalizers can be added if the object is being deleted"
    return ""
