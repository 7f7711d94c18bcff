"""What is read of a Lease, and what is written into it."""

import json
import re
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import micro_time, seconds
from kubeapi.leaderelection.lease import Record, made
from kubeapi.leaderelection.lease_timing import LeaseTiming

NOW = "2030-01-01T00:00:00.000000Z"
EARLIER = "2029-12-31T00:00:00.000000Z"


def record(**spec: Any) -> Record:
    return of({"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": spec})


def of(document: Any) -> Record:
    return Record.of(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("spec", "holder", "duration"),
    [
        pytest.param({"holderIdentity": "me", "leaseDurationSeconds": 15}, "me", 15, id="held"),
        pytest.param({"holderIdentity": "", "leaseDurationSeconds": 1}, "", 1, id="given back"),
        pytest.param({"holderIdentity": None, "leaseDurationSeconds": None}, "", 0, id="nulls"),
        pytest.param({}, "", 0, id="empty"),
        pytest.param(None, "", 0, id="no spec"),
        pytest.param({"holderIdentity": 7, "leaseDurationSeconds": "15"}, None, 0, id="other types"),
        pytest.param({"holderIdentity": "me", "leaseDurationSeconds": -3}, "me", 0, id="a negative duration"),
        pytest.param({"holderIdentity": "me", "leaseDurationSeconds": True}, "me", 0, id="a truth as duration"),
        pytest.param({"holderIdentity": "me", "leaseDurationSeconds": 1.5}, "me", 0, id="a broken duration"),
        pytest.param([], None, 0, id="a list"),
    ],
)
def test_whatever_can_be_read_of_a_lease_is(spec: Any, holder: str | None, duration: int) -> None:
    found = of({"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": spec})
    assert (found.holder, found.duration, found.version) == (holder, duration, ("u", "7"))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"[]", "the lease cannot be read: expected `object`, got `array`"),
        (b"<html>", "the lease cannot be read: JSON is malformed: invalid character (byte 0)"),
        (b'{"spec": {"holderIdentity": "you"}}', "the lease cannot be read: it has no resourceVersion"),
    ],
    ids=["a list", "a page", "no version"],
)
def test_what_is_not_a_lease_is_unreadable(body: bytes, text: str) -> None:
    with pytest.raises(ApiError) as caught:
        Record.of(body)
    assert (caught.value.cause, str(caught.value)) == (Cause.UNREADABLE, text)


def test_a_new_lease_says_who_holds_it_since_when_and_for_how_long() -> None:
    assert made("streams", "controller", "me", duration=15, now=NOW) == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"namespace": "streams", "name": "controller"},
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "acquireTime": NOW,
            "renewTime": NOW,
            "leaseTransitions": 0,
        },
    }


def test_a_renewal_changes_nothing_but_the_time_of_it() -> None:
    spec = made("streams", "controller", "me", duration=15, now=EARLIER)["spec"]
    held = (
        record(**spec, leaseTransitions=3)
        if "leaseTransitions" not in spec
        else record(**{**spec, "leaseTransitions": 3})
    )
    assert held.held("me", duration=15, now=NOW)["spec"] == {**spec, "leaseTransitions": 3, "renewTime": NOW}


@pytest.mark.parametrize(
    ("before", "after"), [({}, 1), ({"leaseTransitions": 4}, 5), ({"leaseTransitions": "x"}, 1)], ids=str
)
def test_taking_it_over_counts_and_starts_over(before: dict[str, Any], after: int) -> None:
    spec = record(holderIdentity="you", acquireTime=EARLIER, **before).held("me", duration=15, now=NOW)["spec"]
    assert (spec["leaseTransitions"], spec["acquireTime"], spec["holderIdentity"]) == (after, NOW, "me")


def test_a_lease_of_ours_that_does_not_say_since_when_says_so_afterwards() -> None:
    assert record(holderIdentity="me").held("me", duration=15, now=NOW)["spec"]["acquireTime"] == NOW


def test_a_released_lease_has_no_holder_for_a_second() -> None:
    held = record(holderIdentity="me", leaseDurationSeconds=15, leaseTransitions=2, acquireTime=EARLIER)
    assert held.free(now=NOW)["spec"] == {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "leaseTransitions": 2,
        "acquireTime": NOW,
        "renewTime": NOW,
    }


def test_what_others_have_written_is_kept() -> None:
    before = of({"metadata": {"uid": "u", "resourceVersion": "7", "labels": {"a": "b"}}, "spec": {"strategy": "s"}})
    after = before.held("me", duration=15, now=NOW)
    assert (after["metadata"], after["spec"]["strategy"]) == (before.document["metadata"], "s")


def test_a_spec_that_is_none_is_replaced() -> None:
    before = of({"metadata": {"resourceVersion": "7"}, "spec": [1]})
    assert before.held("me", duration=15, now=NOW)["spec"]["holderIdentity"] == "me"


# Time


def test_moments_are_written_as_kubernetes_does() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", micro_time())


def test_seconds_only_grow() -> None:
    assert seconds() <= seconds()


@pytest.mark.parametrize(
    "terms",
    [{"deadline": 15.0}, {"retry": 10.0}, {"retry": 9.0, "jitter": 0.2}, {"retry": 0.0}, {"lease": 10}],
    ids=str,
)
def test_terms_by_which_a_lease_cannot_be_kept_are_none(terms: Any) -> None:
    with pytest.raises(
        ValueError, match="^the retry period must be shorter than the deadline, and that shorter than the lease$"
    ):
        LeaseTiming(**terms)


@pytest.mark.parametrize(
    ("lease", "figures"), [(3, (3, 2, 0.4, 1)), (15, (15, 10, 2, 5)), (3600, (3600, 2400, 480, 1200))]
)
def test_a_timing_in_proportion(lease: int, figures: tuple[float, ...]) -> None:
    timing = LeaseTiming.in_proportion(lease, jitter=0.0)
    assert (timing.lease, timing.deadline, timing.retry, timing.request) == pytest.approx(figures)
    assert timing.jitter == 0


def test_terms_are_those_of_kubernetes_unless_said_otherwise() -> None:
    terms = LeaseTiming()
    assert (terms.lease, terms.deadline, terms.retry, terms.request) == (15, 10.0, 2.0, 5.0)
