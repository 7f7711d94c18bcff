"""Users of a cluster by their tokens and rights: what the API server says of them is kept for some seconds."""

from collections.abc import AsyncIterator
from typing import Any, Final
from unittest.mock import Mock

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from tests.apiserver.server import ApiServer, Seen, status
from tests.fake_clock import FakeClock
from webhook.admission.review import User
from webhook.rest import cluster_access
from webhook.rest.access import Action
from webhook.rest.cluster_access import KNOWN_SECONDS, UNKNOWN_SECONDS, ClusterAccess
from webhook.rest.request_error import RequestError
from webhook.rest.routes import IntentGroup
from webhook.rest.storage.cluster_store import NamespaceMap
from webhook.rest.storage.intent_objects import object_name
from webhook.rest.storage.store import StorageError

JANE = {"username": "jane", "uid": "1", "groups": ["developers"], "extra": {"scopes": ["a"]}}
GROUP = IntentGroup("p", "c", "v", "d")


class Authority:
    """Knows the token ``jane-s``, and allows ``get`` only."""

    def __init__(self, api: ApiServer) -> None:
        self.asked: list[Any] = []
        api.before = self.answer

    async def answer(self, seen: Seen) -> web.StreamResponse | None:
        self.asked.append(seen.json["spec"])
        if seen.path.endswith("tokenreviews"):
            known = seen.json["spec"]["token"] == "jane-s"
            return web.json_response({"status": {"authenticated": known, "user": JANE if known else {}}}, status=201)
        (attributes,) = (value for name, value in seen.json["spec"].items() if name.endswith("Attributes"))
        return web.json_response({"status": {"allowed": attributes["verb"] == "get"}}, status=201)


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer().running() as server:
        yield server


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def access(api: ApiServer, clock: FakeClock) -> AsyncIterator[ClusterAccess]:
    async with Connection(api.configuration()) as connection:
        yield ClusterAccess(connection, NamespaceMap("edge"), clock=clock)


def request(token: str) -> Mock:
    return Mock(headers={"Authorization": f"Bearer {token}"})


async def test_a_token_is_looked_up_once_in_a_while(api: ApiServer, access: ClusterAccess, clock: FakeClock) -> None:
    authority = Authority(api)
    for _ in range(3):
        user = await access.identify(request("jane-s"))
    assert user == User("jane", "1", ("developers",), {"scopes": ("a",)})
    assert authority.asked == [{"token": "jane-s"}]
    clock.now += KNOWN_SECONDS
    await access.identify(request("jane-s"))
    assert len(authority.asked) == 2


class OfAudience:
    """Knows a token for the interface, one for the API server, and an authenticator that knows no audiences."""

    TOKENS: Final[dict[str, list[str] | None]] = {"own": ["hpa"], "server": ["api"], "odd": None}

    def __init__(self, api: ApiServer) -> None:
        self.asked: list[tuple[str, ...]] = []
        api.before = self.answer

    async def answer(self, seen: Seen) -> web.StreamResponse:
        spec = seen.json["spec"]
        self.asked.append((spec["token"], *spec.get("audiences", ())))
        audiences = self.TOKENS[spec["token"]]
        known = audiences is None or set(audiences) & set(spec.get("audiences", ["api"]))
        found = {"authenticated": bool(known), "user": JANE if known else {}, "audiences": audiences if known else []}
        return web.json_response({"status": found}, status=201)


async def test_a_token_must_be_for_this_interface(api: ApiServer) -> None:
    authority = OfAudience(api)
    async with Connection(api.configuration()) as connection:
        access = ClusterAccess(connection, NamespaceMap("edge"), audience="hpa")
        assert (await access.identify(request("own"))).username == "jane"
        for token in ("server", "odd"):
            with pytest.raises(RequestError, match="is not a token that the cluster accepts for the audience hpa"):
                await access.identify(request(token))
            assert (await access.identify(request(token), scraping=True)).username == "jane"
        assert (await access.identify(request("own"), scraping=True)).username == "jane"
    assert authority.asked == [("own", "hpa"), ("server", "hpa"), ("server",), ("odd", "hpa"), ("odd",)]


async def test_an_unknown_token_is_asked_about_once(api: ApiServer, access: ClusterAccess, clock: FakeClock) -> None:
    authority = Authority(api)
    for seconds, asked in ((0.0, 1), (1.0, 1), (UNKNOWN_SECONDS, 2)):
        clock.now += seconds
        with pytest.raises(RequestError, match="is not a token that the cluster accepts") as refused:
            await access.identify(request("x"))
        assert (refused.value.status, len(authority.asked)) == (401, asked)
    with pytest.raises(RequestError):
        await access.identify(request("x" * 20_000))
    assert len(authority.asked) == 2


async def test_answers_that_are_kept_are_bounded(
    api: ApiServer, access: ClusterAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_access, "KEPT", 1)
    authority = Authority(api)
    for token in ("jane-s", "x", "jane-s"):
        with pytest.raises(RequestError) if token == "x" else pytest.MonkeyPatch.context():
            await access.identify(request(token))
    assert len(authority.asked) == 3


async def test_rights_are_those_to_the_object(api: ApiServer, access: ClusterAccess) -> None:
    authority = Authority(api)
    user = await access.identify(request("jane-s"))
    await access.authorize(user, Action("get", GROUP, "i"))
    said = {"user": "jane", "uid": "1", "groups": ["developers"], "extra": {"scopes": ["a"]}}
    of_object = {
        "group": "streams.ibm.com", "resource": "streamshpaintents", "namespace": "edge", "verb": "get",
        "name": object_name(GROUP, "i"),
    }  # fmt: skip
    assert authority.asked[1] == said | {"resourceAttributes": of_object}
    with pytest.raises(RequestError) as refused:
        await access.authorize(user, Action("list", GROUP))
    rule = '"jane" has no right to list streamshpaintents.streams.ibm.com in namespace edge'
    assert (refused.value.status, str(refused.value)) == (403, f"user: {rule}")
    assert "name" not in authority.asked[2]["resourceAttributes"]
    await access.authorize_path(user, "/metrics")
    assert authority.asked[3] == said | {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}


async def test_trouble_of_the_api_server_is_not_the_users(api: ApiServer, access: ClusterAccess) -> None:
    async def down(_seen: Seen) -> web.StreamResponse:
        return status(500, "down")

    async def odd(_seen: Seen) -> web.StreamResponse:
        return web.Response(text="<html>", status=201)

    for trouble, text in ((down, "500: down"), (odd, "Input data|JSON is malformed")):
        api.before = trouble
        with pytest.raises(StorageError, match=f"^the token cannot be checked: .*({text})"):
            await access.identify(request("jane-s"))
    api.before = down
    with pytest.raises(StorageError, match="^rights cannot be checked: .*500: down"):
        await access.authorize_path(User("jane"), "/metrics")
