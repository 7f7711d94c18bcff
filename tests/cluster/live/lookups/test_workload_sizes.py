"""The API server is asked how many pods a workload wants, when the first of a group is judged."""

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.answers import steps
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import Json, cluster, pod, review
from tests.fake_clock import FakeClock
from tests.placement.hardware_containers import GPU, equipped
from webhook.admission.answer import Answer, WorkloadRef
from webhook.app.serve import mutator, queries_of
from webhook.cluster.queries.lookups.workload_sizes import KEPT, KEPT_SECONDS, WorkloadSizes
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy

pytestmark = pytest.mark.integration

REPLICA_SET = WorkloadRef("team", "apps/v1", "ReplicaSet", "web-1")


class Workloads:
    """A stand-in for the API server's workloads, on an :class:`ApiServer`."""

    def __init__(self, server: ApiServer) -> None:
        self.found: Json | None = {}
        self.asked: list[str] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse | None:
        assert seen.method == "GET"
        self.asked.append(seen.path)
        return said_no(403, "Forbidden") if self.found is None else web.json_response(self.found)


@pytest.fixture
def workloads(objects: ApiServer) -> Workloads:
    return Workloads(objects)


@pytest.fixture
def sizes(connection: Connection) -> WorkloadSizes:
    return WorkloadSizes(ObjectClient(connection))


DESIRED = "deployment.kubernetes.io/desired-replicas"

COUNTS: dict[str, tuple[tuple[str, str], Json, str, int]] = {
    "ReplicaSet": (
        ("apps/v1", "ReplicaSet"), {"spec": {"replicas": 3}}, "/apis/apps/v1/namespaces/team/replicasets/web-1", 3,
    ),
    "ReplicaSet in a rollout": (
        ("apps/v1", "ReplicaSet"),
        {"metadata": {"annotations": {DESIRED: "5"}}, "spec": {"replicas": 1}},
        "/apis/apps/v1/namespaces/team/replicasets/web-1",
        5,
    ),
    "ReplicaSet that says nonsense": (
        ("apps/v1", "ReplicaSet"),
        {"metadata": {"annotations": {DESIRED: "-"}}, "spec": {"replicas": 2}},
        "/apis/apps/v1/namespaces/team/replicasets/web-1",
        2,
    ),
    "StatefulSet without a number": (
        ("apps/v1", "StatefulSet"), {}, "/apis/apps/v1/namespaces/team/statefulsets/web-1", 1,
    ),
    "Job": (
        ("batch/v1", "Job"), {"spec": {"parallelism": 4}}, "/apis/batch/v1/namespaces/team/jobs/web-1", 4,
    ),
    "Job of fewer completions": (
        ("batch/v1", "Job"),
        {"spec": {"parallelism": 4, "completions": 2}},
        "/apis/batch/v1/namespaces/team/jobs/web-1",
        2,
    ),
    "Job without a number": (("batch/v1", "Job"), {}, "/apis/batch/v1/namespaces/team/jobs/web-1", 1),
    "ReplicationController": (
        ("v1", "ReplicationController"),
        {"spec": {"replicas": 2}},
        "/api/v1/namespaces/team/replicationcontrollers/web-1",
        2,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "found", "path", "count"), COUNTS.values(), ids=COUNTS)
async def test_a_workload_says_how_many_pods_it_wants(
    sizes: WorkloadSizes, workloads: Workloads, kind: tuple[str, str], found: Json, path: str, count: int
) -> None:
    workloads.found, workload = found, WorkloadRef("team", *kind, "web-1")
    assert sizes.count(workload) is None
    assert await sizes.learn(workload)
    assert (sizes.count(workload), workloads.asked) == (count, [path])


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(WorkloadRef("team", "example.com/v1", "ReplicaSet", "web-1"), id="an unknown kind"),
        pytest.param(WorkloadRef("team", "apps/v1", "ReplicaSet", "../../nodes/x"), id="a name that is a path"),
        pytest.param(WorkloadRef("team", "apps/v1", "ReplicaSet", "a..b"), id="a name with two dots"),
        pytest.param(WorkloadRef("team", "apps/v1", "ReplicaSet", ""), id="no name"),
    ],
)
async def test_no_right_is_asked_for(sizes: WorkloadSizes, workloads: Workloads, workload: WorkloadRef) -> None:
    assert not await sizes.learn(workload)
    assert workloads.asked == []


@pytest.mark.parametrize("found", [None, {"spec": {"replicas": "three"}}], ids=["forbidden", "unreadable"])
async def test_without_an_answer_the_number_is_not_known(
    sizes: WorkloadSizes, workloads: Workloads, found: Json | None
) -> None:
    workloads.found = found
    assert not await sizes.learn(REPLICA_SET)
    assert not await sizes.learn(REPLICA_SET)
    assert len(workloads.asked) == 1


async def test_an_answer_holds_for_a_while(connection: Connection, workloads: Workloads) -> None:
    time = FakeClock(1000.0)
    sizes = WorkloadSizes(ObjectClient(connection), clock=time)
    workloads.found = {"spec": {"replicas": 3}}
    assert [await sizes.learn(REPLICA_SET) for _ in range(3)] == [True] * 3
    time.now += KEPT_SECONDS
    assert sizes.count(REPLICA_SET) is None
    assert await sizes.learn(REPLICA_SET)
    assert len(workloads.asked) == 2


async def test_answers_do_not_fill_memory(sizes: WorkloadSizes, workloads: Workloads) -> None:
    for at in range(KEPT + 1):
        await sizes.learn(WorkloadRef("team", "unknown/v1", "X", f"x-{at}"))
    workloads.found = {"spec": {"replicas": 3}}
    assert await sizes.learn(REPLICA_SET)
    assert len(sizes._known) <= KEPT  # noqa: SLF001 - what is kept is not shown otherwise


MIXED = cluster([equipped("big", 1, cpu=64000), equipped("small", 4, cpu=16000)])


async def answered(connection: Connection, found: Json) -> str:
    """The patch of the pod; if the server asks, after it has."""
    live: LiveCluster[Inventory] = LiveCluster(connection, MIXED)
    answer = mutator(live, Policy(), queries_of(live))(review(found))
    return str(steps(answer if isinstance(answer, Answer) else await answer))


def first(version: str = "apps/v1") -> Json:
    found = pod('hostColocation("a")', requests={"cpu": "1", GPU: "1"}, owner="ReplicaSet")
    found["metadata"]["ownerReferences"][0]["apiVersion"] = version
    return found


async def test_the_first_pod_of_a_group_is_steered(connection: Connection, workloads: Workloads) -> None:
    workloads.found = {"spec": {"replicas": 3}}
    patch = await answered(connection, first())
    assert "'key': 'kubernetes.io/hostname', 'operator': 'In', 'values': ['small']" in patch
    assert len(workloads.asked) == 1


async def test_it_is_admitted_as_it_is_where_its_size_is_unknown(connection: Connection, workloads: Workloads) -> None:
    workloads.found = None
    assert "'values': ['small']" not in await answered(connection, first())


async def test_other_pods_cost_no_question(connection: Connection, workloads: Workloads) -> None:
    await answered(connection, pod('hostExlocation("a")', owner="ReplicaSet"))
    assert workloads.asked == []
