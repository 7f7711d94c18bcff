"""Who may speak for users, as the cluster says it, and what becomes of connections when it says something else."""

import asyncio
import json
from unittest.mock import Mock

import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy

from tests.aggregated.review_client import HEADERS, ROOT, ReviewBench
from tests.apiserver.server import Seen
from tests.server.pki import Authority, Pair
from webhook.aggregated.front_proxy import FrontProxyError, UntrustedError, front_proxy_of

SHOWN = {"subject": ((("commonName", "proxy"),),)}


def config_map(**data: str) -> bytes:
    return json.dumps({"data": {**HEADERS, "requestheader-client-ca-file": "PEM", **data}}).encode()


def headers(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


def test_without_allowed_names_every_certificate_of_the_authority_counts() -> None:
    proxy = front_proxy_of(config_map(**{"requestheader-allowed-names": "[]", "requestheader-uid-headers": ""}))
    assert proxy.user(SHOWN, headers(("X-Remote-User", "jane"), ("X-Remote-Uid", "u"))).uid == ""


def test_the_first_header_that_names_somebody_counts_and_all_groups_do() -> None:
    proxy = front_proxy_of(
        config_map(
            **{
                "requestheader-allowed-names": '["proxy"]',
                "requestheader-username-headers": '["X-One", "X-Two"]',
                "requestheader-group-headers": '["X-Group", "X-Team"]',
            }
        )
    )
    user = proxy.user(
        SHOWN,
        headers(
            ("X-One", ""), ("X-Two", "jane"), ("X-Team", "c"), ("X-Group", "a"), ("x-group", "b"), ("X-Group", ""),
            ("X-Remote-Extra-Scopes", "1"), ("x-remote-extra-scopes", "2"),
        ),
    )  # fmt: skip
    assert (user.username, user.groups, user.extra) == ("jane", ("a", "b", "c"), {"scopes": ("1", "2")})


def test_a_name_that_is_not_utf8_is_nobody() -> None:
    with pytest.raises(UntrustedError, match="the request names a user that is not UTF-8"):
        front_proxy_of(config_map(**{"requestheader-allowed-names": ""})).user(
            SHOWN, headers(("X-Remote-User", "jane\udcff"))
        )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"[]", "the ConfigMap extension-apiserver-authentication is unreadable: "),
        (
            config_map(**{"requestheader-group-headers": "X"}),
            "the ConfigMap extension-apiserver-authentication is unre",
        ),
        (config_map(**{"requestheader-client-ca-file": "\n"}), "the API server has no aggregation layer: "),
        (config_map(**{"requestheader-username-headers": "[]"}), "the API server has no aggregation layer: "),
    ],
)
def test_a_config_map_that_says_too_little_lets_nobody_speak(body: bytes, said: str) -> None:
    with pytest.raises(FrontProxyError, match=said):
        front_proxy_of(body)


async def test_until_the_front_proxy_is_known_nobody_is_believed(bench: ReviewBench) -> None:
    watch = bench.server.watch
    watch.proxy = None
    code, answer = await bench.ask("GET", ROOT)
    assert (code, answer["reason"]) == (503, "ServiceUnavailable")
    assert answer["message"] == (
        "the front proxy is not known yet: the ConfigMap extension-apiserver-authentication has not been read"
    )


async def test_a_config_map_that_gets_worse_changes_nothing_and_is_told_once(
    bench: ReviewBench, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        bench.publish(**{"requestheader-client-ca-file": "no PEM"})
        await bench.server.watch.look()
    (line,) = (one.getMessage() for one in caplog.records)
    assert line == "placement reviews: the authorities for clients are not PEM, or truncated"
    assert (await bench.ask("GET", ROOT))[0] == 200


async def test_authorities_and_names_are_followed(bench: ReviewBench) -> None:
    following = Authority("following")
    bench.publish(bench.proxies, following, **{"requestheader-allowed-names": '["front-proxy-client", "other"]'})
    await bench.server.watch.look()
    assert (await bench.ask("GET", ROOT))[0] == 200
    assert (await bench.ask("GET", ROOT, tls=bench.client(following, "other")))[0] == 200


async def test_a_connection_outlives_a_new_authority_and_not_the_end_of_its_own(bench: ReviewBench) -> None:
    following, headers = Authority("following"), {"X-Remote-User": "jane"}
    async with bench.session() as session:

        async def ask() -> int:
            async with session.get(ROOT, headers=headers) as reply:
                await reply.read()
                return reply.status

        assert await ask() == 200
        bench.publish(bench.proxies, following)
        await bench.server.watch.look()
        assert await ask() == 200
        bench.publish(following)
        await bench.server.watch.look()
        async with session.get(ROOT, headers=headers) as reply:
            assert (reply.status, reply.headers["Connection"]) == (401, "close")
            assert (await reply.json())["message"] == "the authority of the client's certificate has been replaced"


async def test_a_new_serving_certificate_is_served_and_a_broken_one_is_not(bench: ReviewBench) -> None:
    async with bench.session() as session:
        async with session.get(ROOT, headers={"X-Remote-User": "jane"}) as reply:
            assert reply.status == 200
        first = bench.server.watch.context()
        bench.servers.issue().write(bench.folder)
        second = bench.server.watch.context()
        assert second is not first
        async with session.get(ROOT, headers={"X-Remote-User": "jane"}) as reply:
            assert reply.status == 200  # on the connection of before
    Pair(b"half", b"half").write(bench.folder)
    assert bench.server.watch.context() is second
    bench.publish(bench.proxies, Authority())
    await bench.server.watch.look()
    with pytest.raises(ConnectionError, match="TLS cannot be served: certificate or key is not PEM, or truncated"):
        bench.server.watch.context()


async def test_the_config_map_is_looked_at_again_and_again(bench: ReviewBench) -> None:
    looks, true = 0, bench.api.before
    enough = asyncio.Event()

    async def counted(seen: Seen) -> web.StreamResponse | None:
        nonlocal looks
        looks += 1
        if looks == 3:
            enough.set()
        return await true(seen)

    bench.api.before = counted
    watching = asyncio.create_task(bench.server.watch.watch(0.01))
    async with asyncio.timeout(10):
        await enough.wait()
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)


async def test_a_request_whose_client_has_gone_is_not_looked_at(bench: ReviewBench) -> None:
    reply = await bench.server.api(Mock(transport=None, raw_path=ROOT), 0.0)
    assert reply.status == 503
