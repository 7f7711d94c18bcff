"""``ClusterStore``: intents as HPAIntent objects of a cluster, which several servers may change at the same time.

A change reads the object, and is written under the version that was read. If another client was faster, the API server
refuses it, and the change is retried on what is stored then (optimistic concurrency).
"""

import asyncio
import logging
import random
from typing import Final
from urllib.parse import urlencode
from weakref import WeakValueDictionary

import msgspec

from kubeapi.client.api_types import Page
from kubeapi.client.connection import Connection
from kubeapi.client.decoding import ERRORS
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.placement.kube.names import is_namespace
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HPA_INTENT
from webhook.rest.intents import INTENT_LIMIT, Change, IntentEntity
from webhook.rest.request_error import RequestError, refused
from webhook.rest.routes import IntentGroup
from webhook.rest.storage.intent_objects import (
    StoredHPAIntent,
    UnusableObjectError,
    entity_of,
    group_label,
    object_name,
    object_of,
    patch_of,
)
from webhook.rest.storage.store import IntentPage, StaleTokenError, StorageError

PROJECT: Final = "{project}"
"""What stands for the name of the project in the setting for the namespace."""

ATTEMPTS: Final = 12
"""How often a change is retried. Changes of one process take turns, so only other processes can be faster."""

_BACKOFF: Final = 0.02
"""Seconds of the longest pause after the first attempt; each further one is half as long again."""

_PART: Final = 50
"""Objects of one part of a list at most, so that an answer has no more than 25 MiB, however large they are."""

_LIST_LIMIT: Final = 2 * _PART * INTENT_LIMIT
"""Bytes of such an answer: the API server adds ``managedFields``, which are at most as large as the object."""

_LOOK: Final = 10.0
"""Seconds between two looks whether the API server answers."""

_OBJECT: Final = msgspec.json.Decoder(StoredHPAIntent)
_PAGE: Final = msgspec.json.Decoder(Page)

_log = logging.getLogger(__name__)


class NamespaceMap:
    """The namespace of each project: one for all, or one each, of the project's name.

    ``pattern`` is a namespace, or has :data:`PROJECT` in it. Raises ``ValueError`` if no project could get a namespace.
    """

    def __init__(self, pattern: str) -> None:
        if not is_namespace(pattern.replace(PROJECT, "p")):
            raise ValueError("it must be a namespace (a-z, 0-9 and '-'), which may have {project} in it")
        self._pattern = pattern

    def of(self, group: IntentGroup) -> str:
        """The namespace; raises :class:`RequestError` if the project's name cannot be part of one."""
        namespace = self._pattern.replace(PROJECT, group.project)
        if not is_namespace(namespace):
            rule = f"makes the namespace {namespace}, but a namespace has up to 63 of a-z, 0-9 and '-'"
            raise refused(400, "project-name", rule, group.project)
        return namespace


class ClusterStore:
    """Intents as objects behind one connection, which the caller keeps open. Run :meth:`watch` beside it."""

    def __init__(self, connection: Connection, namespaces: NamespaceMap) -> None:
        self._server = ObjectClient(connection)
        self._lists = ObjectClient(connection, limit=_LIST_LIMIT)
        self._namespaces = namespaces
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._reason: str | None = "the API server has not answered yet"

    async def read(self, group: IntentGroup, name: str) -> IntentEntity | None:
        """The intent of the object as it is now."""
        stored = await self._object(self._path(group, name))
        return None if stored is None else _entity(stored, group)

    async def page(self, group: IntentGroup, limit: int, token: str) -> IntentPage:
        """A part of the list, in the order of the objects' names; the token is that of the API server."""
        query = {"labelSelector": f"{keys.INTENT_GROUP}={group_label(group)}", "limit": str(min(limit, _PART))}
        if token:
            query["continue"] = token
        path = f"{HPA_INTENT.path_in(self._namespaces.of(group))}?{urlencode(query)}"
        try:
            page = _PAGE.decode(await self._lists.read(path))
        except ApiError as error:
            if error.cause is Cause.GONE:
                raise StaleTokenError("is too old: begin the list again", status=410) from None
            if token and error.request is not None and error.request.code == StaleTokenError.BAD_REQUEST:
                raise StaleTokenError("is not a token of this list") from None
            raise _failure(error) from error
        except ERRORS as error:
            raise StorageError(f"the API server's list cannot be read: {error}") from error
        entities = [entity for item in page.items or () if (entity := _listed(bytes(item), group)) is not None]
        return IntentPage(tuple(entities), page.metadata.following or "")

    async def change(self, group: IntentGroup, name: str, change: Change) -> IntentEntity | None:
        """Make the change under the version that was read, again and again until no other client is faster."""
        path = self._path(group, name)
        async with self._turns.setdefault(path, asyncio.Lock()):
            for attempt in range(ATTEMPTS):
                try:
                    return await self._attempt(group, path, change)
                except ApiError as error:
                    if error.cause not in {Cause.CONFLICT, Cause.EXISTS, Cause.MISSING}:
                        raise _failure(error) from error
                    if error.cause is Cause.MISSING and error.request is not None and error.request.method == "POST":
                        raise self._nowhere(group, error) from error
                await asyncio.sleep(random.uniform(0, _BACKOFF * 1.5**attempt))  # noqa: S311 -- no secret
        raise StorageError("other clients keep changing this HPA intent: try again")

    async def watch(self, seconds: float = _LOOK) -> None:
        """Look once in so many seconds whether the API server answers, until cancelled."""
        path = f"{HPA_INTENT.path}?limit=1"
        while True:
            try:
                await self._lists.read(path)
            except ApiError as error:
                reason = str(error) if error.cause is not Cause.FORBIDDEN else None
            else:
                reason = None
            if reason != self._reason and reason is not None:
                _log.warning("not ready: %s", reason)
            self._reason = reason
            await asyncio.sleep(seconds)

    def ready(self) -> str | None:
        """Why the API server could not be asked at the last look."""
        return self._reason

    async def close(self) -> None:
        """Nothing is open but the connection, which is the caller's."""

    async def _attempt(self, group: IntentGroup, path: str, change: Change) -> IntentEntity | None:
        stored = await self._object(path)
        after = change(None if stored is None else _entity(stored, group))
        if stored is None:
            if after is not None:
                await self._server.create(path.rpartition("/")[0], object_of(group, after))
        elif after is None:
            await self._server.delete(path, uid=stored.metadata.uid, version=stored.metadata.version)
        else:
            await self._server.merge_patch(path, patch_of(group, after, stored.metadata.version))
        return after

    async def _object(self, path: str) -> StoredHPAIntent | None:
        """The object as it is now; ``None`` if it does not exist, or is being deleted."""
        try:
            stored = _OBJECT.decode(await self._server.read(path))
        except ApiError as error:
            if error.cause is Cause.MISSING:
                return None
            raise _failure(error) from error
        except ERRORS as error:
            raise StorageError(f"the API server's answer cannot be read: {error}") from error
        return stored if stored.metadata.deleted is None else None

    def _nowhere(self, group: IntentGroup, error: ApiError) -> RequestError:
        """The error of a creation where the API server has no such place: no namespace, or no definition."""
        detail = error.request.detail if error.request is not None else str(error)
        rule = f"needs namespace {self._namespaces.of(group)} with HPAIntents, and the cluster says: {detail}"
        return refused(404, "project-name", rule, group.project)

    def _path(self, group: IntentGroup, name: str) -> str:
        return f"{HPA_INTENT.path_in(self._namespaces.of(group))}/{object_name(group, name)}"


def _entity(stored: StoredHPAIntent, group: IntentGroup) -> IntentEntity:
    try:
        return entity_of(stored, group)
    except UnusableObjectError as error:
        rule = f"HPAIntent {stored.metadata.name} was changed by another client, and cannot be used: {error}"
        raise StorageError(rule, status=409) from error


def _listed(item: bytes, group: IntentGroup) -> IntentEntity | None:
    """The intent of an object of a list; an invalid object gives ``None`` and a line in the log, not an error."""
    try:
        stored = _OBJECT.decode(item)
        return None if stored.metadata.deleted is not None else entity_of(stored, group)
    except (UnusableObjectError, *ERRORS) as error:
        _log.warning("an HPAIntent is left out of a list: %s", error)
        return None


def _failure(error: ApiError) -> StorageError | RequestError:
    """The error of the request that led to an error of the API server."""
    detail = error.request.detail if error.request is not None else ""
    if error.cause is Cause.INVALID:
        return refused(400, "HPAIntent", f"the cluster refuses it: {detail}")
    if error.cause is Cause.FORBIDDEN:
        return refused(403, "HPAIntent", f"the cluster does not allow it: {detail}")
    return StorageError(str(error))
