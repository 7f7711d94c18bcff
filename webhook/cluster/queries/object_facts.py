"""What the API server says about one object: the object itself, the pods of a workload, and the latest warnings.

Everything is read once, with the rights of the caller. What the caller may not read is named, and left out
(``docs/why.md``).
"""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from webhook.admission.checks.templates import is_job
from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.cluster.watch.lists import ListReader, listed
from webhook.placement.kube.names import is_object_name
from webhook.placement.kube.timestamps import time_of
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import (
    BATCH_JOB,
    CRON_JOB,
    DEPLOYMENT,
    HOST_POOL,
    NODE,
    PARALLEL_REGION,
    POD,
    REPLICA_SET,
    STREAMS_JOB,
    ApiKind,
)

WARNINGS: Final = 3
"""The latest warnings that are kept; older ones repeat these, or are about what is over."""

PODS: Final = 1000
"""Pods of a workload that are read at most."""

_NAMESPACE: Final = 5000
"""Objects of one kind in a namespace that are read, to find those of an application."""

_ASKED: Final = 10
"""Objects whose warnings are asked for: the workload, what stands between it and its pods, some pods that wait."""

_BETWEEN_ASKED: Final = 4
"""Objects between the workload and its pods among these; a Deployment keeps ten ReplicaSets that are over."""

_TEXT: Final = 1024
"""Characters of the text of an Event: as many as events.k8s.io/v1 allows; the older API allows any number."""

_EVENTS: Final = "events"
_BETWEEN: Final[Mapping[ApiKind, ApiKind]] = {DEPLOYMENT: REPLICA_SET, CRON_JOB: BATCH_JOB}
"""Kinds whose pods belong to objects of another kind, which belong to them."""


class ObjectRef(Struct, frozen=True):
    """An object of the API server."""

    kind: ApiKind
    namespace: str
    name: str

    @property
    def path(self) -> str:
        """Where the API server has it."""
        return self.paths[0]

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the API server may have it: one path for each version of its kind."""
        kind = self.kind
        there = (kind.path,) if kind is NODE else kind.paths_in(quote(self.namespace, safe=""))
        return tuple(f"{path}/{quote(self.name, safe='')}" for path in there)


class WarningEvent(Struct, frozen=True):
    """An Event of the type Warning; ``at`` is when it was last seen."""

    at: datetime
    about: str
    reason: str
    message: str


class ObjectFacts(Struct, frozen=True):
    """An object, the pods of a workload, warnings about both, the newest first, and what could not be read.

    ``job`` is the Job of a ParallelRegion, if it exists.
    """

    document: Unstructured
    pods: tuple[Unstructured, ...] = ()
    warnings: tuple[WarningEvent, ...] = ()
    unread: tuple[str, ...] = ()
    job: Unstructured | None = None


class UnknownObjectError(Exception):
    """The object does not exist; ``names`` are those of its kind in the namespace."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__("no such object")
        self.names = sorted(names)


async def read_object_facts(reader: ListReader, wanted: ObjectRef, made: Sequence[ApiKind] = ()) -> ObjectFacts:
    """Read the object and what belongs to it; raises :class:`UnknownObjectError`, and ApiError where it is not read.

    ``made`` are kinds of which an operator makes objects between an application and its pods, pods among them.
    """
    document = await _document(reader, wanted)
    unread: list[str] = []
    owners = [document]
    if made:
        family = await _family(reader, made, document, unread)
        pods = [one for kind, one in family if kind == POD]
        owners += [one for kind, one in family if kind != POD]
        return await _facts(reader, wanted, owners, pods, unread)
    if wanted.kind in _BETWEEN:
        between = await _owned(reader, _BETWEEN[wanted.kind], document, owners, unread)
        owners += sorted(between, key=_relevance, reverse=True)
    pods = [] if wanted.kind in (POD, HOST_POOL) else await _owned(reader, POD, document, owners, unread)
    return await _facts(reader, wanted, owners, pods, unread)


async def _facts(
    reader: ListReader,
    wanted: ObjectRef,
    owners: Sequence[Unstructured],
    pods: Sequence[Unstructured],
    unread: list[str],
) -> ObjectFacts:
    """The facts about the first of the ``owners`` and its pods, with the warnings about these."""
    document = owners[0]
    job = await _job_of(reader, document, wanted.namespace, unread) if wanted.kind == PARALLEL_REGION else None
    concerned = [*owners[: 1 + _BETWEEN_ASKED], *(pod for pod in pods if not mapping(pod, "spec").get("nodeName"))]
    warnings = await _warnings(reader, wanted.namespace, concerned, unread)
    return ObjectFacts(document, tuple(pods), tuple(warnings), tuple(unread), job)


async def _document(reader: ListReader, wanted: ObjectRef) -> Unstructured:
    """The object in the first version in which the API server has it."""
    missing: ApiError | None = None
    for path in wanted.paths:
        try:
            return decoded(await reader.read(path))
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                raise
            missing = failure
    raise UnknownObjectError(await _names(reader, wanted)) from missing


async def _family(
    reader: ListReader, kinds: Iterable[ApiKind], document: Unstructured, unread: list[str]
) -> list[tuple[ApiKind, Unstructured]]:
    """The objects of these kinds that belong to the object, or to one that does, whatever made which."""
    metadata = mapping(document, "metadata")
    relatives = [
        (kind, one) for kind in kinds for one in await _some(reader, kind, str(metadata.get("namespace")), unread)
    ]
    uids, family, count = {metadata.get("uid")}, [], -1
    while count < len(uids):
        count = len(uids)
        family = [
            (kind, one)
            for kind, one in relatives
            if any(owner.get("uid") in uids for owner in sequence(mapping(one, "metadata"), "ownerReferences"))
        ]
        uids |= {mapping(one, "metadata").get("uid") for _, one in family}
    return family


async def _some(reader: ListReader, kind: ApiKind, namespace: str, unread: list[str]) -> list[Unstructured]:
    """Objects of the kind, as many as are read of a namespace; none where it is not served."""
    objects: list[Unstructured] = []
    for path in kind.paths_in(quote(namespace, safe="")):
        try:
            async for item in listed(reader, path, {}):
                objects.append(decoded(bytes(item)))
                if len(objects) == _NAMESPACE:
                    break
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                _note(failure, kind.full_resource, unread)
                break
            continue
        break
    return objects


async def _job_of(reader: ListReader, region: Unstructured, namespace: str, unread: list[str]) -> Unstructured | None:
    """The Job of a ParallelRegion; ``None`` if it does not exist, or may not be read."""
    name = mapping(region, "spec").get("job")
    if not isinstance(name, str) or not is_object_name(name):
        return None
    try:
        return decoded(await reader.read(ObjectRef(STREAMS_JOB, namespace, name).path))
    except ApiError as failure:
        if failure.cause is not Cause.MISSING:
            _note(failure, STREAMS_JOB.full_resource, unread)
        return None


async def read_objects(reader: ListReader, wanted: Iterable[ObjectRef]) -> list[Unstructured]:
    """The objects that exist and may be read; raises ApiError for any other failure."""
    objects = []
    for one in wanted:
        try:
            objects.append(decoded(await reader.read(one.path)))
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.FORBIDDEN}:
                raise
    return objects


async def forbidden(reader: ListReader, kinds: Iterable[ApiKind]) -> list[ApiKind]:
    """The kinds of which the user may not list all objects; raises ApiError for any other failure."""
    kinds_refused = []
    for kind in kinds:
        try:
            await reader.read(f"{kind.path}?limit=1")
        except ApiError as failure:
            if failure.cause is Cause.FORBIDDEN:
                kinds_refused.append(kind)
            elif failure.cause is not Cause.MISSING:
                raise
    return kinds_refused


def decoded(body: bytes) -> Unstructured:
    """The object in an answer, without what is nested too deeply; raises ApiError if it is none."""
    try:
        return decoding.decoded(body, dict[str, object])
    except decoding.ERRORS as error:
        raise ApiError(Cause.UNREADABLE, f"an object cannot be read: {error}") from None


def _relevance(between: Unstructured) -> tuple[bool, str]:
    """Sort key of ReplicaSets and Jobs by relevance: those that want pods now, then the newest."""
    pods = mapping(between, "spec").get("replicas") or mapping(between, "status").get("active")
    return bool(pods), str(mapping(between, "metadata").get("creationTimestamp"))


async def _names(reader: ListReader, wanted: ObjectRef) -> list[str]:
    """The names of the objects of the kind in the namespace, as far as they may be listed."""
    return [str(mapping(one, "metadata").get("name")) for one in await _some(reader, wanted.kind, wanted.namespace, [])]


async def _owned(
    reader: ListReader, kind: ApiKind, workload: Unstructured, owners: Collection[Unstructured], unread: list[str]
) -> list[Unstructured]:
    """The objects of the kind that one of the ``owners`` owns, by its uid, among those that the workload selects.

    Pods of a Job of Streams belong to its processing elements; their label identifies them, and the selector in the
    status of a ParallelRegion those with operators of it.
    """
    metadata, job = mapping(workload, "metadata"), is_job(workload)
    uids = {mapping(owner, "metadata").get("uid") for owner in owners}
    labels = {keys.JOB: metadata.get("name")} if job else mapping(workload, "spec", "selector", "matchLabels")
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    if workload.get("kind") == PARALLEL_REGION.name:
        selector, job = str(mapping(workload, "status").get("selector") or ""), True
        if not selector:
            return []
    selectors = {"labelSelector": selector} if selector else {}
    objects: list[Unstructured] = []
    try:
        async for one in _all(reader, kind, str(metadata.get("namespace")), selectors):
            if job or any(owner.get("uid") in uids for owner in sequence(mapping(one, "metadata"), "ownerReferences")):
                objects.append(one)
            if len(objects) == PODS:
                break
    except ApiError as failure:
        _note(failure, kind.full_resource, unread)
    return objects


async def _all(
    reader: ListReader, kind: ApiKind, namespace: str, selectors: Mapping[str, str] | None = None
) -> AsyncIterator[Unstructured]:
    """All objects of the kind in the namespace that the selectors select."""
    async for item in listed(reader, kind.path_in(quote(namespace, safe="")), selectors or {}):
        yield decoded(bytes(item))


async def _warnings(
    reader: ListReader, namespace: str, about: Sequence[Unstructured], unread: list[str]
) -> list[WarningEvent]:
    """The latest warnings about the first few of the objects, the newest first."""
    warnings: list[WarningEvent] = []
    try:
        for one in about[:_ASKED]:
            selectors = {"fieldSelector": f"type=Warning,involvedObject.uid={mapping(one, 'metadata').get('uid')}"}
            async for item in listed(reader, f"/api/v1/namespaces/{quote(namespace, safe='')}/{_EVENTS}", selectors):
                # A user who may write Events may write any number of them.
                warnings = sorted([*warnings, _warning(decoded(bytes(item)))], key=lambda each: each.at, reverse=True)
                del warnings[WARNINGS:]
    except ApiError as failure:
        _note(failure, _EVENTS, unread)
    return warnings


def _warning(event: Unstructured) -> WarningEvent:
    """An Event; the time is that of the last one of its series."""
    times = (mapping(event, "series").get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    about = mapping(event, "involvedObject")
    return WarningEvent(
        at=next(filter(None, map(time_of, times)), datetime.fromtimestamp(0, UTC)),
        about=f"{about.get('kind')} {about.get('name')}",
        reason=_cut(event.get("reason")),
        message=_cut(event.get("message")),
    )


def _cut(text: object) -> str:
    shown = str(text or "")
    return shown if len(shown) <= _TEXT else f"{shown[: _TEXT - 3]}..."


def _note(failure: ApiError, resource: str, unread: list[str]) -> None:
    """Note that the resource may not be read; raises the error if it is another one."""
    if failure.cause is not Cause.FORBIDDEN:
        raise failure
    unread.append(resource)
