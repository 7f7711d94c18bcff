"""``/convert``: objects of a kind between its versions, whatever their fields hold, and reviews that are none."""

import json
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from webhook.admission.answer import Answer, Outcome
from webhook.admission.conversion import OBJECT_LIMIT, SLICE, OtherVersion, Versions, convert
from webhook.cluster.crds.versions import TRIAL, VERSIONS
from webhook.placement.text.api_kinds import HOST_POOL, STREAMS_JOB

Json = dict[str, Any]

V1: Final = "streams.ibm.com/v1"
V2: Final = f"streams.ibm.com/{TRIAL}"


def pool(spec: object, version: str = V1, **more: object) -> Json:
    return {"apiVersion": version, "kind": "HostPool", "metadata": {"name": "p"}, "spec": spec, **more}


def asked(*objects: object, wanted: str = V2, **tweaks: object) -> Json:
    request = {"uid": "u-1", "desiredAPIVersion": wanted, "objects": list(objects), **tweaks}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}


def answer_to(review: object) -> Answer:
    return finished(review if isinstance(review, bytes) else json.dumps(review).encode(), VERSIONS)


def finished(body: bytes, versions: Versions) -> Answer:
    """The answer to a review that needs no pause."""
    with pytest.raises(StopIteration) as done:
        next(convert(body, versions))
    answer: Answer = done.value.value
    return answer


def converted(*objects: object, wanted: str = V2) -> list[Json]:
    """The objects of the answer, which is a success."""
    answer = answer_to(asked(*objects, wanted=wanted))
    found = json.loads(answer.body)
    assert (found["apiVersion"], found["kind"]) == ("apiextensions.k8s.io/v1", "ConversionReview")
    assert (answer.status, answer.outcome, answer.operation) == (200, Outcome.ALLOWED, "CONVERT")
    assert (found["response"]["uid"], found["response"]["result"]) == ("u-1", {"status": "Success"})
    result: list[Json] = found["response"]["convertedObjects"]
    return result


def message_of(review: object) -> str:
    """Why the review got no objects."""
    answer = answer_to(review)
    found = json.loads(answer.body)
    if answer.status == 400:
        assert (answer.outcome, answer.message) == (Outcome.UNREADABLE, found["message"])
        return answer.message
    assert (answer.status, answer.outcome, answer.reason) == (200, Outcome.DENIED, "Invalid")
    assert found["response"] == {
        "uid": "u-1",
        "result": {"status": "Failure", "message": answer.message},
        "convertedObjects": [],
    }
    return answer.message


@pytest.mark.parametrize(("mode", "exclusive"), [("Shared", False), ("Exclusive", True)])
def test_a_field_changes_and_everything_else_stays(mode: str, exclusive: object) -> None:
    before = pool({"size": 3, "mode": mode, "tags": ["a"]}, status={"phase": "Ready"})
    after = pool({"size": 3, "exclusive": exclusive, "tags": ["a"]}, V2, status={"phase": "Ready"})
    assert converted(before) == [after]
    assert converted(after, wanted=V1) == [before]


def test_objects_keep_their_order() -> None:
    found = converted(*(pool({"mode": "Exclusive", "size": size}) for size in range(5)))
    assert [one["spec"]["size"] for one in found] == [0, 1, 2, 3, 4]
    assert converted() == []


def test_the_version_that_an_object_has_needs_no_change() -> None:
    same = pool({"mode": "Shared"})
    assert converted(same, wanted=V1) == [same]


def test_between_two_others_the_way_is_by_the_stored_version() -> None:
    def counting(fields: dict[str, Raw]) -> None:
        fields["step"] = Raw(msgspec.json.encode([*msgspec.json.decode(fields.get("step", b"[]")), len(fields)]))

    both = {"v2": OtherVersion(counting, counting), "v3": OtherVersion(counting, counting)}
    body = json.dumps(asked(pool({}, V2), wanted="streams.ibm.com/v3")).encode()
    answer = finished(body, {HOST_POOL: both})
    (found,) = json.loads(answer.body)["response"]["convertedObjects"]
    assert (found["apiVersion"], found["step"]) == ("streams.ibm.com/v3", [4, 5])


@pytest.mark.parametrize(
    "spec", [None, 3, [], {}, {"mode": 3}, {"mode": "Other"}, {"mode": None}, {"size": 1}], ids=str
)
def test_what_a_conversion_does_not_know_stays(spec: object) -> None:
    there = pool(spec, V2)
    assert converted(pool(spec)) == [there]
    assert converted(there, wanted=V1) == [pool(spec)]


@pytest.mark.parametrize("exclusive", [None, "yes", 1])
def test_neither_does_the_way_back_fail(exclusive: object) -> None:
    assert converted(pool({"exclusive": exclusive}, V2), wanted=V1) == [pool({"exclusive": exclusive})]
    without = {"apiVersion": V2, "kind": "HostPool"}
    assert converted(without, wanted=V1) == [{**without, "apiVersion": V1}]


SPECS = st.dictionaries(
    st.sampled_from(["mode", "size", "tags", "other"]),
    st.one_of(st.sampled_from(["Shared", "Exclusive", "X", ""]), st.none(), st.integers(), st.lists(st.booleans())),
)


@pytest.mark.hypothesis
@given(SPECS)
def test_there_and_back_nothing_is_lost(spec: Json) -> None:
    there = converted(pool(spec))
    assert converted(*there, wanted=V1) == [pool(spec)]


@pytest.mark.parametrize(("count", "pauses"), [(SLICE, 0), (SLICE + 1, 1), (2 * SLICE + 1, 2)])
def test_many_objects_are_converted_in_slices_between_which_others_may_work(count: int, pauses: int) -> None:
    body = json.dumps(asked(*(pool({"mode": "Exclusive", "size": size}) for size in range(count)))).encode()
    work = convert(body, VERSIONS)
    for _ in range(pauses):
        next(work)
    with pytest.raises(StopIteration) as done:
        next(work)
    found = json.loads(done.value.value.body)["response"]["convertedObjects"]
    assert [one["spec"] for one in found] == [{"size": size, "exclusive": True} for size in range(count)]


UNREADABLE: Final[dict[str, tuple[object, str]]] = {
    "no JSON": (b"x", "the body is not a readable ConversionReview: JSON is malformed: invalid character (byte 0)"),
    "no object": ([], "the body is not a readable ConversionReview: Expected `object`, got `array`"),
    "no request": (
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"},
        "the body is not a readable ConversionReview: Object missing required field `request`",
    ),
    "another version": (
        {**asked(), "apiVersion": "apiextensions.k8s.io/v1beta1"},
        "the body must be a ConversionReview of apiextensions.k8s.io/v1",
    ),
    "another kind": (
        {**asked(), "kind": "AdmissionReview"},
        "the body must be a ConversionReview of apiextensions.k8s.io/v1",
    ),
    "no uid": (asked(uid=""), "request.uid must be a text of 1 to 256 characters"),
    "a long uid": (asked(uid="u" * 257), "request.uid must be a text of 1 to 256 characters"),
    "an object without a kind": (
        asked({"apiVersion": V1}),
        "the body is not a readable ConversionReview: Object missing required field `kind` - at `$.request.objects[0]`",
    ),
    "an object that is none": (
        asked("x"),
        "the body is not a readable ConversionReview: Expected `object`, got `str` - at `$.request.objects[0]`",
    ),
    "too many objects": (
        asked(*[{"apiVersion": V1, "kind": "HostPool"}] * (OBJECT_LIMIT + 1)),
        "request.objects has 10001 objects, at most 10000 are allowed",
    ),
    "deep": (
        json.dumps(asked({**pool({}), "z": 0})).encode().replace(b'"z": 0', b'"z": ' + b"[" * 100_000),
        "the body is nested too deeply",
    ),
}


@pytest.mark.parametrize(("review", "message"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_not_a_review_is_refused(review: object, message: str) -> None:
    assert message_of(review) == message


def test_a_key_that_is_not_text_makes_a_review_unreadable() -> None:
    body = json.dumps(asked({**pool({}), "z": 0})).encode().replace(b'"z"', b'"\xff"')
    assert message_of(body).startswith("the body is not a readable ConversionReview: ")


KNOWN: Final = "kinds with several versions: HostPool of streams.ibm.com"

UNKNOWN: Final[dict[str, tuple[Json, str]]] = {
    "a version that is wanted": (
        asked(pool({}), wanted="streams.ibm.com/v3"),
        'HostPool of streams.ibm.com has no version "v3", only v1, v2',
    ),
    "the version of an object": (
        asked(pool({}), pool({}, "streams.ibm.com/v0")),
        'HostPool of streams.ibm.com has no version "v0", only v1, v2',
    ),
    "a kind of one version": (
        asked({"apiVersion": V1, "kind": STREAMS_JOB.name}),
        f'"Job" of "streams.ibm.com/v1" cannot be converted to "streams.ibm.com/v2"; {KNOWN}',
    ),
    "another group": (
        asked(pool({}), wanted="example.com/v2"),
        f'"HostPool" of "streams.ibm.com/v1" cannot be converted to "example.com/v2"; {KNOWN}',
    ),
    "no group": (
        asked(pool({}, "v1"), wanted="v1"),
        '"HostPool" of "v1" cannot be converted to "v1"; kinds with several versions: HostPool of streams.ibm.com',
    ),
}


@pytest.mark.parametrize(("review", "message"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_is_not_known_fails_as_a_whole(review: Json, message: str) -> None:
    assert message_of(review) == message


def test_words_of_a_stranger_are_cut_and_escaped() -> None:
    review = asked({"apiVersion": V1, "kind": "\x1b[31m" + "k" * 10_000}, wanted="\n" * 10_000)
    message = message_of(review)
    assert len(message) < 1024
    assert message.isprintable()


def test_no_part_of_a_review_ends_in_an_error() -> None:
    """Each prefix, and each with one byte replaced or added, is answered."""
    body = json.dumps(asked(pool({"mode": "Exclusive"}))).encode()
    for at in range(len(body)):
        for changed in (body[:at], body[:at] + b"\x00" + body[at + 1 :], body[:at] + b"{" + body[at:]):
            assert answer_to(changed).status in {200, 400}, changed
