"""HPAIntent objects under review."""

from typing import Any

import pytest

from tests.answers import refused, response
from tests.builders import UID, Json, cluster, review
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy

WORKLOAD = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "core-fwall", "container-name": "palo-alto-e3000"}
GPU = {"name": "nvidia.com/gpu", "limits": 1}


def intent(*requirements: Any, **spec: object) -> Json:
    """An HPAIntent object with one consumer."""
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HPAIntent",
        "metadata": {"name": "fwall"},
        "spec": {"consumers": [{"consumer": WORKLOAD, "requirements": list(requirements)}], **spec},
    }


def validated(found: object, *, policy: Policy | None = None, old: object = None, **fields: object) -> Answer:
    """The answer to an HPAIntent that is created, or changed from ``old``."""
    operation = "CREATE" if old is None else "UPDATE"
    body = review(found, operation=operation, old=old, kind="HPAIntent", group="streams.ibm.com", **fields)
    return validate(body, cluster(), policy or Policy())


VALID: dict[str, Json] = {
    "with a requirement": intent(GPU),
    "without requirements yet": intent(),
    "without consumers yet": intent(consumers=[], app="fwall"),
    "without a spec": {"metadata": {"name": "fwall"}},
    "without anything": {},
}


@pytest.mark.parametrize("found", VALID.values(), ids=VALID)
def test_an_intent_that_makes_sense_is_allowed(found: Json) -> None:
    assert response(validated(found)) == {"uid": UID, "allowed": True}


PATH = "spec.consumers[0].requirements[0]"

INVALID: dict[str, tuple[Json, str]] = {
    "text that is no quantity": (
        intent({"name": "cpu", "limits": "lots"}),
        f'{PATH}.limits: "lots" is not a Kubernetes quantity',
    ),
    "more than the limit, as text": (
        intent({"name": "cpu", "requests": "2", "limits": "1500m"}),
        f"{PATH}.requests: requests 2 of cpu are more than limits 1500m",
    ),
    "no resource": (
        intent({"name": "gpu", "limits": 1}),
        (
            f'{PATH}.name: "gpu" is not a container resource: cpu, memory, ephemeral-storage, '
            "or a device such as nvidia.com/gpu"
        ),
    ),
    "several at once": (
        intent({"name": "a b", "value": "c"}, {"name": "n", "spec": {"name": "nvidia.com/gpu", "limits": "0.5"}}),
        (
            f'{PATH}.name: "a b" is not a label key such as kubernetes.io/hostname or disktype\n'
            'spec.consumers[0].requirements[1].spec.limits: "0.5" is not a whole number of pieces'
        ),
    ),
    "no spec": ({"spec": []}, "spec: must be a mapping with consumers"),
    "another type of metadata": (
        {"metadata": 5},
        "the HPAIntent is not readable: metadata: 5 is a whole number, expected a mapping",
    ),
}


@pytest.mark.parametrize(("found", "expected"), INVALID.values(), ids=INVALID)
def test_an_intent_that_makes_no_sense_is_refused(found: Json, expected: str) -> None:
    assert refused(validated(found)) == (422, expected)


BAD = intent({"name": "cpu", "limits": "lots"})


def test_a_change_is_reviewed_as_a_new_intent_is() -> None:
    assert refused(validated(BAD, old=intent(GPU))) == (422, f'{PATH}.limits: "lots" is not a Kubernetes quantity')


def test_an_intent_that_is_being_deleted_is_left_alone() -> None:
    going = BAD | {"metadata": {"name": "fwall", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert response(validated(going, old=BAD))["allowed"]


def test_an_intent_that_is_deleted_is_left_alone() -> None:
    body = review(None, operation="DELETE", old=BAD, kind="HPAIntent", group="streams.ibm.com")
    assert response(validate(body, cluster(), Policy()))["allowed"]


def test_in_audit_mode_it_is_said_what_would_be_refused() -> None:
    assert response(validated(BAD, policy=Policy(audit=True))) == {
        "uid": UID,
        "allowed": True,
        "warnings": ['audit: this would be refused: "lots" is not a Kubernetes quantity'],
    }


def test_an_intent_nested_deep_is_answered() -> None:
    deep: Any = "x"
    for _ in range(450):
        deep = [deep]
    assert not response(validated(intent(app=deep)))["allowed"]


def test_the_largest_intent_is_reviewed_at_once() -> None:
    one = {"consumer": WORKLOAD, "requirements": [GPU] * 64}
    found = intent(consumers=[one | {"name": f"c-{at}"} for at in range(64)])
    assert response(validated(found))["allowed"]
