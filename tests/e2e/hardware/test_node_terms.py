"""A pod's own node terms: the webhook agrees with the API server on validity, and with the scheduler on matching."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import asked, pods, space
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod, pod_spec
from webhook.placement.text import keys

SPACE: Final = "terms"
DENIED: Final = 'admission webhook "pods.placement.streams.ibm.com" denied the request: '
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
TERMS: Final = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
PREFERENCES: Final = f"spec.affinity.nodeAffinity.{PREFERRED}"

OURS: Final = {keys.HARDWARE: "[{name: kubernetes.io/os, value: linux}]"}
"""What brings a pod to the webhook and leaves it every node."""


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    with space(plane, SPACE):
        yield


def term(key: str, operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def requiring(*terms: Object) -> Object:
    """A pod's spec with these required terms."""
    return pod_spec(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}})


def preferring(*terms: Object) -> Object:
    """A pod's spec with these preferred terms."""
    weighted = [{"weight": 1, "preference": one} for one in terms]
    return pod_spec(affinity={"nodeAffinity": {PREFERRED: weighted}})


def scheduled(admin: Api, name: str) -> Object:
    """The condition that says whether the scheduler found a node, when it has tried."""

    def condition() -> Any:
        found = admin.get(f"{pods(SPACE)}/{name}")["status"].get("conditions", ())
        return next((one for one in found if one["type"] == "PodScheduled"), None)

    found: Object = until(condition, f"the scheduler tries {name}", 60)
    return found


UNREADABLE: Final = ["x", "1.5", "9223372036854775808"]


@pytest.mark.parametrize("number", UNREADABLE)
def test_a_term_that_cannot_be_read_is_skipped_by_the_scheduler_and_told(admin: Api, number: str) -> None:
    name = f"skipped-{UNREADABLE.index(number)}"
    made = pod(name, SPACE, requiring(term("cores", "Gt", number), term("disktype", "In", "hdd")), annotations=OURS)
    answer = admin.send("POST", pods(SPACE), made)
    assert (answer.code, answer.warnings) == (
        201,
        (f'{TERMS}[0]: cores Gt "{number}" needs a 64-bit integer, so this term never matches',),
    )
    found = until(lambda: is_ready(one := admin.get(f"{pods(SPACE)}/{name}")) and one, f"{name} is ready", 60)
    assert found["spec"]["nodeName"] in {"qat-1", "plain-1"}


def test_a_pod_with_no_other_term_would_wait_for_ever_and_is_refused(admin: Api) -> None:
    spec = requiring(term("cores", "Gt", "x"))
    answer = asked(admin, pod("never", SPACE, spec, annotations=OURS))
    assert (answer.code, answer.message) == (
        422,
        (f'{DENIED}{TERMS}: cores Gt "x" needs a 64-bit integer: no term ever matches, and the pod could never run'),
    )
    admin.create(pod("never", SPACE, spec))
    assert scheduled(admin, "never")["reason"] == "Unschedulable"


@pytest.mark.parametrize("number", UNREADABLE)
def test_a_preference_that_cannot_be_read_fails_the_scheduler_and_is_refused(admin: Api, number: str) -> None:
    name, spec = f"failing-{UNREADABLE.index(number)}", preferring(term("cores", "Gt", number))
    answer = asked(admin, pod(name, SPACE, spec, annotations=OURS))
    assert (answer.code, answer.message) == (
        422,
        (
            f"{DENIED}{PREFERENCES}[0].preference.matchExpressions[0].values: "
            f'"{number}" is not a 64-bit integer, which Gt requires; '
            "the scheduler fails on a preference that it cannot read, so the pod might never be placed"
        ),
    )
    admin.create(pod(name, SPACE, spec))
    assert scheduled(admin, name)["reason"] == "SchedulerError"


NOT_TAKEN: Final[dict[str, Object]] = {
    "a number with a sign": requiring(term("cores", "Gt", "-1")),
    "two numbers": requiring(term("cores", "Lt", "1", "2")),
    "no value": requiring(term("disktype", "In")),
    "a value of Exists": requiring(term("disktype", "Exists", "ssd")),
    "no operator": requiring(term("disktype", "Near", "ssd")),
    "no label value": requiring(term("disktype", "NotIn", "a b")),
    "no label key": requiring(term("disk type", "Exists")),
    "another field": requiring({"matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["a"]}]}),
    "two names": requiring({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}),
    "a name that exists": requiring({"matchFields": [{"key": "metadata.name", "operator": "Exists"}]}),
    "no name of a node": requiring({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["A_"]}]}),
    "a preference of two numbers": preferring(term("cores", "Gt", "1", "2")),
    "a preference of no label": preferring(term("disk type", "Exists")),
}


@pytest.mark.parametrize("spec", NOT_TAKEN.values(), ids=NOT_TAKEN.keys())
def test_what_the_api_server_does_not_take_is_refused_by_us_first(admin: Api, spec: Object) -> None:
    ours, theirs = asked(admin, pod("p", SPACE, spec, annotations=OURS)), asked(admin, pod("p", SPACE, spec))
    assert (ours.code, ours.message.startswith(f"{DENIED}spec.affinity.nodeAffinity.")) == (422, True), ours.message
    assert (theirs.code, theirs.message.startswith("Pod ")) == (422, True), theirs.message
