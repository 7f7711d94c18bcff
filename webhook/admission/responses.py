"""Answers to reviews as JSON of ``admission.k8s.io/v1``. See ``docs/refusals.md``.

An answer is made by ``allowed``, ``patched``, ``denied``, ``errored`` or ``unreadable``; ``answered`` chooses one of
these from what a check has found.
"""

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Raw, Struct, ValidationError
from msgspec import json as msgspec_json
from msgspec.json import Encoder

from webhook.admission.answer import Answer, Outcome
from webhook.admission.review import KIND, MALFORMED, VERSION, Review
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.size_limits import NESTING_LIMIT
from webhook.placement.text.decoder_words import decoder_text
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, Problem, escape, fault_of, render
from webhook.placement.text.rule import OF_FAULT

if TYPE_CHECKING:  # a module that only logs answers need not import the decision core
    from webhook.placement.decision.decision import Decision


_ENCODE = Encoder().encode


class _NoMetadata(Struct, frozen=True, gc=False):
    """The empty ``metadata`` of every Status."""


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


def allowed(
    review: Review, warnings: Iterable[str] = (), audit: dict[str, str] | None = None, rules: tuple[str, ...] = ()
) -> Answer:
    """Admitted without a patch; ``rules`` are those of the refusal that this would be, but for audit mode."""
    response = _Response(review.uid, allowed=True, warnings=_warnings(warnings), audit_annotations=audit or {})
    return _answer(review, response, Outcome.ALLOWED, rules=rules)


_BEGINNING: Final = b'{"response":{"uid":'
"""How an answer begins, up to the uid, in which answers to pods that ask the same differ."""


class Admission(Struct, frozen=True, gc=False):
    """An admission without its uid, made once for all pods that ask the same: ``after_uid`` is the JSON after the uid.

    ``changes`` says whether there is a patch in it.
    """

    after_uid: bytes
    changes: bool


def admission(patch: bytes, warnings: Iterable[str], audit: dict[str, str]) -> Admission:
    """An admission with a patch (JSON), empty if there is nothing to change."""
    response = _Response(
        "",
        allowed=True,
        patch_type="JSONPatch" if patch else "",
        patch=patch,
        warnings=_warnings(warnings),
        audit_annotations=audit,
    )
    return Admission(_ENCODE(_Reviewed(response))[len(_BEGINNING) + len(b'""') :], bool(patch))


def patched(review: Review, admitted: Admission) -> Answer:
    """Admitted, with the patch if there is one: the admission completed by the uid of this review."""
    body = _BEGINNING + _ENCODE(review.uid) + admitted.after_uid
    return _about(review, body, Outcome.PATCHED if admitted.changes else Outcome.ALLOWED)


def denied(
    review: Review,
    fault: Fault,
    message: str,
    warnings: Iterable[str] = (),
    audit: dict[str, str] | None = None,
    *,
    rules: tuple[str, ...] = (),
) -> Answer:
    """Refused, with a text for the user; the text is escaped line by line, as it may hold anything.

    Without ``rules`` the refusal is counted by whose fault it is.
    """
    text = "\n".join(map(escape, message.split("\n")))
    result = _Result(text, REASONS[fault], fault.value)
    response = _Response(
        review.uid, allowed=False, status=result, warnings=_warnings(warnings), audit_annotations=audit or {}
    )
    return _answer(review, response, Outcome.DENIED, result.reason, text, rules or (OF_FAULT[fault],))


def errored(message: str) -> Answer:
    """A failure of this program: HTTP 503, whose text the user sees."""
    body = status_body(503, UNAVAILABLE, message)
    return Answer(503, body, Outcome.ERRORED, reason=UNAVAILABLE)


def unreadable(message: str) -> Answer:
    """No review that could be answered: HTTP 400."""
    text = escape(message)
    return Answer(400, status_body(400, "BadRequest", text), Outcome.UNREADABLE, reason="BadRequest", message=text)


def nested_too_deeply(review: Review) -> Answer:
    """Refused, since the object cannot be read."""
    return denied(review, Fault.INVALID, unreadable_object(review.kind.kind, RecursionError(), review.object))


def unreadable_object(kind: str, error: Exception, encoded: Raw) -> str:
    """The text about an object whose fields have a wrong type; cut, as the error may quote any amount of it.

    ``encoded`` is the object, in which the value is looked up that the error is about.
    """
    if isinstance(error, RecursionError):
        return escape(f"the {kind}")[:MESSAGE_LIMIT] + _DEEP
    text = str(error)
    if isinstance(error, ValidationError):
        with contextlib.suppress(*MALFORMED):  # numbers out of range: the object cannot be looked at at all
            text = decoder_text(error, msgspec_json.decode(encoded))
    return escape(f"the {kind} is not readable: {text}")[:MESSAGE_LIMIT]


_DEEP: Final = f" is not readable: it is nested too deeply, at most {NESTING_LIMIT} levels are allowed"


def _warnings(texts: Iterable[str]) -> tuple[str, ...]:
    if not texts:
        return ()
    shown = [escape(text) for text in texts]
    if len(shown) > WARNINGS:
        shown[WARNINGS - 1 :] = [f"and {len(shown) - WARNINGS + 1} more warnings"]
    return tuple(text if len(text) <= WARNING_LIMIT else f"{text[: WARNING_LIMIT - 3]}..." for text in shown)


def _answer(
    review: Review,
    response: _Response,
    outcome: Outcome,
    reason: str = "",
    message: str = "",
    rules: tuple[str, ...] = (),
) -> Answer:
    return _about(review, _ENCODE(_Reviewed(response)), outcome, reason, message, rules)


def _about(
    review: Review, body: bytes, outcome: Outcome, reason: str = "", message: str = "", rules: tuple[str, ...] = ()
) -> Answer:
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
        rules=rules,
    )


class Objection(Struct, frozen=True, gc=False):
    """A refusal (403) about the cluster, not about a field. Its first line is complete without the others."""

    text: str
    rule: str


CheckResult = Problem | Objection | str
"""What a check has found: something wrong with a field, an objection, or a warning."""


def answered(review: Review, findings: Iterable[CheckResult], policy: Policy, rules: tuple[str, ...] = ()) -> Answer:
    """Refused for all problems, else for the first objection, else allowed; warnings are included in any case.

    ``rules`` are those of the problems; without them the refusal is counted by whose fault the problems are.
    """
    all_findings = list(findings)
    if not all_findings:
        return allowed(review)
    warnings = [each for each in all_findings if isinstance(each, str)]
    problems = [each for each in all_findings if isinstance(each, Problem)]
    objections = [each for each in all_findings if isinstance(each, Objection)]
    rules = (rules or (OF_FAULT[fault_of(problems)],)) if problems else tuple(each.rule for each in objections[:1])
    if policy.audit:
        refusals = [*(each.message for each in problems), *(each.text.partition("\n")[0] for each in objections)]
        would = (f"audit: this would be refused: {text}" for text in refusals)
        return allowed(review, [*would, *warnings], rules=rules)
    if problems:
        return denied(review, fault_of(problems), render(problems), warnings, rules=rules)
    if objections:
        return denied(review, Fault.FORBIDDEN, objections[0].text, warnings, rules=rules)
    return allowed(review, warnings)


def audit_annotations(decision: "Decision") -> dict[str, str]:
    """The decision for the API server's audit log: verdict, the clauses behind it, and how many nodes were left."""
    clauses = decision.refusal.clauses if decision.refusal else map(str, decision.ask.clauses)
    rule = escape("; ".join(clauses))[:MESSAGE_LIMIT]
    annotations = {"verdict": "refused" if decision.refused else "waits" if decision.wait else "admitted", "rule": rule}
    if decision.verdict:
        annotations["candidates"] = str(decision.verdict.candidates.bit_count())
    return annotations
