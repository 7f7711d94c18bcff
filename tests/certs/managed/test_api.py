"""Every request that is made of an API server, and every way in which it fails."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from certs.managed import api as module
from certs.managed.access import Kubeconfig
from certs.managed.api import Api, ConflictError, FailureError, MissingError
from tests.certs.managed.fake import MUTATING, SECRET, FakeCluster, Fault

pytestmark = pytest.mark.integration

SECRETS = SECRET.rpartition("/")[0]
NEW = {"metadata": {"name": "pair", "namespace": "ns"}, "data": {}}


def answering(status: int) -> Fault:
    async def fault(_method: str, _path: str) -> int:
        return status

    return fault


async def test_what_is_not_there_is_none(api: Api) -> None:
    assert await api.find(SECRET) is None


async def test_what_was_made_is_found(api: Api) -> None:
    made = await api.create(SECRETS, NEW)
    assert await api.find(SECRET) == made


async def test_what_is_there_cannot_be_made(api: Api) -> None:
    await api.create(SECRETS, NEW)
    with pytest.raises(ConflictError) as failed:
        await api.create(SECRETS, NEW)
    assert str(failed.value) == f"the API server answers 409 to POST {SECRETS}: {SECRET} already exists"


async def test_an_old_version_replaces_nothing(api: Api) -> None:
    old = await api.create(SECRETS, NEW)
    await api.replace(SECRET, {**old, "data": {"a": ""}})
    with pytest.raises(ConflictError, match="the object has been modified"):
        await api.replace(SECRET, {**old, "data": {"b": ""}})


async def test_what_is_gone_cannot_be_replaced(api: Api) -> None:
    with pytest.raises(MissingError, match=f"404 to PUT {SECRET}"):
        await api.replace(SECRET, NEW)


async def test_a_patch_is_applied(api: Api, cluster: FakeCluster) -> None:
    await api.patch(MUTATING, [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "eA=="}])
    assert cluster.objects[MUTATING]["webhooks"][0]["clientConfig"]["caBundle"] == "eA=="


async def test_a_refusal_is_told_with_its_reason(api: Api, cluster: FakeCluster) -> None:
    cluster.fault = answering(500)
    with pytest.raises(FailureError) as failed:
        await api.find(SECRET)
    assert str(failed.value) == f"the API server answers 500 to GET {SECRET}: made to fail"


async def test_a_silent_server_is_given_up(cluster: FakeCluster) -> None:
    async def silence(_method: str, _path: str) -> None:
        await asyncio.sleep(1)

    cluster.fault = silence
    async with Api(Kubeconfig(str(cluster.kubeconfig()), None), seconds=0.2) as api:
        with pytest.raises(FailureError) as failed:
            await api.find(SECRET)
    assert str(failed.value) == f"no answer to GET {SECRET} within 0.2 seconds"


async def test_a_server_that_is_not_there_is_a_failure(cluster: FakeCluster) -> None:
    access = Kubeconfig(str(cluster.kubeconfig()), None)
    access.server = "https://127.0.0.1:1"
    async with Api(access, seconds=2) as api:
        with pytest.raises(FailureError, match=f"^GET {SECRET} failed: Cannot connect to host 127.0.0.1:1 "):
            await api.find(SECRET)


async def test_a_server_that_our_authority_does_not_vouch_for_is_not_talked_to(
    cluster: FakeCluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with FakeCluster(tmp_path_factory.mktemp("other")) as other:
        access = Kubeconfig(str(cluster.kubeconfig()), None)
        access.server = other.url
        async with Api(access, seconds=2) as api:
            with pytest.raises(FailureError, match="CERTIFICATE_VERIFY_FAILED"):
                await api.find(SECRET)
        assert other.seen == []


async def test_lost_credentials_are_a_failure(api: Api, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost() -> str:
        raise FileNotFoundError("the token is gone")

    monkeypatch.setattr(api._access, "authorization", lost)  # noqa: SLF001 - no file makes the package fail just here
    with pytest.raises(FailureError, match="the token is gone"):
        await api.find(SECRET)
    assert cluster.seen == []


async def test_wrong_credentials_are_a_failure(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api._access, "authorization", lambda: None)  # noqa: SLF001 - a user without any
    with pytest.raises(FailureError, match="answers 401 to GET .*: Unauthorized"):
        await api.find(SECRET)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        pytest.param(b"<html>", f"the API server answers 200 to GET {SECRET}: OK", id="not JSON"),
        pytest.param(b"[" * 100_000, f"the API server answers 200 to GET {SECRET}: OK", id="nested too deeply"),
        pytest.param(b"[]", f"the API server answers 200 to GET {SECRET}: OK", id="no object"),
        pytest.param(b"x" * 101, f"the answer to GET {SECRET} is above 100 bytes", id="too long"),
    ],
)
async def test_an_answer_that_is_none(
    body: bytes, sentence: str, api: Api, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=body)

    monkeypatch.setattr(cluster, "handle", answer)
    if len(body) == 101:
        monkeypatch.setattr(module, "ANSWER_LIMIT", 100)
    with pytest.raises(FailureError) as failed:
        await api.find(SECRET)
    assert str(failed.value) == sentence


def test_a_long_text_is_cut_and_cannot_act_on_a_terminal() -> None:
    assert str(FailureError("\x1b" + "x" * 500)) == "\\x1b" + "x" * 396 + "..."


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("yesterday", id="no date"),
        pytest.param("Tue, 01 Jan 2030 00:00:00 -0000", id="no zone"),
    ],
)
async def test_without_a_date_the_time_is_ours(
    header: str, api: Api, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({}, headers={"Date": header})

    monkeypatch.setattr(cluster, "handle", answer)
    await api.find(SECRET)
    assert abs(api.now - datetime.now(UTC)) < timedelta(seconds=5)


async def test_the_time_is_the_api_servers(api: Api, cluster: FakeCluster) -> None:
    cluster.moment = datetime(2040, 2, 3, 4, 5, 6, tzinfo=UTC)
    await api.find(MUTATING)
    assert api.now == cluster.moment
    assert format_datetime(api.now, usegmt=True) == "Fri, 03 Feb 2040 04:05:06 GMT"


async def test_it_is_a_context(cluster: FakeCluster) -> None:
    api = Api(Kubeconfig(str(cluster.kubeconfig()), None), seconds=2)
    with pytest.raises(RuntimeError, match="^an Api is used as a context$"):
        await api.find(SECRET)
    await api.__aexit__(None, None, None)
