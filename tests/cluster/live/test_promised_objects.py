"""Whether objects that were promised room are stored, as the API server says."""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from webhook.admission.answer import PromisedObject, PromisedQuestion
from webhook.cluster.queries.promised_objects import PAUSE, PromisedObjects
from webhook.cluster.queries.review_queries import ReviewQueries

pytestmark = pytest.mark.integration

HOME: Final = "/apis/ray.io/v1/namespaces/team/rayclusters"
ASKED: Final = tuple(PromisedObject("team", f"{HOME}/{name}", f"uid-{name}") for name in ("one", "two"))


@pytest.fixture
async def queries(objects: ApiServer) -> AsyncIterator[ReviewQueries]:
    async with Connection(objects.configuration()) as opened:
        yield ReviewQueries(promised=PromisedObjects(ObjectClient(opened)))


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
    [404, {"metadata": {"uid": "another"}}, {}, {"metadata": {"uid": "uid-two", "deletionTimestamp": "2026-01-01"}}],
    ids=["none", "another object", "without a uid", "being deleted"],
)
async def test_what_is_not_stored_is_told(objects: ApiServer, queries: ReviewQueries, found: Any) -> None:
    answering(objects, found)
    assert await queries.found_out(PromisedQuestion(ASKED)) == {"uid-two"}


@pytest.mark.parametrize("found", [403, 500, "{", {"metadata": {"uid": "uid-two"}}], ids=str)
async def test_what_is_stored_or_cannot_be_read_is_not(objects: ApiServer, queries: ReviewQueries, found: Any) -> None:
    answering(objects, found)
    assert await queries.found_out(PromisedQuestion(ASKED)) == frozenset()


async def test_one_that_was_admitted_a_moment_ago_is_looked_for_again(objects: ApiServer) -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            answering(objects, {"metadata": {"uid": "uid-two"}})

    answering(objects, 404)
    async with Connection(objects.configuration()) as opened:
        asked = PromisedObjects(ObjectClient(opened), pause)
        assert await asked.missing(PromisedQuestion(ASKED, 0.5)) == frozenset()
        assert waits == [PAUSE, PAUSE]
        answering(objects, 404)
        assert await asked.missing(PromisedQuestion(ASKED, 0.15)) == {"uid-two"}
    assert waits[2:] == [PAUSE, pytest.approx(0.15 - PAUSE)]


async def test_without_an_api_server_all_counts_as_stored() -> None:
    assert await ReviewQueries().found_out(PromisedQuestion(ASKED)) == frozenset()
