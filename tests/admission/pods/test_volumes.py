"""The questions about claims: what is asked for a pod, a workload and a Job, and what becomes of the answers."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import Json, cluster, job, nodes, pod, pool, review
from tests.placement.constraints.hosts.test_volumes import having
from tests.workload_templates import workload
from webhook.admission.answer import (
    Answer,
    JobQuestion,
    Outcome,
    RightsQuestion,
    VolumesQuestion,
    WholeQuestion,
    WorkloadsQuestion,
)
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.admission.validate import validate
from webhook.cluster.queries.lookups.volume_lookups import VolumeLookups
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.volumes import Claim, ClaimName, PersistentVolume, Volumes
from webhook.placement.request.memo import Memo
from webhook.placement.text import keys

ELEMENT = {
    "apiVersion": "streams.ibm.com/v1", "kind": "ProcessingElement", "name": "parallel-0", "uid": "u",
    "controller": True,
}  # fmt: skip
CLAIMED: Json = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}
MADE: Json = {"volumes": [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}
PLAIN: Json = {"volumes": [{"name": "data", "emptyDir": {}}]}
NAME = ("default", "c")
BOTH = 'host("node-c") and PersistentVolumeClaim c cannot both hold: 0 of 3 nodes can run this pod.'
THREE = cluster(nodes(3))


def on_a(*names: str) -> Volumes:
    """These claims, bound to a volume of the first node."""
    found = Volumes()
    for name in names or ("c",):
        found.put_claim(Claim("default", name, "v"))
    found.put_volume(PersistentVolume("v", (having(keys.HOSTNAME, "node-a"),)))
    return found


class Lookups(VolumeLookups):
    """Knows that every claim is bound to a volume of the first node; remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[ClaimName, ...]] = []

    async def find(self, claims: Sequence[ClaimName]) -> Volumes:  # type: ignore[override] -- of any number
        self.asked.append(tuple(claims))
        await asyncio.sleep(0)
        return on_a(*(name for _, name in claims))


def streams_job(**template: Any) -> Json:
    """A Job of one element, for the third node."""
    spec = {"containers": [{"name": "main", "image": "i"}], **template}
    element = {"name": "app-0", "operators": [{"name": "A", "placement": 'host("node-c")'}], "template": {"spec": spec}}
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "app", "namespace": "default"},
        "spec": {"processingElements": [element]},
    }


def submitted(found: Json, inventory: Inventory = THREE) -> Answer:
    group = found["apiVersion"].rpartition("/")[0]
    return validate(review(found, kind=found["kind"], group=group), inventory, Policy())


async def completed(answer: Answer, volumes: VolumeLookups | None = None) -> Answer:
    found = ReviewQueries(ReviewLookups(volumes=volumes)).completed(answer)
    return found if isinstance(found, Answer) else await found


# Pods


def test_the_claims_of_a_pod_are_asked_for() -> None:
    answer = mutate(review(pod('host("node-c")', **CLAIMED)), THREE, Policy())
    assert isinstance(answer.question, VolumesQuestion)
    assert (answer.outcome, answer.question.claims) == (Outcome.PATCHED, (NAME,))
    told = answer.question.resume(on_a())
    assert (told.outcome, told.message.splitlines()[0], told.question) == (Outcome.DENIED, BOTH, None)


def test_classes_are_asked_for_where_claims_are_made_with_the_pod() -> None:
    answer = mutate(review(pod(**MADE)), THREE, Policy())
    assert isinstance(answer.question, VolumesQuestion)
    assert answer.question.claims == ()


@pytest.mark.parametrize(
    "found",
    [pod(), pod(**PLAIN), pod(job=None, pe=None, **CLAIMED)],
    ids=["without volumes", "without claims", "that asks for no placement"],
)
def test_nothing_is_asked_for_a_pod(found: Json) -> None:
    assert mutate(review(found), THREE, Policy()).question is None


def test_without_an_api_server_the_inventory_counts() -> None:
    inventory = cluster(nodes(3)).with_volumes(on_a())
    answer = mutate(review(pod('host("node-c")', **CLAIMED)), inventory, Policy())
    assert isinstance(answer.question, VolumesQuestion)
    assert (answer.outcome, answer.question.resume(None).outcome) == (Outcome.DENIED, Outcome.DENIED)


def test_the_job_of_the_pod_is_asked_for_after_that() -> None:
    found = pod('hostColocation("a"), hostColocation("b")', **CLAIMED)
    found["metadata"]["ownerReferences"] = [ELEMENT]
    answer = mutate(review(found), THREE, Policy())
    assert isinstance(answer.question, VolumesQuestion)
    assert isinstance(answer.question.resume(on_a()).question, JobQuestion)


def test_no_answer_about_claims_is_kept() -> None:
    memo = Memo[Ruling]()
    inventory = cluster(nodes(3), jobs=[job({"parallel-0": ""})])
    answer = mutate(review(pod(**CLAIMED)), inventory, Policy(), Known(memo))
    assert isinstance(answer.question, VolumesQuestion)
    answer.question.resume(on_a())
    assert len(memo) == 0
    mutate(review(pod()), inventory, Policy(), Known(memo))
    answer.question.resume(on_a())
    assert len(memo) == 1


# Workloads


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Job", "CronJob", "DaemonSet"])
async def test_the_claims_of_a_workload_are_asked_for(kind: str) -> None:
    lookups = Lookups()
    found = workload(kind, None, pe=None, nodeSelector={keys.HOSTNAME: "node-c"}, **CLAIMED)
    told = await completed(submitted(found), lookups)
    assert (told.outcome, lookups.asked) == (Outcome.DENIED, [(NAME,)])


async def test_the_claims_that_a_stateful_set_makes_are_asked_for() -> None:
    lookups = Lookups()
    templates = [{"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}]
    spec = {"volumeClaimTemplates": templates, "ordinals": {"start": 3}}
    found = workload("StatefulSet", 'hostExlocation("a")', count=2, name="db", pe=None, spec=spec)
    told = await completed(submitted(found), lookups)
    assert lookups.asked == [(("default", "data-db-3"), ("default", "data-db-4"))]
    assert told.message.splitlines()[0] == (
        'volumes of db-3, db-4 and hostExlocation("a") cannot both hold: '
        "the nodes of these volumes have room for 1 of 2 pods."
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"storageClassName": 5}}]},
        {"volumeClaimTemplates": [{"metadata": {"name": "data"}}], "ordinals": {"start": "x"}},
    ],
    ids=["a class of another type", "a start of another type"],
)
async def test_odd_templates_of_claims_count_as_absent(spec: Json) -> None:
    lookups = Lookups()
    found = workload("StatefulSet", None, count=1, name="db", pe=None, spec=spec)
    await completed(submitted(found), lookups)
    assert lookups.asked == [(("default", "data-db-0"),)]


def test_a_set_without_claims_asks_for_none() -> None:
    found = workload("StatefulSet", None, job=None, annotations={keys.PLACEMENT: 'host("node-a")'}, count=1, pe=None)
    assert submitted(found).question is None


def test_rights_and_other_workloads_are_asked_for_after_that() -> None:
    inventory = cluster(nodes(3, labels={keys.TAG: "x"}), pools=[pool(tags=["x"])])
    answer = submitted(workload("Deployment", "host(MyPool)", pe=None, **CLAIMED), inventory)
    assert isinstance(answer.question, VolumesQuestion)
    then = answer.question.resume(on_a()).question
    assert isinstance(then, RightsQuestion)
    assert isinstance(then.then, WorkloadsQuestion)


# Jobs


async def test_the_claims_of_a_job_are_asked_for() -> None:
    lookups = Lookups()
    told = await completed(submitted(streams_job(**CLAIMED)), lookups)
    assert (told.message.splitlines()[0], lookups.asked) == (f"processing element app-0: {BOTH}", [(NAME,)])


async def test_a_job_is_judged_without_an_api_server() -> None:
    answer = submitted(streams_job(**CLAIMED), cluster(nodes(3)).with_volumes(on_a()))
    assert (await completed(answer)).message.splitlines()[0] == f"processing element app-0: {BOTH}"


@pytest.mark.parametrize("template", [{}, PLAIN, {"hostname": "claimed"}], ids=["bare", "plain", "a word like it"])
def test_a_job_without_claims_asks_for_none(template: Json) -> None:
    assert isinstance(submitted(streams_job(**template)).question, WholeQuestion)


async def test_classes_are_asked_for_where_a_job_has_claims_made_with_its_pods() -> None:
    lookups = Lookups()
    assert (await completed(submitted(streams_job(**MADE)), lookups)).outcome is Outcome.ALLOWED
    assert lookups.asked == [()]
