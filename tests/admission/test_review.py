"""The envelope of a review: what is read of it, and what makes it unreadable."""

import json
from typing import Any

import pytest

from tests.builders import UID, envelope, pod, review
from webhook.admission.review import Review, UnreadableReviewError, read_review

REQUEST = {"uid": UID, "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE", "object": {"a": 1}}


def spaced(request: object, **fields: object) -> bytes:
    """The same review as another client writes it, with white space."""
    return json.dumps(json.loads(envelope(request, **fields)), indent=1).encode()


def why(body: bytes) -> str:
    """Why a body is no review."""
    with pytest.raises(UnreadableReviewError) as caught:
        read_review(body)
    return str(caught.value)


def test_all_fields_of_a_request_are_read() -> None:
    found = read_review(review(pod(), "UPDATE", old={"b": 2}, subresource="status", name="p", namespace="team"))
    assert (found.uid, found.operation, found.subresource, found.namespace, found.name) == (
        UID, "UPDATE", "status", "team", "p"
    )  # fmt: skip
    assert (found.kind.group, found.kind.version, found.kind.kind) == ("", "v1", "Pod")
    assert (json.loads(bytes(found.object)), bytes(found.old)) == (pod(), b'{"b":2}')


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(envelope(REQUEST), id="with a line end, as the API server sends it"),
        pytest.param(envelope(REQUEST).rstrip(), id="without one"),
        pytest.param(spaced(REQUEST), id="with white space"),
        pytest.param(b" " + envelope(REQUEST), id="with a blank before it"),
        pytest.param(envelope(REQUEST) + b"\n", id="with two line ends"),
        pytest.param(envelope(REQUEST, response={"uid": "x", "allowed": True}), id="with a response, which is ignored"),
        pytest.param(envelope(REQUEST, extra=1), id="with a field of the future"),
        pytest.param(
            json.dumps({"apiVersion": "admission.k8s.io/v1", "request": REQUEST, "kind": "AdmissionReview"}).encode(),
            id="in another order",
        ),
        pytest.param(
            envelope(REQUEST).replace(b'"uid":', b'"\\u0075id":'), id="with an escaped key that stands only once"
        ),
    ],
)
def test_the_same_review_is_read_however_it_is_written(body: bytes) -> None:
    found = read_review(body)
    assert (found.uid, found.kind.kind, json.loads(bytes(found.object))) == (UID, "Pod", {"a": 1})


def test_what_a_request_does_not_say_is_empty() -> None:
    assert read_review(envelope({"uid": "u"})) == Review("u")


@pytest.mark.parametrize("name", ["operation", "subResource", "namespace", "name"])
def test_null_is_the_same_as_nothing_said(name: str) -> None:
    assert read_review(envelope({"uid": "u", name: None})) == Review("u")


def test_unknown_fields_of_a_request_are_ignored() -> None:
    assert read_review(envelope(REQUEST | {"\u00e9": 1, "new": {"x": 1}})).uid == UID


def test_a_long_uid_is_taken_as_long_as_it_can_be_echoed() -> None:
    assert read_review(envelope({"uid": "x" * 256})).uid == "x" * 256


UID_RULE = "request.uid must be a text of 1 to 256 characters"
KIND_RULE = "the body must be an AdmissionReview of admission.k8s.io/v1"

ENVELOPES: dict[str, tuple[bytes, str]] = {
    "v1beta1": (envelope(REQUEST, apiVersion="admission.k8s.io/v1beta1"), KIND_RULE),
    "v2": (envelope(REQUEST, apiVersion="admission.k8s.io/v2"), KIND_RULE),
    "no version": (envelope(REQUEST, apiVersion=None), KIND_RULE),
    "another kind": (envelope(REQUEST, kind="Pod"), KIND_RULE),
    "nothing": (b"{}", KIND_RULE),
    "a kind of another type": (envelope(REQUEST, kind=1), "kind is not readable: Expected `str | null`, got `int`"),
    "no request": (b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', "the review has no request"),
    "null request": (envelope(None), "the review has no request"),
    "a list as request": (envelope([]), "request is not a JSON object: Expected `object`, got `array`"),
    "a text as request": (envelope("x"), "request is not a JSON object: Expected `object`, got `str`"),
    "no uid": (envelope({}), UID_RULE),
    "empty uid": (envelope({"uid": ""}), UID_RULE),
    "long uid": (envelope({"uid": "x" * 257}), UID_RULE),
    "endless uid": (envelope({"uid": "x" * 2**20}), UID_RULE),
    "a number as uid": (envelope({"uid": 7}), "uid is not readable: Expected `str`, got `int`"),
    "null as uid": (envelope({"uid": None}), "uid is not readable: Expected `str`, got `null`"),
    "a text as kind": (
        envelope({"uid": "u", "kind": "Pod"}),
        "kind is not readable: Expected `object`, got `str`",
    ),
    "a number in the kind": (
        envelope({"uid": "u", "kind": {"kind": 1}}),
        "kind is not readable: Expected `str`, got `int` - at `$.kind`",
    ),
    "a number as operation": (
        envelope({"uid": "u", "operation": 1}),
        "operation is not readable: Expected `str | null`, got `int`",
    ),
    "a list as body": (b"[]", "the body is not a JSON object: Expected `object`, got `array`"),
    "empty": (b"", "the body is not a JSON object: Input data was truncated"),
    "truncated": (b"{", "the body is not a JSON object: Input data was truncated"),
    "two reviews": (
        envelope(REQUEST) * 2,
        f"the body is not a JSON object: JSON is malformed: trailing characters (byte {len(envelope(REQUEST)) + 1})",
    ),
}


@pytest.mark.parametrize(("body", "expected"), ENVELOPES.values(), ids=ENVELOPES.keys())
def test_what_cannot_be_answered_is_unreadable(body: bytes, expected: str) -> None:
    assert why(body) == expected


COMPACT = envelope(REQUEST)

TWICE: dict[str, tuple[bytes, str]] = {
    "in the request": (COMPACT.replace(b'"uid":', b'"uid":"other","uid":', 1), "uid"),
    "the same value": (COMPACT.replace(b'"operation":', b'"operation":"CREATE","operation":'), "operation"),
    "object": (COMPACT.replace(b'"object":', b'"object":null,"object":'), "object"),
    "escaped": (COMPACT.replace(b'"uid":', b'"\\u0075id":"other","uid":', 1), "uid"),
    "escaped, afterwards": (COMPACT.replace(b'"object":', b'"\\u0075id":"other","object":', 1), "uid"),
    "in the envelope": (b'{"kind":"AdmissionReview",' + COMPACT[1:], "kind"),
    "request": (COMPACT.rstrip()[:-1] + b',"request":{"uid":"other"}}', "request"),
    "request, before it": (b'{"request":{"uid":"other"},' + COMPACT[1:], "request"),
    "escaped request": (COMPACT.rstrip()[:-1] + b',"\\u0072equest":{"uid":"other"}}', "request"),
    "response": (COMPACT.rstrip()[:-1] + b',"response":1,"response":2}', "response"),
    "of the future": (COMPACT.replace(b'"uid":', b'"x\\u202e":1,"x\\u202e":2,"uid":', 1), "x\\u202e"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "key"), TWICE.values(), ids=TWICE.keys())
@pytest.mark.parametrize("blank", [b"", b" \n"], ids=["compact", "with white space"])
def test_a_key_that_stands_twice_makes_a_review_unreadable(body: bytes, key: str, blank: bytes) -> None:
    written = body.replace(b'"request":{', b'"request":' + blank + b"{", 1)
    assert why(written) == f'the key "{key}" occurs twice in the review'


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param(("", "Pod", "CREATE"), True, id="exactly"),
        pytest.param(("", "Pod", "UPDATE", "CREATE"), True, id="one of several operations"),
        pytest.param(("", "Pod", "UPDATE"), False, id="another operation"),
        pytest.param(("apps", "Pod", "CREATE"), False, id="another group"),
        pytest.param(("", "Node", "CREATE"), False, id="another kind"),
    ],
)
def test_a_review_knows_what_it_is_about(asked: tuple[str, str, str], *, expected: bool) -> None:
    group, kind, *operations = asked
    subjects = [(group, kind, "", operation) for operation in operations]
    assert (read_review(envelope(REQUEST)).subject in subjects) is expected


def test_a_subresource_is_not_the_object_itself() -> None:
    found: dict[str, Any] = REQUEST | {"subResource": "status"}
    assert read_review(envelope(found)).subject != ("", "Pod", "", "CREATE")


@pytest.mark.parametrize("part", ["object", "oldObject"])
def test_an_object_is_bounded(part: str) -> None:
    whole = b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","%s":"%s"}}'
    text = b"x" * (4 * 1024**2 - 1)
    with pytest.raises(UnreadableReviewError, match=f"^request.{part} is over 4 MiB, more than the API server takes$"):
        read_review(whole % (part.encode(), text))
    assert read_review(whole % (part.encode(), text[1:])).uid == "u"


@pytest.mark.parametrize(
    ("fields", "key"),
    [(b'"uid":"u","a":12,"a":1', "a"), (b'"uid":"u","a":1 , "\\u0061":1', "a"), (b'"uid":"v","uid":"u"', "uid")],
    ids=["of which one begins like the other", "spelled in two ways", "with other values"],
)
def test_a_key_stands_once_however_it_is_written(fields: bytes, key: str) -> None:
    body = b' {"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{%s}}' % fields
    with pytest.raises(UnreadableReviewError, match=f'^the key "{key}" occurs twice in the review$'):
        read_review(body)
