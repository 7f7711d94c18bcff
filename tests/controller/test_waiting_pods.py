"""Pods that were let in although no node could run them are told why, once."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import pod_path
from tests.controller.controlled_cluster import ControlledCluster, Json
from webhook.app.application_kinds import application_kinds
from webhook.controller.events.event import Regarding
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

TEXT = "no node yet: No node is open to this pod: 0 of 3 nodes can run this pod.\n  3 nodes are cordoned"
SOON = 5.0


def waiting(
    controlled: ControlledCluster,
    name: str = "w",
    *,
    node: str | None = None,
    job: bool = True,
    text: str = TEXT,
    owners: Sequence[Json] = (),
    namespace: str = "default",
) -> str:
    """A pod that was let in to wait; returns its uid."""
    labels = {keys.JOB: "job"} if job else {}
    spec = {"containers": []} | ({"nodeName": node} if node else {})
    metadata = {"labels": labels, "annotations": {keys.WAITS: text}, "ownerReferences": [*owners]}
    path = pod_path(name, namespace)
    found = controlled.kube.create(path, metadata=metadata, spec=spec, status={"phase": "Pending"})
    uid: str = found["metadata"]["uid"]
    return uid


def told(controlled: ControlledCluster) -> list[tuple[str, str]]:
    return controlled.candidate.of_pods.all


@pytest.mark.parametrize("job", [True, False], ids=["of a job", "of no job"])
async def test_a_pod_that_waits_is_told_why(controlled: ControlledCluster, *, job: bool) -> None:
    await controlled.lead()
    uid = waiting(controlled, job=job)
    await asyncio.sleep(SOON - 0.5)
    assert told(controlled) == []
    await asyncio.sleep(1)
    assert told(controlled) == [("PlacementWaiting", TEXT)]
    assert controlled.candidate.of_pods.about == [
        Regarding(api_version="v1", kind="Pod", name="w", namespace="default", uid=uid)
    ]
    assert controlled.said == []


async def test_it_is_told_once_whatever_happens_to_it(controlled: ControlledCluster) -> None:
    await controlled.lead()
    waiting(controlled)
    for at in range(3):
        await asyncio.sleep(4)
        controlled.kube.change(pod_path("w"), {"metadata": {"labels": {"at": str(at)}}})
    await asyncio.sleep(2000)
    assert len(told(controlled)) == 1


async def test_those_that_waited_before_are_told_by_whoever_leads(controlled: ControlledCluster) -> None:
    waiting(controlled)
    await controlled.lead(SOON + 1)
    assert told(controlled) == [("PlacementWaiting", TEXT)]


async def test_a_process_that_does_not_lead_writes_no_events(controlled: ControlledCluster) -> None:
    await controlled.lead()
    await controlled.candidate.end()
    waiting(controlled)
    await asyncio.sleep(100)
    assert told(controlled) == []


async def test_a_pod_that_gets_its_node_soon_is_told_nothing(controlled: ControlledCluster) -> None:
    await controlled.lead()
    waiting(controlled)
    await asyncio.sleep(1)
    controlled.kube.change(pod_path("w"), {"spec": {"nodeName": "node-a"}})
    await asyncio.sleep(100)
    assert told(controlled) == []


async def test_nor_is_a_pod_that_goes_or_is_gone(controlled: ControlledCluster) -> None:
    await controlled.lead()
    for name in ("goes", "gone"):
        waiting(controlled, name)
    await asyncio.sleep(1)
    controlled.kube.change(pod_path("goes"), {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    controlled.kube.delete(pod_path("gone"))
    await asyncio.sleep(100)
    assert told(controlled) == []


async def test_nor_is_a_pod_that_has_had_its_node_all_along(controlled: ControlledCluster) -> None:
    waiting(controlled, node="node-a")
    await controlled.lead(100)
    assert told(controlled) == []


async def test_they_are_counted_while_they_wait(controlled: ControlledCluster) -> None:
    await controlled.lead()
    figures = controlled.candidate.work.waiting
    assert (figures.count, figures.oldest) == (0, 0)
    waiting(controlled, "first")
    await asyncio.sleep(60)
    waiting(controlled, "second")
    await asyncio.sleep(40)
    assert (figures.count, round(figures.oldest)) == (2, 100)
    controlled.kube.delete(pod_path("first"))
    await asyncio.sleep(1)
    assert (figures.count, round(figures.oldest)) == (1, 41)


@pytest.fixture
async def reviewing() -> AsyncIterator[ControlledCluster]:
    """A controller that knows that RayJobs are reviewed."""
    found = ControlledCluster(
        "node-a", policy=Policy(kinds=application_kinds(), reviewed=frozenset({("ray.io", "RayJob")}))
    )
    yield found
    await found.end()


def stored(controlled: ControlledCluster, kind: str, name: str, *owners: Json) -> Json:
    """The reference to an object of Ray that is stored, with these owners."""
    path = f"/apis/ray.io/v1/namespaces/default/{kind.lower()}s/{name}"
    found = controlled.kube.create(path, metadata={"ownerReferences": [*owners]}, spec={})
    return {"apiVersion": "ray.io/v1", "kind": kind, "name": name, "uid": found["metadata"]["uid"]}


async def test_the_application_of_a_pod_is_told_as_well(reviewing: ControlledCluster) -> None:
    job = stored(reviewing, "RayJob", "train")
    made = stored(reviewing, "RayCluster", "train-x", job)
    await reviewing.lead()
    for name in ("w", "v"):
        waiting(reviewing, name, owners=[made])
    await asyncio.sleep(SOON + 1)
    assert told(reviewing) == [("PlacementWaiting", TEXT)] * 4
    assert [one.kind for one in reviewing.candidate.of_pods.about] == ["Pod", "Pod", "RayJob", "RayJob"]
    assert reviewing.candidate.of_pods.about[2] == Regarding(
        api_version="ray.io/v1", kind="RayJob", name="train", namespace="default", uid=job["uid"]
    )


async def test_only_objects_of_reviewed_kinds_that_exist_are_told(reviewing: ControlledCluster) -> None:
    alone = stored(reviewing, "RayCluster", "alone")
    job = stored(reviewing, "RayJob", "train")
    await reviewing.lead()
    for at, owners in enumerate(([], [alone], [{**job, "uid": "another"}], [{**job, "name": "none"}])):
        waiting(reviewing, f"w{at}", owners=owners)
    await asyncio.sleep(SOON + 1)
    assert [one.kind for one in reviewing.candidate.of_pods.about] == ["Pod"] * 4


async def test_no_pod_waits_for_the_owners_of_another(reviewing: ControlledCluster) -> None:
    """Each of these has six owners to read, and a read takes 10 ms: one after the other they take 21 s."""
    made = [stored(reviewing, "RayCluster", f"c{at}") for at in range(6)]
    await reviewing.lead()
    for at in range(300):
        waiting(reviewing, f"w{at}", owners=made)
    waiting(reviewing, "bystander", namespace="other")
    await asyncio.sleep(SOON + 0.1)
    assert [one.name for one in reviewing.candidate.of_pods.about if one.kind == "Pod"][300:] == ["bystander"]


async def test_no_application_waits_for_those_of_another_namespace(reviewing: ControlledCluster) -> None:
    """Pods of the one namespace have as many owners as are read, and each pod has others."""
    for at in range(300):
        made = [stored(reviewing, "RayCluster", f"c{at}-{one}") for one in range(6)]
        waiting(reviewing, f"w{at}", owners=made)
    path = "/apis/ray.io/v1/namespaces/other/rayjobs/train"
    job = reviewing.kube.create(path, metadata={}, spec={})
    uid = job["metadata"]["uid"]
    owner = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "train", "uid": uid}
    waiting(reviewing, "bystander", owners=[owner], namespace="other")
    await reviewing.lead(SOON + 0.5)
    assert [one.namespace for one in reviewing.candidate.of_pods.about if one.kind == "RayJob"] == ["other"]


async def test_owners_of_many_pods_are_read_once(reviewing: ControlledCluster) -> None:
    job = stored(reviewing, "RayJob", "train")
    made = stored(reviewing, "RayCluster", "train-x", job)
    await reviewing.lead()
    before = reviewing.candidate.line.reads
    for at in range(100):
        waiting(reviewing, f"w{at}", owners=[made])
    await asyncio.sleep(SOON + 2)
    assert [one.kind for one in reviewing.candidate.of_pods.about].count("RayJob") == 100
    assert reviewing.candidate.line.reads - before <= 100 + 2 * 5  # five workers may ask at a time


async def test_a_pod_that_got_its_node_meanwhile_is_not_read(reviewing: ControlledCluster) -> None:
    job = stored(reviewing, "RayJob", "train")
    await reviewing.lead()
    uid = waiting(reviewing, owners=[job])
    await asyncio.sleep(1)
    reviewing.kube.delete(pod_path("w"))
    await asyncio.sleep(1)
    before = reviewing.candidate.line.reads
    await reviewing.candidate.work.waiting.tell_application(("default", uid))
    assert reviewing.candidate.line.reads == before


async def test_an_application_is_told_once_its_owners_can_be_read(reviewing: ControlledCluster) -> None:
    job = stored(reviewing, "RayJob", "train")
    await reviewing.lead()
    reviewing.candidate.line.failures.append(ApiError(Cause.UNREACHABLE, "no connection"))
    waiting(reviewing, owners=[job])
    await asyncio.sleep(SOON + 1)
    assert reviewing.candidate.line.failures == []
    assert [one.kind for one in reviewing.candidate.of_pods.about] == ["Pod", "RayJob"]
