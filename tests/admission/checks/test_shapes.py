"""Wrong types at every level: each value of a valid review is replaced by each other type in turn."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.answers import Json, patched
from tests.builders import UID, cluster, envelope, job, nodes, pod, pool, review
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

Path = tuple[str | int, ...]

POLICY = Policy()
CLUSTER = cluster(
    nodes(2, labels={keys.TAG: "ib"}), pools=[pool(tags=["ib"])], jobs=[job({"parallel-1": "hostIsolation"})]
)
VALUES: tuple[object, ...] = (None, True, 1, 1.5, "x", [], {})
REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
EXPRESSION = {"key": "disk", "operator": "DoesNotExist"}
POD_TERM = {
    "labelSelector": {"matchLabels": {"a": "b"}, "matchExpressions": [EXPRESSION]},
    "topologyKey": "zone",
    "namespaces": ["n"],
    "namespaceSelector": {},
}


def full() -> Json:
    """A pod that says something in every field that is read."""
    found = pod(
        'host(MyPool), hostExlocation("t")',
        owner="ReplicaSet",
        annotations={keys.PREFERRED: "hostExlocation", keys.HOST_BINDING: "auto"},
        requests={"cpu": "1", "memory": "1Gi"},
        initContainers=[{"name": "i", "restartPolicy": "Always", "resources": {"limits": {"cpu": "1"}}}],
        overhead={"cpu": "1m"},
        resources={"requests": {"cpu": "1"}},
        nodeSelector={keys.TAG: "ib"},
        schedulingGates=[{"name": "g"}],
        tolerations=[{"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule", "tolerationSeconds": 1}],
        affinity={
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [EXPRESSION],
                            "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["x"]}],
                        }
                    ]
                },
                PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [EXPRESSION]}}],
            },
            "podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": POD_TERM}]},
            "podAntiAffinity": {REQUIRED: [POD_TERM]},
        },
    )
    found["metadata"]["uid"] = "u"
    return found


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    """The path of every value, the whole one first."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        yield from paths(below, (*path, key))


def changes(whole: object) -> Iterator[tuple[Path, object, Any]]:
    """The whole with one value replaced, for each path and each other value."""
    for path in paths(whole):
        for value in VALUES:
            changed: Any = {"": copy.deepcopy(whole)}
            place = changed
            for step in ("", *path)[:-1]:
                place = place[step]
            place[("", *path)[-1]] = value
            yield path, value, changed[""]


def wrong(answer: bytes, status: int) -> bool:
    """Whether an answer is neither a readable response nor a readable failure."""
    said = json.loads(answer)
    if status == 400:
        return bool(said["kind"] != "Status" or said["code"] != 400)
    return bool(status != 200 or said["response"]["uid"] != UID or not isinstance(said["response"]["allowed"], bool))


def test_the_pod_is_valid_to_begin_with() -> None:
    answer = mutate(review(full()), CLUSTER, POLICY)
    assert patched(full(), answer)["spec"]["affinity"]["nodeAffinity"]


@pytest.mark.parametrize("part", ["metadata", "spec", "status"])
def test_a_pod_of_any_shape_is_answered(part: str) -> None:
    found = full()
    for _, _, below in changes(found[part]):
        body = review(found | {part: below})
        for entry in (mutate, validate):
            answer = entry(body, CLUSTER, POLICY)
            assert not wrong(answer.body, answer.status), body


def test_a_change_of_any_shape_is_answered() -> None:
    found = full()
    for _, _, changed in changes({"object": found, "oldObject": found}):
        new, old = (changed.get("object"), changed.get("oldObject")) if isinstance(changed, dict) else (changed, found)
        answer = validate(review(new, "UPDATE", old=old), CLUSTER, POLICY)
        assert not wrong(answer.body, answer.status), changed


def test_a_pool_of_any_shape_is_answered() -> None:
    found = {
        "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {
            "name": "P",
            "job": "j",
            "size": 1,
            "tags": ["a"],
            "selector": {"matchLabels": {"a": "b"}, "matchExpressions": [EXPRESSION]},
            "mode": "Shared",
            "elastic": False,
        },
    }
    for _, _, changed in changes(found):
        for old in (None, found):
            operation = "UPDATE" if old else "CREATE"
            answer = validate(
                review(changed, operation, old=old, kind="HostPool", group="streams.ibm.com"), CLUSTER, POLICY
            )
            assert not wrong(answer.body, answer.status), changed


def test_a_review_of_any_shape_is_answered() -> None:
    whole = json.loads(review({}, "CREATE", old={}, name="n", subresource=""))
    for path, value, changed in changes(whole):
        body = (
            envelope(**changed) if isinstance(changed, dict) and "request" in changed else json.dumps(changed).encode()
        )
        for entry in (mutate, validate):
            answer = entry(body, CLUSTER, POLICY)
            uid_changed = path == ("request", "uid") and value == "x"
            assert answer.status == 400 or uid_changed or not wrong(answer.body, answer.status), changed
