"""RuntimeClasses and PriorityClasses that the watch has not brought are read from the API server."""

from typing import Any

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from tests.answers import refused, response
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import Json, cluster, nodes, pod, review
from tests.cluster.objects import priority_class, runtime_class
from tests.fake_clock import FakeClock
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.cluster.queries.lookups.pod_classes import KEPT, MISSING_SECONDS, PodClasses
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.policy import Policy
from webhook.placement.pod_defaults.pod_defaults import ClassRef
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass

pytestmark = pytest.mark.integration

HEAVY = ClassRef("RuntimeClass", "heavy", "spec.runtimeClassName")
HIGH = ClassRef("PriorityClass", "high", "spec.priorityClassName")
OVERHEAD = {"podFixed": {"cpu": "100"}}


class StoredClasses:
    """A stand-in for the API server's classes, by path; a number is the code of a refusal, 404 of what is not there."""

    def __init__(self, server: ApiServer) -> None:
        self.found: dict[str, Json | int] = {}
        self.asked: list[str] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse | None:
        self.asked.append(seen.path)
        found = self.found.get(seen.path.rpartition("/")[2], 404)
        return said_no(found, "No") if isinstance(found, int) else web.json_response(found)


@pytest.fixture
def stored(objects: ApiServer) -> StoredClasses:
    return StoredClasses(objects)


async def test_classes_are_read_and_what_is_not_there_is_told(stored: StoredClasses, connection: Connection) -> None:
    stored.found = {"heavy": runtime_class(overhead=OVERHEAD)}
    found = await PodClasses(ObjectClient(connection)).look_up([HEAVY, HIGH])
    assert found == ([RuntimeClass("heavy", {"cpu": "100"})], [HIGH])
    assert stored.asked == [
        "/apis/node.k8s.io/v1/runtimeclasses/heavy",
        "/apis/scheduling.k8s.io/v1/priorityclasses/high",
    ]


async def test_one_that_is_not_there_is_not_asked_for_again_at_once(
    stored: StoredClasses, connection: Connection
) -> None:
    clock = FakeClock()
    classes = PodClasses(ObjectClient(connection), clock=clock)
    for _ in range(3):
        assert await classes.look_up([HIGH]) == ([], [HIGH])
    assert len(stored.asked) == 1
    clock.now += MISSING_SECONDS
    stored.found = {"high": priority_class()}
    assert await classes.look_up([HIGH]) == ([PriorityClass("high", 1000)], [])


async def test_only_so_many_missing_ones_are_remembered(stored: StoredClasses, connection: Connection) -> None:
    classes = PodClasses(ObjectClient(connection), clock=FakeClock())
    await classes.look_up(ClassRef("RuntimeClass", f"c{number}", "") for number in range(KEPT + 1))
    await classes.look_up([ClassRef("RuntimeClass", "c0", "")])
    assert len(stored.asked) == KEPT + 2


async def test_a_class_that_breaks_rules_is_neither(stored: StoredClasses, connection: Connection) -> None:
    stored.found = {"heavy": runtime_class(overhead={"podFixed": {"cpu": "much"}}), "high": {"value": 1}}
    assert await PodClasses(ObjectClient(connection)).look_up([HEAVY, HIGH]) == ([], [])


@pytest.mark.parametrize("name", ["A/../b", "a..b"])
async def test_a_name_that_no_class_can_have_is_not_asked_for(
    stored: StoredClasses, connection: Connection, name: str
) -> None:
    odd = ClassRef("RuntimeClass", name, "")
    assert await PodClasses(ObjectClient(connection)).look_up([odd]) == ([], [odd])
    assert stored.asked == []


async def test_what_cannot_be_found_out_is_an_error(stored: StoredClasses, connection: Connection) -> None:
    stored.found = {"heavy": 500}
    with pytest.raises(ApiError):
        await PodClasses(ObjectClient(connection)).look_up([HEAVY])


# Reviews


def deployment(**spec: Any) -> Json:
    """A Deployment whose pod asks for placement."""
    template = pod('hostExlocation("a")', **spec)
    found = {"metadata": {"name": "w"}, "spec": {"replicas": 1, "template": template}}
    return {"found": found, "kind": "Deployment", "group": "apps"}


def streams_job(**spec: Any) -> Json:
    """A Job of one processing element."""
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    element = {"template": {"spec": {"containers": [container], **spec}}}
    found = {"metadata": {"name": "j"}, "spec": {"processingElements": [element]}}
    return {"found": found, "kind": "Job", "group": "streams.ibm.com"}


async def validated(found: Json, queries: ReviewQueries) -> Answer:
    body = review(found["found"], kind=found["kind"], group=found["group"])
    answer = queries.completed(validate(body, cluster(nodes(2)), Policy()))
    return answer if isinstance(answer, Answer) else await answer


KINDS = pytest.mark.parametrize("kind", [deployment, streams_job])


@KINDS
async def test_what_names_a_class_that_has_just_come_is_judged_by_it(
    kind: Any, stored: StoredClasses, connection: Connection
) -> None:
    queries = ReviewQueries(ReviewLookups.of(connection))
    stored.found = {"heavy": runtime_class(), "high": priority_class()}
    assert response(await validated(kind(runtimeClassName="heavy", priorityClassName="high"), queries))["allowed"]
    stored.found = {"heavy": runtime_class(overhead=OVERHEAD)}
    code, text = refused(await validated(kind(runtimeClassName="heavy"), queries))
    assert code == 403
    assert "2 nodes have less than cpu 10" in text


@KINDS
async def test_what_names_a_class_that_does_not_exist_is_refused(
    kind: Any, stored: StoredClasses, connection: Connection
) -> None:
    code, text = refused(await validated(kind(priorityClassName="high"), ReviewQueries(ReviewLookups.of(connection))))
    message = 'spec.priorityClassName: there is no PriorityClass "high", so the API server refuses the pods'
    assert (code, text.removeprefix("processing element j-0: ")) == (403, message)
    assert stored.asked


UNKNOWN = 'spec.runtimeClassName: RuntimeClass "heavy" is not known, so what it adds to the pods is not judged'


def of_pods(answer: Json) -> list[str]:
    """The warnings, without the name of the processing element."""
    return [text.removeprefix("processing element j-0: ") for text in answer["warnings"]]


@KINDS
async def test_an_api_server_that_does_not_answer_leaves_a_class_unknown(
    kind: Any, stored: StoredClasses, connection: Connection
) -> None:
    stored.found = {"heavy": 500}
    answer = response(await validated(kind(runtimeClassName="heavy"), ReviewQueries(ReviewLookups.of(connection))))
    assert (answer["allowed"], of_pods(answer)) == (True, [UNKNOWN])


@KINDS
async def test_without_an_api_server_a_class_is_unknown(kind: Any) -> None:
    answer = response(await validated(kind(runtimeClassName="heavy"), ReviewQueries()))
    assert (answer["allowed"], of_pods(answer)) == (True, [UNKNOWN])
