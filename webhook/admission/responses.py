"""Answers in the API server's own words (``docs/refusals.md``)."""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct
from msgspec.json import Encoder

from webhook.admission.answer import Answer, Outcome
from webhook.admission.review import KIND, VERSION, Review
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, escape

_ENCODE = Encoder().encode


class _NoMetadata(Struct, frozen=True, gc=False):
    """The empty ``metadata`` that every Status carries."""


class _Failure(Struct, frozen=True, gc=False, rename="camel"):
    """A ``metav1.Status`` of a call that failed; its message is what the user gets to see."""

    message: str
    reason: str
    code: int
    metadata: _NoMetadata = _NoMetadata()
    status: Literal["Failure"] = "Failure"
    api_version: Literal["v1"] = "v1"
    kind: Literal["Status"] = "Status"


UNAVAILABLE: Final = "ServiceUnavailable"
"""Kubernetes' reason for 503 (apimachinery, ``StatusReason``)."""


def status_body(code: int, reason: str, message: str) -> bytes:
    """JSON of a ``metav1.Status``: the only body of an HTTP error whose text the API server passes on."""
    return _ENCODE(_Failure(message=message, reason=reason, code=code))


WARNING_LIMIT = 250
"""Characters of a warning: the API server cuts all of them to 256 once they are more than 4,096 bytes together."""
WARNINGS = 10
"""Warnings in one answer: more than a person reads, and 100 break Python clients."""

REASONS = {Fault.INVALID: "Invalid", Fault.FORBIDDEN: "Forbidden"}


class _Result(Struct, frozen=True, gc=False):
    """The ``status`` of a refusal: without ``details``, which kubectl would print in place of the message."""

    message: str
    reason: str
    code: int
    status: Literal["Failure"] = "Failure"


class _Response(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    uid: str
    allowed: bool
    patch_type: str = ""
    patch: bytes = b""
    status: _Result | None = None
    warnings: tuple[str, ...] = ()
    audit_annotations: dict[str, str] = {}


class _Reviewed(Struct, frozen=True, gc=False, rename="camel"):
    response: _Response
    api_version: str = VERSION
    kind: str = KIND


def allowed(review: Review, warnings: Iterable[str] = (), audit: dict[str, str] | None = None) -> Answer:
    """Admitted as it is."""
    response = _Response(review.uid, allowed=True, warnings=_warnings(warnings), audit_annotations=audit or {})
    return _answer(review, response, Outcome.ALLOWED)


_BEGINNING: Final = b'{"response":{"uid":'
"""How an answer begins, up to what differs between answers of one ruling."""


def tail(patch: bytes, warnings: Iterable[str], audit: dict[str, str]) -> bytes:
    """An admission with a patch (JSON), if there is anything to change: all of the answer after the uid."""
    response = _Response(
        "",
        allowed=True,
        patch_type="JSONPatch" if patch else "",
        patch=patch,
        warnings=_warnings(warnings),
        audit_annotations=audit,
    )
    return _ENCODE(_Reviewed(response))[len(_BEGINNING) + len(b'""') :]


def resumed(review: Review, rest: bytes, outcome: Outcome) -> Answer:
    """The answer to this review that :func:`tail` is the rest of."""
    return _told(review, _BEGINNING + _ENCODE(review.uid) + rest, outcome)


def denied(
    review: Review, fault: Fault, message: str, warnings: Iterable[str] = (), audit: dict[str, str] | None = None
) -> Answer:
    """Refused, with a text for the person who asked; it is escaped line by line, whatever it is made of."""
    text = "\n".join(map(escape, message.split("\n")))
    result = _Result(text, REASONS[fault], fault.value)
    response = _Response(
        review.uid, allowed=False, status=result, warnings=_warnings(warnings), audit_annotations=audit or {}
    )
    return _answer(review, response, Outcome.DENIED, result.reason, text)


def errored(message: str) -> Answer:
    """Our own trouble: HTTP 503, whose text the user sees."""
    body = status_body(503, UNAVAILABLE, message)
    return Answer(503, body, Outcome.ERRORED, reason=UNAVAILABLE)


def unreadable(message: str) -> Answer:
    """No review that could be answered: HTTP 400."""
    text = escape(message)
    return Answer(400, status_body(400, "BadRequest", text), Outcome.UNREADABLE, reason="BadRequest", message=text)


def unreadable_object(kind: str, error: Exception) -> str:
    """The refusal of an object whose fields are not what they should be; the error may quote any amount of it."""
    return escape(f"the {kind} is not readable: {error}")[:MESSAGE_LIMIT]


def _warnings(texts: Iterable[str]) -> tuple[str, ...]:
    if not texts:
        return ()
    shown = [escape(text) for text in texts]
    if len(shown) > WARNINGS:
        shown[WARNINGS - 1 :] = [f"and {len(shown) - WARNINGS + 1} more warnings"]
    return tuple(text if len(text) <= WARNING_LIMIT else f"{text[: WARNING_LIMIT - 3]}..." for text in shown)


def _answer(review: Review, response: _Response, outcome: Outcome, reason: str = "", message: str = "") -> Answer:
    return _told(review, _ENCODE(_Reviewed(response)), outcome, reason, message)


def _told(review: Review, body: bytes, outcome: Outcome, reason: str = "", message: str = "") -> Answer:
    return Answer(
        200,
        body,
        outcome,
        reason=reason,
        kind=review.kind.kind,
        operation=review.operation,
        uid=review.uid,
        namespace=review.namespace,
        name=review.name,
        message=message,
    )
