"""Patch operations: whatever the pod's fields look like, the patch applies."""

import jsonpatch
import msgspec
import pytest

from tests.admission.patches.patch_samples import OTHER, OURS, POOLED, REQUIRED, Json, after, steps, terms
from tests.builders import cluster, nodes, pod, typed
from webhook.admission.patch import Operation, encode, operations, pointer
from webhook.placement.decision.merge import merge
from webhook.placement.provision.effects import AddLabel
from webhook.placement.text import keys


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("streams.ibm.com/job", "streams.ibm.com~1job", id="slash"),
        pytest.param("a~b", "a~0b", id="tilde"),
        pytest.param("~1/", "~01~1", id="what looks like an escape"),
    ],
)
def test_names_are_escaped_in_paths(name: str, expected: str) -> None:
    assert pointer(name) == expected


def test_an_operation_without_a_value_has_none() -> None:
    assert encode([Operation("remove", "/a"), Operation("add", "/b", None)]) == (
        b'[{"op":"remove","path":"/a"},{"op":"add","path":"/b","value":null}]'
    )


def test_a_pod_that_lacks_nothing_needs_no_step() -> None:
    assert steps(pod(annotations={keys.INJECTED: "{}"}, labels={keys.SEAL: "1"}), cluster(nodes(1))) == []


@pytest.mark.parametrize("absent", [True, False], ids=["absent", "null"])
@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_labels_and_annotations_are_made_where_there_are_none(field: str, *, absent: bool) -> None:
    found = pod(job=None, pe=None)
    if not absent:
        found["metadata"][field] = None
    additions, _ = merge(typed(found), [AddLabel("c", "k", "v")])
    made = msgspec.json.decode(encode(operations(typed(found), additions)))
    own = [step for step in made if step["path"].startswith(f"/metadata/{field}")]
    assert [(step["op"], step["path"]) for step in own] == [("add", f"/metadata/{field}")]
    assert jsonpatch.apply_patch(found, made)["metadata"][field]


def test_an_annotation_that_says_something_else_is_replaced() -> None:
    found = pod(annotations={keys.INJECTED: "forged"})
    expected = {"op": "replace", "path": "/metadata/annotations/streams.ibm.com~1injected", "value": "{}"}
    assert steps(found, cluster(nodes(1)))[:1] == [expected]


def test_an_annotation_that_says_the_same_is_left() -> None:
    found = pod(annotations={keys.INJECTED: "{}"})
    assert [step["path"] for step in steps(found, cluster(nodes(1)))] == ["/metadata/labels/streams.ibm.com~1seal"]


AFFINITIES: dict[str, tuple[Json, list[Json]]] = {
    "absent": ({}, [{"matchExpressions": [OURS]}]),
    "null": ({"affinity": None}, [{"matchExpressions": [OURS]}]),
    "empty": ({"affinity": {}}, [{"matchExpressions": [OURS]}]),
    "null node affinity": ({"affinity": {"nodeAffinity": None}}, [{"matchExpressions": [OURS]}]),
    "empty node affinity": ({"affinity": {"nodeAffinity": {}}}, [{"matchExpressions": [OURS]}]),
    "nothing required": ({"affinity": {"nodeAffinity": {REQUIRED: None}}}, [{"matchExpressions": [OURS]}]),
    "an expression of its own": (
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [OTHER]}]}}}},
        [{"matchExpressions": [OTHER, OURS]}],
    ),
    "fields alone": (
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}
                        ]
                    }
                }
            }
        },
        [
            {
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}],
                "matchExpressions": [OURS],
            }
        ],
    ),
    "null expressions in an empty term beside another": (
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchExpressions": None},
                            {"matchExpressions": [OTHER]},
                            {},
                            {"matchExpressions": [OURS]},
                        ]
                    }
                }
            }
        },
        [{"matchExpressions": [OTHER, OURS]}, {"matchExpressions": [OURS]}],
    ),
}


@pytest.mark.parametrize(("spec", "expected"), AFFINITIES.values(), ids=AFFINITIES.keys())
def test_node_terms_are_added_to_whatever_is_there(spec: Json, expected: list[Json]) -> None:
    assert terms(after(pod("host(MyPool)", **spec), POOLED)) == expected


@pytest.mark.parametrize(("spec", "_"), AFFINITIES.values(), ids=AFFINITIES.keys())
def test_a_second_pass_adds_nothing(spec: Json, _: object) -> None:
    assert steps(after(pod("host(MyPool)", **spec), POOLED), POOLED) == []


def test_a_null_node_name_is_written_over() -> None:
    assert after(pod('host("node-a")', nodeName=None), POOLED)["spec"]["nodeName"] == "node-a"


def test_unknown_fields_of_the_pod_stay_as_they_are() -> None:
    future = {"newField": {"deep": [1, {"x": None}]}}
    found = pod("host(MyPool)", **future, affinity={"newAffinity": future, "nodeAffinity": {"new": 1}})
    made = after(found, POOLED)["spec"]
    assert (made["newField"], made["affinity"]["newAffinity"]) == (future["newField"], future)
    assert made["affinity"]["nodeAffinity"]["new"] == 1


@pytest.mark.parametrize("spec", [{}, {"spec": None}], ids=["absent", "null"])
def test_a_spec_is_made_where_the_pod_has_none(spec: Json) -> None:
    bare = {"metadata": {"annotations": {keys.PLACEMENT: "host(MyPool)"}}, **spec}
    assert terms(after(bare, POOLED)) == [{"matchExpressions": [OURS]}]


def test_no_spec_is_made_for_an_annotation_alone() -> None:
    bare = {"metadata": {"annotations": {keys.PLACEMENT: "host($default)"}}}
    assert "spec" not in after(bare, POOLED)
