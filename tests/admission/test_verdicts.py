"""The four answers to a review, on the wire."""

import base64
import json

import pytest
from msgspec.structs import replace

from tests.answers import response, warnings
from webhook.admission.answer import Answer, Outcome
from webhook.admission.patch import Operation, encode
from webhook.admission.responses import admission, allowed, denied, patched, unreadable
from webhook.admission.review import GroupVersionKind, Review
from webhook.placement.text.problem import Fault

REVIEW = Review("u", GroupVersionKind("Pod"), "CREATE", namespace="n", name="p")


def test_allowed_says_nothing_more() -> None:
    assert allowed(REVIEW) == Answer(
        200,
        b'{"response":{"uid":"u","allowed":true},"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
        Outcome.ALLOWED,
        kind="Pod",
        operation="CREATE",
        uid="u",
        namespace="n",
        name="p",
    )


def test_a_patch_is_base64_of_its_operations() -> None:
    answer = patched(REVIEW, admission(encode([Operation("add", "/a", 1)]), ["w"], {"k": "v"}))
    assert answer.outcome is Outcome.PATCHED
    found = response(answer)
    assert json.loads(base64.b64decode(found.pop("patch"))) == [{"op": "add", "path": "/a", "value": 1}]
    assert found == {
        "uid": "u", "allowed": True, "patchType": "JSONPatch", "warnings": ["w"], "auditAnnotations": {"k": "v"}
    }  # fmt: skip


def test_an_empty_patch_is_left_out() -> None:
    answer = patched(REVIEW, admission(b"", ["w"], {"k": "v"}))
    assert answer.outcome is Outcome.ALLOWED
    assert response(answer) == {"uid": "u", "allowed": True, "warnings": ["w"], "auditAnnotations": {"k": "v"}}


@pytest.mark.parametrize("uid", ["u", 'a"b', "\u00e9\x00", ""])
def test_an_answer_is_the_same_whether_it_is_made_at_once_or_from_an_admission(uid: str) -> None:
    review = replace(REVIEW, uid=uid)
    at_once = allowed(review, ["w"], {"k": "v"})
    assert patched(review, admission(b"", ["w"], {"k": "v"})) == at_once


@pytest.mark.parametrize(("fault", "code"), [(Fault.INVALID, 422), (Fault.FORBIDDEN, 403)])
def test_a_refusal_has_a_reason_and_a_code(fault: Fault, code: int) -> None:
    answer = denied(REVIEW, fault, "no", ["w"], {"k": "v"})
    reason = fault.name.capitalize()
    assert (answer.outcome, answer.reason, answer.message) == (Outcome.DENIED, reason, "no")
    assert response(answer) == {
        "uid": "u",
        "allowed": False,
        "status": {"status": "Failure", "message": "no", "reason": reason, "code": code},
        "warnings": ["w"],
        "auditAnnotations": {"k": "v"},
    }


def test_a_refusal_keeps_its_lines_and_nothing_else_that_acts() -> None:
    answer = denied(REVIEW, Fault.INVALID, "one\n  two\r\x1b[0m\u202e")
    assert response(answer)["status"]["message"] == "one\n  two\\r\\x1b[0m\\u202e"


def test_what_is_unreadable_is_a_bad_request() -> None:
    answer = unreadable("no\x1b\n")
    assert (answer.status, answer.outcome, answer.reason, answer.message) == (
        400, Outcome.UNREADABLE, "BadRequest", "no\\x1b\\n"
    )  # fmt: skip
    assert json.loads(answer.body) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "no\\x1b\\n",
        "reason": "BadRequest",
        "code": 400,
    }


def test_a_uid_is_echoed_whatever_it_holds() -> None:
    assert response(allowed(Review('u"\x1b\u202e')))["uid"] == 'u"\x1b\u202e'


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(["a\nb\x1b"], [r"a\nb\x1b"], id="nothing acts on a terminal"),
        pytest.param(["x" * 250], ["x" * 250], id="at the limit"),
        pytest.param(["x" * 251], ["x" * 247 + "..."], id="too long"),
        pytest.param(["\u202e" * 100], [r"\u202e" * 41 + r"\..."], id="cut after escaping"),
        pytest.param(list("abcdefghij"), list("abcdefghij"), id="ten"),
        pytest.param(list("abcdefghijk"), [*"abcdefghi", "and 2 more warnings"], id="eleven"),
        pytest.param(["x"] * 10_000, [*["x"] * 9, "and 9991 more warnings"], id="very many"),
    ],
)
def test_warnings_are_few_short_and_printable(texts: list[str], expected: list[str]) -> None:
    assert warnings(allowed(REVIEW, texts)) == expected
