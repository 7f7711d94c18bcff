"""Bindings under review: pods of jobs that are put onto nodes past the scheduler."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.answers import refused, response, warnings
from tests.builders import UID, Json, bound_pod, cluster, nodes, pool, review
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.placement.cluster import Claim
from webhook.placement.policy import Policy

WAITS: Final = replace(bound_pod("", uid="uid-1"), claim=Claim("pe-0"))
THERE: Final = cluster(nodes(2), [pool("R", size=1, mode="Exclusive", given=["node-a"])], [WAITS])
GUARD: Final = Policy(guard_bindings=True)


def binding(target: str = "node-a", **metadata: Any) -> Json:
    """A Binding as JSON."""
    return {"kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": target}}


def bound(found: object, policy: Policy = GUARD, **fields: Any) -> Answer:
    """The answer to a binding of the pod."""
    return validate(review(found, kind="Binding", **{"subresource": "binding", "name": "pe-0"} | fields), THERE, policy)


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
    "of a pod that is not known": (binding(name="pe-1", uid="uid-2"), {}),
    "of anything, where nobody wants to know": (binding(name="pe-0"), {"policy": Policy()}),
}


@pytest.mark.parametrize(("found", "fields"), ALLOWED.values(), ids=ALLOWED.keys())
def test_a_binding_is_allowed(found: Json, fields: dict[str, Any]) -> None:
    assert response(bound(found, **fields)) == {"uid": UID, "allowed": True}


def test_in_audit_mode_it_is_a_warning() -> None:
    found = bound(binding(name="pe-0"), Policy(guard_bindings=True, audit=True))
    said = "pod pe-0 cannot be bound: node node-a is exclusive to another HostPool"
    assert warnings(found) == [f"audit: this would be refused: {said}"]


def test_a_binding_that_cannot_be_read_is_let_through() -> None:
    [said] = warnings(bound({"target": 7}))
    assert said == "the Binding is not readable: Expected `object`, got `int` - at `$.target`"
