"""TLS as clients meet it: versions, client certificates, and a pair that changes under way."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from tests.server.pki import DAY, NOW, Authority, Pair
from tests.server.running_server import Running, post, running
from webhook.server import certificate, tls
from webhook.settings import Settings

pytestmark = pytest.mark.integration


@pytest.fixture
def strict(settings: Settings, authority: Authority, tmp_path: Path) -> Settings:
    """Settings that ask clients for a certificate."""
    (tmp_path / "ca.crt").write_bytes(authority.cert)
    return settings.model_copy(update={"client_ca": tmp_path / "ca.crt"})


def client(authority: Authority, signer: Authority, folder: Path) -> ssl.SSLContext:
    """A client that trusts the one and shows a certificate of the other."""
    folder.mkdir(exist_ok=True)
    context = authority.client()
    context.load_cert_chain(*signer.issue("client").write(folder, "client"))
    return context


async def review(server: Running, context: ssl.SSLContext) -> int:
    """The status of one review by this client."""
    async with server.wire(context) as wire:
        wire.send(post())
        return (await wire.reply()).status


REFUSED = (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)
"""How a client learns that it is not let in: depends on how far it had come."""


async def test_tls_1_2_is_spoken(server: Running) -> None:
    server.client.maximum_version = ssl.TLSVersion.TLSv1_2
    assert (await server.ask(post())).status == 200


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated:DeprecationWarning")
async def test_tls_1_1_is_not(server: Running) -> None:
    server.client.minimum_version = ssl.TLSVersion.TLSv1_1
    server.client.maximum_version = ssl.TLSVersion.TLSv1_1
    server.client.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await server.ask(post())


async def test_a_client_is_let_in_with_a_certificate_of_the_right_authority(
    strict: Settings, authority: Authority, tmp_path: Path
) -> None:
    async with running(strict, authority) as server:
        assert await review(server, client(authority, authority, tmp_path)) == 200


async def test_a_client_without_a_certificate_is_not(strict: Settings, authority: Authority) -> None:
    async with running(strict, authority) as server:
        with pytest.raises(REFUSED):
            await review(server, authority.client())


async def test_a_client_of_another_authority_is_not(strict: Settings, authority: Authority, tmp_path: Path) -> None:
    stranger = client(authority, Authority(), tmp_path)
    async with running(strict, authority) as server:
        with pytest.raises(REFUSED):
            await review(server, stranger)


async def test_a_replaced_authority_counts_for_new_clients(
    strict: Settings, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate.CertificateWatcher.watch, "__defaults__", (0.01,))
    other = Authority()
    async with running(strict, authority) as server:
        (tmp_path / "ca.crt").write_bytes(other.cert)
        await asyncio.sleep(0.1)
        assert await review(server, client(authority, other, tmp_path / "other")) == 200
        with pytest.raises(REFUSED):
            await review(server, client(authority, authority, tmp_path))


async def test_a_pair_that_changes_badly_and_well_costs_no_request(
    settings: Settings, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests on kept and on new connections, while the pair is replaced, half written, mismatched and gone."""
    monkeypatch.setattr(certificate.CertificateWatcher.watch, "__defaults__", (0.01,))
    new = authority.issue(expires=NOW + 2 * DAY)
    changes: list[Callable[[], object]] = [
        lambda: (tmp_path / "tls.crt").write_bytes(new.cert),
        lambda: (tmp_path / "tls.key").write_bytes(new.key[:50]),
        (tmp_path / "tls.key").unlink,
        lambda: (tmp_path / "tls.key").write_bytes(new.key),
        lambda: Pair(b"garbage", b"garbage").write(tmp_path),
    ]
    async with running(settings, authority) as server, aiohttp.ClientSession() as kept:
        statuses: list[int] = []

        async def ask(session: aiohttp.ClientSession) -> None:
            headers = {"Content-Type": "application/json"}
            url = server.reviews + "/mutate"
            async with session.post(url, data=b"{}", headers=headers, ssl=server.client) as reply:
                statuses.append(reply.status)

        async def keep_asking() -> None:
            while True:
                await ask(kept)
                async with aiohttp.ClientSession() as fresh:
                    await ask(fresh)

        asking = asyncio.create_task(keep_asking())
        for change in changes:
            change()
            enough = len(statuses) + 5
            await asyncio.sleep(0.08)
            while len(statuses) < enough and not asking.done():  # noqa: ASYNC110 - replies are counted, which sets no event
                await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        expiry = server.figure("certificate_expiry_seconds")
        failures = server.figure("certificate_reload_failures_total")
    assert (set(statuses), len(statuses) > 20, expiry, failures) == ({200}, True, (NOW + 2 * DAY).timestamp(), 4)


def test_where_files_in_memory_are_unknown_the_pair_is_read_all_the_same(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.memfd_create")
    pair = authority.issue("localhost")
    assert tls.context(pair.cert, pair.key).minimum_version is ssl.TLSVersion.TLSv1_2
