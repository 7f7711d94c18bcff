"""Effects and a pod: what the pod must say more."""

from typing import Any

import pytest

from tests.builders import pod, typed
from webhook.placement.constraints.pods import pod_terms
from webhook.placement.decision.merge import Additions, PodTerms, conflicts, foreign_labels, merge
from webhook.placement.kube.pod import NodeTerm, Pod, PreferredNodeTerm, Requirement, Toleration, WeightedPodTerm
from webhook.placement.provision.effects import (
    AddLabel,
    AwayFromPods,
    BindTo,
    Effect,
    NearPods,
    PreferNodes,
    RequireNodes,
    Tolerate,
)
from webhook.placement.text import keys
from webhook.placement.text.problem import render

A = NodeTerm((Requirement("a", "Exists"),))
TOLERATION = Toleration("k", "Equal", "v", "NoSchedule")
TERM = pod_terms.with_label("k", "v", "parallel")
TERM_JSON = {
    "labelSelector": {
        "matchExpressions": [
            {"key": "k", "operator": "In", "values": ["v"]},
            {"key": keys.JOB, "operator": "In", "values": ["parallel"]},
        ]
    },
    "topologyKey": "kubernetes.io/hostname",
}
REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))

EFFECTS: dict[str, tuple[Effect, dict[str, Any], dict[str, Any]]] = {
    "label": (AddLabel("c", "k", "v"), {"labels": {"k": "v"}}, {"labels": {"k": "v"}}),
    "node": (BindTo("c", "n"), {"node_name": "n"}, {"nodeName": "n"}),
    "required nodes": (
        RequireNodes("c", (A,)),
        {"terms": (A,)},
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
                }
            }
        },
    ),
    "preferred nodes": (
        PreferNodes("c", A),
        {"preferred": (PreferredNodeTerm(100, A),)},
        {
            "affinity": {
                "nodeAffinity": {
                    PREFERRED: [
                        {"weight": 100, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
                    ]
                }
            }
        },
    ),
    "toleration": (
        Tolerate("c", TOLERATION),
        {"tolerations": (TOLERATION,)},
        {"tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]},
    ),
    "near pods": (
        NearPods("c", TERM),
        {"near": PodTerms((TERM,))},
        {"affinity": {"podAffinity": {REQUIRED: [TERM_JSON]}}},
    ),
    "rather near pods": (
        NearPods("c", TERM, 100),
        {"near": PodTerms((), (WeightedPodTerm(100, TERM),))},
        {"affinity": {"podAffinity": {PREFERRED: [{"weight": 100, "podAffinityTerm": TERM_JSON}]}}},
    ),
    "away from pods": (
        AwayFromPods("c", TERM),
        {"away": PodTerms((TERM,))},
        {"affinity": {"podAntiAffinity": {REQUIRED: [TERM_JSON]}}},
    ),
    "rather away from pods": (
        AwayFromPods("c", TERM, 100),
        {"away": PodTerms((), (WeightedPodTerm(100, TERM),))},
        {"affinity": {"podAntiAffinity": {PREFERRED: [{"weight": 100, "podAffinityTerm": TERM_JSON}]}}},
    ),
}

FIELDS = tuple(name for name in Additions.__struct_fields__ if name != "injected")


def bare(**spec: Any) -> Pod:
    """A pod without labels of ours."""
    return typed(pod(job=None, pe=None, **spec))


def lacking(found: Pod, *effects: Effect) -> dict[str, Any]:
    """What the pod lacks, by the field of its additions."""
    additions, problems = merge(found, effects)
    assert problems == ()
    return {
        name: getattr(additions, name) for name in FIELDS if getattr(additions, name) not in ((), {}, "", PodTerms())
    }


@pytest.mark.parametrize(("effect", "expected", "_"), EFFECTS.values(), ids=EFFECTS.keys())
def test_a_pod_lacks_what_it_does_not_say(effect: Effect, expected: dict[str, Any], _: object) -> None:
    assert lacking(bare(), effect) == expected


@pytest.mark.parametrize("found", [Pod(), typed({"metadata": None, "spec": None})], ids=["absent", "null"])
def test_a_pod_that_says_nothing_at_all_lacks_everything(found: Pod) -> None:
    assert lacking(found, *(effect for effect, _, _ in EFFECTS.values())).keys() == {
        "labels", "node_name", "terms", "preferred", "near", "away", "tolerations"
    }  # fmt: skip


@pytest.mark.parametrize(("effect", "_", "said"), EFFECTS.values(), ids=EFFECTS.keys())
def test_a_pod_that_says_it_already_lacks_nothing(effect: Effect, _: object, said: dict[str, Any]) -> None:
    assert lacking(bare(**said), effect) == {}


@pytest.mark.parametrize(("effect", "expected", "_"), EFFECTS.values(), ids=EFFECTS.keys())
def test_what_is_asked_twice_is_added_once(effect: Effect, expected: dict[str, Any], _: object) -> None:
    assert lacking(bare(), effect, effect) == expected


def test_a_pod_that_is_bound_already_is_not_bound_again() -> None:
    assert lacking(bare(nodeName="other"), BindTo("c", "n")) == {}


def test_a_label_with_another_value_is_a_problem() -> None:
    _, problems = merge(typed(pod(labels={"k": "w\x1b"})), [AddLabel('hostExlocation("v")', "k", "v")])
    assert render(problems) == (
        r'metadata.labels[k]: is "w\x1b", but hostExlocation("v") needs "v"; leave this label to the webhook'
    )


@pytest.mark.parametrize("prefix", [keys.COLOCATION, keys.EXLOCATION])
def test_a_label_of_ours_that_no_clause_asked_for_is_a_problem(prefix: str) -> None:
    assert render(foreign_labels({f"{prefix}X": "v"}, [])) == (
        f"metadata.labels[{prefix}X]: only the webhook writes this label; name the token in the placement instead"
    )


def test_labels_of_isolation_are_spared() -> None:
    assert foreign_labels({f"{keys.ISOLATION}X": "v"}, []) == []


def test_too_many_node_terms_are_a_problem() -> None:
    terms = [{"matchExpressions": [{"key": "b", "operator": "Exists"}]}] * 1001
    found = bare(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}})
    assert len(merge(found, [RequireNodes("c", (A,))])[1]) == 1


def test_the_annotation_names_each_kind_with_its_causes() -> None:
    effects = [AddLabel("b", "k", "v"), AddLabel("a", "l", "v"), AddLabel("a", "m", "v"), BindTo('host("n")', "n")]
    assert merge(bare(), effects)[0].injected == r'{"labels":["a","b"],"nodeName":["host(\"n\")"]}'


def test_the_annotation_of_a_pod_that_needs_nothing_is_empty() -> None:
    assert merge(bare(), [])[0].injected == "{}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("label", ("labels",)),
        ("node", ("nodeName",)),
        ("required nodes", ("nodeAffinity",)),
        ("preferred nodes", ()),
        ("toleration", ("tolerations",)),
        ("near pods", ("podAffinity",)),
        ("rather near pods", ()),
        ("away from pods", ("podAntiAffinity",)),
    ],
)
def test_requirements_that_are_missing_are_named(name: str, expected: tuple[str, ...]) -> None:
    assert merge(bare(), [EFFECTS[name][0]])[0].missing == expected


MANY = RequireNodes("c", (A,) * 40)
CONTRARY: dict[str, tuple[Pod, list[Effect], int]] = {
    "nothing": (typed(pod()), [], 0),
    "a pod without metadata and spec": (Pod(), [AddLabel("c", "k", "v"), RequireNodes("c", (A,))], 0),
    "another label": (typed(pod(labels={"k": "w"})), [AddLabel("c", "k", "v")], 1),
    "too many terms": (typed(pod()), [MANY, MANY], 1),
    "both": (typed(pod(labels={"k": "w"})), [MANY, AddLabel("c", "k", "v"), MANY], 2),
}


@pytest.mark.parametrize(("found", "effects", "count"), CONTRARY.values(), ids=CONTRARY)
def test_the_conflicts_of_a_pod_are_those_that_merging_it_finds(found: Pod, effects: list[Effect], count: int) -> None:
    assert conflicts(found, effects) == merge(found, effects)[1]
    assert len(conflicts(found, effects)) == count
