"""The API server is asked for the workloads of a job when another one is submitted."""

import asyncio
from collections import Counter

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.answers import refused, response, warnings
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import JOB, NAMESPACE, Json, cluster, nodes, review
from tests.workload_templates import group, workload
from webhook.admission.answer import Answer
from webhook.app.serve import queries_of, validator
from webhook.cluster.queries.job_verdicts import JobVerdicts
from webhook.cluster.queries.lookups import job_workloads
from webhook.cluster.queries.lookups.job_workloads import AT_A_TIME, JobWorkloads
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_workloads import UNDECIDED
from webhook.placement.text import keys
from webhook.server.metrics import ReviewMetrics

pytestmark = pytest.mark.integration

APART = 'hostExlocation("a")'
LABELLED: Json = {"labels": {keys.JOB: JOB}}
OWNED: Json = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "controller": True}]}
PLURALS = {"Deployment": "deployments", "StatefulSet": "statefulsets", "ReplicaSet": "replicasets", "Job": "jobs"}


def stored(server: ApiServer, found: Json) -> None:
    """Store a workload; as in lists of the API server, without its kind."""
    kind, metadata = found["kind"], found["metadata"]
    path = f"/apis/{group(kind)}/v1/namespaces/{metadata['namespace']}/{PLURALS[kind]}/{metadata['name']}"
    server.put(path, {key: value for key, value in found.items() if key not in {"kind", "apiVersion"}})


class Unknown(Counter[str]):
    """Counts why workloads are not known."""

    def __call__(self, cause: str) -> None:
        self[cause] += 1


@pytest.fixture
def unknown() -> Unknown:
    return Unknown()


@pytest.fixture
def workloads(connection: Connection, unknown: Unknown) -> JobWorkloads:
    return JobWorkloads(ObjectClient(connection, limit=100_000), unknown)


async def names(workloads: JobWorkloads, job: str = JOB) -> list[str]:
    found = await workloads.find(NAMESPACE, job)
    return [f"{each['apiVersion']} {each['kind']} {each['metadata']['name']}" for each in found]


async def test_workloads_of_every_kind_are_found(objects: ApiServer, workloads: JobWorkloads) -> None:
    for kind in PLURALS:
        stored(objects, workload(kind, name=f"a-{kind.lower()}"))
    assert await names(workloads) == [
        "apps/v1 Deployment a-deployment",
        "apps/v1 StatefulSet a-statefulset",
        "apps/v1 ReplicaSet a-replicaset",
        "batch/v1 Job a-job",
    ]
    assert sorted(seen.path for seen in objects.seen) == [
        f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments",
        f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets",
        f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets",
        f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs",
    ]


OTHERS = {
    "another job": workload("Deployment", name="x", job="other"),
    "no job": workload("Deployment", name="x", job=None, metadata=LABELLED),
    "another namespace": workload("Deployment", name="x", metadata={"namespace": "other"}),
    "one that is being deleted": workload("Deployment", name="x", metadata={"deletionTimestamp": "2026-01-01"}),
    "a ReplicaSet of a Deployment": workload("ReplicaSet", name="x", metadata=OWNED),
    "one without a template": workload("Deployment", name="x") | {"spec": {"template": 7}},
}  # fmt: skip


@pytest.mark.parametrize("found", OTHERS.values(), ids=OTHERS)
async def test_others_are_none(objects: ApiServer, workloads: JobWorkloads, unknown: Unknown, found: Json) -> None:
    stored(objects, found)
    assert (await names(workloads), unknown) == ([], {})


@pytest.mark.parametrize("job", ["", "a job", "-a", "x" * 64])
async def test_a_job_that_is_not_a_label_value_is_not_looked_up(
    objects: ApiServer, workloads: JobWorkloads, job: str
) -> None:
    assert (await names(workloads, job), objects.seen) == ([], [])


class TestOfTooMany:
    """Only those are found that have the label themselves."""

    async def test_objects(self, objects: ApiServer, workloads: JobWorkloads, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(job_workloads, "OBJECTS", 2)
        for at in range(3):
            stored(objects, workload("Deployment", name=f"x-{at}", job="other"))
        stored(objects, workload("Deployment", name="y", metadata=LABELLED))
        assert await names(workloads) == ["apps/v1 Deployment y"]

    async def test_bytes(self, objects: ApiServer, workloads: JobWorkloads) -> None:
        stored(objects, workload("Deployment", name="x", metadata={"annotations": {"pad": "x" * 100_000}}))
        stored(objects, workload("Deployment", name="y", metadata=LABELLED))
        assert await names(workloads) == ["apps/v1 Deployment y"]

    async def test_and_of_too_many_of_these_none(
        self, objects: ApiServer, workloads: JobWorkloads, unknown: Unknown, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(job_workloads, "OBJECTS", 2)
        for at in range(3):
            stored(objects, workload("Deployment", name=f"x-{at}", metadata=LABELLED))
        assert (await names(workloads), unknown) == ([], {"failed": 1})


async def test_without_the_right_to_list_nothing_is_known(
    objects: ApiServer, workloads: JobWorkloads, unknown: Unknown
) -> None:
    async def forbidden(seen: Seen) -> web.StreamResponse | None:
        return said_no(403, "Forbidden") if seen.resource == "jobs" else None

    objects.before = forbidden
    stored(objects, workload("Deployment", name="x"))
    assert (await names(workloads), unknown) == ([], {"failed": 1})
    assert len(objects.seen) == 4


async def test_an_answer_that_is_not_a_list_is_unknown(
    objects: ApiServer, workloads: JobWorkloads, unknown: Unknown
) -> None:
    async def odd(_: Seen) -> web.StreamResponse:
        return web.json_response({"items": 7})

    objects.before = odd
    assert (await names(workloads), unknown) == ([], {"failed": 1})


async def test_no_answer_is_waited_for_longer_than_a_review_can_wait(
    objects: ApiServer, workloads: JobWorkloads, unknown: Unknown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_workloads, "SECONDS", 0.1)

    async def silent(_: Seen) -> None:
        await asyncio.sleep(60)

    objects.before = silent
    assert (await names(workloads), unknown) == ([], {"failed": 1})


async def test_so_many_are_asked_about_at_a_time(
    objects: ApiServer, workloads: JobWorkloads, unknown: Unknown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_workloads, "SECONDS", 60.0)
    stored(objects, workload("Deployment", name="x"))
    found = await asyncio.gather(*(names(workloads) for _ in range(AT_A_TIME + 2)))
    assert sorted(map(len, found)) == [0] * 2 + [1] * AT_A_TIME
    assert unknown == {"busy": 2}
    assert len(await names(workloads)) == 1


THREE = cluster(nodes(3))


async def answered(connection: Connection, found: Json, unknown: Unknown) -> Answer:
    """The answer to a workload that is created; if the server asks, after it has."""
    live: LiveCluster[Inventory] = LiveCluster(connection, THREE)
    kind = found["kind"]
    body = review(found, kind=kind, group=group(kind))
    answer = validator(live, Policy(), queries_of(live, unknown=unknown))(body)
    return answer if isinstance(answer, Answer) else await answer


SINK = workload("Deployment", APART, count=2, name="sink")


async def test_a_workload_is_refused_for_those_that_there_are(
    objects: ApiServer, connection: Connection, unknown: Unknown
) -> None:
    stored(objects, workload("StatefulSet", APART, count=2, name="source"))
    code, message = refused(await answered(connection, SINK, unknown))
    assert code == 403
    assert "3 of 4 pods fit (StatefulSet source, Deployment sink)." in message


async def test_it_is_allowed_where_there_are_none(objects: ApiServer, connection: Connection, unknown: Unknown) -> None:
    assert response(await answered(connection, SINK, unknown))["allowed"]
    assert len(objects.seen) == 4


async def test_it_is_allowed_where_the_workloads_are_unknown(
    objects: ApiServer, connection: Connection, unknown: Unknown
) -> None:
    stored(objects, workload("Deployment", APART, count=2, name="source"))
    objects.missing.add("deployments")
    assert response(await answered(connection, SINK, unknown))["allowed"]
    assert unknown == {"failed": 1}


async def test_the_time_of_listing_them_is_time_of_the_verdict(
    objects: ApiServer, connection: Connection, unknown: Unknown
) -> None:
    async def slow(_: Seen) -> None:
        await asyncio.sleep(0.2)

    stored(objects, workload("Deployment", APART, count=2, name="source"))
    objects.before = slow
    live: LiveCluster[Inventory] = LiveCluster(connection, THREE)
    validating = validator(live, Policy(), queries_of(live, JobVerdicts(0.1), unknown=unknown))
    answer = validating(review(SINK, kind="Deployment", group="apps"))
    assert not isinstance(answer, Answer)
    assert warnings(await answer) == [UNDECIDED]


async def test_a_workload_of_no_job_costs_no_question(
    objects: ApiServer, connection: Connection, unknown: Unknown
) -> None:
    found = workload("Deployment", 'host("node-a")', name="sink", job=None)
    assert response(await answered(connection, found, unknown))["allowed"]
    assert objects.seen == []


async def test_entries_without_queries_send_none(connection: Connection, unknown: Unknown) -> None:
    live: LiveCluster[Inventory] = LiveCluster(connection, THREE)
    body = review(SINK, kind="Deployment", group="apps")
    answer = validator(live, Policy(), ReviewQueries())(body)
    assert isinstance(answer, Answer)
    assert response(answer)["allowed"]
    assert unknown == {}


def test_workloads_that_are_not_known_are_counted() -> None:
    metrics = ReviewMetrics()
    metrics.workloads_unknown("busy")
    assert b'streams_placement_unknown_workloads_total{cause="busy"} 1.0' in metrics.text()
