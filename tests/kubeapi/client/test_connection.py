"""The way to the API server: credentials are renewed once, and whatever fails says why."""

import asyncio
import json
import ssl
import threading
import time
from pathlib import Path

import pytest
from aiohttp import web

from kubeapi.client import kubeconfig as credentials
from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration, find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause, FailedRequest
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import ApiServer, status
from tests.cluster.live.conftest import server_tls
from tests.server.pki import DAY, NOW, Authority, Pair

pytestmark = pytest.mark.integration

NODES = "/api/v1/nodes"


async def get(connection: Connection | None = None, path: str = NODES, silence: float = 2.0) -> bytes:
    async with (
        connection or Connection(find_configuration()) as opened,
        opened.get(path, {"limit": "5"}, silence=silence) as response,
    ):
        return await response.read()


async def failure(connection: Connection | None = None, silence: float = 2.0) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await get(connection, silence=silence)
    return caught.value


def canned(server: ApiServer, response: web.StreamResponse) -> None:
    server.answers["nodes", "list"].append(lambda: response)


@pytest.mark.usefixtures("server")
async def test_an_answer_is_read_over_tls() -> None:
    assert json.loads(await get())["kind"] == "List"


async def test_it_says_who_asks_and_takes_gzip(server: ApiServer) -> None:
    await get()
    headers = server.seen[0].headers
    assert {name: headers[name] for name in ("Authorization", "Accept", "Accept-Encoding", "User-Agent")} == {
        "Authorization": "Bearer secret",
        "Accept": "application/json",
        "Accept-Encoding": "gzip",
        "User-Agent": "streams-placement",
    }


async def test_a_program_may_have_a_name_of_its_own(server: ApiServer) -> None:
    await get(Connection(find_configuration(), agent="other"))
    assert server.seen[0].headers["User-Agent"] == "other"


@pytest.mark.usefixtures("server")
async def test_a_proxy_of_the_environment_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection(Configuration(credentials.Kubeconfig(proxies=False)))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    assert json.loads(await get(connection))["kind"] == "List"


async def test_without_credentials_none_are_sent(server: ApiServer, kubeconfig: Kubeconfig) -> None:
    kubeconfig.write()
    await get()
    assert "Authorization" not in server.seen[0].headers


async def test_a_path_before_the_api_is_kept(
    server: ApiServer,
    kubeconfig: Kubeconfig,
) -> None:
    kubeconfig.write(cluster={"server": f"{server.url}/k8s/clusters/c-1"})
    assert (await failure()).cause is Cause.MISSING


@pytest.mark.usefixtures("server")
async def test_a_connection_is_used_as_a_context() -> None:
    with pytest.raises(RuntimeError, match="^a connection is used as a context$"):
        async with Connection(find_configuration()).get(NODES, {}, silence=1.0):
            pass


@pytest.mark.usefixtures("server")
async def test_closing_what_was_never_opened_is_nothing() -> None:
    await Connection(find_configuration()).__aexit__(None, None, None)


# Credentials


async def test_a_refused_token_is_read_again_and_the_request_repeated(
    server: ApiServer, kubeconfig: Kubeconfig
) -> None:
    server.tokens = {"Bearer second"}
    connection = Connection(find_configuration())
    kubeconfig.write(token="second")
    await get(connection)
    assert [request.headers["Authorization"] for request in server.seen] == ["Bearer secret", "Bearer second"]


async def test_requests_that_are_refused_together_renew_once(server: ApiServer) -> None:
    class Counting:
        reread = 60.0
        readings = 0

        def read(self) -> Access:
            self.readings += 1
            header = "Bearer right" if self.readings > 1 else "Bearer wrong"
            self.access = Access(server=server.url, header=header, tls=tls)
            return self.access

        def renewed(self) -> Access:
            return self.access

    tls = find_configuration().access().tls
    credentials = Counting()
    server.tokens = {"Bearer right"}
    async with Connection(Configuration(credentials)) as connection:

        async def ask() -> None:
            async with connection.get(NODES, {}, silence=2.0):
                pass

        await asyncio.gather(*(ask() for _ in range(8)))
    assert credentials.readings == 2


async def test_a_token_that_stays_refused_is_a_failure(server: ApiServer) -> None:
    server.tokens = set()
    failed = await failure()
    assert (failed.cause, str(failed)) == (Cause.UNAUTHORIZED, "the API server answers 401: Unauthorized")


async def test_a_token_that_cannot_be_renewed_says_why(server: ApiServer, kubeconfig: Kubeconfig) -> None:
    server.tokens = set()
    connection = Connection(find_configuration())
    kubeconfig.path.unlink()
    assert str(await failure(connection)) == (
        "the API server answers 401: Unauthorized "
        f"(using the previous credentials, no newer ones are available: there is no file {kubeconfig.path})"
    )


async def test_credentials_that_take_too_long_are_a_failure(server: ApiServer) -> None:
    class Slow:
        reread = 0.0
        readings = 0

        def read(self) -> Access:
            self.readings += 1
            time.sleep(0.3 if self.readings > 1 else 0)
            return Access(server=server.url)

        def renewed(self) -> Access:
            raise AssertionError

    failed = await failure(Connection(Configuration(Slow()), credential_seconds=0.05))
    assert (failed.cause, str(failed)) == (Cause.UNAUTHORIZED, "no credentials arrived within 0.05 seconds")


async def test_credentials_that_are_stuck_are_read_once_for_all_requests(server: ApiServer) -> None:
    """A plugin may hang: requests that come and go must not run it again and again."""
    answered = threading.Event()

    class Stuck:
        reread = 0.0
        readings = 0

        def read(self) -> Access:
            self.readings += 1
            if self.readings > 1:
                answered.wait(20)
            return Access(server=server.url, tls=tls)

        def renewed(self) -> Access:
            raise AssertionError

    tls, credentials = find_configuration().access().tls, Stuck()
    async with Connection(Configuration(credentials), credential_seconds=0.1) as connection:
        for _ in range(3):
            assert (await failure(connection)).cause is Cause.UNAUTHORIZED
        assert credentials.readings == 2  # the first one is made before any request
        answered.set()
        assert json.loads(await get(connection))["kind"] == "List"


async def test_a_client_certificate_proves_who_asks(
    pair: Pair, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = server_tls(pair, tmp_path)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(cadata=authority.cert.decode())
    cert, key = authority.issue("me").write(tmp_path, "client")
    async with ApiServer(tls).running() as server:
        config = Kubeconfig(tmp_path / "kubeconfig", server=server.url, authority=authority.cert)
        config.write(**{"client-certificate": str(cert), "client-key": str(key)})
        monkeypatch.setenv("KUBECONFIG", str(config.path))
        assert json.loads(await get())["kind"] == "List"


# Trust


async def test_a_server_with_an_untrusted_certificate_is_a_failure(server: ApiServer, kubeconfig: Kubeconfig) -> None:
    kubeconfig.path.write_text(kubeconfig.path.read_text())
    Kubeconfig(kubeconfig.path, server=server.url, authority=Authority().cert)
    failed = await failure()
    assert (failed.cause, "CERTIFICATE_VERIFY_FAILED" in str(failed)) == (Cause.UNREACHABLE, True)


async def test_an_authority_that_was_replaced_is_read_again(
    server: ApiServer, authority: Authority, kubeconfig: Kubeconfig
) -> None:
    Kubeconfig(kubeconfig.path, server=server.url, authority=Authority().cert)
    connection = Connection(find_configuration())
    Kubeconfig(kubeconfig.path, server=server.url, authority=authority.cert)
    assert json.loads(await get(connection))["kind"] == "List"


async def test_an_expired_server_is_a_failure(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ApiServer(server_tls(authority.issue(expires=NOW - DAY), tmp_path)).running() as server:
        config = Kubeconfig(tmp_path / "kubeconfig", server=server.url, authority=authority.cert)
        monkeypatch.setenv("KUBECONFIG", str(config.path))
        assert "certificate has expired" in str(await failure())


@pytest.mark.usefixtures("server")
async def test_a_server_by_another_name_is_checked_for_that(kubeconfig: Kubeconfig) -> None:
    kubeconfig.write(cluster={"tls-server-name": "kubernetes"})
    assert "certificate is not valid for 'kubernetes'" in str(await failure())


@pytest.mark.usefixtures("server")
async def test_a_server_that_need_not_be_verified_is_not(kubeconfig: Kubeconfig) -> None:
    kubeconfig.write(cluster={"insecure-skip-tls-verify": True, "certificate-authority-data": None})
    assert json.loads(await get())["kind"] == "List"


# Answers that are none


@pytest.mark.parametrize(
    ("code", "cause"),
    [(403, Cause.FORBIDDEN), (404, Cause.MISSING), (410, Cause.GONE), (429, Cause.BUSY), (500, Cause.BROKEN),
     (503, Cause.BROKEN), (400, Cause.BROKEN), (204, Cause.BROKEN)],
)  # fmt: skip
async def test_a_status_means_something(server: ApiServer, code: int, cause: Cause) -> None:
    canned(server, status(code))
    assert (await failure()).cause is cause


@pytest.mark.parametrize(
    ("response", "text"),
    [
        pytest.param(lambda: status(500, "out of\x1b order"), r"500: out of\x1b order", id="a Status"),
        pytest.param(lambda: web.Response(status=502, text="<html>"), "502: Bad Gateway", id="a page"),
        pytest.param(lambda: web.Response(status=502, body=b"\xff"), "502: Bad Gateway", id="no text"),
        pytest.param(lambda: web.json_response([], status=500), "500: Internal Server Error", id="other JSON"),
        pytest.param(lambda: web.Response(status=599, reason=""), "599: no reason given", id="nothing"),
        pytest.param(
            lambda: web.Response(status=302, headers={"Location": "https://elsewhere"}), "302: Found", id="elsewhere"
        ),
    ],
)
async def test_a_failure_says_what_the_api_server_says(
    server: ApiServer, response: web.StreamResponse, text: str
) -> None:
    server.answers["nodes", "list"].append(response)
    assert str(await failure()) == f"the API server answers {text}"


@pytest.mark.parametrize(("header", "wait"), [("7", 7.0), ("", 0.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 0.0)])
async def test_a_failure_knows_how_long_to_wait(server: ApiServer, header: str, wait: float) -> None:
    canned(server, web.Response(status=429, headers={"Retry-After": header} if header else {}))
    assert (await failure()).wait == wait


async def test_a_failure_has_its_facts(server: ApiServer) -> None:
    canned(server, status(500, "out of\x1b order"))
    assert (await failure()).request == FailedRequest(method="GET", path=NODES, code=500, detail="out of\x1b order")


def test_a_long_failure_is_cut() -> None:
    assert str(ApiError(Cause.BROKEN, "x" * 1000)) == "x" * 400 + "..."


# No answer


async def test_a_refused_connection_is_a_failure(server: ApiServer) -> None:
    await server.stop()
    failed = await failure()
    assert (failed.cause, "the API server does not answer: " in str(failed), "0x" in str(failed)) == (
        Cause.UNREACHABLE,
        True,
        False,
    )
    assert failed.request is not None
    assert (failed.request.path, failed.request.code) == (NODES, 0)
    assert failed.request.detail.startswith(f"Cannot connect to host 127.0.0.1:{server.port} ")


async def test_silence_is_a_failure(server: ApiServer) -> None:
    server.muted = True
    async with Connection(find_configuration()) as connection:
        with pytest.raises(ApiError, match="^the API server does not answer: Timeout on reading data from socket$"):
            async with connection.get(NODES, {"watch": "1", "resourceVersion": "100"}, silence=0.05) as response:
                await response.read()


async def test_a_server_that_never_shakes_hands_is_a_failure(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(hold, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        config = Kubeconfig(tmp_path / "kubeconfig", server=f"https://127.0.0.1:{port}", authority=authority.cert)
        monkeypatch.setenv("KUBECONFIG", str(config.path))
        failed = await failure(Connection(find_configuration(), connect_seconds=0.05))
    assert failed.cause is Cause.UNREACHABLE


@pytest.mark.usefixtures("server")
async def test_a_proxy_that_is_not_there_is_a_failure(kubeconfig: Kubeconfig) -> None:
    kubeconfig.write(cluster={"proxy-url": "http://127.0.0.1:1"})
    assert (await failure()).cause is Cause.UNREACHABLE


async def test_an_answer_that_breaks_off_is_a_failure(server: ApiServer) -> None:
    async def read() -> None:
        async with (
            Connection(find_configuration()) as connection,
            connection.get(NODES, {"watch": "1", "resourceVersion": "100"}, silence=2.0) as response,
        ):
            await server.stop()
            await response.read()

    with pytest.raises(ApiError) as caught:
        await read()
    assert caught.value.cause is Cause.UNREACHABLE
