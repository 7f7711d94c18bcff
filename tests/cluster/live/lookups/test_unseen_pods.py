"""Pods that are to be bound to an exclusive host unseen are looked at in the API server."""

from typing import Final

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.answers import refused, response
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import Json, bound_pod, cluster, nodes, pool, review
from tests.fake_clock import FakeClock
from tests.golden.examples import EXAMPLES
from webhook.admission.answer import Answer, Outcome, PodQuestion, PodRef
from webhook.admission.validate import validate
from webhook.app.cluster_source import cluster_of
from webhook.app.serve import queries_of, validator
from webhook.cluster.queries.lookups.unknown_pods import KEPT, KEPT_SECONDS, UnknownPods
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.settings import read

pytestmark = pytest.mark.integration

POD: Final = "/api/v1/namespaces/team/pods/agent-1"
DAEMON_SET: Final = "/apis/apps/v1/namespaces/team/daemonsets/agent"
EVERY: Final[Json] = {"operator": "Exists"}
UNSEEN: Final = PodRef("team", "agent-1", "u-1")


def agent(*tolerations: Json, **owner: object) -> Json:
    """A pod that says that the DaemonSet makes it."""
    references = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "d-1", "controller": True}]
    metadata = {"name": "agent-1", "namespace": "team", "uid": "u-1", "ownerReferences": [references[0] | owner]}
    return {"metadata": metadata, "spec": {"tolerations": list(tolerations or [EVERY])}}


def daemon_set(*tolerations: Json, uid: str = "d-1") -> Json:
    spec = {"template": {"spec": {"tolerations": list(tolerations or [EVERY])}}}
    return {"metadata": {"name": "agent", "namespace": "team", "uid": uid}, "spec": spec}


class Objects:
    """A stand-in for the API server's objects, on an :class:`ApiServer`; a number is the code of a refusal."""

    def __init__(self, server: ApiServer) -> None:
        self.found: dict[str, Json | int] = {}
        self.asked: list[str] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse | None:
        assert seen.method == "GET"
        self.asked.append(seen.path)
        found = self.found.get(seen.path, 404)
        return said_no(found, "No") if isinstance(found, int) else web.json_response(found)


@pytest.fixture
def there(objects: ApiServer) -> Objects:
    return Objects(objects)


THERE: Final = cluster(nodes(2), [pool("R", size=1, mode="Exclusive", assigned=["node-a"])])


async def answered(connection: Connection, name: str = "agent-1", **metadata: str) -> Answer:
    """What becomes of the binding of the pod to an exclusive host."""
    live: LiveCluster[Inventory] = LiveCluster(connection, THERE)
    reviewing = validator(live, Policy(guard_bindings=True), queries_of(live))
    body = {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": "node-a"}}
    answer = reviewing(review(body, kind="Binding", subresource="binding", namespace="team"))
    return answer if isinstance(answer, Answer) else await answer


REFUSED: Final = "pod agent-1 cannot be bound: node node-a is exclusive to another HostPool"

STRANGERS: Final[dict[str, tuple[Json, Json | int]]] = {
    "an ordinary pod": ({"metadata": {"name": "agent-1", "uid": "u-1"}, "spec": {}}, 404),
    "of a DaemonSet that is not there": (agent(), 404),
    "of one of another uid": (agent(), daemon_set(uid="d-2")),
    "of one that says no uid": (agent(uid=""), daemon_set(uid="")),
    "of one of another group": (agent(apiVersion="example.com/v1"), daemon_set()),
    "of another kind": (agent(kind="ReplicaSet"), daemon_set()),
    "of one that only owns it": (agent(controller=False), daemon_set()),
    "of one that tolerates less": (agent(), daemon_set({**EVERY, "effect": "NoExecute"})),
    "of one whose name is a path": (agent(name="../../nodes"), daemon_set()),
}  # fmt: skip


@pytest.mark.parametrize(("pod", "owner"), STRANGERS.values(), ids=STRANGERS)
async def test_a_stranger_is_not_bound(connection: Connection, there: Objects, pod: Json, owner: Json | int) -> None:
    there.found = {POD: pod, DAEMON_SET: owner}
    assert refused(await answered(connection)) == (403, REFUSED)


async def test_an_agent_of_a_daemon_set_is_bound(connection: Connection, there: Objects) -> None:
    there.found = {POD: agent(), DAEMON_SET: daemon_set()}
    assert response(await answered(connection, uid="u-1"))["allowed"]
    assert there.asked == [POD, DAEMON_SET]


@pytest.mark.parametrize(
    ("name", "uid"),
    [("agent-1", "u-2"), ("agent-2", ""), ("../../nodes/x", ""), ("a..b", "")],
    ids=["another", "gone", "a path", "two dots"],
)
async def test_what_is_not_there_is_left_to_the_api_server(
    connection: Connection, there: Objects, name: str, uid: str
) -> None:
    there.found = {POD: agent()}
    assert response(await answered(connection, name, uid=uid))["allowed"]


async def test_a_pod_that_has_ended_is_left_to_it_as_well(connection: Connection, there: Objects) -> None:
    there.found = {POD: {**agent(), "status": {"phase": "Failed"}}}
    assert response(await answered(connection))["allowed"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param({POD: 500}, "No", id="no answer about the pod"),
        pytest.param(
            {POD: {"spec": 7}}, "the pod is unreadable: Expected `object | null`, got `int` - at `$.spec`", id="a pod"
        ),
        pytest.param({POD: agent(), DAEMON_SET: 403}, "No", id="no right to DaemonSets"),
        pytest.param(
            {POD: agent(), DAEMON_SET: {"spec": 7}},
            "the DaemonSet is unreadable: Expected `object`, got `int` - at `$.spec`",
            id="a DaemonSet",
        ),
    ],
)
async def test_a_failed_look_up_is_an_internal_error(
    connection: Connection, there: Objects, found: dict[str, Json | int], said: str
) -> None:
    there.found = found
    answer = await answered(connection)
    assert (answer.outcome, answer.status) == (Outcome.ERRORED, 503)
    assert answer.message.startswith("whether the pod may be bound to an exclusive host could not be determined: ")
    assert said in answer.message


async def test_what_is_known_of_a_daemon_set_holds_for_a_while(connection: Connection, there: Objects) -> None:
    time = FakeClock(1000.0)
    newcomers = UnknownPods(ObjectClient(connection), clock=time)
    there.found = {POD: agent(), DAEMON_SET: daemon_set()}
    assert [await newcomers.look_up(UNSEEN) for _ in range(2)] == [None, None]
    assert there.asked == [POD, DAEMON_SET, POD]
    time.now += KEPT_SECONDS
    await newcomers.look_up(UNSEEN)
    assert there.asked[3:] == [POD, DAEMON_SET]


async def test_what_is_kept_does_not_fill_memory(connection: Connection, there: Objects) -> None:
    newcomers = UnknownPods(ObjectClient(connection))
    for at in range(KEPT + 1):
        there.found = {POD: agent(name=f"agent-{at}")}
        await newcomers.look_up(UNSEEN)
    assert len(newcomers._known) == 1  # noqa: SLF001 - what is kept is not shown otherwise


async def test_without_anybody_to_ask_it_is_allowed() -> None:
    class Folder:
        inventory = THERE

    body = {"metadata": {"name": "agent-1"}, "target": {"name": "node-a"}}
    reviewing = validator(Folder(), Policy(guard_bindings=True), ReviewQueries())  # type: ignore[arg-type] # all that is asked of it
    answer = reviewing(review(body, kind="Binding", subresource="binding"))
    assert isinstance(answer, Answer)
    assert response(answer)["allowed"]


async def test_the_api_server_is_not_asked_where_it_does_not_matter(connection: Connection, there: Objects) -> None:
    live: LiveCluster[Inventory] = LiveCluster(connection, cluster(nodes(2), pods=[bound_pod()]))
    body = review({"metadata": {"name": "x"}, "target": {"name": "node-a"}}, kind="Binding", subresource="binding")
    answer = validator(live, Policy(guard_bindings=True), queries_of(live))(body)
    assert isinstance(answer, Answer)
    assert (response(answer)["allowed"], there.asked) == (True, [])


async def test_only_an_api_server_can_be_asked(connection: Connection, there: Objects) -> None:  # noqa: ARG001 -- it answers
    live: LiveCluster[Inventory] = LiveCluster(connection, THERE)
    snapshot = cluster_of(read({"snapshot": str(EXAMPLES / "cluster")}))
    body = review({"target": {"name": "node-a"}}, kind="Binding", subresource="binding", name="x", namespace="team")
    answer = validate(body, THERE, Policy(guard_bindings=True))
    assert isinstance(answer.question, PodQuestion)
    assert queries_of(snapshot).completed(answer) is answer
    later = queries_of(live).completed(answer)
    assert not isinstance(later, Answer)
    assert (await later).outcome is Outcome.ALLOWED
