"""The HTTP handler for AdmissionReviews: checks the request, reads its body, calls the reviewer of the path, answers.

Checks are made in order of their cost. A large body waits for memory (``budget``), and a review waits for its turn when
there are too many (``fair_queue``); everything ends in time for the API server to get an answer.
"""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Final, cast

from aiohttp import StreamReader, hdrs, web
from aiohttp.http import RawRequestMessage

from webhook.admission.answer import Answer
from webhook.admission.responses import errored
from webhook.placement.text.problem import quote
from webhook.server import logs
from webhook.server.fair_queue import ClientFlows, FairQueue, FlowUsage
from webhook.server.http import request_target
from webhook.server.http.budget import Budget
from webhook.server.http.connection import ClientConnection
from webhook.server.http.limits import MIB, REVIEWS, Limits
from webhook.server.http.replies import HttpFault, failure, json, ok_bytes
from webhook.server.http.request_body import read_body
from webhook.server.http.request_target import RequestTarget
from webhook.server.metrics import ReviewMetrics
from webhook.tracing import Traces

Reviewer = Callable[[bytes], Answer | Awaitable[Answer]]
"""Answers the body of one review: within a millisecond, or as an awaitable if the API server has to be asked first."""

Readiness = Callable[[], str | None]
"""Returns ``None``, or why reviews cannot be answered yet."""

_JSON: Final = "application/json"
_OK: Final = 200
_UNDECIDED: Final = "the review was not decided in time; try again"
_NO_SPAN: Final = nullcontext()

_log = logging.getLogger(__name__)


class Reviews:
    """The handler of the port for reviews; ``reviewers`` has the reviewer of each path (``/mutate``).

    ``budget`` is the memory for large bodies, ``queue`` the reviews that wait to be decided. With ``traces`` no request
    is answered at once, since each has spans.
    """

    def __init__(
        self,
        reviewers: Mapping[str, Reviewer],
        *,
        ready: Readiness,
        metrics: ReviewMetrics,
        limits: Limits = REVIEWS,
        traces: Traces | None = None,
    ) -> None:
        self._reviewers = reviewers
        self._traces = traces
        self._span: Callable[[str], AbstractContextManager[object]] = traces.span if traces else lambda _: _NO_SPAN
        self._ready = ready
        self._metrics = metrics
        self._limits = limits
        self._allowance = functools.lru_cache(maxsize=256)(limits.allowance)
        self.budget = Budget(limits.bodies, limits.share)
        self.queue = FairQueue()
        metrics.begin(reviewers)
        metrics.gauge(
            "body_bytes", "Memory reserved for large request bodies, in bytes.", lambda: float(self.budget.used)
        )
        metrics.gauge("waiting_reviews", "Reviews that wait to be decided.", lambda: float(len(self.queue)))

    def at_once(
        self, connection: ClientConnection, message: RawRequestMessage, content: StreamReader, arrived: float
    ) -> bytes | None:
        """All bytes of the answer to a request whose body is complete, if nothing is wrong with it and no review waits.

        An answer that the API server has to be asked for, or that is not good, is left to :meth:`__call__`.
        """
        target = request_target.parse(message.path)
        if (
            self._traces is not None
            or not self.queue.free
            or not 0 < content.total_bytes <= self._limits.body
            or self._fault(message.method, message.headers, content.total_bytes, target.path) is not None
        ):
            return None
        answer = self._review(target.path, content.read_nowait(), connection.flows, None)
        if not isinstance(answer, Answer):
            connection.begun = asyncio.ensure_future(answer)
            return None
        if answer.status != _OK or perf_counter() > arrived + self._allowance(target.timeout):
            connection.begun = answer
            return None
        self._report(target.path, answer, arrived)
        return ok_bytes(answer.body)

    async def __call__(self, request: web.BaseRequest, arrived: float) -> web.Response:
        """The answer to one request whose first byte arrived at the ``perf_counter`` time ``arrived``."""
        target = request_target.parse(request.raw_path)
        if self._traces is None:
            return await self._handle(request, target, arrived)
        name = f"{request.method} {target.path}" if target.path in self._reviewers else "request"
        with self._traces.request(name, request.headers, arrived) as answered:
            response = await self._handle(request, target, arrived)
            answered(response.status)
        return response

    async def _handle(self, request: web.BaseRequest, target: RequestTarget, arrived: float) -> web.Response:
        """The answer to one request."""
        give_up = arrived + self._allowance(target.timeout)
        connection = cast("ClientConnection", request.protocol)
        if connection.begun is not None:
            answer, connection.begun = cast("Answer | Awaitable[Answer]", connection.begun), None
            return await self._conclude(request, target.path, answer, arrived, give_up)
        content, size = request.content, request.content_length
        fault = self._fault(request.method, request.headers, size or 0, target.path)
        if fault is not None:
            return self._refuse(request, fault)
        if content.is_eof():  # most often the body came together with the header
            return await self._answer(request, target.path, content.read_nowait(), arrived, give_up)
        if size is not None and size <= self._limits.small_body:
            return await self._received(request, target.path, arrived, give_up)
        return await self._large(request, target.path, arrived, give_up)

    async def _large(self, request: web.BaseRequest, path: str, arrived: float, give_up: float) -> web.Response:
        """The answer to a request whose body needs a reservation: of its length, or of the limit if it states none."""
        connection = cast("ClientConnection", request.protocol)
        address = connection.flows.address
        size = request.content_length or self._limits.body
        if not await self.budget.reserve(size, address, min(self._limits.room_seconds, give_up - perf_counter())):
            connection.close_unread()
            return self._refuse(request, _late("too many large requests at the same time; try again"))
        try:
            latest = min(give_up, perf_counter() + self._limits.arrival(size))
            return await self._received(request, path, arrived, give_up, latest)
        finally:
            self.budget.release(size, address)

    async def _received(
        self, request: web.BaseRequest, path: str, arrived: float, give_up: float, latest: float | None = None
    ) -> web.Response:
        """The answer to a request whose body has to arrive by ``latest``, or else by ``give_up``."""
        with self._span("read"):
            body = await read_body(request, self._limits.body, give_up if latest is None else latest)
        return (
            self._refuse(request, body)
            if isinstance(body, HttpFault)
            else await self._answer(request, path, body, arrived, give_up)
        )

    async def _answer(
        self, request: web.BaseRequest, path: str, body: bytes, arrived: float, give_up: float
    ) -> web.Response:
        """The answer to a request whose body has arrived."""
        if len(body) > self._limits.body:
            return self._refuse(request, self._too_large())
        if not body:
            return self._refuse(
                request, HttpFault(400, "the body of the request is empty; it must be an AdmissionReview")
            )
        connection = cast("ClientConnection", request.protocol)
        of_namespace = None
        if not self.queue.free:
            with self._span("wait"):
                of_namespace = await self.queue.wait(connection.flows, body, give_up - perf_counter())
            if of_namespace is None or request.transport is None:  # its time is over, or the client has hung up
                return self._refuse(request, _late(_UNDECIDED))
        with self._span("judge"):
            answer = self._review(path, body, connection.flows, of_namespace)
        return await self._conclude(request, path, answer, arrived, give_up)

    async def _conclude(
        self, request: web.BaseRequest, path: str, answer: Answer | Awaitable[Answer], arrived: float, give_up: float
    ) -> web.Response:
        """The response with the answer, which may have to be awaited; a refusal if it comes too late."""
        if not isinstance(answer, Answer):
            with self._span("ask"):
                answer = await self._later(path, answer, give_up)
        if perf_counter() > give_up:
            return self._refuse(request, _late(_UNDECIDED))
        self._report(path, answer, arrived)
        return json(answer.status, answer.body)

    def _report(self, path: str, answer: Answer, arrived: float) -> None:
        """Count and log the answer to a review."""
        self._metrics.reviewed(path, answer, perf_counter() - arrived)
        if answer.status != _OK:
            self._metrics.http_error(answer.status)
        logs.review(_log, path, answer)
        if self._traces is not None:
            self._traces.reviewed(answer)

    def _fault(self, method: str, headers: Mapping[str, str], length: int, path: str) -> HttpFault | None:
        """The fault of a request with a body of that length, apart from the body itself; ``None`` if it has none."""
        if path not in self._reviewers:
            return HttpFault(404, f"no such path: {quote(path)}; there are {', '.join(sorted(self._reviewers))}")
        if method != hdrs.METH_POST:
            return HttpFault(405, f"{quote(method)} is not allowed here; send a POST")
        kind = headers.get(hdrs.CONTENT_TYPE, "")
        if kind != _JSON and kind.partition(";")[0].strip().lower() != _JSON:
            return HttpFault(415, f"the content type is {quote(kind)}; it must be {_JSON}")
        if hdrs.CONTENT_ENCODING in headers:
            return HttpFault(415, f"the content encoding is {quote(headers[hdrs.CONTENT_ENCODING])}; send it plain")
        if length > self._limits.body:
            return self._too_large()
        reason = self._ready()
        return None if reason is None else HttpFault(503, f"the webhook is not ready: {reason}")

    def _review(
        self, path: str, body: bytes, flows: ClientFlows, of_namespace: FlowUsage | None
    ) -> Answer | Awaitable[Answer]:
        """Call the reviewer of the path, and charge its time to the flows of the review."""
        before = perf_counter()
        try:
            return self._reviewers[path](body)
        except Exception:  # noqa: BLE001 -- whatever a reviewer raises, the API server gets an answer
            return self._failed(path)
        finally:
            seconds = perf_counter() - before
            self._metrics.decided(seconds)
            self.queue.charge(seconds, flows, of_namespace)

    async def _later(self, path: str, answer: Awaitable[Answer], give_up: float) -> Answer:
        """Await the answer; an answer of failure if it is not there at ``give_up``."""
        try:
            async with asyncio.timeout(give_up - perf_counter()):
                return await answer
        except TimeoutError:
            return errored(_UNDECIDED)
        except Exception:  # noqa: BLE001 -- whatever a reviewer raises, the API server gets an answer
            return self._failed(path)

    def _failed(self, path: str) -> Answer:
        """Count and log the exception that is being handled, and return the answer for it."""
        self._metrics.review_failed(path)
        _log.exception("the review failed", extra={"facts": {"path": path}})
        return errored("the webhook failed to decide; its log has the details")

    def _too_large(self) -> HttpFault:
        return HttpFault(413, f"the body of the request is over {self._limits.body / MIB:g} MiB")

    def _refuse(self, request: web.BaseRequest, fault: HttpFault) -> web.Response:
        """The response with an HTTP error, counted and logged."""
        self._metrics.http_error(fault.code)
        _log.warning("%s", fault.message, extra={"facts": {"code": fault.code, "method": request.method}})
        reply = failure(fault)
        if fault.code == web.HTTPMethodNotAllowed.status_code:
            reply.headers[hdrs.ALLOW] = hdrs.METH_POST
        return reply


def _late(message: str) -> HttpFault:
    """The fault for a request that could not be answered in time."""
    return HttpFault(503, message)
