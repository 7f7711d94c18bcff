"""``RestApi``: the handler of every request to the REST interface, from the header to the answer.

Checks are made in order of their cost: rate, who asks, path, method, rights, type and size of the body, JSON, schema.
The event loop is shared fairly: when there is more to do than it can do at once, the request of the client that used it
least goes first.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final, cast
from urllib.parse import quote as percent_encoded

from aiohttp import hdrs, web
from msgspec import Struct
from pydantic import BaseModel

from webhook.rest import answers
from webhook.rest.access import AccessControl, Action
from webhook.rest.bodies import read_body as read_entity
from webhook.rest.intents import Entity, children_of, created, element_of, emptied, removed, replaced
from webhook.rest.json_text import read_json
from webhook.rest.query_text import ListQuery, parse_query
from webhook.rest.request_error import RequestError, refused
from webhook.rest.request_rate import RequestRate
from webhook.rest.rest_metrics import RestMetrics
from webhook.rest.routes import Collection, IntentGroup, RouteTarget, parse_path
from webhook.rest.storage.store import IntentStore, StaleTokenError, StorageError
from webhook.server.fair_queue import FairQueue
from webhook.server.http.connection import ClientConnection
from webhook.server.http.limits import Limits
from webhook.server.http.replies import SERVER, HttpFault
from webhook.server.http.request_body import read_body

QueryAnswer = Callable[[IntentGroup, Mapping[str, str]], Awaitable[bytes]]
"""Answers a query about a whole group with JSON; the mapping has the parameters of the request. May raise
:class:`RequestError`."""

PageHandler = Callable[[], web.Response]
"""Answers a page beside the interface, such as ``/docs``."""

_JSON: Final = "application/json"
_HEADERS: Final = {"Content-Type": _JSON, "Server": SERVER, "Cache-Control": "no-store"}

_LISTS: Final = 8
"""Whole lists that are sent at the same time; each holds a part of some hundred intents."""

_PART: Final = 100
"""Intents of a part of a list that is sent as a whole."""

_CHARGE_LIMIT: Final = 0.01
"""Seconds of one request that count at most for fairness: the rest is waiting for storage."""

_READS: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_ON_LISTS: Final = (hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_POST, hdrs.METH_DELETE)
_ON_ELEMENTS: Final = (hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_PUT, hdrs.METH_DELETE)
_ON_PAGES: Final = (hdrs.METH_GET, hdrs.METH_HEAD)

_DELETIONS: Final = 16
"""Intents of a group that are deleted at the same time: API servers bound the requests of one client."""

_VERBS: Final = {hdrs.METH_POST: "create", hdrs.METH_PUT: "update", hdrs.METH_DELETE: "delete"}
"""The verb of Kubernetes for each method on an intent; what changes something below an intent updates the intent."""

_log = logging.getLogger(__name__)


class GroupQuery(Struct, frozen=True):
    """A query about a whole group: how it is answered, and its OpenAPI operation with the models that it refers to."""

    answer: QueryAnswer
    operation: dict[str, Any]
    schemas: tuple[type[BaseModel], ...] = ()


class ApiParts(Struct, frozen=True):
    """The parts of a :class:`RestApi`.

    ``open_pages`` are the pages that need no token, ``guarded_pages`` those that only users may read, ``queries``
    the queries about a whole group, by the last segment of their path.
    """

    store: IntentStore
    access: AccessControl
    metrics: RestMetrics
    limits: Limits
    rate: RequestRate
    open_pages: Mapping[str, PageHandler]
    guarded_pages: Mapping[str, PageHandler]
    queries: Mapping[str, GroupQuery] = {}


class RestApi:
    """Answers every request, or says why not, in a problem document."""

    def __init__(self, parts: ApiParts) -> None:
        self._parts = parts
        self._store = parts.store
        self._queries = frozenset(parts.queries)
        self._queue = FairQueue()
        self._lists = asyncio.Semaphore(_LISTS)

    async def __call__(self, request: web.BaseRequest, arrived: float) -> web.StreamResponse:
        """The answer to a request whose first byte arrived at the ``perf_counter`` time ``arrived``."""
        about = ""
        path, _, query = request.raw_path.partition("?")
        try:
            page = self._parts.open_pages.get(path) or self._parts.guarded_pages.get(path)
            if page is not None:
                about = "pages"
                reply: web.StreamResponse = await self._page(request, path, page)
            else:
                target = await self._target(request, path)
                about = target.query or cast("Collection", target.collection).value
                reply = await self._answer(request, target, query, arrived)
        except RequestError as error:
            reply = error.response()
        except StorageError as error:
            reply = refused(error.status, "storage", str(error)).response()
        except StaleTokenError as error:
            reply = refused(error.status, "query continue", str(error)).response()
        except TimeoutError:
            reply = refused(503, "request", "was not answered in time, and may have been carried out").response()
        if request.method not in _READS or reply.status >= web.HTTPBadRequest.status_code:
            facts = {"path": path, "method": request.method, "code": reply.status}
            _log.info("answered", extra={"facts": facts})
        self._parts.metrics.answered(about, request.method, reply.status, perf_counter() - arrived)
        return reply

    async def _page(self, request: web.BaseRequest, path: str, page: PageHandler) -> web.Response:
        """A page beside the interface."""
        if request.method not in _READS:
            raise _wrong_method(request.method, _ON_PAGES)
        if path in self._parts.guarded_pages:
            user = await self._parts.access.identify(request, scraping=True)
            await self._parts.access.authorize_path(user, path)
        return page()

    async def _target(self, request: web.BaseRequest, path: str) -> RouteTarget:
        """What the path names; raises :class:`RequestError` if the client may not ask, or the path does not exist."""
        address = cast("ClientConnection", request.protocol).flows.address
        if wait := self._parts.rate.wait(address):
            error = refused(429, "request", f"exceeds the rate limit for {address}: wait {wait} s")
            raise RequestError(429, error.errors, {hdrs.RETRY_AFTER: str(wait)})
        target = parse_path(path, self._queries)
        if target is None:
            raise refused(404, "path", "is not a path of this interface; /docs shows all of them", path)
        return target

    async def _answer(
        self, request: web.BaseRequest, target: RouteTarget, query: str, arrived: float
    ) -> web.StreamResponse:
        """The answer about the target; ``query`` is what follows the question mark."""
        give_up = arrived + self._parts.limits.deadline_seconds
        user = await self._parts.access.identify(request)
        method = request.method
        allowed = _ON_PAGES if target.query else _ON_LISTS if target.listed else _ON_ELEMENTS
        if method not in allowed:
            raise _wrong_method(method, allowed)
        asked = parse_query(query, target, reading=method in _READS)
        if asked.name:
            target = target.element(asked.name)
        await self._parts.access.authorize(user, _action(method, target))
        connection = cast("ClientConnection", request.protocol)
        body = b"" if method in _READS or method == hdrs.METH_DELETE else await self._body(request, give_up)
        await self._turn(connection, give_up)
        began = perf_counter()
        try:
            if target.collection is Collection.INTENTS and target.listed and method in _READS:
                return await self._list(request, target, asked)
            async with asyncio.timeout(give_up - began):
                return await self._operate(request, target, asked, body)
        finally:
            self._queue.charge(min(perf_counter() - began, _CHARGE_LIMIT), connection.flows)

    async def _turn(self, connection: ClientConnection, give_up: float) -> None:
        """Wait until it is this client's turn."""
        if self._queue.free:
            return
        if await self._queue.wait(connection.flows, b"", give_up - perf_counter()) is None:
            raise TimeoutError

    async def _body(self, request: web.BaseRequest, give_up: float) -> bytes:
        """The body of a request that has to have one: JSON, whatever its type, as EMCO reads it (``curl --data``)."""
        limit = self._parts.limits.body
        if (coding := request.headers.get(hdrs.CONTENT_ENCODING)) is not None:
            raise refused(415, "header Content-Encoding", "is not supported: send the body unencoded", coding)
        if (request.content_length or 0) > limit:
            raise _too_large(limit)
        return _arrived(await read_body(request, limit, give_up), limit)

    async def _operate(
        self, request: web.BaseRequest, target: RouteTarget, asked: ListQuery, body: bytes
    ) -> web.Response:
        """The answer to anything but a list of intents."""
        if target.query:
            return _answer_of(await self._parts.queries[target.query].answer(target.group, asked.parameters))
        if request.method in _READS:
            stored = await self._store.read(target.group, target.intent)
            if target.listed:
                return _answer_of(b"[%b]" % answers.encoded_list(children_of(stored, target)))
            return _entity_answer(request, element_of(stored, target))
        if request.method == hdrs.METH_DELETE:
            await self._delete(target, _matches(request))
            return web.Response(status=204, headers={hdrs.SERVER: SERVER})
        given = read_entity(cast("Collection", target.collection), read_json(body))
        if request.method == hdrs.METH_POST:
            return await self._create(target, given)
        if given.metadata.name != target.names[-1]:
            rule = f"is not the name in the path, {target.names[-1]}; a new name is a new element"
            raise refused(400, "metadata.name", rule, given.metadata.name)
        await self._store.change(target.group, target.intent, replaced(target, given, _matches(request)))
        return _answer_of(answers.encoded(given), answers.entity_tag(given))

    async def _delete(self, target: RouteTarget, check: Callable[[Entity], None]) -> None:
        """Delete the element, or all elements of the list, that the target names."""
        if not target.listed:
            await self._store.change(target.group, target.intent, removed(target, check))
        elif target.intent:
            await self._store.change(target.group, target.intent, emptied(target, check))
        else:
            await self._delete_intents(target, check)

    async def _delete_intents(self, target: RouteTarget, check: Callable[[Entity], None]) -> None:
        """Delete all intents of the group; none if one of them has consumers."""
        names: list[str] = []
        token = ""
        while True:
            page = await self._store.page(target.group, _PART, token)
            for entity in page.intents:
                removed(target.element(entity.metadata.name), check)(entity)
                names.append(entity.metadata.name)
            token = page.following
            if not token:
                break
        for begin in range(0, len(names), _DELETIONS):
            part = names[begin : begin + _DELETIONS]
            await asyncio.gather(*(self._forget(target.element(name), check) for name in part))

    async def _forget(self, target: RouteTarget, check: Callable[[Entity], None]) -> None:
        """Delete the intent, unless it is gone already."""
        try:
            await self._store.change(target.group, target.intent, removed(target, check))
        except RequestError as error:
            if error.status != web.HTTPNotFound.status_code:
                raise

    async def _create(self, target: RouteTarget, given: Entity) -> web.Response:
        """The answer to a POST of the entity to the list that the target names."""
        element = target.element(given.metadata.name)
        await self._store.change(target.group, element.intent, created(target, given))
        reply = _answer_of(answers.encoded(given), answers.entity_tag(given), status=201)
        reply.headers[hdrs.LOCATION] = element.path
        return reply

    async def _list(self, request: web.BaseRequest, target: RouteTarget, asked: ListQuery) -> web.StreamResponse:
        """The list of a group's intents: one part of it if a limit is given, else all of it, sent part by part."""
        if asked.limit:
            page = await self._store.page(target.group, asked.limit, asked.token)
            reply = _answer_of(b"[%b]" % answers.encoded_list(page.intents))
            if page.following:
                following = f"{target.path}?limit={asked.limit}&continue={percent_encoded(page.following, safe='')}"
                reply.headers[hdrs.LINK] = f'<{following}>; rel="next"'
            return reply
        async with self._lists:
            return await self._whole_list(request, target)

    async def _whole_list(self, request: web.BaseRequest, target: RouteTarget) -> web.StreamResponse:
        """The whole list: storage and client are never ahead of each other by more than a part."""
        page = await self._store.page(target.group, _PART, "")
        if not page.following:
            return _answer_of(b"[%b]" % answers.encoded_list(page.intents))
        reply = web.StreamResponse(headers=_HEADERS)
        try:
            await reply.prepare(request)
            if request.method == hdrs.METH_HEAD:  # has no body, not even an empty chunk
                return reply
            await reply.write(b"[" + answers.encoded_list(page.intents))
            while page.following:
                page = await self._store.page(target.group, _PART, page.following)
                if page.intents:
                    await reply.write(b"," + answers.encoded_list(page.intents))
            await reply.write(b"]")
            await reply.write_eof()
        except (StorageError, StaleTokenError) as error:
            _log.warning("a list ended early: %s", error)
            cast("ClientConnection", request.protocol).abort()
        except ConnectionError:
            _log.info("a list ended early: the client has left")
        return reply


def _action(method: str, target: RouteTarget) -> Action:
    """The operation of the request on stored intents, by which the user's right is checked."""
    if method in _READS:
        return Action("get" if target.intent else "list", target.group, target.intent)
    whole = target.collection is Collection.INTENTS
    if whole and target.listed and method == hdrs.METH_DELETE:
        return Action("deletecollection", target.group)
    return Action(_VERBS[method] if whole else "update", target.group, target.intent)


def _matches(request: web.BaseRequest) -> Callable[[Entity], None]:
    """The check of the header ``If-Match`` (RFC 9110) against the stored element."""
    wanted = request.headers.get(hdrs.IF_MATCH)

    def check(stored: Entity) -> None:
        if wanted is not None and not _names_tag(wanted, answers.entity_tag(stored)):
            raise refused(412, "header If-Match", "is not the ETag of what is stored: it has changed", wanted)

    return check


def _names_tag(header: str, tag: str) -> bool:
    """Whether a header that lists ETags, or has a star, names this one."""
    return any(each.strip() in {"*", tag, f"W/{tag}"} for each in header.split(","))


def _arrived(body: bytes | HttpFault, limit: int) -> bytes:
    """The body, if it has arrived, is not too large and not empty."""
    if not isinstance(body, bytes):
        raise refused(body.code, "body", body.message)
    if len(body) > limit:
        raise _too_large(limit)
    if not body:
        raise refused(400, "body", "is missing: send a JSON object")
    return body


def _too_large(limit: int) -> RequestError:
    return refused(413, "body", f"has more than {limit // 1024} KiB")


def _entity_answer(request: web.BaseRequest, entity: Entity) -> web.Response:
    """The answer with an element, or that it is still what the client has (``If-None-Match``)."""
    tag = answers.entity_tag(entity)
    if _names_tag(request.headers.get(hdrs.IF_NONE_MATCH, ""), tag):
        return web.Response(status=304, headers={hdrs.SERVER: SERVER, hdrs.ETAG: tag})
    return _answer_of(answers.encoded(entity), tag)


def _answer_of(body: bytes, tag: str = "", *, status: int = 200) -> web.Response:
    """The answer with a body that is JSON already."""
    return web.Response(status=status, body=body, headers={**_HEADERS, hdrs.ETAG: tag} if tag else _HEADERS)


def _wrong_method(method: str, allowed: Sequence[str]) -> RequestError:
    error = refused(405, "method", f"is not allowed here, only {', '.join(allowed)}", method)
    return RequestError(405, error.errors, {hdrs.ALLOW: ", ".join(allowed)})
