"""Whether objects that were promised room are stored, as the API server says."""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.fake_clock import FakeClock
from webhook.admission.answer import PromisedObject, PromisedQuestion
from webhook.cluster.queries.lookups.promised_objects import LASTS, PAUSE, PromisedObjects
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries

pytestmark = pytest.mark.integration

HOME: Final = "/apis/ray.io/v1/namespaces/team/rayclusters"
ASKED: Final = tuple(PromisedObject("team", f"{HOME}/{name}", f"uid-{name}") for name in ("one", "two"))


@pytest.fixture
async def queries(objects: ApiServer) -> AsyncIterator[ReviewQueries]:
    async with Connection(objects.configuration()) as opened:
        yield ReviewQueries(ReviewLookups(promised=PromisedObjects(ObjectClient(opened))))


def answering(objects: ApiServer, found: object) -> None:
    """What the API server says of the second object; the first one is stored."""

    async def answer(seen: Seen) -> web.StreamResponse | None:
        if seen.path.endswith("/one"):
            return web.json_response({"metadata": {"uid": "uid-one"}})
        if isinstance(found, int):
            return said_no(found, "No")
        return web.Response(text=found) if isinstance(found, str) else web.json_response(found)

    objects.before = answer


@pytest.mark.parametrize(
    "found",
    [404, 403, 500, "{", {"metadata": {"uid": "another"}}, {},
     {"metadata": {"uid": "uid-two", "deletionTimestamp": "2026-01-01"}}],
    ids=["none", "no right", "a failure", "no JSON", "another object", "without a uid", "being deleted"],
)  # fmt: skip
async def test_what_is_not_known_to_be_stored_is_not(objects: ApiServer, queries: ReviewQueries, found: Any) -> None:
    answering(objects, found)
    assert await queries.found_out(PromisedQuestion(ASKED)) == {"uid-one"}


async def test_what_is_stored_is_told(objects: ApiServer, queries: ReviewQueries) -> None:
    answering(objects, {"metadata": {"uid": "uid-two"}})
    assert await queries.found_out(PromisedQuestion(ASKED)) == {"uid-one", "uid-two"}


async def test_one_that_was_admitted_a_moment_ago_is_looked_for_again(objects: ApiServer) -> None:
    waits, clock = list[float](), FakeClock(100.0)

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        clock.now += seconds
        if len(waits) == 2:
            answering(objects, {"metadata": {"uid": "uid-two"}})

    answering(objects, 404)
    async with Connection(objects.configuration()) as opened:
        asked = PromisedObjects(ObjectClient(opened), pause, clock)
        assert await asked.stored(PromisedQuestion(ASKED, 0.5)) == {"uid-one", "uid-two"}
        assert waits == [pytest.approx(PAUSE)] * 2
        clock.now += LASTS
        answering(objects, 404)
        assert await asked.stored(PromisedQuestion(ASKED, 0.15)) == {"uid-one"}
    assert waits[2:] == [pytest.approx(PAUSE), pytest.approx(0.15 - PAUSE)]


async def test_time_for_answers_counts_as_well(objects: ApiServer) -> None:
    clock = FakeClock(100.0)

    class Slow(ObjectClient):
        async def read(self, path: str) -> bytes:
            clock.now += 0.3
            return await super().read(path)

    answering(objects, 404)
    async with Connection(objects.configuration()) as opened:
        asked = PromisedObjects(Slow(opened), clock=clock)
        assert await asked.stored(PromisedQuestion(ASKED, 0.5)) == {"uid-one"}
    assert clock.now == pytest.approx(100.6)


async def test_what_was_found_a_moment_ago_is_not_asked_for_again(objects: ApiServer) -> None:
    clock = FakeClock(100.0)
    answering(objects, {"metadata": {"uid": "uid-two"}})
    async with Connection(objects.configuration()) as opened:
        asked = PromisedObjects(ObjectClient(opened), clock=clock)
        question = PromisedQuestion(ASKED)
        for seen in (2, 2):
            assert await asked.stored(question) == {"uid-one", "uid-two"}
            assert len(objects.seen) == seen
        clock.now += LASTS
        await asked.stored(question)
        assert len(objects.seen) == 4


async def test_without_an_api_server_nothing_is_known_to_be_stored() -> None:
    assert await ReviewQueries().found_out(PromisedQuestion(ASKED)) == frozenset()
