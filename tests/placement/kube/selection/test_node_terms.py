"""Required node terms, ANDed."""

import pytest

from webhook.placement.kube.pod import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeTerm,
    PodSpec,
    Requirement,
    required_terms,
)
from webhook.placement.kube.selection.node_terms import TermEdit, conjoin
from webhook.placement.text.problem import render

A, B, C, D = (Requirement(key, "Exists") for key in "abcd")
N1, N2 = (Requirement("metadata.name", "In", (name,)) for name in ("n1", "n2"))


def own(*terms: NodeTerm) -> tuple[NodeTerm, ...]:
    """The pod's own terms."""
    return terms


def spec_of(nodes: NodeAffinity | None) -> PodSpec:
    """The spec of a pod with that node affinity."""
    return PodSpec(affinity=Affinity(nodes))


def test_nothing_asked_changes_nothing() -> None:
    assert conjoin(own(NodeTerm((A,))), []) == ((), (), [])


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(NodeAffinity(), id="nothing required"),
        pytest.param(NodeAffinity(NodeSelector()), id="no list of terms"),
        pytest.param(NodeAffinity(NodeSelector(())), id="no term"),
        pytest.param(NodeAffinity(NodeSelector((NodeTerm(),))), id="only empty terms"),
    ],
)
def test_a_pod_that_says_nothing_is_given_our_terms(nodes: NodeAffinity) -> None:
    terms = required_terms(spec_of(nodes)) or ()
    assert conjoin(terms, [(NodeTerm((B, A)),)]) == ((), (NodeTerm((A, B)),), [])


@pytest.mark.parametrize(
    ("spec", "terms"),
    [
        pytest.param(PodSpec(), None, id="no affinity"),
        pytest.param(spec_of(None), None, id="no node affinity"),
        pytest.param(spec_of(NodeAffinity()), None, id="nothing required"),
        pytest.param(spec_of(NodeAffinity(NodeSelector())), (), id="no list of terms"),
        pytest.param(spec_of(NodeAffinity(NodeSelector((NodeTerm((A,)),)))), (NodeTerm((A,)),), id="a term"),
    ],
)
def test_no_required_node_affinity_is_not_one_without_terms(spec: PodSpec, terms: tuple[NodeTerm, ...] | None) -> None:
    assert required_terms(spec) == terms


def test_ours_is_added_to_every_term_of_the_pods_own() -> None:
    edits, terms, _ = conjoin(own(NodeTerm((A,)), NodeTerm(None, (N1,))), [(NodeTerm((B,), (N2,)),)])
    assert (edits, terms) == ((TermEdit(0, (B,), (N2,)), TermEdit(1, (B,), (N2,))), ())


def test_terms_of_two_constraints_are_one_term() -> None:
    assert conjoin((), [(NodeTerm((B,)),), (NodeTerm((A, B), (N1,)),)])[1] == (NodeTerm((A, B), (N1,)),)


def test_alternatives_multiply() -> None:
    edits, terms, _ = conjoin(own(NodeTerm((A,)), NodeTerm((B,))), [(NodeTerm((C,)), NodeTerm((D,)))])
    assert edits == (TermEdit(0, (C,)), TermEdit(1, (C,)))
    assert terms == (NodeTerm((A, D)), NodeTerm((B, D)))


def test_an_empty_term_beside_others_is_taken_out() -> None:
    edits, _, _ = conjoin(own(NodeTerm(), NodeTerm((A,)), NodeTerm()), [(NodeTerm((B,)),)])
    assert edits == (TermEdit(0, empty=True), TermEdit(1, (B,)), TermEdit(2, empty=True))


def test_a_term_that_holds_ours_already_is_left_alone() -> None:
    assert conjoin(own(NodeTerm((B, A))), [(NodeTerm((A,)),)]) == ((), (), [])


def test_a_term_is_given_only_what_it_lacks() -> None:
    assert conjoin(own(NodeTerm((A,))), [(NodeTerm((A, B)),)])[0] == (TermEdit(0, (B,)),)


@pytest.mark.parametrize(("count", "allowed"), [(1000, True), (1001, False)], ids=["at the limit", "one more"])
def test_terms_are_limited(count: int, *, allowed: bool) -> None:
    edits, _, problems = conjoin(own(*(NodeTerm((A,)) for _ in range(count))), [(NodeTerm((B,)),)])
    assert (len(edits), [render([problem]) for problem in problems]) == (
        (1000, [])
        if allowed
        else (
            0,
            [
                (
                    "spec.affinity.nodeAffinity: "
                    "with the pod's own terms this makes 1001 node selector terms, at most 1000 are allowed"
                )
            ],
        )
    )
