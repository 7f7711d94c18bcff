"""The runtime of a TrainJob is read from the API server when the TrainJob is reviewed."""

from collections.abc import AsyncIterator
from typing import Final

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.admission.checks.test_applications import APART, POLICY, THREE, runtime, train
from tests.answers import refused, warnings
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import review
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.cluster.queries.lookups.referenced_objects import ReferencedObjects
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries

pytestmark = pytest.mark.integration

PATH: Final = "/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes/torch"
UNKNOWN: Final = "spec.runtimeRef: ClusterTrainingRuntime torch cannot be read, so its pods were not judged"


@pytest.fixture
async def queries(objects: ApiServer) -> AsyncIterator[ReviewQueries]:
    async with Connection(objects.configuration()) as opened:
        yield ReviewQueries(ReviewLookups(references=ReferencedObjects(ObjectClient(opened))))


async def judged(queries: ReviewQueries) -> Answer:
    body = review(train(4), "CREATE", kind="TrainJob", group="trainer.kubeflow.org")
    found = queries.completed(validate(body, THREE, POLICY))
    return found if isinstance(found, Answer) else await found


async def test_the_runtime_that_is_stored_counts(objects: ApiServer, queries: ReviewQueries) -> None:
    asked: list[str] = []

    async def answer(seen: Seen) -> web.StreamResponse | None:
        asked.append(seen.path)
        return web.json_response(runtime())

    objects.before = answer
    assert refused(await judged(queries))[1].startswith(f"{APART} cannot hold: 3 of 4 pods fit (job node).")
    assert asked == [PATH]


@pytest.mark.parametrize("found", [404, 403, "{", "[]"])
async def test_one_that_cannot_be_read_is_a_warning(
    objects: ApiServer, queries: ReviewQueries, found: int | str
) -> None:
    async def answer(_: Seen) -> web.StreamResponse | None:
        return said_no(found, "No") if isinstance(found, int) else web.Response(text=found)

    objects.before = answer
    assert warnings(await judged(queries)) == [UNKNOWN]


async def test_without_an_api_server_none_can_be_read() -> None:
    assert warnings(await judged(ReviewQueries())) == [UNKNOWN]
