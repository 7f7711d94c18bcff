"""Jobs that the watch has not brought yet are read from the API server."""

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from tests.answers import refused, response
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import Json, cluster, review
from tests.fake_clock import FakeClock
from webhook.admission.answer import Answer, JobRef, Outcome
from webhook.admission.validate import validate
from webhook.cluster.queries.lookups.streams_jobs import KEPT, MISSING_SECONDS, StreamsJobs
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.jobs.job import Element, StreamsJob

pytestmark = pytest.mark.integration

PATH = "/apis/streams.ibm.com/v1/namespaces/team/streamsjobs/parallel"
ASKED = JobRef("team", "parallel")
STORED: Json = {
    "metadata": {"name": "parallel", "namespace": "team"},
    "spec": {"processingElements": [{"name": "p0"}]},
}


class StoredJobs:
    """A stand-in for the API server's Jobs; a number is the code of a refusal."""

    def __init__(self, server: ApiServer) -> None:
        self.found: Json | int = 404
        self.asked: list[str] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse | None:
        self.asked.append(seen.path)
        return said_no(self.found, "No") if isinstance(self.found, int) else web.json_response(self.found)


@pytest.fixture
def stored(objects: ApiServer) -> StoredJobs:
    return StoredJobs(objects)


async def test_a_job_is_read(stored: StoredJobs, connection: Connection) -> None:
    stored.found = STORED
    found = await StreamsJobs(ObjectClient(connection)).look_up(ASKED)
    assert (found, stored.asked) == (StreamsJob("team", "parallel", (Element("p0"),)), [PATH])


async def test_a_job_that_is_not_there_is_not_asked_for_again_at_once(
    stored: StoredJobs, connection: Connection
) -> None:
    clock = FakeClock()
    jobs = StreamsJobs(ObjectClient(connection), clock=clock)
    for _ in range(3):
        assert await jobs.look_up(ASKED) is None
    assert stored.asked == [PATH]
    clock.now += MISSING_SECONDS
    stored.found = STORED
    assert await jobs.look_up(ASKED) is not None


async def test_only_so_many_missing_jobs_are_remembered(stored: StoredJobs, connection: Connection) -> None:
    jobs = StreamsJobs(ObjectClient(connection), clock=FakeClock())
    for number in range(KEPT + 1):
        await jobs.look_up(JobRef("team", f"j{number}"))
    await jobs.look_up(JobRef("team", "j0"))
    assert len(stored.asked) == KEPT + 2


@pytest.mark.parametrize("found", [{"spec": {}}, {"metadata": {"name": "j"}, "spec": []}])
async def test_a_job_that_breaks_rules_is_none(found: Json, stored: StoredJobs, connection: Connection) -> None:
    stored.found = found
    assert await StreamsJobs(ObjectClient(connection)).look_up(ASKED) is None


@pytest.mark.parametrize("name", ["A/../b", "a..b"])
async def test_a_name_that_no_job_can_have_is_not_asked_for(
    stored: StoredJobs, connection: Connection, name: str
) -> None:
    assert await StreamsJobs(ObjectClient(connection)).look_up(JobRef("team", name)) is None
    assert stored.asked == []


async def test_what_cannot_be_found_out_is_an_error(stored: StoredJobs, connection: Connection) -> None:
    stored.found = 500
    with pytest.raises(ApiError):
        await StreamsJobs(ObjectClient(connection)).look_up(ASKED)


async def validated(connection: Connection, policy: Policy | None = None) -> Answer:
    found = {"metadata": {"name": "p0"}, "spec": {"job": "parallel"}}
    body = review(found, kind="ProcessingElement", group="streams.ibm.com", namespace="team")
    answer = ReviewQueries(ReviewLookups.of(connection)).completed(validate(body, cluster(), policy or Policy()))
    assert not isinstance(answer, Answer)
    return await answer


async def test_an_element_is_allowed_once_its_job_was_read(stored: StoredJobs, connection: Connection) -> None:
    stored.found = STORED
    assert response(await validated(connection))["allowed"]
    stored.found = 404
    assert refused(await validated(connection)) == (403, 'spec.job: this namespace has no Job "parallel"')


async def test_an_element_waits_for_an_api_server_that_answers(stored: StoredJobs, connection: Connection) -> None:
    stored.found = 500
    answer = await validated(connection)
    assert (answer.status, answer.outcome) == (503, Outcome.ERRORED)
    assert answer.message.startswith("what Job parallel says could not be determined: ")


async def test_in_audit_mode_no_review_waits_for_an_api_server(stored: StoredJobs, connection: Connection) -> None:
    stored.found = 500
    answer = await validated(connection, Policy(audit=True))
    warning = 'audit: this would be refused: this namespace has no Job "parallel"'
    assert (response(answer)["allowed"], response(answer)["warnings"]) == (True, [warning])
