"""What a client cannot do: keep a connection by owing something, or take them all."""

import asyncio
import contextlib
import math
import socket
import ssl
import time

import pytest
from msgspec.structs import replace

from tests.server.pki import Authority
from tests.server.running_server import Reply, Running, limits, post, running
from webhook.admission.answer import Answer, Outcome
from webhook.server.health import Health
from webhook.server.http.connection import Connections
from webhook.server.http.limits import HEALTH
from webhook.server.lifecycle import Service
from webhook.server.metrics import Metrics
from webhook.settings import Settings

pytestmark = pytest.mark.integration


class TestAClientThatOwesSomething:
    """Its connection ends soon after the bound for headers, which is 0.3 s here."""

    async def test_loses_a_connection_that_says_nothing(self, server: Running) -> None:
        async with server.wire() as wire:
            assert await asyncio.wait_for(wire.closed(), 2)

    async def test_loses_one_that_says_a_header_byte_by_byte(self, server: Running) -> None:
        async with server.wire() as wire:
            closed = asyncio.create_task(wire.closed())
            started = time.monotonic()
            while not closed.done() and time.monotonic() - started < 2:
                wire.send(b"P")
                await asyncio.sleep(0.02)
            assert closed.done()

    async def test_loses_one_that_is_slow_with_a_later_request(self, server: Running) -> None:
        async with server.wire() as wire:
            wire.send(post())
            await wire.reply()
            wire.send(b"POST /mut")
            assert await asyncio.wait_for(wire.closed(), 2)

    async def test_loses_one_on_which_it_does_not_read_the_answers(
        self, settings: Settings, authority: Authority
    ) -> None:
        large = Answer(status=200, body=b"x" * 1_000_000, outcome=Outcome.ALLOWED)
        service = Service({"/mutate": lambda _: large}, lambda: None)
        async with running(settings, authority, service) as server, server.wire() as wire:
            for _ in range(30):
                wire.send(post())
            for _ in range(40):
                await asyncio.sleep(0.05)
                if server.figure("connection_failures_total", cause="timeout"):
                    break
            assert server.figure("connection_failures_total", cause="timeout") == 1

    async def test_keeps_one_on_which_it_reads_the_answers_late(self, settings: Settings, authority: Authority) -> None:
        large = Answer(status=200, body=b"x" * 1_000_000, outcome=Outcome.ALLOWED)
        service = Service({"/mutate": lambda _: large}, lambda: None)
        bounds = limits(header_seconds=1.0)  # 30 MB are read in less, on a busy machine as well
        async with running(settings, authority, service, bounds=bounds) as server, server.wire() as wire:
            for _ in range(30):
                wire.send(post())
            await asyncio.sleep(0.1)
            assert [len((await wire.reply()).body) for _ in range(30)] == [1_000_000] * 30
            await asyncio.sleep(1.3)
            wire.send(post())
            assert (await wire.reply()).status == 200

    async def test_owes_the_reading_of_answers_until_it_reads_them(self) -> None:
        connection = Connections(Health(lambda: None, Metrics()), HEALTH, Metrics()).accept("a")
        owed = [connection.owes_since()]
        before = time.perf_counter()
        connection.pause_writing()
        owed.append(connection.owes_since())
        connection.resume_writing()
        assert (owed[0], before <= owed[1] < math.inf, connection.owes_since()) == (math.inf, True, math.inf)

    async def test_loses_one_without_a_handshake(self, server: Running) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert await asyncio.wait_for(reader.read(), 2) == b""
        writer.close()
        assert server.figure("connection_failures_total", cause="handshake") == 1


async def test_a_header_without_an_end_is_cut(server: Running) -> None:
    """Every field and the number of fields is allowed; all of them together are not."""
    async with server.wire() as wire:
        wire.send(b"POST /mutate HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (at, b"x" * 8000) for at in range(3)))
        await asyncio.sleep(0.05)
        wire.send(b"".join(b"Y-%d: %s\r\n" % (at, b"y" * 8000) for at in range(3)))
        assert await asyncio.wait_for(wire.closed(), 2)
    assert server.figure("connection_failures_total", cause="capacity") == 1


async def test_unread_answers_are_bounded_over_all_connections(settings: Settings, authority: Authority) -> None:
    large = Answer(status=200, body=b"x" * 4_000_000, outcome=Outcome.ALLOWED)
    service = Service({"/mutate": lambda _: large}, lambda: None)
    bounds = limits(header_seconds=5.0, bodies=6_000_000)
    async with running(settings, authority, service, bounds) as server, contextlib.AsyncExitStack() as opened:
        wires = [await opened.enter_async_context(server.wire()) for _ in range(3)]
        for wire in wires:
            for _ in range(3):
                wire.send(post())
        for _ in range(40):
            await asyncio.sleep(0.05)
            if server.figure("connection_failures_total", cause="capacity"):
                break
        assert server.figure("connection_failures_total", cause="capacity")


async def test_an_idle_connection_after_a_request_is_kept(server: Running) -> None:
    async with server.wire() as wire:
        wire.send(post())
        await wire.reply()
        await asyncio.sleep(0.5)
        wire.send(post())
        assert (await wire.reply()).status == 200


async def test_a_connection_that_waited_for_its_first_request_has_all_the_time_for_it(
    settings: Settings, authority: Authority
) -> None:
    async with running(settings, authority, bounds=limits(header_seconds=5.0)) as server, server.wire() as wire:
        await asyncio.sleep(0.15)
        wire.send(post(b"{}", "/mutate?timeout=100ms"))
        assert (await wire.reply()).status == 200


async def test_plain_http_is_hung_up_on(server: Running) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(post())
    with contextlib.suppress(ConnectionResetError):
        assert await asyncio.wait_for(reader.read(), 2) == b""
    writer.close()


class TestTooManyConnections:
    """Two are allowed here."""

    @pytest.fixture
    def few(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"max_connections": 2})

    async def test_end_the_one_that_was_idle_longest(self, few: Settings, authority: Authority) -> None:
        async with running(few, authority) as server, server.wire() as first, server.wire() as second:
            for wire in (first, second, first):
                wire.send(post())
                await wire.reply()
            third = await server.ask(post())
            first.send(post())
            assert (third.status, await second.closed(), (await first.reply()).status) == (200, True, 200)

    async def test_turn_the_newcomer_away_when_all_are_busy(self, few: Settings, authority: Authority) -> None:
        async with running(few, authority) as server, server.wire() as first, server.wire() as second:
            for wire in (first, second):
                wire.send(post(b"", Content_Length="2"))
            await asyncio.sleep(0.05)
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await server.ask(post())
            first.send(b"{}")
            assert (await first.reply()).status == 200

    async def test_end_one_whose_body_does_not_come_before_anybody_is_turned_away(
        self, few: Settings, authority: Authority
    ) -> None:
        bounds = limits(patience_seconds=0.05)
        async with running(few, authority, bounds=bounds) as server, server.wire() as first, server.wire() as second:
            first.send(post(b"", Content_Length="2"))
            await asyncio.sleep(0.05)
            second.send(post(b"", Content_Length="2"))
            await asyncio.sleep(0.1)
            assert (await server.ask(post())).status == 200
            second.send(b"{}")
            assert (await first.closed(), (await second.reply()).status) == (True, 200)

    async def test_end_one_of_the_address_that_has_most(self, settings: Settings, authority: Authority) -> None:
        """An idle connection of the API server outlives those of a client that opens more and more."""
        some = settings.model_copy(update={"max_connections": 3})
        async with running(some, authority, bounds=limits(header_seconds=5.0)) as server, server.wire() as own:
            own.send(post())
            await own.reply()
            flood = [
                await asyncio.open_connection("127.0.0.1", server.port, ssl=server.client, local_addr=("127.0.0.2", 0))
                for _ in range(6)
            ]
            own.send(post())
            assert (await own.reply()).status == 200
            assert server.figure("connection_failures_total", cause="capacity") == 4
            for _, writer in flood:
                writer.close()

    async def test_are_counted(self, few: Settings, authority: Authority) -> None:
        async with running(few, authority) as server, server.wire(), server.wire():
            await server.ask(post())
            assert server.figure("connection_failures_total", cause="capacity") == 1


async def test_a_thousand_silent_connections_keep_no_client_out(settings: Settings, authority: Authority) -> None:
    async with running(settings.model_copy(update={"max_connections": 50}), authority) as server:
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        try:
            answered = False
            for _ in range(20):
                try:
                    answered = (await asyncio.wait_for(server.ask(post()), 1)).status == 200
                except (OSError, TimeoutError):
                    await asyncio.sleep(0.1)
                if answered:
                    break
            assert answered
        finally:
            for client in silent:
                client.close()


async def test_a_failure_inside_the_server_is_a_500_that_tells_nothing(
    settings: Settings, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(settings, authority, bounds=limits(body="not a number")) as server:
        reply = await server.ask(post())
    assert (reply.status, reply.message) == (500, "the server failed to answer; its log has the details")
    assert "a request could not be answered" in caplog.text


def _undated(reply: Reply) -> Reply:
    """The answer without its date."""
    return replace(reply, headers={name: value for name, value in reply.headers.items() if name != "date"})


async def test_an_answer_is_the_same_whether_or_not_its_request_arrives_in_one_piece(server: Running) -> None:
    """What arrives completely is answered inline, everything else by a task of aiohttp."""
    async with server.wire() as wire:
        wire.send(post())
        await wire.reply()
        found = []
        for pieces in ((post(),), (post()[:-1], post()[-1:])):
            for piece in pieces:
                wire.send(piece)
                await asyncio.sleep(0.05)
            found.append(await wire.reply())
    assert list(found[0].headers) == list(found[1].headers)
    assert _undated(found[0]) == _undated(found[1])


async def test_bodies_that_are_answered_do_not_count_as_a_header(server: Running) -> None:
    async with server.wire() as wire:
        for _ in range(3):
            wire.send(post(b"x" * 60_000))
            assert (await wire.reply()).status == 200
