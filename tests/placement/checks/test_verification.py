"""Does a finished pod still say what its clauses require?"""

import copy
from collections.abc import Callable

import pytest

from tests.builders import (
    JOB,
    Json,
    bound_pod,
    cluster,
    job,
    node,
    nodes,
    pod,
    pool,
)  # fmt: skip
from tests.placement.final_pods import EXCLUSIVE, finished, problems
from webhook.placement.checks.verification import undone
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem

TOGETHER = keys.COLOCATION + keys.digest("t")

APART = keys.EXLOCATION + keys.digest("t")

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

TWO = cluster(nodes(2), pools=[pool(tags=["ib"]), EXCLUSIVE], jobs=[job({})])

TAGGED = cluster(nodes(2, labels={keys.TAG: "ib"}), pools=[pool(tags=["ib"])])

AFFINITY = Policy(host_binding="nodeAffinity")


def without(*path: str) -> Callable[[Json], None]:
    """Something that takes a field out of the pod."""

    def undo(found: Json) -> None:
        for step in path[:-1]:
            found = found[step]
        del found[path[-1]]

    return undo


def with_value(value: object, *path: str) -> Callable[[Json], None]:
    """Something that sets a field of the pod."""

    def undo(found: Json) -> None:
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = value

    return undo


UNDONE: dict[str, tuple[str, Inventory, Policy, Callable[[Json], None], str, str]] = {
    "the node name": ('host("node-b")', TWO, Policy(), without("spec", "nodeName"), "spec", "nodeAffinity"),
    "another node name": (
        'host("node-b")',
        TWO,
        Policy(),
        with_value("node-a", "spec", "nodeName"),
        "spec",
        "nodeAffinity",
    ),
    "the node term of a name": ('host("node-b")', TWO, AFFINITY, without("spec", "affinity"), "spec", "nodeAffinity"),
    "the node term of a pool": (
        "host(MyPool)",
        TAGGED,
        Policy(),
        without("spec", "affinity", "nodeAffinity"),
        "spec",
        "nodeAffinity",
    ),
    "the tag in it": (
        "host(MyPool)",
        TAGGED,
        Policy(),
        with_value(
            {"nodeSelectorTerms": [{"matchExpressions": [{"key": "other", "operator": "Exists"}]}]},
            "spec", "affinity", "nodeAffinity", REQUIRED,
        ),
        "spec",
        "nodeAffinity",
    ),
    "the toleration": ("host(Closed)", TWO, Policy(), without("spec", "tolerations"), "spec", "tolerations"),
    "the label of a token": (
        'hostColocation("t")', TWO, Policy(), without("metadata", "labels", TOGETHER), "metadata", "labels"
    ),
    "the label of an exlocation": (
        'hostExlocation("t")', TWO, Policy(), without("metadata", "labels", APART), "metadata", "labels"
    ),
    "the term of an exlocation": (
        'hostExlocation("t")', TWO, Policy(), without("spec", "affinity", "podAntiAffinity"), "spec", "podAntiAffinity"
    ),
    "the term of an isolation": (
        "hostIsolation", TWO, Policy(), without("spec", "affinity", "podAntiAffinity"), "spec", "podAntiAffinity"
    ),
    "the term of a colocation": (
        'hostColocation("t")', TWO, Policy(), without("spec", "affinity", "podAffinity"), "spec", "podAffinity"
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("placement", "inventory", "policy", "undo", "field", "kind"), UNDONE.values(), ids=UNDONE.keys()
)
def test_what_a_later_webhook_undid_is_named(
    placement: str, inventory: Inventory, policy: Policy, undo: Callable[[Json], None], field: str, kind: str
) -> None:
    made = finished(pod(placement), inventory, policy)
    assert problems(undone, made, inventory, policy) == []
    undo(made)
    message = f"lacks {kind} that its clauses require: something removed what the placement webhook had added"
    assert problems(undone, made, inventory, policy) == [Problem(field, message, fault=Fault.FORBIDDEN)]


def test_a_label_that_says_something_else_is_named() -> None:
    made = finished(pod('hostExlocation("t")'), TWO, Policy())
    made["metadata"]["labels"][APART] = "other"
    message = 'is "other", but hostExlocation("t") needs "t"; leave this label to the webhook'
    assert problems(undone, made, TWO, Policy()) == [Problem(f"metadata.labels[{APART}]", message)]


SEVERAL = 'hostColocation("a"), hostColocation("b")'


@pytest.mark.parametrize(
    ("placement", "inventory", "after"),
    [
        pytest.param(
            "host(MyPool)",
            TAGGED,
            cluster(nodes(2), pools=[pool(tags=["ib"])]),
            id="the last node lost the tag",
        ),
        pytest.param('host("node-a")', TAGGED, cluster(nodes(0)), id="the node is gone"),
        pytest.param(
            'host("10.0.0.1")',
            cluster([node("node-a", addresses=["10.0.0.1"])]),
            cluster([node("node-b", addresses=["10.0.0.1"])]),
            id="the address moved",
        ),
        pytest.param(
            None, TAGGED, cluster(nodes(1), pods=[bound_pod(isolated=["Sink"], pe="x")]), id="an isolated pod came"
        ),
        pytest.param(
            "Sink: hostIsolation",
            cluster(nodes(2), jobs=[job({"parallel-0": "Sink: hostIsolation"})]),
            cluster(nodes(2)),
            id="the Job object is gone",
        ),
        pytest.param(
            'hostColocation("a")',
            cluster(nodes(2), jobs=[job({"parallel-0": 'hostColocation("a")', "parallel-1": SEVERAL})]),
            cluster(nodes(2), jobs=[job({"parallel-0": 'hostColocation("a")', "parallel-1": SEVERAL})]),
            id="nothing, for a pod of a group",
        ),
        pytest.param(
            SEVERAL,
            cluster(nodes(2), jobs=[job({"parallel-0": SEVERAL})]),
            cluster(nodes(2), jobs=[job({"parallel-0": SEVERAL})]),
            id="nothing, for a pod with several tokens",
        ),
    ],
)
def test_what_depended_on_the_cluster_is_not_compared(
    placement: str | None, inventory: Inventory, after: Inventory
) -> None:
    made = finished(pod(placement), inventory, Policy())
    assert problems(undone, made, after, Policy()) == []


def test_a_preference_may_be_removed() -> None:
    made = finished(pod('host("node-a")', annotations={keys.PREFERRED: "host"}), TAGGED, Policy())
    del made["spec"]["affinity"]
    assert problems(undone, made, TAGGED, Policy()) == []


def test_a_pod_without_a_spec_lacks_everything() -> None:
    found = {"metadata": pod('host("node-a")')["metadata"]}
    assert [problem.field for problem in problems(undone, found, TAGGED, Policy())] == ["spec"]


def test_a_bound_pod_may_say_it_in_its_affinity_and_the_other_way_round() -> None:
    bound = finished(pod('host("node-b")'), TWO, Policy())
    assert problems(undone, bound, TWO, AFFINITY) == []
    tied = finished(pod('host("node-b")'), TWO, AFFINITY)
    assert problems(undone, tied, TWO, Policy()) == []


def test_a_check_leaves_the_pod_as_it_is() -> None:
    made = finished(pod('hostExlocation("t")'), TWO, Policy())
    before = copy.deepcopy(made)
    problems(undone, made, TWO, Policy())
    assert (made, made["metadata"]["labels"][keys.JOB]) == (before, JOB)
