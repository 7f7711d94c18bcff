"""``hostIsolation``, the pod's own and that of the others in its job."""

import pytest

from tests.builders import JOB, Json, bound_pod, cluster, decided, job, nodes, pod
from webhook.placement.decision.merge import Additions
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import LabelSelector, PodTerm, Requirement
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text import keys

SINK = "streams.ibm.com/hostisolation.E53E8D5300C878019A997D4CFB7201C7ED2EE003"

OF_JOB = Requirement(keys.JOB, "In", (JOB,))

MODEL = job({"parallel-0": {"Source": 'host("node-a")'}, "parallel-2": {"Sink": "hostIsolation"}})

ISOLATED = bound_pod("node-a", pe="parallel-2", isolated=["Sink"])


def away(*expressions: Requirement) -> PodTerm:
    """Pods of the job on the same host."""
    return PodTerm(LabelSelector(match_expressions=(*expressions, OF_JOB)), "kubernetes.io/hostname")


FROM_SINK = away(Requirement(SINK, "In", ("Sink",)))


def added(found: Json, inventory: Inventory) -> Additions:
    """What a pod that is admitted lacks."""
    decision = decided(found, inventory)
    assert decision.additions, decision.message
    return decision.additions


def candidates(found: Json, inventory: Inventory) -> int:
    """The nodes left to the pod."""
    verdict = decided(found, inventory).verdict
    assert verdict
    return verdict.candidates


@pytest.mark.parametrize(
    ("pe", "jobs", "expected"),
    [
        pytest.param("parallel-2", [MODEL], (FROM_SINK,), id="the Job object labels the others"),
        pytest.param(
            "parallel-2",
            [],
            (FROM_SINK, away(Requirement(keys.PE, "NotIn", ("parallel-2",)))),
            id="without one, it keeps away from all others by name",
        ),
        pytest.param(None, [], (FROM_SINK, away()), id="without a name, from all of the job"),
    ],
)
def test_an_isolated_pod_keeps_away_from_the_others(
    pe: str | None, jobs: list[StreamsJob], expected: tuple[PodTerm, ...]
) -> None:
    additions = added(pod("Sink: hostIsolation", pe=pe), cluster(nodes(1), jobs=jobs))
    assert (additions.away.required, additions.labels) == (expected, {})


def test_a_clause_of_the_element_itself_is_named_after_it() -> None:
    key = keys.ISOLATION + keys.digest("parallel-0")
    additions = added(pod("hostIsolation"), cluster(nodes(1), jobs=[job({"parallel-0": "hostIsolation"})]))
    assert additions.away.required == (away(Requirement(key, "In", ("parallel-0",))),)


def test_every_isolated_operator_has_a_term() -> None:
    found = pod("A: hostIsolation; B: hostIsolation; A: hostIsolation")
    additions = added(found, cluster(nodes(1), jobs=[job({"parallel-0": "A: hostIsolation; B: hostIsolation"})]))
    assert len(additions.away.required) == 2


def test_a_preference_is_a_weighted_term_and_never_refuses() -> None:
    held = cluster(nodes(1), pods=[bound_pod()], jobs=[MODEL])
    wish = pod("Sink: hostIsolation", pe="parallel-2", annotations={keys.PREFERRED: "hostIsolation"})
    found = decided(wish, held)
    assert found.additions
    assert [(term.weight, term.pod_affinity_term) for term in found.additions.away.preferred] == [(100, FROM_SINK)]
    assert found.warnings == ("hostIsolation is preferred, but no node that can run this pod meets it",)


@pytest.mark.parametrize(
    "inventory",
    [
        pytest.param(cluster(nodes(2), jobs=[MODEL]), id="of the Job object"),
        pytest.param(cluster(nodes(2), pods=[ISOLATED]), id="of a live pod"),
    ],
)
@pytest.mark.parametrize("placement", [None, 'hostExlocation("x")'])
def test_every_other_pod_of_the_job_carries_the_label(inventory: Inventory, placement: str | None) -> None:
    assert added(pod(placement), inventory).labels.get(SINK) == "Sink"


def test_the_label_of_an_operator_is_sanitised() -> None:
    model = job({"parallel-2": "Main.Sink[3]: hostIsolation"})
    assert list(added(pod(), cluster(nodes(1), jobs=[model])).labels.values()) == ["Main.Sink-3"]


@pytest.mark.parametrize(
    ("found", "labels"),
    [
        pytest.param(pod("Sink: hostIsolation", pe="parallel-2"), 0, id="not the isolated pod itself"),
        pytest.param(pod("Sink: hostIsolation", pe="parallel-3"), 1, id="another one of the same operator name"),
        pytest.param(pod("Sink: hostIsolation", pe=None), 0, id="not a nameless pod of that operator"),
        pytest.param(pod("Other: hostIsolation", pe=None), 1, id="a nameless pod of another operator"),
        pytest.param(pod(pe=None), 1, id="a nameless pod"),
        pytest.param(pod(job=None), 0, id="not a pod of no job"),
        pytest.param(pod(job="other"), 0, id="not a pod of another job"),
    ],
)
def test_only_others_carry_the_label(found: Json, labels: int) -> None:
    assert len(added(found, cluster(nodes(1), jobs=[MODEL])).labels) == labels


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(bound_pod(), 0b10, id="another element"),
        pytest.param(bound_pod(pe="parallel-2"), 0b11, id="the same element"),
        pytest.param(bound_pod(job="other"), 0b11, id="another job"),
        pytest.param(bound_pod(terminating=True), 0b11, id="one that is leaving"),
    ],
)
def test_an_isolated_pod_goes_where_no_other_element_is(other: PodInfo, expected: int) -> None:
    assert candidates(pod("Sink: hostIsolation", pe="parallel-2"), cluster(nodes(2), pods=[other])) == expected


UNAWARE = job({"parallel-0": 'host("node-a")'})


def test_isolation_that_the_job_object_does_not_know_is_not_lost() -> None:
    found = decided(pod("Sink: hostIsolation", pe="parallel-2"), cluster(nodes(1), jobs=[UNAWARE]))
    by_name = away(Requirement(keys.PE, "NotIn", ("parallel-2",)))
    assert found.refused or (found.additions and by_name in found.additions.away.required)


def test_a_live_isolated_pod_counts_though_the_job_object_does_not_know_it() -> None:
    assert candidates(pod(), cluster(nodes(2), pods=[ISOLATED], jobs=[UNAWARE])) == 0b10


@pytest.mark.parametrize("jobs", [[], [MODEL]], ids=["without a Job object", "with a Job object"])
def test_no_other_pod_goes_where_an_isolated_one_is(jobs: list[StreamsJob]) -> None:
    assert candidates(pod(), cluster(nodes(2), pods=[ISOLATED], jobs=jobs)) == 0b10


def test_two_isolated_elements_keep_apart() -> None:
    assert candidates(pod("Source: hostIsolation"), cluster(nodes(2), pods=[ISOLATED])) == 0b10


def test_labels_of_isolation_that_the_pod_brings_are_kept_if_right() -> None:
    assert added(pod(labels={SINK: "Sink"}), cluster(nodes(1), jobs=[MODEL])).labels == {}


def test_labels_of_isolation_that_say_something_else_are_refused() -> None:
    assert decided(pod(labels={SINK: "Other"}), cluster(nodes(1), jobs=[MODEL])).message == (
        f'metadata.labels[{SINK}]: is "Other", but hostIsolation of Sink needs "Sink"; leave this label to the webhook'
    )
