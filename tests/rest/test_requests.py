"""What a request may be as a whole: method, headers, size, time and rate; lists in parts; ETags; further pages."""

import asyncio
import json
import socket
import struct
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from tests.rest.rest_server import (
    CONSUMERS,
    CORE,
    FWALL,
    GROUP,
    INTENTS,
    RestClient,
    consumer,
    intent,
    serving,
    serving_file,
)
from webhook.rest.access import TokenAccess
from webhook.rest.api import GroupQuery
from webhook.rest.intents import Change, EntityMetadata, IntentEntity
from webhook.rest.program import LIMITS
from webhook.rest.routes import IntentGroup
from webhook.rest.storage.sqlite_store import SqliteStore
from webhook.rest.storage.store import IntentPage, StorageError

pytestmark = pytest.mark.integration

QUICK = msgspec.structs.replace(LIMITS, deadline_seconds=0.5, header_seconds=0.5, farewell_seconds=0.2)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", CONSUMERS, "GET, HEAD, POST, DELETE"),
        ("POST", FWALL, "GET, HEAD, PUT, DELETE"),
        ("PATCH", CORE, "GET, HEAD, PUT, DELETE"),
        ("OPTIONS", INTENTS, "GET, HEAD, POST, DELETE"),
        ("POST", "/docs", "GET, HEAD"),
    ],
)
async def test_methods_that_a_path_does_not_have(file_client: RestClient, method: str, path: str, allowed: str) -> None:
    reply = await file_client.ask(method, path, {})
    assert (reply.status, reply.headers["Allow"]) == (405, allowed)
    assert reply.errors == [("method", f'"{method}" is not allowed here, only {allowed}')]


async def test_a_path_that_there_is_not(file_client: RestClient) -> None:
    for path in ("/", "/v2/projects", "/v2/hpa-placement", "/favicon.ico"):
        reply = await file_client.get(path)
        assert (reply.status, reply.headers["Content-Type"]) == (404, "application/problem+json")
        assert reply.errors == [("path", f'"{path}" is not a path of this interface; /docs shows all of them')]


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "text/yaml", ""])
async def test_a_body_is_json_whatever_its_type(file_client: RestClient, kind: str) -> None:
    headers = {"Content-Type": kind}
    reply = await file_client.post(INTENTS, data=json.dumps(intent()).encode(), headers=headers)
    assert reply.status == 201
    reply = await file_client.post(INTENTS, data=b"spec: {app: a}", headers=headers)
    assert reply.status == 422


async def test_a_body_that_is_compressed(file_client: RestClient) -> None:
    reply = await file_client.post(INTENTS, data=b"{}", headers={"Content-Encoding": "gzip"})
    rule = '"gzip" is not supported: send the body unencoded'
    assert (reply.status, reply.errors) == (415, [("header Content-Encoding", rule)])


@pytest.mark.parametrize("origin", ["https://example.org", "null", "http://127.0.0.1:1"])
async def test_a_page_of_another_site_may_not_ask(file_client: RestClient, origin: str) -> None:
    """Forms of browsers need no leave of this server to be sent, as other types of bodies do."""
    reply = await file_client.post(INTENTS, data=json.dumps(intent()).encode(), headers={"Origin": origin})
    rule = f'"{origin}" is another site, whose pages may not send requests here'
    assert (reply.status, reply.errors) == (403, [("header Origin", rule)])
    assert (await file_client.get(INTENTS)).json == []


async def test_a_page_of_this_server_may_ask(file_client: RestClient) -> None:
    assert (await file_client.post(INTENTS, intent(), headers={"Origin": file_client.url})).status == 201


JSON = {"Content-Type": "application/json; charset=utf-8"}


async def test_bodies_that_are_too_large_empty_or_no_json(file_client: RestClient) -> None:
    large = json.dumps(intent() | {"x": "y" * LIMITS.body}).encode()

    async def parts() -> Any:
        yield large[:30_000]
        yield large[30_000:]

    for data in (large, parts()):
        reply = await file_client.post(INTENTS, data=data, headers=JSON)
        assert (reply.status, reply.errors) == (413, [("body", "has more than 64 KiB")])
    reply = await file_client.post(INTENTS, data=b"", headers=JSON)
    assert (reply.status, reply.errors) == (400, [("body", "is missing: send a JSON object")])
    reply = await file_client.post(INTENTS, data=b"{", headers=JSON)
    assert reply.status == 422
    assert (await file_client.post(INTENTS, data=json.dumps(intent()).encode(), headers=JSON)).status == 201


async def test_a_body_that_does_not_arrive(tmp_path: Path) -> None:
    async with serving_file(tmp_path / "x", limits=QUICK) as client:
        host, _, port = client.url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            f"POST {INTENTS} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n{".encode()
        )
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        answer = await reader.read()
        assert b"503 Service Unavailable" in answer
        assert b"body: the body of the request did not arrive in time" in answer
        writer.close()


async def test_a_request_that_is_not_http_is_answered_with_a_problem(file_client: RestClient) -> None:
    host, _, port = file_client.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/9\r\n\r\n")
    answer = await reader.read()
    assert b"application/problem+json" in answer
    assert b"request: the request is not HTTP/1.1, or its header is too large" in answer
    writer.close()


async def test_an_address_that_asks_too_often_is_told_to_wait(tmp_path: Path) -> None:
    async with serving_file(tmp_path / "x", max_rate=2) as client:
        replies = [await client.get(INTENTS) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 429]
    assert replies[2].headers["Retry-After"] == "1"
    assert replies[2].errors == [("request", "exceeds the rate limit for 127.0.0.1: wait 1 s")]


async def test_a_list_in_parts(client: RestClient) -> None:
    for number in range(5):
        await client.post(INTENTS, intent(f"i{number}"))
    seen: list[str] = []
    path = f"{INTENTS}?limit=2"
    while path:
        reply = await client.get(path)
        seen += [each["metadata"]["name"] for each in reply.json]
        address = reply.headers.get("Link", "")
        assert not address or address.endswith('>; rel="next"')
        path = address.partition(">")[0].removeprefix("<")
    assert sorted(seen) == [f"i{number}" for number in range(5)]


async def test_a_list_goes_on_from_its_own_tokens_only(file_client: RestClient) -> None:
    reply = await file_client.get(f"{INTENTS}?limit=2&continue=!")
    assert (reply.status, reply.errors) == (400, [("query continue", "is not a token of this list")])


async def test_a_whole_list_is_sent_part_by_part(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "x")
    group = IntentGroup("my-proj1", "my-capp1", "v1.0", "my-dig1")
    names = [f"i{number:04}" for number in range(1050)]
    await asyncio.gather(*(store.change(group, name, creation(name)) for name in names))
    async with serving(store) as client:
        reply = await client.get(INTENTS)
        assert [each["metadata"]["name"] for each in reply.json] == names
        assert reply.headers["Transfer-Encoding"] == "chunked"
        assert (await client.ask("HEAD", INTENTS)).status == 200


def creation(name: str) -> Change:
    return lambda _: IntentEntity(EntityMetadata(name), "a")


class Sparse(SqliteStore):
    """A store whose parts of lists may be empty, as those of a cluster of which others have spoilt objects."""

    async def page(self, group: IntentGroup, limit: int, token: str) -> IntentPage:  # noqa: ARG002 -- of the protocol
        parts = {"": ("a", "1"), "1": ("", "2"), "2": ("b", "")}
        name, following = parts[token]
        return IntentPage((IntentEntity(EntityMetadata(name)),) if name else (), following)


async def test_a_part_without_intents_leaves_no_trace(tmp_path: Path) -> None:
    async with serving(Sparse(tmp_path / "x")) as client:
        assert [each["metadata"]["name"] for each in (await client.get(INTENTS)).json] == ["a", "b"]


async def test_clients_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as there is more to do than one iteration of the loop has time for."""
    monkeypatch.setattr("webhook.rest.api.FairQueue.free", False)
    async with serving_file(tmp_path / "x") as client:
        replies = await asyncio.gather(*(client.get(INTENTS) for _ in range(20)))
    assert {reply.status for reply in replies} == {200}


async def test_whose_turn_does_not_come_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait(*_: object) -> None:
        """The time is over."""

    monkeypatch.setattr("webhook.rest.api.FairQueue.free", False)
    monkeypatch.setattr("webhook.rest.api.FairQueue.wait", wait)
    async with serving_file(tmp_path / "x") as client:
        assert (await client.get(INTENTS)).status == 503


class Failing:
    """Storage that answers with a first part of a list, and fails then."""

    def __init__(self, *, slow: bool = False) -> None:
        self._slow = slow

    async def read(self, _group: IntentGroup, _name: str) -> IntentEntity | None:
        if self._slow:
            await asyncio.sleep(60)
        raise StorageError("the disk is on fire")

    async def page(self, _group: IntentGroup, _limit: int, token: str) -> IntentPage:
        if token:
            raise StorageError("the disk is on fire")
        return IntentPage((IntentEntity(EntityMetadata("i")),), "more")

    async def change(self, _group: IntentGroup, _name: str, _change: Change) -> IntentEntity | None:
        raise RuntimeError("a mistake of ours")

    def ready(self) -> str | None:
        return "the disk is on fire"

    async def close(self) -> None:
        """Nothing is open."""


async def test_trouble_of_storage(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(Failing()) as client:
        reply = await client.get(FWALL)
        assert (reply.status, reply.errors) == (503, [("storage", "the disk is on fire")])
        assert (await client.get("/readyz")).status == 503
        assert (await client.get("/healthz")).status == 200
        with pytest.raises(aiohttp.ClientError):
            await client.get(INTENTS)
        assert "a list ended early: the disk is on fire" in caplog.text
        reply = await client.post(INTENTS, intent())
        assert (reply.status, reply.errors) == (
            500,
            [("request", "the server failed to answer; its log has the details")],
        )


async def test_parameters_are_not_logged(file_client: RestClient, caplog: pytest.LogCaptureFixture) -> None:
    """A client may have put a token there."""
    caplog.set_level("INFO")
    await file_client.post(f"{INTENTS}?token=s3cret", intent())
    await file_client.get("/nowhere?token=s3cret")
    facts = [record.__dict__["facts"] for record in caplog.records if record.getMessage() == "answered"]
    assert facts == [
        {"path": INTENTS, "method": "POST", "code": 400},
        {"path": "/nowhere", "method": "GET", "code": 404},
    ]
    assert "s3cret" not in caplog.text


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection without a farewell, as a client does that is killed."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def connected(client: RestClient) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = client.url.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port))


@pytest.mark.parametrize("length", ["Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"])
async def test_a_client_that_leaves_in_the_middle_of_a_body(
    file_client: RestClient, caplog: pytest.LogCaptureFixture, length: str
) -> None:
    caplog.set_level("INFO")
    _, writer = await connected(file_client)
    writer.write(f"POST {INTENTS} HTTP/1.1\r\nHost: localhost\r\n{length}".encode())
    await writer.drain()
    await asyncio.sleep(0.1)
    reset(writer)
    await until_logged(caplog, "answered")
    assert [record.exc_info for record in caplog.records] == [None]


async def test_a_client_that_leaves_in_the_middle_of_a_list(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with serving(Endless()) as client:
        reader, writer = await connected(client)
        writer.write(f"GET {INTENTS} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readline()
        reset(writer)
        await until_logged(caplog, "a list ended early: the client has left")
    assert not any(record.exc_info for record in caplog.records)


async def until_logged(caplog: pytest.LogCaptureFixture, text: str) -> None:
    while text not in caplog.text:  # noqa: ASYNC110 -- a log sets no event
        await asyncio.sleep(0.02)


class Endless(Failing):
    """A list without an end."""

    async def page(self, _group: IntentGroup, limit: int, _token: str) -> IntentPage:
        await asyncio.sleep(0.001)
        entities = (IntentEntity(EntityMetadata(f"i{each}", "x" * 1024), "a") for each in range(limit))
        return IntentPage(tuple(entities), "more")


async def test_what_takes_too_long_may_have_been_done() -> None:
    async with serving(Failing(slow=True), limits=QUICK) as client:
        reply = await client.get(FWALL)
    assert (reply.status, reply.errors) == (
        503,
        [("request", "was not answered in time, and may have been carried out")],
    )


async def test_etags(client: RestClient) -> None:
    tag = (await client.post(INTENTS, intent())).headers["ETag"]
    reply = await client.get(FWALL)
    assert reply.headers["ETag"] == tag
    for header in (tag, f'"x", W/{tag}', "*"):
        reply = await client.get(FWALL, headers={"If-None-Match": header})
        assert (reply.status, reply.json, reply.headers["ETag"]) == (304, None, tag)
    reply = await client.put(FWALL, intent(app="b"), headers={"If-Match": tag})
    assert (reply.status, reply.headers["ETag"] == tag) == (200, False)
    for method, body in (("PUT", intent()), ("DELETE", None)):
        reply = await client.ask(method, FWALL, body, headers={"If-Match": tag})
        assert reply.status == 412
        assert reply.errors[0][0] == "header If-Match"
        assert reply.errors[0][1].endswith("is not the ETag of what is stored: it has changed")
    assert (await client.delete(FWALL, headers={"If-Match": "*"})).status == 204


async def test_a_consumer_is_part_of_the_etag_of_its_intent(client: RestClient) -> None:
    tag = (await client.post(INTENTS, intent())).headers["ETag"]
    await client.post(CONSUMERS, consumer())
    assert (await client.get(FWALL, headers={"If-None-Match": tag})).status == 200


async def test_tokens_are_asked_for_everything_but_pages_for_probes(tmp_path: Path) -> None:
    token = "a-token-of-sixteen"
    tokens = written(tmp_path / "tokens", token)
    async with serving(SqliteStore(tmp_path / "x"), TokenAccess(tokens)) as client:
        for path in (INTENTS, "/metrics", f"{GROUP}/hpa-intents/a%20b"):
            reply = await client.get(path)
            expected = 400 if "%" in path else 401
            assert reply.status == expected
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            assert (await client.get(path)).status == 200
        for path in (INTENTS, "/metrics"):
            assert (await client.get(path, headers={"Authorization": f"Bearer {token}"})).status == 200


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


async def test_metrics(file_client: RestClient) -> None:
    await file_client.create_all()
    await file_client.get(f"{INTENTS}/nope")
    await file_client.ask("PATCH", INTENTS)
    async with file_client.session.get(f"{file_client.url}/metrics") as reply:
        text = await reply.text()
    counted = 'streams_placement_rest_requests_total{code="%s",collection="hpa-intents",method="%s"} 1.0'
    for code, method in (("201", "POST"), ("404", "GET"), ("405", "other")):
        assert counted % (code, method) in text
    assert "streams_placement_rest_request_seconds_count 5.0" in text
    assert "streams_placement_ready 1.0" in text


async def test_a_query_about_a_group(tmp_path: Path) -> None:
    async def answer(group: IntentGroup, parameters: Any) -> bytes:
        return json.dumps({"group": str(group), "asked": dict(parameters)}).encode()

    operation = {"operationId": "q", "responses": {"200": {"description": "Yes."}}}
    queries = {"hpa-placement": GroupQuery(answer, operation)}
    async with serving(SqliteStore(tmp_path / "x"), queries=queries) as client:
        reply = await client.get(f"{GROUP}/hpa-placement?app=a")
        assert reply.json == {"group": "my-proj1/my-capp1/v1.0/my-dig1", "asked": {"app": "a"}}
        assert (await client.post(f"{GROUP}/hpa-placement", {})).headers["Allow"] == "GET, HEAD"
        assert f"{GROUP_TEMPLATE}/hpa-placement" in (await client.get("/openapi.json")).json["paths"]


GROUP_TEMPLATE = (
    "/v2/projects/{project-name}/composite-apps/{composite-app-name}/{composite-app-version}"
    "/deployment-intent-groups/{deployment-intent-group-name}"
)


async def test_requests_of_one_client_wait_for_those_of_others(tmp_path: Path) -> None:
    """Hundreds at the same moment are all answered, in turns."""
    async with serving_file(tmp_path / "x") as client:
        replies = await asyncio.gather(*(client.get(INTENTS) for _ in range(300)))
    assert {reply.status for reply in replies} == {200}


async def test_an_intent_has_its_limits(client: RestClient) -> None:
    await client.post(INTENTS, intent())
    replies = [await client.post(CONSUMERS, consumer(f"c{number}")) for number in range(65)]
    assert [reply.status for reply in replies] == [201] * 64 + [400]
    rule = "there are 64 resource consumers already, the most that are allowed in one place"
    assert replies[64].errors == [("metadata.name", rule)]


async def test_an_intent_has_a_size(file_client: RestClient) -> None:
    note = "x" * 1024
    await file_client.post(INTENTS, intent())
    path = f"{CONSUMERS}/c0/resource-requirements"
    await file_client.post(CONSUMERS, consumer("c0"))
    statuses: list[int] = []
    for number in range(3):
        place = path.replace("c0", f"c{number}")
        await file_client.post(CONSUMERS, consumer(f"c{number}"))
        for count in range(64):
            notes = {"name": f"r{count}", "description": note, "userData1": note, "userData2": note}
            reply = await file_client.post(place, {"metadata": notes, "spec": {"name": "cpu", "requests": 1}})
            statuses.append(reply.status)
    assert set(statuses) == {201, 400}
    assert statuses.index(400) > 150
    rule = "the HPA intent with all that is below it would have more than 512 KiB"
    assert reply.errors == [("body", rule)]
