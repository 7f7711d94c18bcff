"""ProvisioningRequests as the API server states them, and where they are kept."""

import msgspec
import pytest
from msgspec import Raw

from tests.controller.controlled_cluster import Json
from webhook.cluster.objects.metadata import MalformedError
from webhook.controller.provisioningrequests.request_store import RequestStore, request_kind
from webhook.controller.provisioningrequests.stored_request import CLASS, owner_uid, read_request

JOB = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "name": "app", "uid": "u", "controller": True}


def raw(document: Json) -> Raw:
    return Raw(msgspec.json.encode(document))


def request(name: str = "r", namespace: str = "space", owner: Json | None = JOB, status: object = None) -> Raw:
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "ownerReferences": owner and [owner]}
    spec = {"provisioningClassName": CLASS, "podSets": [{"count": 2}, {"count": 1}]}
    return raw({"apiVersion": "autoscaling.x-k8s.io/v1", "metadata": metadata, "spec": spec, "status": status or {}})


def test_the_versions_that_are_watched() -> None:
    assert request_kind(RequestStore()).api.paths == (
        "/apis/autoscaling.x-k8s.io/v1/provisioningrequests",
        "/apis/autoscaling.x-k8s.io/v1beta1/provisioningrequests",
    )


def test_what_is_not_from_an_api_server_or_has_no_name() -> None:
    read = request_kind(RequestStore()).read
    with pytest.raises(MalformedError, match="not from an API server"):
        read({})
    with pytest.raises(MalformedError, match=r"metadata\.name: missing"):
        read(raw({}))


@pytest.mark.parametrize("owner", [None, {**JOB, "controller": False}, {**JOB, "apiVersion": "batch/v1"}])
def test_a_request_that_no_job_of_ours_controls(owner: Json | None) -> None:
    found = read_request(request(owner=owner))
    assert (found.job, found.owner, found.count) == ("", "", 3)


@pytest.mark.parametrize("status", [{"conditions": 7}, {"conditions": None}, {"conditions": [{"type": "Other"}]}])
def test_a_status_that_says_nothing(status: object) -> None:
    found = read_request(request(status=status))
    assert (found.job, found.accepted, found.answer) == ("app", False, None)


def test_the_controller_of_an_object() -> None:
    assert (owner_uid(request()), owner_uid(request(owner=None))) == ("u", "")


def test_requests_are_found_by_their_job() -> None:
    store = RequestStore()
    heard: list[object] = []
    store.listeners.append(heard.append)
    kind = request_kind(store)
    for name, owner in (("a", JOB), ("b", JOB), ("c", None), ("a", JOB)):
        found, _ = kind.read(request(name, owner=owner))
        assert kind.value_key(found) == f"space/{name}"
        kind.put(store, found)  # type: ignore[arg-type]
    job = "space", "app"
    assert ([one.name for one in store.of_job(job)], store.open(9), store.open_in("space")) == (["a", "b"], 2, 2)
    assert heard == [job, job]
    kind.put(store, kind.read(request("b", owner={**JOB, "name": "else"}))[0])  # type: ignore[arg-type]
    assert sorted(heard[2:]) == [job, ("space", "else")]  # type: ignore[type-var]
    del heard[:]
    for key in ("space/a", "space/b", "space/c", "space/d"):
        kind.drop(store, key)  # type: ignore[arg-type]
    assert heard == [job, ("space", "else")]
    assert (store.all, store.open(9), store.open_in("space"), store.of_job(job)) == ({}, 0, 0, [])


def test_requests_of_one_namespace_do_not_use_up_what_all_may_have_open() -> None:
    """Whoever may make ProvisioningRequests in a namespace can give them a Job as their owner."""
    store = RequestStore()
    for at in range(50):
        store.put(read_request(request(f"r{at}")))
    store.put(read_request(request(namespace="other")))
    assert store.open(10) == 11
