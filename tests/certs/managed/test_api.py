"""Every request that is made of an API server, and every way in which it fails."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from certs.managed.api import ANSWER_LIMIT, OUTDATED, Api, worded
from kubeapi.client.connection import CREDENTIALS
from kubeapi.client.errors import ApiError, Cause, FailedRequest
from tests.apiserver.server import Seen
from tests.certs.managed.fake import MUTATING, SECRET, FakeCluster, Fault
from tests.certs.managed.manage_process import client_of

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
    with pytest.raises(ApiError) as failed:
        await api.create(SECRETS, NEW)
    assert failed.value.cause in OUTDATED
    assert str(failed.value) == f"the API server answers 409 to POST {SECRETS}: {SECRET} already exists"


async def test_an_old_version_replaces_nothing(api: Api) -> None:
    old = await api.create(SECRETS, NEW)
    await api.replace(SECRET, {**old, "data": {"a": ""}})
    with pytest.raises(ApiError, match="the object has been modified") as failed:
        await api.replace(SECRET, {**old, "data": {"b": ""}})
    assert failed.value.cause in OUTDATED


async def test_what_is_gone_cannot_be_replaced(api: Api) -> None:
    with pytest.raises(ApiError, match=f"404 to PUT {SECRET}") as failed:
        await api.replace(SECRET, NEW)
    assert failed.value.cause is Cause.MISSING
    assert Cause.MISSING in OUTDATED


async def test_a_patch_is_applied(api: Api, cluster: FakeCluster) -> None:
    await api.patch(MUTATING, [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "eA=="}])
    assert cluster.objects[MUTATING]["webhooks"][0]["clientConfig"]["caBundle"] == "eA=="


async def test_a_refusal_is_told_with_its_reason(api: Api, cluster: FakeCluster) -> None:
    cluster.fault = answering(500)
    with pytest.raises(ApiError) as failed:
        await api.find(SECRET)
    assert str(failed.value) == f"the API server answers 500 to GET {SECRET}: made to fail"


async def test_a_silent_server_is_given_up(cluster: FakeCluster) -> None:
    async def silence(_method: str, _path: str) -> None:
        await asyncio.sleep(1)

    cluster.fault = silence
    async with client_of(cluster, seconds=0.2) as client:
        with pytest.raises(ApiError) as failed:
            await Api(client).find(SECRET)
    assert str(failed.value) == f"no answer to GET {SECRET} within 0.2 seconds"


async def test_a_server_that_is_not_there_is_a_failure(cluster: FakeCluster) -> None:
    async with client_of(cluster, server="https://127.0.0.1:1") as client:
        with pytest.raises(ApiError, match=f"^GET {SECRET} failed: Cannot connect to host 127.0.0.1:1 "):
            await Api(client).find(SECRET)


async def test_a_server_that_our_authority_does_not_vouch_for_is_not_talked_to(
    cluster: FakeCluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with FakeCluster(tmp_path_factory.mktemp("other")).running() as other:
        async with client_of(cluster, server=other.url) as client:
            with pytest.raises(ApiError, match="^GET .* failed: .*CERTIFICATE_VERIFY_FAILED"):
                await Api(client).find(SECRET)
        assert other.seen == []


async def test_lost_credentials_are_a_failure(api: Api, cluster: FakeCluster) -> None:
    """They are used for as long as the API server takes them."""
    assert await api.find(SECRET) is None
    cluster.kubeconfig().unlink()
    cluster.tokens = {"Bearer another"}
    with pytest.raises(ApiError) as failed:
        await api.find(SECRET)
    assert str(failed.value) == (
        f"the API server answers 401 to GET {SECRET}: Unauthorized (using the previous credentials, no newer ones are "
        f"available: there is no file {cluster.folder / 'kubeconfig'})"
    )


async def test_wrong_credentials_are_a_failure(api: Api, cluster: FakeCluster) -> None:
    cluster.tokens = {"Bearer another"}
    with pytest.raises(ApiError, match="answers 401 to GET .*: Unauthorized$"):
        await api.find(SECRET)


async def test_credentials_that_take_too_long_are_a_failure() -> None:
    """What is not about one request is said as it is."""
    failure = ApiError(Cause.UNAUTHORIZED, f"no credentials arrived within {CREDENTIALS:g} seconds")
    assert worded(failure) is failure


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        pytest.param(b"<html>", f"the API server answers 200 to GET {SECRET}: OK", id="not JSON"),
        pytest.param(b"[" * 100_000, f"the API server answers 200 to GET {SECRET}: OK", id="nested too deeply"),
        pytest.param(b"[]", f"the API server answers 200 to GET {SECRET}: OK", id="no object"),
        pytest.param(b"x" * 101, f"the answer to GET {SECRET} is above 100 bytes", id="too long"),
    ],
)
async def test_an_answer_that_is_none(body: bytes, sentence: str, cluster: FakeCluster) -> None:
    async def answer(_seen: Seen) -> web.Response:
        return web.Response(body=body)

    cluster.before = answer
    async with client_of(cluster, limit=100 if len(body) == 101 else ANSWER_LIMIT) as client:
        with pytest.raises(ApiError) as failed:
            await Api(client).find(SECRET)
    assert str(failed.value) == sentence


def test_a_long_text_is_cut_and_cannot_act_on_a_terminal() -> None:
    failure = ApiError(Cause.BROKEN, "", request=FailedRequest(method="GET", path="/", detail="\x1b" + "x" * 500))
    assert str(worded(failure)) == "GET / failed: \\x1b" + "x" * 382 + "..."


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("yesterday", id="no date"),
        pytest.param("Tue, 01 Jan 2030 00:00:00 -0000", id="no zone"),
    ],
)
async def test_without_a_date_the_time_is_ours(header: str, api: Api, cluster: FakeCluster) -> None:
    async def answer(_seen: Seen) -> web.Response:
        return web.json_response({}, headers={"Date": header})

    cluster.before = answer
    await api.find(SECRET)
    assert abs(api.now - datetime.now(UTC)) < timedelta(seconds=5)


async def test_the_time_is_the_api_servers(api: Api, cluster: FakeCluster) -> None:
    cluster.moment = datetime(2040, 2, 3, 4, 5, 6, tzinfo=UTC)
    await api.find(MUTATING)
    assert api.now == cluster.moment
    assert format_datetime(api.now, usegmt=True) == "Fri, 03 Feb 2040 04:05:06 GMT"
