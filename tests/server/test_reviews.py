"""One review, from its bytes to its answer, over real TLS."""

import asyncio
import contextlib
import gzip
import time
from collections.abc import AsyncIterator

import msgspec
import pytest

from tests.server.pki import Authority
from tests.server.running_server import PATIENT, Running, allow, limits, post, running
from webhook.admission.answer import Answer, Outcome
from webhook.server.lifecycle import Service
from webhook.settings import Settings

pytestmark = pytest.mark.integration


@pytest.fixture
async def server(settings: Settings, authority: Authority) -> AsyncIterator[Running]:
    """A server that is patient: what it thinks of a review is no question of how busy this machine is."""
    bounds = limits(header_seconds=5.0, handshake_seconds=5.0)
    async with running(settings, authority, bounds=bounds) as server:
        yield server


async def test_a_review_is_answered_with_the_reviewers_bytes(server: Running) -> None:
    reply = await server.ask(post(b'{"kind":"AdmissionReview"}', "/mutate?timeout=10s"))
    assert (reply.status, reply.body) == (200, b'seen {"kind":"AdmissionRe')


async def test_an_answer_names_its_type_and_the_program_but_no_version(server: Running) -> None:
    reply = await server.ask(post())
    assert {name: reply.headers.get(name) for name in ("content-type", "server", "connection")} == {
        "content-type": "application/json",
        "server": "streams-placement",
        "connection": None,
    }


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        pytest.param(
            post(b"{}", "/mutat\x1b"),
            400,
            "the request is not HTTP/1.1, or its header is too large",
            id="control character in the path",
        ),
        pytest.param(
            post(b"{}", "/metrics"), 404, 'no such path: "/metrics"; there are /mutate, /validate', id="unknown path"
        ),
        pytest.param(
            post(b"{}", "/mutate/"), 404, 'no such path: "/mutate/"; there are /mutate, /validate', id="slash"
        ),
        pytest.param(
            post(b"{}", '/"%1b'), 404, 'no such path: "/\\"%1b"; there are /mutate, /validate', id="path with a quote"
        ),
        pytest.param(
            b"GET /mutate HTTP/1.1\r\nHost: webhook\r\n\r\n", 405, '"GET" is not allowed here; send a POST', id="GET"
        ),
        pytest.param(
            b"PUT /validate HTTP/1.1\r\nHost: webhook\r\nContent-Length: 2\r\n\r\n{}",
            405,
            '"PUT" is not allowed here; send a POST',
            id="PUT",
        ),
        pytest.param(
            post(Content_Type="text/plain"),
            415,
            'the content type is "text/plain"; it must be application/json',
            id="text",
        ),
        pytest.param(
            post(Content_Type=""), 415, 'the content type is ""; it must be application/json', id="no content type"
        ),
        pytest.param(
            post(gzip.compress(b"{}"), Content_Encoding="gzip"),
            415,
            'the content encoding is "gzip"; send it plain',
            id="compressed",
        ),
        pytest.param(post(b""), 400, "the body of the request is empty; it must be an AdmissionReview", id="empty"),
        pytest.param(
            b"\x16\x03\x01 garbage\r\n\r\n",
            400,
            "the request is not HTTP/1.1, or its header is too large",
            id="garbage bytes",
        ),
        pytest.param(
            post(X_Long="x" * 9000), 400, "the request is not HTTP/1.1, or its header is too large", id="long header"
        ),
        pytest.param(
            post(b"{}", "/mutate", **{f"X-{i}": "x" for i in range(70)}),
            400,
            "the request is not HTTP/1.1, or its header is too large",
            id="many headers",
        ),
        pytest.param(
            post(b"zz\r\n", Content_Length="", Transfer_Encoding="chunked"),
            400,
            "the request is not HTTP/1.1, or its header is too large",
            id="bad chunk",
        ),
        pytest.param(
            post(Transfer_Encoding="chunked"),
            400,
            "the request is not HTTP/1.1, or its header is too large",
            id="length and chunks",
        ),
    ],
)
async def test_what_cannot_be_answered_is_an_http_error_with_a_status_body(
    server: Running, data: bytes, status: int, message: str
) -> None:
    reply = await server.ask(data)
    assert (reply.status, reply.message) == (status, message)


async def test_a_status_body_is_what_the_api_server_looks_for(server: Running) -> None:
    assert msgspec.json.decode((await server.ask(post(b""))).body) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the body of the request is empty; it must be an AdmissionReview",
        "reason": "BadRequest",
        "code": 400,
    }


async def test_a_wrong_method_is_told_the_right_one(server: Running) -> None:
    reply = await server.ask(b"GET /mutate HTTP/1.1\r\nHost: webhook\r\n\r\n")
    assert reply.headers["allow"] == "POST"


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/json ; a=b"])
async def test_a_content_type_may_have_parameters(server: Running, kind: str) -> None:
    assert (await server.ask(post(Content_Type=kind))).status == 200


async def test_a_body_of_eight_mebibytes_is_read(server: Running) -> None:
    assert (await server.ask(post(b"x" * 8 * 1024 * 1024))).status == 200


async def test_a_longer_body_is_refused_before_it_is_sent(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(post(b"", Content_Length=str(8 * 1024 * 1024 + 1)))
        reply = await wire.reply()
    assert (reply.status, reply.message, reply.headers["connection"]) == (
        413,
        "the body of the request is over 8 MiB",
        "close",
    )


async def test_a_longer_chunked_body_is_cut(settings: Settings, authority: Authority) -> None:
    async with running(settings, authority, bounds=limits(body=100_000)) as server, server.wire() as wire:
        wire.send(post(b"", Content_Length="", Transfer_Encoding="chunked"))
        for _ in range(11):
            wire.send(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        assert (await wire.reply()).status == 413


async def test_a_short_body_over_the_bound_is_refused_without_a_length(
    settings: Settings, authority: Authority
) -> None:
    async with running(settings, authority, bounds=limits(body=3)) as server:
        reply = await server.ask(post(b"4\r\nabcd\r\n0\r\n\r\n", Content_Length="", Transfer_Encoding="chunked"))
    assert reply.status == 413


async def test_a_body_in_chunks_of_one_byte_is_read(server: Running) -> None:
    chunks = b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"
    reply = await server.ask(post(chunks, Content_Length="", Transfer_Encoding="chunked"))
    assert (reply.status, reply.body) == (200, b"seen " + b"x" * 20)


async def test_a_body_that_comes_late_is_read(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(post(b"", Content_Length="2"))
        await asyncio.sleep(0.05)
        wire.send(b"{}")
        assert (await wire.reply()).body == b"seen {}"


async def test_a_client_that_asks_before_it_sends_is_told_to_go_on(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(post(b"", Content_Length="2", Expect="100-continue"))
        assert await wire.line() == b"HTTP/1.1 100 Continue\r\n"
        assert await wire.line() == b"\r\n"
        wire.send(b"{}")
        assert (await wire.reply()).body == b"seen {}"


async def test_requests_sent_ahead_are_answered_in_order(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(b"".join(post(b"%d" % number) for number in range(50)))
        assert [(await wire.reply()).body for _ in range(50)] == [b"seen %d" % number for number in range(50)]


class TestALargeBody:
    """It is read as soon as there is room for it; here for one, and small ones have eight bytes."""

    @pytest.fixture
    async def narrow(self, settings: Settings, authority: Authority) -> AsyncIterator[Running]:
        bounds = limits(
            header_seconds=5.0, small_body=8, bodies=100, share=100, body=100, room_seconds=0.2, body_rate=1000
        )
        async with running(settings, authority, bounds=bounds) as server:
            yield server

    async def test_is_read_when_there_is_room(self, narrow: Running) -> None:
        async with narrow.wire() as wire:
            wire.send(post(b"", Content_Length="80"))
            await asyncio.sleep(0.05)
            reserved = narrow.figure("body_bytes")
            wire.send(b"x" * 80)
            assert ((await wire.reply()).status, reserved, narrow.figure("body_bytes")) == (200, 80, 0)

    async def test_is_not_read_where_there_is_none_in_time(self, narrow: Running) -> None:
        async with narrow.wire() as first, narrow.wire() as second:
            first.send(post(b"", Content_Length="80"))
            await asyncio.sleep(0.05)
            second.send(post(b"", Content_Length="80"))
            reply = await second.reply()
            assert (reply.status, reply.message, reply.headers["connection"]) == (
                503,
                "too many large requests at the same time; try again",
                "close",
            )
            first.send(b"x" * 80)
            assert (await first.reply()).status == 200

    async def test_takes_the_room_of_the_largest_if_it_does_not_say_its_size(self, narrow: Running) -> None:
        async with narrow.wire() as wire:
            wire.send(post(b"1\r\nx\r\n", Content_Length="", Transfer_Encoding="chunked"))
            await asyncio.sleep(0.05)
            reserved = narrow.figure("body_bytes")
            wire.send(b"0\r\n\r\n")
            assert ((await wire.reply()).status, reserved) == (200, 100)

    async def test_keeps_no_small_one_waiting(self, narrow: Running) -> None:
        async with narrow.wire() as first:
            first.send(post(b"", Content_Length="100"))
            await asyncio.sleep(0.05)
            assert (await narrow.ask(post(b"{}"))).status == 200

    async def test_has_to_arrive_at_a_pace(self, narrow: Running) -> None:
        started = time.monotonic()
        async with narrow.wire() as wire:
            wire.send(post(b"", Content_Length="100"))
            reply = await wire.reply()
        assert (reply.status, reply.message) == (503, "the body of the request did not arrive in time")
        assert time.monotonic() - started < 5


class TestReviewsThatWait:
    """Each takes longer to decide than a turn of the loop has time for."""

    @pytest.fixture
    def service(self) -> Service:
        def slow(body: bytes) -> Answer:
            time.sleep(0.05)
            return allow(body)

        return Service({"/mutate": slow}, lambda: None)

    async def test_are_all_decided(self, settings: Settings, authority: Authority, service: Service) -> None:
        async with running(settings, authority, service, PATIENT) as server:
            replies = await asyncio.gather(*(server.ask(post(b"{}", "/mutate?timeout=10s")) for _ in range(5)))
        assert [reply.status for reply in replies] == [200] * 5

    async def test_are_told_when_it_is_too_late(
        self, settings: Settings, authority: Authority, service: Service
    ) -> None:
        async with running(settings, authority, service, PATIENT) as server, contextlib.AsyncExitStack() as opened:
            wires = [await opened.enter_async_context(server.wire()) for _ in range(8)]
            for wire in wires:
                wire.send(post(b"{}", "/mutate?timeout=200ms"))
            replies = [await wire.reply() for wire in wires]
        late = [reply for reply in replies if reply.status == 503]
        assert {reply.message for reply in late} == {"the review was not decided in time; try again"}


async def test_a_body_that_does_not_come_ends_with_503_in_time(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(post(b"", "/mutate?timeout=100ms", Content_Length="2"))
        reply = await wire.reply()
    assert (reply.status, reply.message) == (503, "the body of the request did not arrive in time")


async def test_a_chunk_that_goes_wrong_later_is_a_body_that_does_not_come(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(post(b"1\r\nx\r\n", "/mutate?timeout=100ms", Content_Length="", Transfer_Encoding="chunked"))
        await asyncio.sleep(0.02)
        wire.send(b"zz\r\n")
        assert (await wire.reply()).status == 503


async def test_a_client_that_hangs_up_within_a_body_harms_no_other(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(post(b"", Content_Length="2"))
        await asyncio.sleep(0.05)
    assert (await server.ask(post())).status == 200


async def test_a_review_decided_too_late_is_a_503(settings: Settings, authority: Authority) -> None:
    def slow(body: bytes) -> Answer:
        time.sleep(0.06)  # the reviewer is synchronous: nothing can cut it short
        return allow(body)

    async with running(settings, authority, Service({"/mutate": slow}, lambda: None)) as server:
        reply = await server.ask(post(b"{}", "/mutate?timeout=100ms"))
    assert (reply.status, reply.message) == (503, "the review was not decided in time; try again")


async def test_unready_is_a_503_with_the_reason_and_without_a_review(settings: Settings, authority: Authority) -> None:
    reasons: list[str | None] = [None]
    asked: list[bytes] = []

    def ask(body: bytes) -> Answer:
        asked.append(body)
        return allow(body)

    async with running(settings, authority, Service({"/mutate": ask}, lambda: reasons[0])) as server:
        reasons[0] = "the Nodes cache is not synced yet"
        reply = await server.ask(post())
    message = "the webhook is not ready: the Nodes cache is not synced yet"
    assert (reply.status, reply.message, asked) == (503, message, [])


class TestAReviewerThatFails:
    """Nothing that goes wrong in the decision allows a pod, tells its inside, or ends the server."""

    @pytest.fixture
    def service(self) -> Service:
        def fail(_: bytes) -> Answer:
            raise RuntimeError("secret detail")

        return Service({"/mutate": fail, "/validate": allow}, lambda: None)

    async def test_is_a_503_that_keeps_its_secrets(
        self, settings: Settings, authority: Authority, service: Service
    ) -> None:
        async with running(settings, authority, service) as server:
            reply = await server.ask(post())
        assert (reply.status, reply.message) == (503, "the webhook failed to decide; its log has the details")

    async def test_leaves_a_traceback_in_the_log(
        self, settings: Settings, authority: Authority, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with running(settings, authority, service) as server:
            await server.ask(post())
        record = next(record for record in caplog.records if record.message == "the review failed")
        assert "RuntimeError: secret detail" in (record.exc_text or "")

    async def test_does_not_end_the_connection(
        self, settings: Settings, authority: Authority, service: Service
    ) -> None:
        async with running(settings, authority, service) as server, server.wire() as wire:
            wire.send(post() + post(b"{}", "/validate"))
            assert [(await wire.reply()).status for _ in range(2)] == [503, 200]

    async def test_is_counted_as_errored(self, settings: Settings, authority: Authority, service: Service) -> None:
        async with running(settings, authority, service) as server:
            await server.ask(post())
        labels = {"path": "/mutate", "outcome": "errored", "reason": "ServiceUnavailable", "kind": "other"}
        assert server.figure("reviews_total", **labels) == 1


async def test_reviews_and_errors_are_counted(server: Running) -> None:
    for data in (post(), post(), post(b""), b"garbage\r\n\r\n"):
        await server.ask(data)
    counted = (
        server.figure("reviews_total", path="/mutate", outcome="allowed", reason="", kind="Pod"),
        server.figure("review_seconds_count"),
        server.figure("decision_seconds_count"),
        server.figure("http_errors_total", code="400"),
    )
    assert counted == (2, 2, 2, 2)


async def test_an_answer_with_an_http_error_counts_as_both(settings: Settings, authority: Authority) -> None:
    unreadable = Answer(status=400, body=b"{}", outcome=Outcome.UNREADABLE, reason="BadRequest")
    async with running(settings, authority, Service({"/mutate": lambda _: unreadable}, lambda: None)) as server:
        assert (await server.ask(post())).status == 400
    counted = server.figure("reviews_total", path="/mutate", outcome="unreadable", reason="BadRequest", kind="other")
    assert (counted, server.figure("http_errors_total", code="400")) == (1, 1)
