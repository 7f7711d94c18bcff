"""From the first bind to the last answer."""

import asyncio
import os
import signal
import time

import pytest

from tests.server.pki import Authority
from tests.server.running_server import PATIENT, QUICK, Running, Wire, allow, post, running
from webhook.admission.answer import Answer
from webhook.server import lifecycle
from webhook.server.fatal_error import FatalError
from webhook.server.http.listener import bind
from webhook.server.lifecycle import Service, run_server
from webhook.server.metrics import ReviewMetrics
from webhook.settings import Settings

pytestmark = pytest.mark.integration


def terminate(times: int = 1) -> None:
    """What the kubelet does."""
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGTERM)


async def refused(server: Running) -> bool:
    """Whether nobody listens for reviews any more."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def start(settings: Settings, ready: str | None = None) -> None:
    """A server without a purpose, not ready if there is a reason."""
    await run_server(
        Service({}, lambda: ready), settings, metrics=ReviewMetrics(), announce=lambda *_: None, limits=QUICK
    )


class TestBeforeItIsReady:
    """Health is there at once, reviews are not."""

    @pytest.fixture
    def ports(self) -> tuple[int, int]:
        with bind("127.0.0.1", 0) as first, bind("127.0.0.1", 0) as second:
            return first.getsockname()[1], second.getsockname()[1]

    async def test_reviews_are_refused_until_it_is(
        self, settings: Settings, authority: Authority, ports: tuple[int, int]
    ) -> None:
        settings = settings.model_copy(update={"port": ports[0], "health_port": ports[1]})
        reasons: list[str | None] = ["the snapshot is being read"]
        announced: list[str] = []
        task = asyncio.create_task(
            run_server(
                Service({"/mutate": allow}, lambda: reasons[0]),
                settings,
                metrics=ReviewMetrics(),
                announce=lambda *urls: announced.extend(urls),
                limits=QUICK,
            )
        )
        await asyncio.sleep(0.1)
        server = Running(
            task, f"https://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}", ReviewMetrics(), authority
        )
        early = (await server.get("/readyz"), await refused(server), announced[:])
        reasons[0] = None
        await asyncio.sleep(0.1)
        late = (await server.get("/readyz"), (await server.ask(post())).status, announced)
        terminate()
        await task
        assert early == ((503, "the snapshot is being read\n"), True, [])
        assert late == ((200, "ok\n"), 200, [server.reviews, server.health])

    async def test_it_is_ready_only_once_it_listens(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        """Else a Service sends it connections, which are refused."""
        metrics, seen = ReviewMetrics(), list[bool]()

        def look() -> None:
            seen.append("\nstreams_placement_ready 1.0\n" in metrics.text().decode())

        def end(*_: object) -> None:
            look()
            terminate()

        monkeypatch.setattr(lifecycle, "bound_heap", look)
        await run_server(Service({}, lambda: None), settings, metrics=metrics, announce=end, limits=QUICK)
        assert seen == [False, True]

    async def test_a_signal_ends_it(self, settings: Settings) -> None:
        task = asyncio.create_task(start(settings, "never ready"))
        await asyncio.sleep(0.1)
        terminate()
        await asyncio.wait_for(task, 2)


class TestASignal:
    """SIGTERM: unready, answering for a while, gone."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"drain": 0.3})

    async def test_makes_it_unready_at_once_and_keeps_it_answering(self, server: Running) -> None:
        terminate()
        await asyncio.sleep(0.05)
        assert await server.get("/readyz") == (503, "the server is stopping\n")
        assert (await server.ask(post())).status == 200

    async def test_lets_answers_say_that_the_connection_ends(self, server: Running) -> None:
        async with server.wire() as wire:
            wire.send(post())
            before = await wire.reply()
            terminate()
            await asyncio.sleep(0.05)
            wire.send(post())
            after = await wire.reply()
            assert (before.headers.get("connection"), after.headers.get("connection")) == (None, "close")
            assert await wire.closed()

    async def test_ends_it_after_draining(self, server: Running) -> None:
        started = time.monotonic()
        terminate()
        await server.task
        assert 0.25 < time.monotonic() - started < 10
        assert await refused(server)

    async def test_may_be_that_the_terminal_goes_away(self, server: Running) -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.sleep(0.05)
        assert (await server.ask(post())).status == 200
        await asyncio.wait_for(server.task, 10)

    async def test_ends_idle_connections_after_draining(self, server: Running) -> None:
        async with server.wire() as wire:
            wire.send(post())
            await wire.reply()
            terminate()
            assert await asyncio.wait_for(wire.closed(), 10)

    async def test_lets_a_running_request_finish(self, server: Running) -> None:
        async with server.wire() as wire:
            wire.send(post(b"", Content_Length="2"))
            await asyncio.sleep(0.05)
            terminate()
            await asyncio.sleep(0.5)
            assert await refused(server)
            wire.send(b"{}")
            assert (await wire.reply()).body == b"seen {}"
            await asyncio.wait_for(server.task, 1)

    async def test_does_not_wait_for_ever_for_a_request(self, server: Running) -> None:
        async with server.wire() as wire:
            wire.send(post(b"", Content_Length="2"))
            await asyncio.sleep(0.05)
            terminate()
            started = time.monotonic()
            await server.task
            assert 2 < time.monotonic() - started < 20

    async def test_given_twice_ends_it_at_once(self, server: Running) -> None:
        async with server.wire() as wire:
            wire.send(post(b"", Content_Length="2"))
            await asyncio.sleep(0.05)
            started = time.monotonic()
            terminate()
            await asyncio.sleep(0.05)
            terminate()
            await server.task
            assert time.monotonic() - started < 1.5
            assert await wire.closed()

    async def test_given_twice_ends_handshakes_too(self, server: Running) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await asyncio.sleep(0.05)
        terminate()
        await asyncio.sleep(0.05)
        terminate()
        await asyncio.wait_for(server.task, 1)
        assert await reader.read() == b""
        writer.close()


async def test_no_review_is_lost_while_one_of_two_servers_is_replaced(settings: Settings, authority: Authority) -> None:
    """Clients leave a draining server because its answers end their connections."""
    first = settings.model_copy(update={"drain": 0.5})
    async with (
        running(settings, authority, bounds=PATIENT) as new,
        running(first, authority, bounds=PATIENT) as old,  # which has the signals
    ):
        statuses: list[int] = []

        async def one_client() -> None:
            server, wire = old, await connect(old)
            for _ in range(60):
                wire.send(post())
                reply = await wire.reply()
                statuses.append(reply.status)
                if reply.headers.get("connection") == "close":
                    await wire.close()
                    server = new
                    wire = await connect(server)
                await asyncio.sleep(0.01)
            await wire.close()

        clients = [asyncio.create_task(one_client()) for _ in range(8)]
        await asyncio.sleep(0.1)
        terminate()
        await asyncio.gather(*clients)
        assert (old.task.done(), new.task.done(), statuses) == (True, False, [200] * 480)


async def connect(server: Running) -> Wire:
    """A connection without a context manager around it."""
    return Wire(*await asyncio.open_connection("127.0.0.1", server.port, ssl=server.client))


class TestWhatRunsBeside:
    """Chores live and die with the server."""

    async def test_is_ended_with_it(self, settings: Settings, authority: Authority) -> None:
        ended: list[str] = []

        async def chore() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("ended")

        async with running(settings, authority, Service({}, lambda: None, (chore,))) as server:
            terminate()
            await server.task
        assert ended == ["ended"]

    async def test_hears_at_once_that_the_server_stops_and_goes_on_until_it_has(
        self, settings: Settings, authority: Authority
    ) -> None:
        told: list[str] = []

        async def chore() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                told.append("ended")

        service = Service({"/mutate": allow}, lambda: None, (chore,), retire=lambda: told.append("retired"))
        settings = settings.model_copy(update={"drain": 60})
        async with running(settings, authority, service) as server:
            terminate()
            assert (await server.ask(post())).status == 200
            assert told == ["retired"]
            terminate()
            await server.task
        assert told == ["retired", "ended"]

    async def test_may_be_over_before(self, settings: Settings, authority: Authority) -> None:
        async def chore() -> None:
            await asyncio.sleep(0)

        async with running(settings, authority, Service({"/mutate": allow}, lambda: None, (chore,))) as server:
            assert (await server.ask(post())).status == 200

    async def test_ends_it_by_failing(
        self, settings: Settings, authority: Authority, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def chore() -> None:
            await asyncio.sleep(0.05)
            raise RuntimeError("the watch broke")

        async with running(settings, authority, Service({}, lambda: None, (chore,))) as server:
            with pytest.raises(FatalError, match=r"^a part of the server failed: the watch broke$"):
                await server.task
        assert "a part of the server failed; stopping" in caplog.text


class TestWithoutAStart:
    """FatalError is one sentence, and nothing stays open."""

    async def test_a_certificate_is_needed(self, settings: Settings) -> None:
        with pytest.raises(FatalError, match=r"^a server needs a certificate and its key$"):
            await start(settings.model_copy(update={"tls_key": None}))

    @pytest.mark.parametrize("port", ["port", "health_port"])
    async def test_a_taken_port_is_named(self, settings: Settings, port: str) -> None:
        with bind("127.0.0.1", 0) as taken:
            taken.listen()
            number = taken.getsockname()[1]
            with pytest.raises(
                FatalError, match=rf"^cannot listen on 127\.0\.0\.1 port {number}: Address already in use$"
            ):
                await start(settings.model_copy(update={port: number}))


async def test_a_slow_reviewer_does_not_keep_the_server_from_stopping(settings: Settings, authority: Authority) -> None:
    def slow(body: bytes) -> Answer:
        time.sleep(0.05)
        return allow(body)

    async with running(settings, authority, Service({"/mutate": slow}, lambda: None)) as server, server.wire() as wire:
        wire.send(post())
        terminate()
        assert (await wire.reply()).status == 200
        await asyncio.wait_for(server.task, 2)
