"""The Job of a ParallelRegion that is scaled is read from the API server."""

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from tests.answers import refused, response, warnings
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import Json, cluster, nodes, review
from tests.fusion_jobs import BUNDLE
from webhook.admission.answer import Answer, Outcome, RegionQuestion
from webhook.admission.responses import allowed
from webhook.admission.review import read_review
from webhook.admission.validate import validate
from webhook.cluster.queries.job_verdicts import JobVerdicts
from webhook.cluster.queries.lookups.scaled_jobs import ScaledJobs
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec

pytestmark = pytest.mark.integration

ROOT = "/apis/streams.ibm.com/v1/namespaces/default"
REGION = {"spec": {"job": "apps", "region": "work", "width": 2}}
JOB: Json = {
    "metadata": {"name": "apps"},
    "spec": {
        "bundle": BUNDLE,
        "operators": [{"name": "Src"}, {"name": "Work", "region": "work", "cost": "3"}],
        "parallelRegions": [{"name": "work", "width": 2}],
    },
}


class Stored:
    """A stand-in for the API server's objects; a number is the code of a refusal."""

    def __init__(self, server: ApiServer) -> None:
        self.found: dict[str, Json | int] = {"streamsparallelregions/apps-work": REGION, "streamsjobs/apps": JOB}
        self.asked: list[str] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse | None:
        name = seen.path.removeprefix(f"{ROOT}/")
        self.asked.append(name)
        found = self.found.get(name, 404)
        return said_no(found, "No") if isinstance(found, int) else web.json_response(found)


@pytest.fixture
def stored(objects: ApiServer) -> Stored:
    return Stored(objects)


async def scaled(connection: Connection | None, width: int) -> Answer:
    scale = [{"spec": {"replicas": replicas}} for replicas in (width, 2)]
    resource = {"group": "streams.ibm.com", "version": "v1", "resource": "streamsparallelregions"}
    body = review(
        scale[0], "UPDATE", old=scale[1], kind="Scale", group="autoscaling", subresource="scale", resource=resource,
        name="apps-work",
    )  # fmt: skip
    answer = validate(body, cluster(nodes(1)), Policy())
    verdicts = JobVerdicts(60)
    regions = ScaledJobs(ObjectClient(connection)) if connection else None
    found = ReviewQueries(ReviewLookups(regions=regions), verdicts).completed(answer)
    return found if isinstance(found, Answer) else await found


async def test_a_scale_is_judged_by_the_stored_job(stored: Stored, connection: Connection) -> None:
    assert response(await scaled(connection, 1))["allowed"]
    assert stored.asked == []
    assert refused(await scaled(connection, 3))[1].startswith(
        "3 channels of parallel region work do not fit beside the running pods.\n"
    )
    assert stored.asked == ["streamsparallelregions/apps-work", "streamsjobs/apps"]


@pytest.mark.parametrize("found", [404, {"spec": 7}, {"metadata": {}}])
async def test_without_a_region_a_width_has_no_effect(
    stored: Stored, connection: Connection, found: Json | int
) -> None:
    stored.found["streamsparallelregions/apps-work"] = found
    assert warnings(await scaled(connection, 3)) == ["the ParallelRegion has no Job: its width has no effect"]
    assert stored.asked == ["streamsparallelregions/apps-work"]


async def test_without_its_job_a_width_has_no_effect(stored: Stored, connection: Connection) -> None:
    stored.found["streamsjobs/apps"] = 404
    assert warnings(await scaled(connection, 3)) == ["the ParallelRegion has no Job: its width has no effect"]


async def test_a_region_that_is_known_and_names_no_job_is_not_asked_for(stored: Stored, connection: Connection) -> None:
    answer = allowed(read_review(review({})))
    question = RegionQuestion("default", "apps-work", ParallelRegionSpec("a/../b", "work"), lambda *_: answer)
    assert await ScaledJobs(ObjectClient(connection)).look_up(question) == (question.known, None)
    assert stored.asked == []


async def test_what_cannot_be_found_out_is_an_error(stored: Stored, connection: Connection) -> None:
    stored.found["streamsjobs/apps"] = 500
    answer = await scaled(connection, 3)
    assert answer.outcome is Outcome.ERRORED
    assert answer.message.startswith("which Job ParallelRegion apps-work is of could not be determined: ")
    question = RegionQuestion("default", "apps-work", None, lambda *_: answer)
    with pytest.raises(ApiError):
        await ScaledJobs(ObjectClient(connection)).look_up(question)


async def test_without_an_api_server_a_width_is_let_in() -> None:
    assert response(await scaled(None, 3))["allowed"]
