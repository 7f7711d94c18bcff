"""PlacementReviews as JSON: what is read, what is refused, and what is left out of an answer."""

import msgspec
import pytest

from webhook.placementreview.review import (
    AddedNodes,
    AddedShape,
    AddedTaint,
    CandidateNodes,
    PlacementReview,
    PodName,
    ReviewResult,
    ReviewStatus,
    Visible,
    WhatIf,
)


def test_a_review_is_read_from_json() -> None:
    text = """{"apiVersion": "placement.streams.ibm.com/v1", "kind": "PlacementReview", "spec": {"plan": true,
        "manifests": [{"kind": "Pod"}], "whatIf": {"drain": ["a"], "cordon": ["b"], "removePods": [{"name": "p"}],
        "addNodes": [{"count": 2, "shape": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}]}}}"""
    spec = msgspec.json.decode(text, type=PlacementReview).spec
    assert spec.plan
    assert spec.manifests == ({"kind": "Pod"},)
    assert spec.what_if == WhatIf(
        drain=("a",),
        cordon=("b",),
        add_nodes=(AddedNodes(2, shape=AddedShape(taints=(AddedTaint("k", "NoSchedule"),))),),
        remove_pods=(PodName("p"),),
    )


def test_an_unknown_field_of_the_spec_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `drains`"):
        msgspec.json.decode('{"spec": {"whatIf": {"drains": []}}}', type=PlacementReview)


def test_names_that_are_not_told_are_absent() -> None:
    result = ReviewResult(manifest=0, kind="Pod", namespace="ns", name="p", verdict="Admitted")
    answer = ReviewStatus(results=(msgspec.structs.replace(result, candidates=CandidateNodes(3)),))
    assert msgspec.json.decode(msgspec.json.encode(answer)) == {
        "results": [
            {
                "manifest": 0,
                "kind": "Pod",
                "namespace": "ns",
                "name": "p",
                "verdict": "Admitted",
                "candidates": {"count": 3},
            }
        ]
    }


def test_pods_are_visible_in_listed_namespaces_or_in_all() -> None:
    some = Visible(namespaces=frozenset({"a"}))
    assert some.pods("a")
    assert not some.pods("b")
    assert Visible(all_pods=True).pods("b")
