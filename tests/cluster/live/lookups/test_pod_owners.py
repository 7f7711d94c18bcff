"""The chain of owners of a pod is read from the API server: what a pod claims does not count."""

from collections.abc import AsyncIterator
from typing import Final

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from tests.admission.pods.test_application_pods import ONE, OPERATOR, WHY, pod
from tests.answers import refused
from tests.apiserver.server import ApiServer, Seen
from tests.apiserver.server import refused as said_no
from tests.builders import NAMESPACE, Json, review
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.app.application_kinds import application_kinds
from webhook.cluster.queries.lookups import pod_owners
from webhook.cluster.queries.lookups.pod_owners import KEPT_SECONDS, READS, PodOwners
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.policy import Policy

pytestmark = pytest.mark.integration

DRIVER: Final = f"system:serviceaccount:{NAMESPACE}:spark"
KINDS: Final = application_kinds()
POLICY: Final = Policy(
    kinds=KINDS,
    reviewed=frozenset({("sparkoperator.k8s.io", "ScheduledSparkApplication"), ("ray.io", "RayJob")}),
    operator_accounts=frozenset({OPERATOR}),
)


def reference(version: str, kind: str, name: str, uid: str = "u") -> Json:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid}


def stored(*owners: object, uid: str = "u", **spec: object) -> Json:
    return {"metadata": {"uid": uid, "ownerReferences": [*owners]}, "spec": spec}


SCHEDULED: Final = reference("sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "daily")
RUN: Final = reference("sparkoperator.k8s.io/v1beta2", "SparkApplication", "run")
POD: Final = reference("v1", "Pod", "driver")
RAY_JOB: Final = reference("ray.io/v1", "RayJob", "train")
RAY: Final = reference("ray.io/v1", "RayCluster", "train-x")


class Stored:
    """A stand-in for the API server's objects; a number is the code of a refusal."""

    def __init__(self, server: ApiServer) -> None:
        self.found: dict[str, object] = {
            "pods/driver": stored(RUN),
            "sparkapplications/run": stored(SCHEDULED),
            "scheduledsparkapplications/daily": stored(template={"driver": {"serviceAccount": "spark"}}),
            "rayclusters/train-x": stored(RAY_JOB),
            "rayjobs/train": stored(),
        }
        self.asked: list[str] = []
        server.before = self._answer

    async def _answer(self, seen: Seen) -> web.StreamResponse | None:
        name = seen.path.rpartition(f"/namespaces/{NAMESPACE}/")[2]
        self.asked.append(name)
        found = self.found.get(name, 404)
        return said_no(found, "No") if isinstance(found, int) else web.json_response(found)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def objects_of(objects: ApiServer) -> Stored:
    return Stored(objects)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def queries(objects: ApiServer, clock: Clock) -> AsyncIterator[ReviewQueries]:
    async with Connection(objects.configuration()) as opened:
        yield ReviewQueries(ReviewLookups(owners=PodOwners(ObjectClient(opened), clock=clock)))


async def decided(queries: ReviewQueries, owners: object, user: str = OPERATOR) -> Answer:
    answer = mutate(review(pod(owners=owners), userInfo={"username": user}), ONE, POLICY)
    found = queries.completed(answer)
    return found if isinstance(found, Answer) else await found


async def waits(queries: ReviewQueries, owners: object, user: str = OPERATOR) -> bool:
    answer = await decided(queries, owners, user)
    if not answer.waits:
        assert refused(answer)[1].startswith(WHY)
    return bool(answer.waits)


async def test_a_pod_that_the_operator_creates_waits(objects_of: Stored, queries: ReviewQueries) -> None:
    assert await waits(queries, [RAY])
    assert objects_of.asked == ["rayclusters/train-x", "rayjobs/train"]


async def test_a_pod_that_the_account_of_the_application_creates_waits(
    objects_of: Stored, queries: ReviewQueries
) -> None:
    assert await waits(queries, [POD], DRIVER)
    assert objects_of.asked == ["pods/driver", "sparkapplications/run", "scheduledsparkapplications/daily"]


@pytest.mark.parametrize("user", [f"system:serviceaccount:{NAMESPACE}:other", "jane", "system:serviceaccount:o:spark"])
async def test_one_that_another_account_creates_is_a_plain_pod(
    objects_of: Stored, queries: ReviewQueries, user: str
) -> None:
    del objects_of
    assert not await waits(queries, [POD], user)


@pytest.mark.parametrize(
    ("owner", "asked"),
    [
        pytest.param(RAY | {"uid": "forged"}, ["rayclusters/train-x"], id="of another uid"),
        pytest.param(RAY | {"uid": ""}, ["rayclusters/train-x"], id="without a uid"),
        pytest.param(RAY | {"name": "gone"}, ["rayclusters/gone"], id="that does not exist"),
        pytest.param(RAY | {"name": "../x"}, [], id="whose name is no name"),
        pytest.param(RAY | {"apiVersion": "ray.io/v9"}, [], id="of a version that is not known"),
        pytest.param(reference("kubeflow.org/v1", "PyTorchJob", "train-x"), [], id="of a kind that is not reviewed"),
    ],
)
async def test_a_pod_with_an_owner_that_is_made_up_is_a_plain_pod(
    objects_of: Stored, queries: ReviewQueries, owner: Json, asked: list[str]
) -> None:
    assert not await waits(queries, [owner])
    assert objects_of.asked == asked


@pytest.mark.parametrize(
    "found",
    [404, 403, 500, [], {}, {"metadata": 7}, {"metadata": {"uid": "u", "ownerReferences": 7}}, stored(7, {"name": 1})],
    ids=repr,
)
async def test_without_the_rest_of_the_chain_it_is_one_too(
    objects_of: Stored, queries: ReviewQueries, found: object
) -> None:
    objects_of.found["rayclusters/train-x"] = found
    assert not await waits(queries, [RAY])
    assert objects_of.asked == ["rayclusters/train-x"]


async def test_a_chain_without_an_end_is_followed_for_a_while(objects_of: Stored, queries: ReviewQueries) -> None:
    objects_of.found["rayclusters/train-x"] = stored(RAY, RAY)
    assert not await waits(queries, [RAY])
    assert len(objects_of.asked) == READS


async def test_an_answer_holds_for_some_seconds(objects_of: Stored, queries: ReviewQueries, clock: Clock) -> None:
    objects_of.found["rayjobs/train"] = 404
    assert not await waits(queries, [RAY])
    objects_of.found["rayjobs/train"] = stored()
    assert not await waits(queries, [RAY])
    clock.now += KEPT_SECONDS
    assert await waits(queries, [RAY])


@pytest.fixture
def one_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all answers the last one is kept, in what is made afterwards."""
    monkeypatch.setattr(pod_owners, "KEPT", 1)


@pytest.mark.usefixtures("one_kept")
async def test_a_bounded_number_of_answers_is_kept(objects_of: Stored, objects: ApiServer) -> None:
    async with Connection(objects.configuration()) as opened:
        queries = ReviewQueries(ReviewLookups(owners=PodOwners(ObjectClient(opened))))
        for found in (RAY, RAY, POD, RAY):
            await waits(queries, [found])
    assert objects_of.asked.count("rayclusters/train-x") == 2


async def test_without_an_api_server_it_is_refused() -> None:
    assert not await waits(ReviewQueries(), [RAY])


@pytest.fixture
async def owners(objects: ApiServer, clock: Clock) -> AsyncIterator[PodOwners]:
    async with Connection(objects.configuration()) as opened:
        yield PodOwners(ObjectClient(opened), clock=clock)


async def application(owners: PodOwners, pod: str) -> str:
    """The name of the application of that pod; empty if it has none."""
    found = await owners.application(NAMESPACE, pod, "u", POLICY)
    return found.name if found else ""


async def test_the_application_of_pods_with_the_same_owners_is_read_once_for_a_while(
    objects_of: Stored, owners: PodOwners, clock: Clock
) -> None:
    objects_of.found |= {"pods/a": stored(RAY), "pods/b": stored(RAY)}
    assert [await application(owners, name) for name in "ab"] == ["train", "train"]
    assert objects_of.asked == ["pods/a", "rayclusters/train-x", "rayjobs/train", "pods/b"]
    clock.now += KEPT_SECONDS
    objects_of.found["rayclusters/train-x"] = stored()
    assert await application(owners, "a") == ""
    assert objects_of.asked[4:] == ["pods/a", "rayclusters/train-x"]


@pytest.mark.usefixtures("one_kept")
async def test_applications_that_are_kept_are_bounded(objects_of: Stored, objects: ApiServer) -> None:
    objects_of.found |= {"pods/a": stored(RAY), "pods/b": stored(RAY_JOB)}
    async with Connection(objects.configuration()) as opened:
        owners = PodOwners(ObjectClient(opened))
        assert [await application(owners, name) for name in "aba"] == ["train"] * 3
    assert objects_of.asked.count("rayclusters/train-x") == 2


async def test_owners_that_cannot_exist_are_not_kept(objects_of: Stored, owners: PodOwners) -> None:
    objects_of.found["pods/a"] = stored(RAY | {"uid": "u" * 318}, RAY | {"name": "x" * 318}, RAY_JOB)
    assert await application(owners, "a") == "train"
    assert objects_of.asked == ["pods/a", "rayjobs/train"]


@pytest.mark.parametrize("failed", ["pods/a", "rayclusters/train-x", "rayjobs/train"])
async def test_what_cannot_be_read_now_is_asked_again(objects_of: Stored, owners: PodOwners, failed: str) -> None:
    objects_of.found["pods/a"] = stored(RAY)
    found, objects_of.found[failed] = objects_of.found[failed], 500
    with pytest.raises(ApiError):
        await application(owners, "a")
    objects_of.found[failed] = found
    assert await application(owners, "a") == "train"


@pytest.mark.parametrize("code", [403, 404])
async def test_what_may_not_be_read_has_no_application(objects_of: Stored, owners: PodOwners, code: int) -> None:
    objects_of.found |= {"pods/a": stored(RAY), "rayjobs/train": code}
    assert await application(owners, "a") == ""
