"""``run-with`` and ``run-apart-from``."""

import pytest

from tests.builders import Json, cluster, decided, node, nodes, pod
from webhook.placement.kube.pod import LabelSelector, PodTerm, Requirement
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

WITH, APART = {keys.RUN_WITH: "app=db,!old"}, {keys.RUN_APART_FROM: "app=db,!old"}
TERM = PodTerm(
    LabelSelector(match_expressions=(Requirement("app", "In", ("db",)), Requirement("old", "DoesNotExist"))),
    "kubernetes.io/hostname",
)
ONE = cluster(nodes(1))


def beside(annotations: dict[str, str], placement: str | None = None, **tweaks: object) -> Json:
    return pod(placement, annotations=annotations, **tweaks)


def test_company_is_a_term_that_names_no_job() -> None:
    near, away = (decided(beside(annotations), ONE).additions for annotations in (WITH, APART))
    assert near
    assert away
    assert (near.near.required, near.away.required) == ((TERM,), ())
    assert (away.near.required, away.away.required) == ((), (TERM,))


def test_a_pod_of_no_job_may_ask_for_company() -> None:
    assert not decided(beside(WITH, job=None, pe=None), ONE).refused


def test_a_warning_says_that_the_others_are_not_looked_for() -> None:
    assert decided(beside(WITH), ONE).warnings == (
        "run-with app=db,!old: the selected pods are not checked; this pod waits until one of them runs where it fits",
    )


@pytest.mark.parametrize("annotations", [WITH, APART], ids=["with", "apart"])
def test_nodes_without_a_host_name_of_their_own_are_out(annotations: dict[str, str]) -> None:
    verdict = decided(beside(annotations), cluster([node("node-a", hostname=None), node("node-b")])).verdict
    assert verdict
    assert verdict.candidates == 0b10


def test_a_pod_without_such_a_node_is_refused() -> None:
    found = decided(beside(APART), cluster(nodes(1, hostname=None)))
    assert found.message == (
        "run-apart-from app=db,!old cannot hold: 0 of 1 node can run this pod.\n"
        "  1 node has no kubernetes.io/hostname label of its own\n"
        "Nearest fix: drop run-apart-from app=db,!old (1 node would fit)."
    )


@pytest.mark.parametrize(
    ("annotations", "clause"),
    [(WITH, "run-with app=db,!old"), (APART, "run-apart-from app=db,!old")],
    ids=["with", "apart"],
)
def test_company_cannot_be_kept_for_a_pod_that_goes_past_the_scheduler(
    annotations: dict[str, str], clause: str
) -> None:
    found = decided(beside(annotations, nodeName="node-a"), ONE)
    message = f"spec.nodeName: {clause} is enforced by the scheduler, which this pod bypasses: use nodeSelector instead"
    assert (found.message, found.fault) == (message, Fault.INVALID)


def test_a_pod_that_asks_for_company_is_never_bound_past_the_scheduler() -> None:
    found = decided(beside(WITH, 'host("node-a")'), ONE)
    assert found.additions
    assert (found.additions.node_name, len(found.additions.terms)) == ("", 1)
