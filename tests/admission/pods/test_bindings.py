"""Bindings under review: pods of jobs that are put onto nodes past the scheduler."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.answers import refused, response, warnings
from tests.builders import UID, Json, bound_pod, cluster, nodes, pool, review, sleeper
from webhook.admission.answer import Answer, PodQuestion, PodRef
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pod import NodeDemand, PodInfo

WAITS: Final = replace(bound_pod("", uid="uid-1"), demand=NodeDemand("pe-0"))
SLEEPS: Final = sleeper(name="sleeper")
THERE: Final = cluster(nodes(2), [pool("R", size=1, mode="Exclusive", assigned=["node-a"])], [WAITS, SLEEPS])
GUARD: Final = Policy(guard_bindings=True)


def binding(target: str = "node-a", **metadata: Any) -> Json:
    """A Binding as JSON."""
    return {"kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": target}}


def bound(found: object, policy: Policy = GUARD, **fields: Any) -> Answer:
    """The answer to a binding of the pod."""
    return validate(review(found, kind="Binding", **{"subresource": "binding", "name": "pe-0"} | fields), THERE, policy)


def unknown(answer: Answer) -> PodRef:
    """The pod that has to be looked at before the answer holds."""
    assert isinstance(answer.question, PodQuestion)
    return answer.question.pod


REFUSED: dict[str, Json] = {
    "as schedulers bind": binding(name="pe-0", uid="uid-1"),
    "without a uid": binding(name="pe-0"),
    "without a name of its own": binding(),
}


@pytest.mark.parametrize("found", REFUSED.values(), ids=REFUSED.keys())
def test_a_stranger_is_kept_off_an_exclusive_host(found: Json) -> None:
    expected = "pod pe-0 cannot be bound: node node-a is exclusive to another HostPool"
    assert refused(bound(found)) == (403, expected)


def test_the_old_way_to_bind_is_looked_at_as_well() -> None:
    assert refused(bound(binding(name="pe-0"), subresource="", name=""))[0] == 403


ALLOWED: dict[str, tuple[Json, dict[str, Any]]] = {
    "onto another node": (binding("node-b", name="pe-0", uid="uid-1"), {}),
    "of a pod that is not known": (binding("node-b", name="pe-1", uid="uid-2"), {}),
    "of anything, where nobody wants to know": (binding(name="pe-0"), {"policy": Policy()}),
}


@pytest.mark.parametrize(("found", "fields"), ALLOWED.values(), ids=ALLOWED.keys())
def test_a_binding_is_allowed(found: Json, fields: dict[str, Any]) -> None:
    assert response(bound(found, **fields)) == {"uid": UID, "allowed": True}


def test_a_sleeper_is_kept_off_an_exclusive_host() -> None:
    expected = "pod sleeper cannot be bound: node node-a is exclusive to another HostPool"
    assert refused(bound(binding(name="sleeper", uid="uid-of-sleeper"))) == (403, expected)
    assert response(bound(binding("node-b", name="sleeper", uid="uid-of-sleeper")))["allowed"]


def test_an_unknown_pod_is_looked_up_before_it_gets_an_exclusive_host() -> None:
    answer = bound(binding(name="pe-1", uid="uid-2"))
    assert (response(answer), unknown(answer)) == ({"uid": UID, "allowed": True}, PodRef("default", "pe-1", "uid-2"))
    assert unknown(bound(binding(), name="other")) == PodRef("default", "other", "")
    assert bound(binding("node-b", name="pe-1")).question is None


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(bound_pod("", uid="u", job=""), False, id="one of others"),
        pytest.param(bound_pod("", uid="u", pools=["R"]), True, id="one of the pool"),
    ],
)
def test_when_it_was_looked_at_it_is_judged(seen: PodInfo, *, expected: bool) -> None:
    question = bound(binding(name="pe-1", uid="u")).question
    assert isinstance(question, PodQuestion)
    answer = question.resume(seen)
    assert response(answer)["allowed"] is expected
    if not expected:
        said = "pod pe-1 cannot be bound: node node-a is exclusive to another HostPool"
        assert refused(answer) == (403, said)


def test_in_audit_mode_it_is_a_warning() -> None:
    found = bound(binding(name="pe-0"), Policy(guard_bindings=True, audit=True))
    said = "pod pe-0 cannot be bound: node node-a is exclusive to another HostPool"
    assert warnings(found) == [f"audit: this would be refused: {said}"]


def test_a_binding_that_cannot_be_read_is_let_through() -> None:
    [said] = warnings(bound({"target": 7}))
    assert said == "the Binding is not readable: target: 7 is a whole number, expected a mapping"
