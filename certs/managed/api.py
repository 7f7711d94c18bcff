"""The few requests to the API server, each bounded in time and size."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import aiohttp

from certs.managed.access import Access
from certs.managed.configuration import Object
from certs.names import printable

ANSWER_LIMIT: Final = 3 << 20
"""Bytes of an answer: the API server stores no object above 1.5 MiB (etcd's limit of a request), in base64 at worst."""

_MESSAGE_LIMIT: Final = 400
"""Characters of a failure: a proxy may answer with a page."""

JSON_PATCH: Final = "application/json-patch+json"


class FailureError(Exception):
    """A request that did not succeed, which may later; the text is a clause in printable characters."""

    def __init__(self, text: str) -> None:
        shown = printable(text)
        super().__init__(f"{shown[:_MESSAGE_LIMIT]}..." if len(shown) > _MESSAGE_LIMIT else shown)


class ConflictError(FailureError):
    """Somebody else has changed the object since it was read, or made one of that name."""


class MissingError(ConflictError):
    """There is no such object, or no such namespace."""


_KINDS: Final[Mapping[int, type[FailureError]]] = {
    HTTPStatus.CONFLICT: ConflictError,
    HTTPStatus.NOT_FOUND: MissingError,
}


class Api:
    """The API server; ``async with Api(access, seconds=5) as api``."""

    def __init__(self, access: Access, *, seconds: float) -> None:
        """Every request is given up after so many seconds."""
        self.now = datetime.now(UTC)
        """The API server's time at its last answer, to the second; ours only before the first."""
        self._access = access
        self._seconds = seconds
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        # Nothing of the environment: the API server is named, and no proxy may read the keys.
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self._seconds), trust_env=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def find(self, path: str) -> Object | None:
        """The object as it is stored now; none if there is none. Raises FailureError."""
        try:
            return await self._ask("GET", path)
        except MissingError:
            return None

    async def create(self, collection: str, thing: Object) -> Object:
        """Make an object. Raises ConflictError if there is one of that name, FailureError."""
        return await self._ask("POST", collection, thing)

    async def replace(self, path: str, thing: Object) -> Object:
        """Put this in the place of the version that it names. Raises ConflictError, FailureError."""
        return await self._ask("PUT", path, thing)

    async def patch(self, path: str, operations: list[Object]) -> Object:
        """Apply a JSON Patch. Raises ConflictError, FailureError."""
        return await self._ask("PATCH", path, operations, content=JSON_PATCH)

    async def _ask(self, method: str, path: str, body: object = None, *, content: str = "application/json") -> Object:
        if self._session is None:
            raise RuntimeError("an Api is used as a context")
        try:
            async with asyncio.timeout(self._seconds):
                # Credentials may come from files or a plugin: not on the event loop.
                header = await asyncio.to_thread(self._access.authorization)
                async with self._session.request(
                    method,
                    self._access.server + path,
                    data=None if body is None else json.dumps(body),
                    headers={"Content-Type": content, **({"Authorization": header} if header else {})},
                    ssl=self._access.tls(),
                    server_hostname=self._access.server_name,
                    allow_redirects=False,
                ) as response:
                    return self._object(response, await _whole(response))
        except TimeoutError:
            raise FailureError(f"no answer to {method} {path} within {self._seconds:g} seconds") from None
        except (aiohttp.ClientError, OSError) as error:
            raise FailureError(f"{method} {path} failed: {str(error) or type(error).__name__}") from None

    def _object(self, response: aiohttp.ClientResponse, body: bytes) -> Object:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        said = answer.get("message") if isinstance(answer, dict) else None
        text = f"the API server answers {response.status} to {response.method} {response.url.path}"
        if response.status not in (HTTPStatus.OK, HTTPStatus.CREATED) or not isinstance(answer, dict):
            kind = _KINDS.get(response.status, FailureError)
            raise kind(f"{text}: {said or response.reason or 'no reason given'}")
        self.now = _date(response.headers.get("Date")) or datetime.now(UTC).replace(microsecond=0)
        return answer


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > ANSWER_LIMIT:
            raise FailureError(f"the answer to {response.method} {response.url.path} is above {ANSWER_LIMIT} bytes")
    return bytes(body)


def _date(text: str | None) -> datetime | None:
    """The header, if it names a zone, as HTTP demands."""
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None
