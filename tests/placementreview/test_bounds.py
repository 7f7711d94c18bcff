"""Bounds of a review: every violation is told with its field."""

import functools

import pytest

from tests.builders import node
from tests.placementreview.asked import EVERYTHING, NOTHING, asked
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text.problem import Fault
from webhook.placementreview.answer import UnanswerableReviewError
from webhook.placementreview.bounds import problems_of_spec
from webhook.placementreview.review import (
    AddedNodes,
    AddedShape,
    AddedTaint,
    PodName,
    ReviewSpec,
    Visible,
    WhatIf,
)

POD = {"apiVersion": "v1", "kind": "Pod"}
LONG = "n" * 254
LISTED = ": is a list of objects: state each of its items as a manifest"
SHAPE = AddedShape()
DEEP = functools.reduce(lambda inner, _: {"a": [inner]}, range(60), {})


def said(spec: ReviewSpec, visible: Visible = EVERYTHING) -> list[str]:
    return [f"{one.field}: {one.message}" for one in problems_of_spec(spec, "team", visible)]


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ({"kind": "Pod"}, "apiVersion: must be a text of 1 to 253 characters"),
        ({"apiVersion": "v1", "kind": ""}, "kind: must be a text of 1 to 253 characters"),
        ({"apiVersion": "v1", "kind": "List", "items": [POD]}, LISTED),
        ({"apiVersion": "apps/v1", "kind": "DeploymentList", "items": []}, LISTED),
        ({**POD, "metadata": 3}, "metadata: must be an object"),
        ({**POD, "spec": {"template": DEEP}}, ": is nested too deeply, at most 100 levels are allowed"),
        ({**POD, "metadata": {"name": LONG}}, "metadata.name: must be a text of at most 253 characters"),
        ({**POD, "metadata": {"generateName": 1}}, "metadata.generateName: must be a text of at most 253 characters"),
        ({**POD, "metadata": {"namespace": LONG}}, "metadata.namespace: must be a text of at most 253 characters"),
        (
            {**POD, "metadata": {"namespace": "other"}},
            'metadata.namespace: "other" is not the namespace of the review, "team": review it there',
        ),
    ],
)
def test_a_manifest_that_is_no_object_of_the_namespace(manifest: dict[str, object], text: str) -> None:
    assert said(ReviewSpec((POD, manifest))) == [f"spec.manifests[1]{text if text.startswith(':') else f'.{text}'}"]


def test_too_many_manifests_are_not_looked_at() -> None:
    assert said(ReviewSpec(({},) * 101)) == ["spec.manifests: has 101 objects, at most 100 are allowed"]
    assert said(ReviewSpec((POD,) * 100)) == []
    assert said(ReviewSpec(({**POD, "metadata": {"namespace": "team", "name": "p"}},))) == []


@pytest.mark.parametrize(
    ("what_if", "text"),
    [
        (WhatIf(drain=("n",) * 101), "drain: has 101 nodes, at most 100 are allowed"),
        (WhatIf(cordon=("n",) * 1001), "cordon: has 1,001 nodes, at most 1,000 are allowed"),
        (WhatIf(add_nodes=(AddedNodes(like="n"),) * 101), "addNodes: has 101 entries, at most 100 are allowed"),
        (WhatIf(remove_pods=(PodName("p"),) * 1001), "removePods: has 1,001 pods, at most 1,000 are allowed"),
        (WhatIf(add_nodes=(AddedNodes(600, "n"),) * 2), "addNodes: has 1,200 nodes, at most 1,000 are allowed"),
        (WhatIf(drain=("",)), "drain[0]: must be a name of 1 to 253 characters"),
        (WhatIf(cordon=("n", LONG)), "cordon[1]: must be a name of 1 to 253 characters"),
        (WhatIf(add_nodes=(AddedNodes(0, "n"),)), "addNodes[0].count: is 0, it must be 1 or more"),
        (WhatIf(add_nodes=(AddedNodes(),)), "addNodes[0]: must have either like, the name of a node, or shape"),
        (
            WhatIf(add_nodes=(AddedNodes(1, "n", SHAPE),)),
            "addNodes[0]: must have either like, the name of a node, or shape",
        ),
        (WhatIf(add_nodes=(AddedNodes(like=LONG),)), "addNodes[0].like: must be a name of at most 253 characters"),
        (WhatIf(remove_pods=(PodName(""),)), "removePods[0].name: must be a name of 1 to 253 characters"),
        (
            WhatIf(remove_pods=(PodName("p", LONG),)),
            "removePods[0].namespace: must be a name of at most 253 characters",
        ),
    ],
)
def test_a_what_if_beyond_its_bounds(what_if: WhatIf, text: str) -> None:
    assert said(ReviewSpec(what_if=what_if)) == [f"spec.whatIf.{text}"]


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (AddedShape(labels={f"k{at}": "" for at in range(101)}), ".labels: has 101 entries, at most 100 are allowed"),
        (AddedShape(labels={"k": "v" * 318}), ": has a text of more than 317 characters"),
        (AddedShape({"cpu": "lots"}), '.allocatable[cpu]: "lots" is not an amount'),
        (AddedShape({"cpu": -1}), '.allocatable[cpu]: "-1" is not an amount'),
        (AddedShape(taints=(AddedTaint("", "NoSchedule"),)), ".taints[0].key: must not be empty"),
        (
            AddedShape(taints=(AddedTaint("k", "Never"),)),
            '.taints[0].effect: "Never" is not one of NoSchedule, PreferNoSchedule, NoExecute',
        ),
    ],
)
def test_a_shape_that_no_node_has(shape: AddedShape, text: str) -> None:
    what_if = WhatIf(add_nodes=(AddedNodes(shape=AddedShape({"cpu": 1})), AddedNodes(shape=shape)))
    assert said(ReviewSpec(what_if=what_if)) == [f"spec.whatIf.addNodes[1].shape{text}"]


def test_a_kind_whose_name_ends_like_a_list_is_none_without_items() -> None:
    assert said(ReviewSpec(({"apiVersion": "acme.example/v1", "kind": "AllowList"}, {**POD, "items": []}))) == []


def test_what_ifs_take_rights() -> None:
    what_if = WhatIf(
        drain=("n",),
        cordon=("n",),
        add_nodes=(AddedNodes(like="n"), AddedNodes(shape=SHAPE)),
        remove_pods=(PodName("p"), PodName("p", "mine")),
    )
    spec, visible = ReviewSpec(what_if=what_if), Visible(namespaces=frozenset({"mine"}))
    assert said(spec, visible) == [
        "spec.whatIf.drain: needs the right to list nodes",
        "spec.whatIf.cordon: needs the right to list nodes",
        "spec.whatIf.addNodes[0].like: needs the right to list nodes",
        "spec.whatIf.removePods[0]: needs the right to list pods of namespace team",
    ]
    assert {one.fault for one in problems_of_spec(spec, "team", visible)} == {Fault.FORBIDDEN}
    assert said(spec) == []


def test_a_review_with_problems_is_not_answered() -> None:
    inventory = Inventory()
    inventory.set_node(node())
    with pytest.raises(UnanswerableReviewError, match=r"spec\.whatIf\.drain: needs the right to list nodes") as raised:
        asked(inventory, what_if=WhatIf(drain=("node-a",)), visible=NOTHING)
    assert raised.value.problems[0].field == "spec.whatIf.drain"
