"""Wrong types at every level of a workload, before it is changed and after."""

import pytest

from tests.admission.checks.test_shapes import changes, wrong
from tests.admission.submitted_workloads import submitted
from tests.answers import refused, response
from tests.builders import Json, cluster, nodes, review
from tests.workload_templates import workload
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy

TWO = cluster(nodes(2))


def full(kind: str) -> Json:
    """A workload that says something in every field that is read."""
    return workload(
        kind,
        'hostExlocation("a")',
        count=2,
        metadata={
            "deletionTimestamp": None,
            "ownerReferences": [{"kind": "Application", "name": "o", "uid": "u", "controller": True}],
        },
        spec={"completions": 2, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}},
        initContainers=[{"name": "i", "resources": {"limits": {"cpu": "1"}}}],
        nodeSelector={},
        tolerations=[{"operator": "Exists"}],
    )


@pytest.mark.parametrize(
    "kind",
    [
        "Deployment",
        "Job",
        "DaemonSet",
        *(pytest.param(kind, marks=pytest.mark.untraced) for kind in ("StatefulSet", "CronJob")),
    ],
)
def test_a_workload_of_any_shape_is_answered(kind: str) -> None:
    found = full(kind)
    other = full(kind) | {"spec": workload(kind, 'hostExlocation("b")', count=1)["spec"]}
    for path, _, made in changes(found):
        body = made if isinstance(made, dict) else {}
        for old in (None, other):
            answer = submitted(body | {"kind": kind}, TWO, old=old)
            assert not wrong(answer.body, answer.status), (path, body)
        answer = submitted(other, TWO, old=made)
        assert not wrong(answer.body, answer.status), (path, made)


@pytest.mark.parametrize("nothing", [None, 5, "x", [], {}])
def test_nothing_is_decided_about_no_object(nothing: object) -> None:
    answer = validate(review(nothing, kind="Deployment", group="apps"), TWO, Policy())
    assert response(answer)["allowed"]


@pytest.mark.parametrize("depth", [100, 450, 900, 960, 980, 990, 1000, 5000])
@pytest.mark.parametrize("part", ["name", "maxSurge", "labels", "containers", "unknown"])
def test_whatever_is_nested_deep_is_answered(part: str, depth: int) -> None:
    found = workload(placement='hostExlocation("a")', name="@name", spec={"unknown": "@unknown"}, count=2)
    found["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": "@maxSurge"}}
    found["spec"]["template"]["metadata"]["labels"]["x"] = "@labels"
    found["spec"]["template"]["spec"]["containers"][0]["resources"] = "@containers"
    body = review(found, "UPDATE", old=found, kind="Deployment", group="apps").decode()
    body = body.replace(f'"@{part}"', "[" * depth + "]" * depth).replace('"@containers"', "{}")
    # The change that makes it be looked at, in one of the two only.
    body = body.replace('"restartPolicy":"Never"', '"restartPolicy":"Always"', 1)
    answer = validate(body.encode(), TWO, Policy())
    assert not wrong(answer.body, answer.status)


def test_a_field_of_the_wrong_type_is_named() -> None:
    found = workload(placement="hostIsolation", hostNetwork=True, nodeSelector=5)
    assert refused(submitted(found, TWO)) == (
        422,
        "the Deployment is not readable: spec.nodeSelector: found a whole number, expected a mapping",
    )
