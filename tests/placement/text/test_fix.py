"""Fixes are values: searches compare and change them, and refusals render them as text."""

import pytest
from msgspec.structs import replace

from webhook.placement.decision.refusal.refusal import alternatives
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.fix import (
    AddDomain,
    AddNode,
    AddToleration,
    AllowNode,
    CompletePool,
    Drop,
    EnlargePool,
    Fix,
    FreeNode,
    LabelNode,
    Lower,
    Partly,
    RunFewer,
    ShrinkPool,
    Uncordon,
    Untaint,
)

SSD, CORES = Clause(Source.NODE_SELECTOR, ("disk",), "disk=ssd"), Clause(Source.REQUESTS, (), "requests cpu 4")
VERBS = {SSD: "drop", CORES: "lower"}


@pytest.mark.parametrize(
    ("fix", "expected"),
    [
        (AddNode("in zone a"), "add a node in zone a"),
        (AddNode(having="cpu 4 free", count=3), "add 3 nodes with cpu 4 free"),
        (AddNode(having="room for 2 more of them", count=0), "add nodes with room for 2 more of them"),
        (AddNode(count=2), "add 2 nodes"),
        (AddNode("named n", labels={"a": "b"}), "add a node named n with the label a=b"),
        (AddNode(having="cpu 4 free", labels={"a": "b"}), "add a node with cpu 4 free and the label a=b"),
        (AddDomain("zone", 1, 2), "add a node with another zone and room for 2 of them"),
        (AddDomain("zone", 2, 1), "add 2 nodes, each with another zone and room for one of them"),
        (LabelNode(more=1, labels={"a": "b", "c": None}), "label one more node a=b and c"),
        (LabelNode(more=1, labels={"a": "b"}, help=2, without=5), "label one more node a=b (only 2 of 5 nodes help)"),
        (LabelNode(more=1, labels={"a": "b"}, help=5, without=5), "label one more node a=b"),
        (LabelNode(more=1, labels={"a": "b"}, help=1, without=2, name="n"), "label node n a=b"),
        (
            LabelNode(more=2, labels={"a": "b"}, help=3, without=9, at_least=True),
            "label 2 more nodes a=b (at least 3 of 9 nodes help)",
        ),
        (
            Partly(LabelNode(more=1, labels={"a": "b"}, help=2, without=5), "6 of 9 would be eligible"),
            "label one more node a=b (only 2 of 5 nodes help; 6 of 9 would be eligible)",
        ),
        (LabelNode(labels={"a": "b"}, host_of="P"), "label a host of HostPool P a=b"),
        (LabelNode(more=1, name="n", labels={"a": "b"}, host_of="P"), "label node n a=b"),
        (Uncordon(), "uncordon one node"),
        (Uncordon(name="n"), "uncordon node n"),
        (Untaint(taint="a:NoSchedule", name="n"), "remove the taint a:NoSchedule from node n"),
        (Uncordon(more=2), "uncordon 2 more nodes"),
        (Untaint(taint="a:NoSchedule"), "remove the taint a:NoSchedule from such a node"),
        (Untaint(taint="a:NoSchedule", more=1), "remove the taint a:NoSchedule from one more node"),
        (AllowNode(more=1), "allow HostPools to use one more node (poolable nodes)"),
        (FreeNode(more=2, whose="of pods"), "free 2 more nodes of pods"),
        (AddToleration("a:NoSchedule"), "tolerate a:NoSchedule"),
        (CompletePool("P"), "make more nodes eligible for HostPool P"),
        (CompletePool("P", shrinkable=True), "make more nodes eligible for HostPool P, or use a smaller one"),
        (EnlargePool("P", 1), "give HostPool P 1 host"),
        (EnlargePool("P"), "use a larger HostPool than P"),
        (ShrinkPool("P", 2), "lower the size of HostPool P to 2"),
        (Lower("replicas", 2), "lower replicas to 2"),
        (RunFewer(2, 5), "run 2 of these 5"),
        (Partly(AddNode(), "2 are needed"), "add a node (2 are needed)"),
        (Drop.of((SSD, CORES), VERBS, "1 node would fit"), "drop disk=ssd and lower requests cpu 4 (1 node would fit)"),
        (Drop.of((SSD, SSD), VERBS), "drop disk=ssd and disk=ssd"),
    ],
    ids=str,
)
def test_a_fix_says_what_to_do(fix: Fix, expected: str) -> None:
    assert str(fix) == expected


def test_fixes_are_compared_and_changed_as_values() -> None:
    label = LabelNode(more=1, labels={"a": "b"})
    assert label == LabelNode(more=1, labels={"a": "b"})
    assert str(replace(label, more=3)) == "label 3 more nodes a=b"
    assert len({AddToleration("x"), AddToleration("x"), Uncordon(), Uncordon()}) == 2


def test_a_fix_is_cut_but_not_what_is_said_about_it() -> None:
    long = LabelNode(more=1, labels={"a": "b" * 300})
    assert alternatives((long,)) == f"{str(long)[:197]}..."
    assert alternatives((Partly(long, "2 are needed"), AddNode())) == (
        f"{str(long)[:197]}... (2 are needed), or add a node"
    )
