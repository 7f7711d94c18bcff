"""``ClusterAccess``: users of the cluster, by their bearer tokens and by the rights that the cluster gives them.

The API server says whose token it is (``authentication.k8s.io/v1 TokenReview``), and whether that user may do to the
HPAIntent object what the request would do (``authorization.k8s.io/v1 SubjectAccessReview``).
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Final

import msgspec
from aiohttp import web
from msgspec import Struct

from kubeapi.client.connection import Connection
from kubeapi.client.decoding import ERRORS
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.admission.review import User
from webhook.cluster.queries.lookups.authorization import Authorization
from webhook.placement.text.api_kinds import HPA_INTENT
from webhook.placement.text.problem import quote
from webhook.rest.access import Action, bearer_token, unauthorized
from webhook.rest.request_error import FieldError, RequestError
from webhook.rest.storage.cluster_store import NamespaceMap
from webhook.rest.storage.intent_objects import object_name
from webhook.rest.storage.store import StorageError

PATH: Final = "/apis/authentication.k8s.io/v1/tokenreviews"

KNOWN_SECONDS: Final = 10.0
UNKNOWN_SECONDS: Final = 5.0
"""Seconds for which the answer about a token holds: as long as API servers keep it (10 s), so that a token that is
revoked soon stops to count."""

KEPT: Final = 4096
"""Answers about tokens that are kept: some hundred bytes each."""

_QUESTIONS: Final = 16
"""Concurrent questions about tokens: a flood of invented tokens must not become one of requests to the API server."""

_TOKEN_LIMIT: Final = 16 * 1024
"""Characters of a token that are passed on; those of service accounts have some thousand."""


class _TokenStatus(Struct, frozen=True):
    authenticated: bool = False
    user: User = User()
    audiences: tuple[str, ...] | None = None


class _TokenReview(Struct, frozen=True):
    status: _TokenStatus = _TokenStatus()


class ClusterAccess:
    """Asks the API server behind the connection, which the caller keeps open; answers are kept for some seconds.

    Tokens must have been made for the ``audience``; empty for the API server itself.
    """

    def __init__(
        self,
        connection: Connection,
        namespaces: NamespaceMap,
        *,
        audience: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._audience = audience
        self._server = ObjectClient(connection)
        self._rights = Authorization(self._server, clock=clock)
        self._namespaces = namespaces
        self._clock = clock
        self._known: dict[bytes, tuple[User | None, float]] = {}
        self._questions = asyncio.Semaphore(_QUESTIONS)

    async def identify(self, request: web.BaseRequest, *, scraping: bool = False) -> User:
        """The user whose token the request carries.

        For ``scraping``, which reads no intents, a token for the API server will do: Prometheus has no other.
        """
        token = bearer_token(request)
        for audience in dict.fromkeys((self._audience, "") if scraping else (self._audience,)):
            if (user := await self._user(token, audience)) is not None:
                return user
        wanted = f" for the audience {self._audience}" if self._audience else ""
        raise unauthorized(f"is not a token that the cluster accepts{wanted}")

    async def authorize(self, user: User, action: Action) -> None:
        """Check the right to the HPAIntent object of the intent."""
        namespace = self._namespaces.of(action.group)
        attributes = {
            "verb": action.verb,
            "group": HPA_INTENT.group,
            "resource": HPA_INTENT.resource,
            "namespace": namespace,
        }
        if action.intent:
            attributes["name"] = object_name(action.group, action.intent)
        what = f"{action.verb} {HPA_INTENT.full_resource} in namespace {namespace}"
        await self._require(user, {"resourceAttributes": attributes}, what)

    async def authorize_path(self, user: User, path: str) -> None:
        """Check the right to read the path, as the API server's own metrics take it."""
        await self._require(user, {"nonResourceAttributes": {"verb": "get", "path": path}}, f"get the path {path}")

    async def _require(self, user: User, attributes: dict[str, dict[str, str]], what: str) -> None:
        try:
            allowed = await self._rights.may(user, attributes)
        except ApiError as error:
            raise StorageError(f"rights cannot be checked: {error}") from error
        if not allowed:
            raise RequestError(403, (FieldError("user", f"{quote(user.username)} has no right to {what}"),))

    async def _user(self, token: str, audience: str) -> User | None:
        """The user of a token for that audience; ``None`` for an invalid token. Answers are cached for some seconds."""
        key = hashlib.sha256(f"{audience}\0{token}".encode()).digest()
        known = self._known.get(key)
        if known is None or known[1] <= self._clock():
            user = await self._reviewed(token, audience)
            if len(self._known) >= KEPT:
                self._known.clear()
            known = user, self._clock() + (UNKNOWN_SECONDS if user is None else KNOWN_SECONDS)
            self._known[key] = known
        return known[0]

    async def _reviewed(self, token: str, audience: str) -> User | None:
        """The user of the token by the API server's answer; ``None`` for an invalid token."""
        if len(token) > _TOKEN_LIMIT:
            return None
        spec = {"token": token, "audiences": [audience]} if audience else {"token": token}
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        try:
            async with self._questions:
                body = await self._server.create(PATH, asked)
            status = msgspec.json.decode(body, type=_TokenReview).status
        except ApiError as error:
            raise StorageError(f"the token cannot be checked: {error}") from error
        except ERRORS as error:
            raise StorageError(f"the token cannot be checked: {error}") from error
        # An authenticator that knows no audiences leaves them out: then the token is for the API server (Kubernetes).
        meant = not audience or audience in (status.audiences or ())
        return status.user if status.authenticated and meant and status.user.username else None
