"""The API server is asked which fields a pod template may have, by a dry run that stores nothing."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.answers import refused, warnings
from tests.apiserver.server import ApiServer, Seen, status
from tests.builders import cluster, nodes, review
from tests.fake_clock import FakeClock
from webhook.admission.answer import Answer
from webhook.app.serve import queries_of, validator
from webhook.cluster.queries.lookups.template_fields import GRANTED, KEPT, TemplateFields
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.policy import Policy

pytestmark = pytest.mark.integration

ACCOUNT = "system:serviceaccount:streams-system:streams-placement-controller"
SELEKTOR, TELEPORT, COMAND = ("spec", "nodeSelektor"), ("spec", "teleport"), ("spec", "containers", "comand")
STRICT = 'PodTemplate in version "v1" cannot be handled as a PodTemplate: strict decoding error: '


class Fields:
    """A stand-in for strict validation: what it says, and what it was asked."""

    def __init__(self, server: ApiServer) -> None:
        self.answer: web.Response | None = None
        self.asked: list[Seen] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse:
        self.asked.append(seen)
        # An answer is sent once.
        return web.json_response({}, status=201) if self.answer is None else _copy(self.answer)


def _copy(answer: web.Response) -> web.Response:
    return web.Response(body=answer.body, status=answer.status, content_type="application/json")


@pytest.fixture
def fields(objects: ApiServer) -> Fields:
    return Fields(objects)


@pytest.fixture
async def connection(objects: ApiServer) -> AsyncIterator[Connection]:
    async with Connection(objects.configuration()) as found:
        yield found


def unknown(*paths: str) -> web.Response:
    return status(400, STRICT + ", ".join(f'unknown field "template.{path}"' for path in paths), reason="BadRequest")


async def test_the_question_is_a_strict_dry_run_of_nothing_but_these_fields(
    connection: Connection, fields: Fields
) -> None:
    assert await TemplateFields(ObjectClient(connection), "own").unknown([SELEKTOR, COMAND]) == frozenset()
    (seen,) = fields.asked
    assert (seen.method, seen.path) == ("POST", "/api/v1/namespaces/own/podtemplates")
    assert seen.query == {"dryRun": "All", "fieldValidation": "Strict"}
    assert seen.json["template"] == {"spec": {"nodeSelektor": None, "containers": [{"comand": None}]}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(unknown("spec.nodeSelektor"), {SELEKTOR}, id="one is not known"),
        pytest.param(unknown("spec.nodeSelektor", "spec.containers[0].comand"), {SELEKTOR, COMAND}, id="two are not"),
        pytest.param(unknown("spec.other"), set(), id="another one"),
        pytest.param(status(422, "containers: Required value", reason="Invalid"), set(), id="it was decoded"),
        pytest.param(status(400, "something else", reason="BadRequest"), None, id="a bad request"),
        pytest.param(status(403, "no", reason="Forbidden"), None, id="no right"),
        pytest.param(status(500, "oh", reason="InternalError"), None, id="in trouble"),
    ],
)
async def test_what_the_answer_means(
    connection: Connection, fields: Fields, answer: web.Response, expected: set[tuple[str, ...]] | None
) -> None:
    fields.answer = answer
    assert await TemplateFields(ObjectClient(connection), "own").unknown([SELEKTOR, COMAND]) == expected


async def test_an_api_server_that_does_not_answer_tells_nothing(objects: ApiServer, connection: Connection) -> None:
    async def lost(_seen: Seen) -> web.StreamResponse:
        raise ConnectionResetError

    objects.before = lost
    assert await TemplateFields(ObjectClient(connection, seconds=0.2), "own").unknown([SELEKTOR]) is None


async def test_an_answer_is_kept_for_a_while(connection: Connection, fields: Fields) -> None:
    clock = FakeClock()
    asking = TemplateFields(ObjectClient(connection), "own", clock=clock)
    for _ in range(3):
        await asking.unknown([SELEKTOR, SELEKTOR])
    assert len(fields.asked) == 1
    clock.now += GRANTED + 1
    await asking.unknown([SELEKTOR])
    assert len(fields.asked) == 2


async def test_no_answer_is_not_kept(connection: Connection, fields: Fields) -> None:
    fields.answer = status(500, "oh")
    asking = TemplateFields(ObjectClient(connection), "own")
    await asking.unknown([SELEKTOR])
    await asking.unknown([SELEKTOR])
    assert len(fields.asked) == 2


async def test_so_many_answers_are_kept(connection: Connection, fields: Fields) -> None:
    asking = TemplateFields(ObjectClient(connection), "own")
    for at in range(KEPT + 1):
        await asking.unknown([("spec", f"x{at}")])
    await asking.unknown([("spec", "x0")])
    assert len(fields.asked) == KEPT + 2


JOB = {
    "metadata": {"name": "j"},
    "spec": {"processingElements": [{"template": {"spec": {"containers": [{"name": "c"}], "nodeSelektor": {}}}}]},
}
SAID = "spec.processingElements[0].template.spec.nodeSelektor: unknown field, did you mean nodeSelector?"


async def reviewed(connection: Connection, account: str) -> Answer:
    live = LiveCluster(connection, cluster(nodes(1)))
    body = review(JOB, kind="Job", group="streams.ibm.com")
    answer = validator(live, Policy(), queries_of(live, account=account))(body)
    return answer if isinstance(answer, Answer) else await answer


async def test_a_job_is_refused_for_it(connection: Connection, fields: Fields) -> None:
    fields.answer = unknown("spec.nodeSelektor")
    assert refused(await reviewed(connection, ACCOUNT)) == (422, SAID)
    assert fields.asked[0].path == "/api/v1/namespaces/streams-system/podtemplates"


async def test_a_field_of_a_later_version_is_let_through(connection: Connection, fields: Fields) -> None:
    assert warnings(await reviewed(connection, ACCOUNT)) == []
    assert len(fields.asked) == 1


@pytest.mark.parametrize("account", ["", "jane", "system:serviceaccount:a"])
async def test_outside_of_a_cluster_there_is_a_warning(connection: Connection, fields: Fields, account: str) -> None:
    assert warnings(await reviewed(connection, account)) == [SAID]
    assert fields.asked == []
