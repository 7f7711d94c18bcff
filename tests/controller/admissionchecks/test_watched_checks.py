"""AdmissionChecks and Workloads as the API server states them."""

import msgspec
import pytest
from msgspec import Raw

from tests.controller.admissionchecks.checked_cluster import VERSION
from tests.controller.controlled_cluster import Json
from webhook.cluster.objects.metadata import MalformedError
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.records import (
    CONTROLLER,
    CheckedWorkload,
    CheckState,
    RequeueState,
    read_workload,
)
from webhook.controller.admissionchecks.watched_checks import check_kinds


def raw(document: Json) -> Raw:
    return Raw(msgspec.json.encode(document))


def test_the_name_of_the_controller() -> None:
    assert CONTROLLER == "placement.streams.ibm.com/admission-check"


def test_versions_that_are_watched_and_written() -> None:
    checks, workloads = check_kinds(CheckStore())
    assert checks.api.paths[1:] == (
        "/apis/kueue.x-k8s.io/v1beta2/admissionchecks",
        "/apis/kueue.x-k8s.io/v1beta1/admissionchecks",
    )
    found = workloads.read(raw({**_WORKLOAD, "apiVersion": "kueue.x-k8s.io/v1beta1"}))[0]
    assert found.path == "/apis/kueue.x-k8s.io/v1beta1/namespaces/space/workloads/w"


_WORKLOAD: Json = {
    "apiVersion": VERSION,
    "metadata": {"name": "w", "namespace": "space", "uid": "u", "resourceVersion": "7"},
    "status": {"admissionChecks": [{"name": "a", "state": "Ready", "lastTransitionTime": "2026-01-01T00:00:00Z"}]},
}


def test_a_workload() -> None:
    assert read_workload(raw(_WORKLOAD)) == CheckedWorkload(
        "space",
        "w",
        "u",
        "7",
        VERSION,
        (CheckState("a", "Ready", "2026-01-01T00:00:00Z"),),
        reserved=False,
        admitted=False,
        evicted=False,
        over=False,
        requeue=RequeueState(),
    )


@pytest.mark.parametrize(
    ("own", "passed"), [({"a"}, True), ({"a", "b"}, False), (set(), False)], ids=["passed", "not all", "none"]
)
def test_when_checks_have_passed(own: set[str], *, passed: bool) -> None:
    checks = [*_WORKLOAD["status"]["admissionChecks"], {"name": "b", "state": "Pending"}]
    found = read_workload(raw({**_WORKLOAD, "status": {"admissionChecks": checks}}))
    assert found is not None
    assert found.passed(own) == passed


@pytest.mark.parametrize("kind", [0, 1])
def test_what_is_not_from_an_api_server_or_has_no_name(kind: int) -> None:
    read = check_kinds(CheckStore())[kind].read
    with pytest.raises(MalformedError, match="not from an API server"):
        read({})
    with pytest.raises(MalformedError, match=r"metadata\.name: missing"):
        read(raw({}))


def test_listeners_hear_of_changes_only() -> None:
    store = CheckStore()
    heard: list[object] = []
    store.on_check.append(heard.append)
    store.on_workload.append(heard.append)
    checks, workloads = check_kinds(store)
    check, _ = checks.read(
        raw({"apiVersion": VERSION, "metadata": {"name": "c"}, "spec": {"controllerName": CONTROLLER}})
    )  # fmt: skip
    for _ in range(2):
        store.put_check(check)
    workload, _ = workloads.read(raw(_WORKLOAD))
    store.put_workload(workload)
    for _ in range(2):
        store.drop_check("c")
        store.drop_workload(("space", "w"))
    assert heard == ["c", ("space", "w"), "c", ("space", "w")]
