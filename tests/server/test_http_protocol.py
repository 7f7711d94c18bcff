"""What the private attributes of the installed aiohttp mean, and what happens without them.

``TestWhatEachAttributeMeans`` is the contract with aiohttp: it uses ``web.RequestHandler`` alone, and none of this
product. A version of aiohttp that fails it must not be installed until ``webhook/server/http_protocol.py`` agrees with
it.
"""
# ruff: noqa: SLF001 -- private attributes are what this contract is about

import ast
import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.http import HttpRequestParser

from webhook.server import http_protocol
from webhook.server.http_protocol import CONSUMED, PRIVATE, HttpProtocol, familiar, missing
from webhook.server.metrics import ReviewMetrics

ROOT = Path(__file__).parents[2]
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
UNFINISHED = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n1234"
QUEUE = 32
"""Requests sent ahead that aiohttp parses before it stops reading."""


class Recorder(asyncio.Transport):
    """A transport that keeps what is done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = True
        self.pauses = 0
        self.closed = False
        self.ended = asyncio.Event()
        self.sent = b""

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def pause_reading(self) -> None:
        self.reading = False
        self.pauses += 1

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True
        self.ended.set()


class Opened:
    """A connection of aiohttp, whose requests are answered once ``allowed`` is set; the loop runs only in ``turns``."""

    def __init__(self, **bounds: float) -> None:
        self.allowed = asyncio.Event()
        self.allowed.set()
        self.handled = 0
        self.transport = Recorder()
        self.protocol: Any = self._made(**bounds)
        self.protocol.connection_made(self.transport)

    def _made(self, **bounds: float) -> web.RequestHandler:
        return web.Server(self._answer, access_log=None, **bounds)()

    async def _answer(self, _: web.BaseRequest) -> web.Response:
        self.handled += 1
        await self.allowed.wait()
        return web.Response()

    async def turns(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


class Ours(Opened):
    """The same with this product's protocol, which may use private attributes if it is ``familiar`` with them."""

    def __init__(self, *, familiar: bool = True, **bounds: float) -> None:
        self._familiar = familiar
        super().__init__(**bounds)

    def _made(self, **bounds: float) -> HttpProtocol:
        server = web.Server(self._answer, access_log=None)
        return HttpProtocol(server, loop=asyncio.get_running_loop(), familiar=self._familiar, **bounds)


@pytest.fixture
async def opened() -> AsyncIterator[Callable[..., Opened]]:
    made: list[Opened] = []

    def opening(**bounds: float) -> Opened:
        made.append(Opened(**bounds))
        return made[-1]

    yield opening
    for one in made:
        one.protocol.connection_lost(None)
    await asyncio.sleep(0)


Opening = Callable[..., Opened]


class TestWhatEachAttributeMeans:
    """One test for each name, which it has in its own."""

    async def test_messages_has_requests_that_are_parsed_and_not_handled(self, opened: Opening) -> None:
        one = opened()
        await one.turns()
        one.protocol.data_received(GET + UNFINISHED)
        (first, body), (second, rest) = one.protocol._messages
        assert (first.method, body.is_eof()) == ("GET", True)
        assert (second.method, rest.is_eof(), rest.total_bytes) == ("POST", False, 4)
        await one.turns()
        assert [message.method for message, _ in one.protocol._messages] == []

    async def test_waiter_is_what_an_idle_connection_waits_on(self, opened: Opening) -> None:
        one = opened()
        await one.turns()
        waiter = one.protocol._waiter
        assert not waiter.done()
        one.allowed.clear()
        one.protocol.data_received(GET)
        assert waiter.done()
        await one.turns()
        assert (one.handled, one.protocol._waiter) == (1, None)

    async def test_waiter_that_is_hidden_starts_no_task_until_it_has_a_result(self, opened: Opening) -> None:
        one = opened()
        await one.turns()
        waiter, one.protocol._waiter = one.protocol._waiter, None
        one.protocol.data_received(GET)
        one.protocol._waiter = waiter
        await one.turns()
        assert one.handled == 0
        waiter.set_result(None)
        await one.turns()
        assert one.handled == 1

    async def test_parser_goes_on_when_it_is_told_of_a_message_consumed(self, opened: Opening) -> None:
        one = opened()
        one.protocol.data_received(GET * (QUEUE + 2))
        assert len(one.protocol._messages) == QUEUE
        one.protocol._messages.popleft()
        one.protocol._parser.message_consumed()
        one.protocol.data_received(b"")
        assert len(one.protocol._messages) == QUEUE

    async def test_parser_is_none_once_the_connection_is_lost(self, opened: Opening) -> None:
        one = opened()
        one.protocol.connection_lost(None)
        assert one.protocol._parser is None

    async def test_pause_reading_for_buffer_lasts_until_what_was_sent_ahead_is_handled(self, opened: Opening) -> None:
        one = opened()
        one.allowed.clear()
        await one.turns()
        one.protocol.data_received(GET)
        await one.turns()
        one.protocol.data_received(GET)
        assert not one.protocol._buffer_paused
        one.protocol._pause_reading_for_buffer()
        await one.turns()
        assert (one.protocol._buffer_paused, one.transport.reading) == (True, False)
        one.allowed.set()
        await one.turns()
        assert (one.protocol._buffer_paused, one.transport.reading, one.handled) == (False, True, 2)

    @pytest.mark.parametrize(("size", "reading"), [(0, False), (1, True)])
    async def test_msg_queue_resume_size_is_how_many_may_be_left(
        self,
        opened: Opening,
        size: int,
        reading: bool,  # noqa: FBT001 -- the other half of the table
    ) -> None:
        one = opened()
        one.protocol._msg_queue_resume_size = size
        one.allowed.clear()
        await one.turns()
        one.protocol.data_received(GET + GET)
        one.protocol._pause_reading_for_buffer()
        await one.turns()
        assert (one.handled, len(one.protocol._messages), one.transport.reading) == (1, 1, reading)

    async def test_reading_paused_is_set_by_an_unread_body(self, opened: Opening) -> None:
        one = opened()
        one.protocol.data_received(UNFINISHED)
        assert not one.protocol._reading_paused
        one.protocol.pause_reading()
        assert (one.protocol._reading_paused, one.transport.reading) == (True, False)
        one.protocol.resume_reading()
        assert (one.protocol._reading_paused, one.transport.reading) == (False, True)

    async def test_next_keepalive_close_time_is_when_an_idle_connection_is_closed(self, opened: Opening) -> None:
        kept, other = opened(keepalive_timeout=0.05), opened(keepalive_timeout=0.05)
        loop = asyncio.get_running_loop()
        await kept.turns()
        assert abs(other.protocol._next_keepalive_close_time - loop.time()) < 600
        kept.protocol._next_keepalive_close_time = loop.time() + 600
        async with asyncio.timeout(20):
            await other.transport.ended.wait()
        assert not kept.transport.closed

    @pytest.mark.parametrize(("seconds", "closed"), [(0.0, True), (600.0, False)])
    async def test_lingering_time_is_for_how_long_the_rest_of_a_body_is_read(
        self,
        opened: Opening,
        seconds: float,
        closed: bool,  # noqa: FBT001 -- the other half of the table
    ) -> None:
        one = opened()
        one.protocol._lingering_time = seconds
        await one.turns()
        one.protocol.data_received(UNFINISHED)
        await one.turns()
        assert (one.transport.sent[:15], one.transport.closed) == (b"HTTP/1.1 200 OK", closed)

    @pytest.mark.parametrize("name", PRIVATE)
    def test_each_name_has_its_test(self, name: str) -> None:
        tests = [test for test in dir(type(self)) if test.startswith(f"test{name}_")]
        assert tests or name == "_buffer_paused"  # which is that of _pause_reading_for_buffer


@pytest.fixture
async def ours(request: pytest.FixtureRequest) -> AsyncIterator[Ours]:
    """An idle connection; a parameter of the fixture says whether the protocol is familiar with aiohttp."""
    one = Ours(familiar=getattr(request, "param", True))
    await one.turns()
    yield one
    one.protocol.connection_lost(None)
    await asyncio.sleep(0)


class TestWhatIsMadeOfThem:
    """A request on an idle connection is answered without a task, or handed over to aiohttp's."""

    async def test_a_request_is_complete_only_while_the_client_reads(self, ours: Ours) -> None:
        assert ours.protocol.parse(GET)
        ours.protocol.pause_writing()
        assert ours.protocol.complete_request() is None
        ours.protocol.resume_writing()
        message, body = ours.protocol.complete_request()
        assert (message.method, body.is_eof()) == ("GET", True)

    async def test_no_request_is_complete_on_a_connection_that_is_lost(self, ours: Ours) -> None:
        assert ours.protocol.parse(GET)
        ours.protocol.connection_lost(None)
        assert ours.protocol.complete_request() is None

    async def test_a_request_is_handed_over_once(self, ours: Ours) -> None:
        ours.allowed.clear()
        assert ours.protocol.parse(GET)
        ours.protocol.hand_over()
        ours.protocol.hand_over()  # aiohttp's task is awake, and has not run yet
        await ours.turns()
        ours.protocol.hand_over()  # aiohttp's task answers
        ours.allowed.set()
        await ours.turns()
        assert (ours.handled, ours.transport.sent.count(b"HTTP/1.1 200 OK")) == (1, 1)

    async def test_a_request_of_a_connection_that_is_lost_is_not_answered(self, ours: Ours) -> None:
        assert ours.protocol.parse(GET)
        ours.protocol.connection_lost(None)
        ours.protocol.hand_over()
        await ours.turns()
        assert (ours.handled, ours.transport.sent) == (0, b"")

    async def test_nothing_is_held_back_unless_a_request_was_sent_ahead(self, ours: Ours) -> None:
        ours.protocol.hold_back()
        ours.allowed.clear()
        assert ours.protocol.parse(GET)
        ours.protocol.hand_over()
        await ours.turns()
        ours.protocol.hold_back()
        assert (ours.handled, ours.transport.reading, ours.transport.pauses) == (1, True, 0)

    async def test_what_is_sent_ahead_is_held_back_once_until_it_is_handled(self, ours: Ours) -> None:
        ours.allowed.clear()
        assert ours.protocol.parse(GET)
        ours.protocol.hand_over()
        await ours.turns()
        assert not ours.protocol.parse(GET)
        ours.protocol.hold_back()
        ours.protocol.hold_back()
        assert (ours.handled, ours.transport.reading, ours.transport.pauses) == (1, False, 1)
        ours.allowed.set()
        await ours.turns()
        assert (ours.handled, ours.transport.reading, ours.transport.pauses) == (2, True, 1)

    @pytest.mark.parametrize(("ours", "closed"), [(True, True), (False, False)], indirect=["ours"])
    async def test_the_rest_of_a_body_is_left_unread_where_aiohttp_is_familiar(
        self,
        ours: Ours,
        closed: bool,  # noqa: FBT001 -- the other half of the table
    ) -> None:
        ours.protocol.close_unread()
        ours.protocol.data_received(UNFINISHED)
        await ours.turns()
        assert (ours.transport.sent[:15], ours.transport.closed) == (b"HTTP/1.1 200 OK", closed)


def test_no_other_module_uses_them() -> None:
    """Of any class: a name that aiohttp has for itself would be overwritten in a class that inherits from its own."""
    files = [*ROOT.glob("webhook/server/*.py"), *ROOT.glob("webhook/rest/*.py")]
    users = {
        file.name
        for file in files
        for each in ast.walk(ast.parse(file.read_text()))
        if isinstance(each, ast.Attribute) and each.attr in {*PRIVATE, CONSUMED}
    }
    assert users == {"http_protocol.py"}


class TestWithoutOne:
    @pytest.mark.parametrize("name", PRIVATE)
    def test_it_is_missing(self, name: str) -> None:
        lacking = type("Lacking", (), {other: None for other in PRIVATE if other != name})
        assert missing(lacking) == [name]

    def test_so_is_what_the_parser_lacks(self) -> None:
        assert missing(parser=object) == [CONSUMED]

    def test_the_installed_version_lacks_nothing(self) -> None:
        assert missing() == []
        assert hasattr(HttpRequestParser, CONSUMED)

    def test_the_log_says_so_once_and_so_does_the_metric(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        familiar.cache_clear()
        monkeypatch.setattr(http_protocol, "missing", lambda: ["_messages", "_waiter"])
        monkeypatch.setattr(http_protocol.aiohttp, "__version__", "3.99.0")
        try:
            assert [familiar(), familiar()] == [False, False]
            metrics = ReviewMetrics()
            assert metrics.registry.get_sample_value("streams_placement_inline_answers") == 0
        finally:
            familiar.cache_clear()
        text = (
            "aiohttp 3.99.0 lacks _messages, _waiter: reviews are answered through its public interface and take twice "
            "the CPU time; install the version of aiohttp that this release pins"
        )
        assert caplog.messages == [text]

    @pytest.mark.integration
    def test_a_server_answers_all_the_same(self, tmp_path: Path) -> None:
        """In an aiohttp in whose source every one of these names is another one."""
        done = subprocess.run(  # noqa: S603 -- our own program, no shell
            [sys.executable, "-m", "tests.server.renamed_aiohttp", str(tmp_path)],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [
            "at once: 200", "in two pieces: 200", "sent ahead: 200 200 200", "1 MB: 200", "refused unread: 413",
            "metric: 0.0",
        ]  # fmt: skip
        assert done.stderr.count("lacks _messages, _waiter, _parser") == 1
