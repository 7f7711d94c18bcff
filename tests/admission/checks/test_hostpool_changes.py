"""Names of HostPools that are taken, and changes to those that exist."""

from typing import Any

import pytest

from tests.admission.submitted_pools import host_pool, validated
from tests.answers import refused, response
from tests.builders import JOB, UID, Json, pool
from webhook.placement.objects.pool import Pool


@pytest.mark.parametrize(
    ("found", "pools", "expected"),
    [
        pytest.param(
            host_pool(name="P"),
            [pool("P", name="other")],
            '"P" is the name of HostPool object other of this namespace already',
            id="of the namespace",
        ),
        pytest.param(
            host_pool(name="P", job=JOB),
            [pool("P", name="other", job=JOB)],
            '"P" is the name of HostPool object other of job parallel already',
            id="of the job",
        ),
        pytest.param(
            host_pool("p"),
            [pool("p", name="other")],
            '"p" is the name of HostPool object other of this namespace already',
            id="by its object name",
        ),
        pytest.param(
            host_pool(None, name="P"),
            [pool("P", name="other")],
            '"P" is the name of HostPool object other of this namespace already',
            id="without a name of its own yet",
        ),
    ],
)
def test_a_name_that_is_taken_is_refused(found: Json, pools: list[Pool], expected: str) -> None:
    assert refused(validated(found, *pools)) == (403, f"spec.name: {expected}")


@pytest.mark.parametrize(
    ("found", "pools"),
    [
        pytest.param(host_pool(name="P", job=JOB), [pool("P", name="other")], id="the job's beside the namespace's"),
        pytest.param(host_pool(name="P"), [pool("P", name="other", job=JOB)], id="the namespace's beside a job's"),
        pytest.param(host_pool(name="P"), [pool("P", name="x", namespace="other")], id="in another namespace"),
        pytest.param(host_pool("ib-blue", name="P"), [pool("P", name="ib-blue")], id="its own"),
        pytest.param(host_pool(None), [pool("P")], id="no name at all"),
    ],
)
def test_a_name_that_is_free_is_allowed(found: Json, pools: list[Pool]) -> None:
    assert response(validated(found, *pools))["allowed"]


def test_the_pool_of_all_hosts_cannot_be_defined() -> None:
    assert refused(validated(host_pool(name="$default")))[0] == 422


OLD: dict[str, Any] = {
    "name": "P", "job": JOB, "size": 2, "tags": ["a", "b"], "selector": {"matchLabels": {"x": "y"}},
    "devices": [{"class": "a"}], "mode": "Shared",
}  # fmt: skip

FIXED = "cannot be changed: create another HostPool instead"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Q"),
        ("job", "other"),
        ("job", None),
        ("hosts", ["a"]),
        ("size", 3),
        ("size", None),
        ("tags", ["b", "a"]),
        ("tags", ["a"]),
        ("selector", {"matchLabels": {"x": "z"}}),
        ("devices", [{"class": "a", "count": 2}]),
        ("devices", None),
        ("mode", "Exclusive"),
    ],
    ids=str,
)
def test_a_pool_cannot_be_changed(field: str, value: object) -> None:
    answer = validated(host_pool(**OLD | {field: value}), old=host_pool(**OLD))
    assert refused(answer) == (422, f"spec.{field}: {FIXED}")


def test_the_order_of_hosts_is_their_index_and_cannot_be_changed() -> None:
    answer = validated(host_pool(hosts=["b", "a"]), old=host_pool(hosts=["a", "b"]))
    assert refused(answer) == (422, f"spec.hosts: {FIXED}")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(OLD, OLD, id="nothing"),
        pytest.param(OLD, OLD | {"elastic": True}, id="elastic"),
        pytest.param({}, {"mode": "Shared", "tags": [], "devices": []}, id="defaults that are written out"),
        pytest.param({"size": 0}, {"size": 0, "elastic": True}, id="elastic of one that would be refused today"),
    ],
)
def test_elastic_may_be_changed(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert response(validated(host_pool(**new), old=host_pool(**old)))["allowed"]


def test_a_pool_that_is_being_deleted_may_change() -> None:
    gone = host_pool(size=3)
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert response(validated(gone, old=host_pool(size=2)))["allowed"]


@pytest.mark.parametrize(
    "fields",
    [{"operation": "DELETE"}, {"operation": "UPDATE", "subresource": "status"}, {"operation": "CONNECT"}],
    ids=["DELETE", "status", "CONNECT"],
)
def test_other_operations_are_allowed(fields: dict[str, str]) -> None:
    assert response(validated(host_pool(size=0), **fields)) == {"uid": UID, "allowed": True}
