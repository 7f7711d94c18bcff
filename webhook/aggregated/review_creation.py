"""``ReviewCreation``: one review, from its request to its answer.

Checks come in the order of their cost: whether the user may, how large the body is and whether it arrives, and what it
says. Then the review waits for its turn, and is answered in a process of its own.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

import msgspec
from aiohttp import hdrs, web
from msgspec import Raw, Struct

from kubeapi.client.errors import ApiError
from webhook.admission.review import MALFORMED, User
from webhook.aggregated.review_fault import ReviewFaultError
from webhook.aggregated.review_process import SECONDS, NoAnswerError, ReviewProcess
from webhook.aggregated.review_rights import ForbiddenError, ReviewRights
from webhook.aggregated.turns import TIME_USED_UP, NoTurnError, Turns, flow_of
from webhook.cluster.judging.changes import ChangeLog
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text.problem import escape, quote
from webhook.placementreview.review import API_VERSION, KIND
from webhook.server.http.budget import Budget
from webhook.server.http.limits import KIB, MIB, Limits
from webhook.server.http.replies import HttpFault, long_json
from webhook.server.http.request_body import read_body

LIMITS: Final = Limits(
    body=3 * MIB,  # what the API server takes
    bodies=12 * MIB,
    share=6 * MIB,
    header=128 * KIB,
    header_fields=1024,  # one for each group of the user
    connections=100,  # all of them the API servers'
    deadline_seconds=30.0,
)
"""Limits of the port; ``share`` is that of one user."""

_JSON: Final = "application/json"
_CREATED: Final = 201
_LATE: Final = 504
_CODE: Final = 3
"""Digits of an HTTP status."""


class ReviewOutcome(Struct, frozen=True, omit_defaults=True):
    """What the work says: a status as JSON, or an error with its code and message."""

    status: Raw = Raw(b"null")
    code: int = _CREATED
    message: str = ""


class ReviewQuestion(Struct, frozen=True):
    """A review that a user may have answered: its namespace, its spec as JSON, and the user."""

    namespace: str
    spec: bytes
    user: User


Answering = Callable[[ReviewQuestion], ReviewOutcome]
"""Answers a question by the present state of the cluster; called in a process of its own."""


class ReviewSource(Struct, frozen=True):
    """What answers reviews: by the ``inventory``, of which ``changes`` has every change, and no other state."""

    answering: Answering
    inventory: Inventory
    changes: ChangeLog


class ReviewRequest(Struct, frozen=True):
    """What the process of a review gets: a body that is a review, its namespace, and the user."""

    namespace: str
    body: bytes
    user: User


class _ReviewEnvelope(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The envelope of a review; the spec is decoded where it is answered, and a status, of an answer, is no matter."""

    api_version: str = ""
    kind: str = ""
    metadata: dict[str, Any] | None = None
    spec: Raw = Raw(b"{}")
    status: Raw = Raw(b"null")


class _CreatedReview(Struct, frozen=True, rename="camel"):
    metadata: dict[str, Any]
    spec: Raw
    status: Raw
    api_version: str = API_VERSION
    kind: str = KIND


class ReviewCreation:
    """Creates reviews. ``ready`` says why no review can be answered now, ``None`` if one can."""

    def __init__(
        self,
        rights: ReviewRights,
        process: ReviewProcess,
        ready: Callable[[], str | None],
        limits: Limits = LIMITS,
    ) -> None:
        self._rights = rights
        self._process = process
        self._ready = ready
        self.limits = limits
        self._turns = Turns(process.pace)
        self._budget = Budget(limits.bodies, limits.share)

    @property
    def waiting(self) -> int:
        """How many reviews wait for their turn."""
        return len(self._turns)

    async def __call__(self, request: web.BaseRequest, user: User, namespace: str, give_up: float) -> web.Response:
        """The answer to a request that creates a review."""
        if (reason := self._ready()) is not None:
            raise ReviewFaultError(503, reason)
        _check_header(request, self.limits.body)
        try:
            await self._rights.require(user, namespace)
        except ForbiddenError as error:
            raise ReviewFaultError(403, str(error)) from None
        except ApiError as error:
            raise ReviewFaultError(503, f"your rights cannot be checked: {error}") from error
        size, flow = request.content_length or self.limits.body, flow_of(user.username)
        seconds = min(self.limits.room_seconds, give_up - perf_counter())
        if not await self._budget.reserve(size, flow, seconds):
            raise ReviewFaultError(429, "too many large placement reviews at the same time; try again", close=True)
        try:
            latest = min(give_up, perf_counter() + self.limits.arrival(size))
            body = _whole(await read_body(request, self.limits.body, latest), self.limits.body)
            return await self._answer(request, body, user, namespace, give_up)
        finally:
            self._budget.release(size, flow)

    async def _answer(
        self, request: web.BaseRequest, body: bytes, user: User, namespace: str, give_up: float
    ) -> web.Response:
        """The answer to a review whose body has arrived."""
        _decoded(body, namespace)
        begun, remaining = perf_counter(), 0.0
        try:
            async with self._turns.turn(flow_of(user.username), give_up - begun):
                remaining = give_up - perf_counter()
                if request.transport is None:
                    raise ReviewFaultError(503, "the client has hung up")
                said = await self._process.run(ReviewRequest(namespace, body, user), remaining)
        except NoTurnError as error:
            raise ReviewFaultError(429, str(error)) from None
        except NoAnswerError as error:
            if error.code == _LATE and remaining < min(SECONDS, (give_up - begun) / 2):
                raise ReviewFaultError(429, TIME_USED_UP) from None
            raise ReviewFaultError(error.code, str(error), after=error.after) from None
        code = int(said[:_CODE])
        del said[:_CODE]
        if code != _CREATED:
            raise ReviewFaultError(code, said.decode())
        return long_json(_CREATED, said)


def answered(request: ReviewRequest, answering: Answering) -> bytes:
    """The HTTP status, and the body of the answer or the message of the error.

    It is made in the process of the review: for the loop of admission 8 MiB of JSON would be 14 ms.
    """
    review = _decoded(request.body, request.namespace)
    question = ReviewQuestion(request.namespace, bytes(review.spec), request.user)
    outcome = answering(question)
    if outcome.code != _CREATED:
        return f"{outcome.code}{outcome.message}".encode()
    metadata = {**(review.metadata or {}), "namespace": question.namespace}
    created = msgspec.json.encode(_CreatedReview(metadata, review.spec, outcome.status))
    return b"%d%b" % (_CREATED, created)


def _check_header(request: web.BaseRequest, limit: int) -> None:
    """Check what the header says of the body."""
    kind = request.headers.get(hdrs.CONTENT_TYPE, "")
    if kind.partition(";")[0].strip().lower() != _JSON:
        raise ReviewFaultError(415, f"the content type is {quote(kind)}; it must be {_JSON}", close=True)
    if hdrs.CONTENT_ENCODING in request.headers:
        raise ReviewFaultError(415, "the body is compressed; send it plain", close=True)
    if (request.content_length or 0) > limit:
        raise ReviewFaultError(413, _too_large(limit), close=True)


def _whole(body: bytes | HttpFault, limit: int) -> bytes:
    """The body, if it has arrived and is not too large."""
    if isinstance(body, HttpFault):
        raise ReviewFaultError(body.code, body.message, close=True)
    if len(body) > limit:
        raise ReviewFaultError(413, _too_large(limit), close=True)
    return body


def _decoded(body: bytes, namespace: str) -> _ReviewEnvelope:
    """The review in the body; its spec is not decoded."""
    try:
        review = msgspec.json.decode(body, type=_ReviewEnvelope)
    except MALFORMED as error:
        raise ReviewFaultError(400, f"the body is not a {KIND}: {escape(str(error))}") from None
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise ReviewFaultError(
            400,
            f"the body is a {quote(review.kind)} of {quote(review.api_version)}; it must be a {KIND} of {API_VERSION}",
        )
    stated = (review.metadata or {}).get("namespace") or namespace
    if stated != namespace:
        raise ReviewFaultError(
            400, f"metadata.namespace is {quote(str(stated))}; the request is about {quote(namespace)}"
        )
    return review


def _too_large(limit: int) -> str:
    return f"the body is over {limit // MIB} MiB; ask about fewer manifests at a time"
