"""What the HPAIntents of a namespace want for a pod."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.kube.pod import Metadata, OwnerReference
from webhook.placement.kube.quantity import NANO
from webhook.placement.objects.consumer import Consumer
from webhook.placement.objects.intent import Intent, Intents, read_intent
from webhook.placement.provision.intended_hardware import consumes, intended, owners
from webhook.placement.text.problem import Fault, Problem, render

EDGE = "edge"
FIELD = "metadata.annotations[streams.ibm.com/hpa-intent]"


def replica(kind: str = "Deployment", name: str = "api-server", version: str = "apps/v1", **labels: str) -> Metadata:
    """A pod that somebody controls; another owner, who does not, stands before."""
    other = OwnerReference("v1", "Node", "n")
    return Metadata(owner_references=(other, OwnerReference(version, kind, name, controller=True)), labels=labels)


API = replica()


def consumer(owner: str = "Deployment/api-server", group: str = "apps", cpu: int = 1, problem: str = "") -> Consumer:
    problems = (Problem("HPAIntent f spec", problem),) if problem else ()
    return Consumer(owner, group, owner, (Hardware("f", "cpu", requests=cpu * NANO),), problems)


def known(*found: Intent, enabled: bool = True) -> Intents:
    """They are of the namespace."""
    intents = Intents()
    for one in found:
        intents.put(one)
    if enabled:
        intents.enable(EDGE)
    return intents


def cores(intents: Intents, text: str | None = None, metadata: Metadata = API) -> list[int]:
    """Of each hardware that is wanted; nothing is wrong."""
    hardware, problems = intended(metadata, EDGE, text, intents)
    assert problems == ()
    return [one.requests // NANO for one in hardware]


def wrong(intents: Intents, text: str | None = None, metadata: Metadata = API) -> str:
    """What is wrong, the path left out."""
    hardware, problems = intended(metadata, EDGE, text, intents)
    assert (hardware, {problem.fault for problem in problems}) == ((), {Fault.FORBIDDEN})
    return render(problems).replace(f"{FIELD}: ", "")


# Whose replica a pod is

OWNERS: dict[str, tuple[Metadata, tuple[str, tuple[str, ...]]]] = {
    "a pod of its own": (Metadata(name="p"), ("", ("Pod/p",))),
    "a pod that has no name yet": (Metadata(generate_name="p-"), ("", ("Pod/p-",))),
    "a pod without anything": (Metadata(), ("", ("Pod/",))),
    "an owned pod that nobody controls": (
        Metadata(name="p", owner_references=(OwnerReference("apps/v1", "Deployment", "d"),)),
        ("", ("Pod/p",)),
    ),
    "a workload's template": (API, ("apps", ("Deployment/api-server",))),
    "a replica of a Deployment": (
        replica("ReplicaSet", "api-server-5df4bd77d8", **{"pod-template-hash": "5df4bd77d8"}),
        ("apps", ("Deployment/api-server",)),
    ),
    "a replica of a ReplicaSet": (replica("ReplicaSet", "api-server"), ("apps", ("ReplicaSet/api-server",))),
    "a run of a CronJob": (
        replica("Job", "nightly-29000000", "batch/v1"),
        ("batch", ("Job/nightly-29000000", "CronJob/nightly")),
    ),
    "of a kind of the core": (replica("ReplicationController", "rc", "v1"), ("", ("ReplicationController/rc",))),
}


@pytest.mark.parametrize(("metadata", "expected"), OWNERS.values(), ids=OWNERS)
def test_a_pod_says_whose_it_is(metadata: Metadata, expected: tuple[str, tuple[str, ...]]) -> None:
    assert owners(metadata) == expected


# Unasked


def test_a_workload_gets_what_the_intents_of_an_enabled_namespace_say() -> None:
    assert cores(known(Intent(EDGE, "b", (consumer(cpu=2),)), Intent(EDGE, "a", (consumer(cpu=1),)))) == [1, 2]


def test_in_a_namespace_that_is_not_enabled_it_gets_nothing() -> None:
    assert cores(known(Intent(EDGE, "a", (consumer(),)), enabled=False)) == []


NOT_OURS = {
    "another name": consumer("Deployment/other"),
    "another kind": consumer("StatefulSet/api-server"),
    "another group": consumer(group="example.com"),
}


@pytest.mark.parametrize("other", NOT_OURS.values(), ids=NOT_OURS)
def test_what_is_for_another_workload_is_not_for_it(other: Consumer) -> None:
    intents = known(Intent(EDGE, "a", (other,)))
    assert (cores(intents), consumes(API, EDGE, intents)) == ([], False)


def test_a_run_of_a_cron_job_gets_what_is_for_the_cron_job() -> None:
    run = replica("Job", "nightly-29000000", "batch/v1")
    assert cores(known(Intent(EDGE, "a", (consumer("CronJob/nightly", "batch", 3),))), metadata=run) == [3]


@pytest.mark.parametrize("enabled", [True, False], ids=["enabled", "not enabled"])
def test_a_pod_is_reviewed_for_its_intents_where_they_hold_unasked(enabled: bool) -> None:  # noqa: FBT001 -- a column
    assert consumes(API, EDGE, known(Intent(EDGE, "a", (consumer(),)), enabled=enabled)) == enabled


# By name


def test_a_pod_may_name_an_intent_anywhere() -> None:
    intents = known(Intent(EDGE, "a", (consumer(), consumer("Deployment/other", cpu=9))), enabled=False)
    assert cores(intents, "a") == [1]


def test_a_pod_may_name_several_intents() -> None:
    intents = known(Intent(EDGE, "a", (consumer(),)), Intent(EDGE, "b", (consumer(cpu=2),)), enabled=False)
    assert cores(intents, " b , a,b ") == [2, 1]


def test_an_intent_with_one_consumer_is_for_whoever_names_it() -> None:
    assert cores(known(Intent(EDGE, "a", (consumer("Deployment/other", cpu=9),))), "a") == [9]


def test_what_is_named_and_holds_unasked_counts_once() -> None:
    assert cores(known(Intent(EDGE, "a", (consumer(),))), "a") == [1]


def test_what_is_named_comes_before_what_holds_unasked() -> None:
    intents = known(Intent(EDGE, "a", (consumer(cpu=1),)), Intent(EDGE, "b", (consumer(cpu=2),)))
    assert cores(intents, "b") == [2, 1]


BROKEN = read_intent(EDGE, "broken", {"consumers": "x"}, "HPAIntent broken ")
NAMED: dict[str, tuple[tuple[Intent, ...], str, str]] = {
    "no intent at all": ((), "a", 'this namespace has no HPAIntent "a"; there are none'),
    "no name": ((), "", 'this namespace has no HPAIntent ""; there are none'),
    "a mistyped name": (
        (Intent(EDGE, "fwall"), Intent(EDGE, "analytics")),
        "fwal",
        'this namespace has no HPAIntent "fwal", did you mean fwall? known HPAIntents: analytics, fwall',
    ),
    "a name of another namespace": (
        (Intent("default", "a"), Intent(EDGE, "bcd")),
        "a",
        'this namespace has no HPAIntent "a"; known HPAIntents: bcd',
    ),
    "one of many": (
        tuple(Intent(EDGE, f"i-{at:02}") for at in range(12)),
        "x",
        (
            'this namespace has no HPAIntent "x"; known HPAIntents: '
            "i-00, i-01, i-02, i-03, i-04, i-05, i-06, i-07, i-08, i-09 and 2 more"
        ),
    ),
    "one for others": (
        (Intent(EDGE, "a", (consumer("Deployment/x"), consumer("StatefulSet/y"))),),
        "a",
        "no consumer of HPAIntent a is Deployment/api-server; its consumers: Deployment/x, StatefulSet/y",
    ),
    "one without consumers": ((Intent(EDGE, "a"),), "a", "HPAIntent a has no consumers"),
    "one that cannot be read": (
        (BROKEN,),
        "broken",
        "HPAIntent broken is broken: spec.consumers: must be a list",
    ),
    "two that are not there": (
        (),
        "a,b",
        'this namespace has no HPAIntent "a"; there are none\nthis namespace has no HPAIntent "b"; there are none',
    ),
}


@pytest.mark.parametrize(("found", "text", "expected"), NAMED.values(), ids=NAMED)
def test_a_name_that_means_nothing_for_the_pod_is_refused(found: tuple[Intent, ...], text: str, expected: str) -> None:
    assert wrong(known(*found), text) == expected


def test_what_is_wrong_with_a_consumer_refuses_its_pods() -> None:
    _, problems = intended(API, EDGE, None, known(Intent(EDGE, "a", (consumer(problem="is wrong"),))))
    assert problems == (Problem("HPAIntent f spec", "is wrong"),)


def test_what_is_wrong_with_another_consumer_does_not() -> None:
    assert cores(known(Intent(EDGE, "a", (consumer(), consumer("Deployment/other", problem="is wrong"))))) == [1]


def test_ten_problems_are_named() -> None:
    _, problems = intended(API, EDGE, ",".join(map(str, range(16))), known())
    assert len(problems) == 10


def test_a_pod_names_few_intents() -> None:
    hardware, problems = intended(API, EDGE, ",".join(map(str, range(17))), known())
    assert (hardware, render(problems)) == ((), f"{FIELD}: names 17 HPAIntents, at most 16 are allowed")


def test_names_that_are_no_text_are_not_looked_for() -> None:
    hardware, problems = intended(API, EDGE, "\ud800", known())
    assert (hardware, [problem.field for problem in problems]) == ((), [FIELD])


@given(st.text() | st.text("ab, "))
def test_any_text_is_hardware_and_problems(text: str) -> None:
    hardware, problems = intended(API, EDGE, text, known(Intent(EDGE, "a", (consumer(),)), enabled=False))
    assert hardware or problems
