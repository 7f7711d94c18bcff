"""Answers to reviews as JSON of ``admission.k8s.io/v1``, and the questions that some answers depend on.

See ``docs/refusals.md``.

An answer is made by ``allowed``, ``patched``, ``denied``, ``errored`` or ``unreadable``; ``answered`` chooses one of
these from what a check has found. Nothing here talks to an API server: a question is data, which an outer layer asks.
"""

import contextlib
import enum
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Raw, Struct, ValidationError
from msgspec import json as msgspec_json
from msgspec.json import Encoder

from webhook.admission.review import KIND, MALFORMED, VERSION, Review, User
from webhook.admission.unstructured import Unstructured
from webhook.placement.inventory.policy import Policy
from webhook.placement.kinds.references import ObjectReference
from webhook.placement.kube.size_limits import NESTING_LIMIT
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.volumes import ClaimName, Volumes
from webhook.placement.pod_defaults.pod_defaults import ClassRef, PodDefaults
from webhook.placement.text.decoder_words import decoder_text
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, Problem, escape, fault_of, render
from webhook.placement.text.rule import OF_FAULT

if TYPE_CHECKING:  # a module that only logs answers need not import the decision core
    from webhook.placement.decision.decision import Decision
    from webhook.placement.planning.search.solver import Solving


class Outcome(enum.StrEnum):
    """How a review ended."""

    ALLOWED = "allowed"
    PATCHED = "patched"
    DENIED = "denied"
    ERRORED = "errored"
    """Our own trouble: HTTP 503."""
    UNREADABLE = "unreadable"
    """Not an AdmissionReview that could be answered: HTTP 400."""


class WorkloadRef(Struct, frozen=True, gc=False):
    """The workload that makes a pod, as the pod's owner reference names it: ``version`` is its apiVersion."""

    namespace: str
    version: str
    kind: str
    name: str


class SizeQuestion(Struct, frozen=True):
    """How many pods is the workload to have at a time? ``resume`` decides again, once that is known."""

    workload: WorkloadRef
    resume: Callable[[], "Answer"]


class PodRef(Struct, frozen=True, gc=False):
    """A pod, as a Binding names it; ``uid`` may be empty."""

    namespace: str
    name: str
    uid: str


class PodQuestion(Struct, frozen=True):
    """Which pod is about to be bound to an exclusive host? ``resume`` takes the pod that was read."""

    pod: PodRef
    resume: Callable[[PodInfo], "Answer"]


PoolUse = tuple[str, str]
"""The name of a HostPool object, and the clause by which a pod uses it."""


class RightsQuestion(Struct, frozen=True):
    """May the user ``use`` these HostPools of the namespace? ``resume`` takes those that the user may not use."""

    user: User
    namespace: str
    pools: tuple[PoolUse, ...]
    resume: Callable[[Sequence[PoolUse]], "Answer"]
    then: "ClassQuestion | VolumesQuestion | WholeQuestion | WorkloadsQuestion | None" = None
    """What the answer depends on if the user may use all of them."""


class JobRef(Struct, frozen=True, gc=False):
    """A Job of Streams: its namespace and name."""

    namespace: str
    name: str


class JobQuestion(Struct, frozen=True):
    """The stored Job is needed: ``resume`` takes it, or ``None`` if it does not exist.

    ``needed`` tells that an answer without it would be an error. In audit mode nothing is refused, so it is not.
    """

    job: JobRef
    resume: Callable[[StreamsJob | None], "Answer"]
    needed: bool = True


class RegionQuestion(Struct, frozen=True):
    """The stored Job of a ParallelRegion is needed; ``known`` is the region's spec, ``None`` if it has to be read.

    ``resume`` takes the spec and the Job as JSON, ``None`` for what does not exist.
    """

    namespace: str
    name: str
    known: ParallelRegionSpec | None
    resume: Callable[[ParallelRegionSpec | None, Raw | None], "Answer"]


class PodOwner(Struct, frozen=True, gc=False, rename="camel"):
    """An owner reference of an object, of which every field may hold any text."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class OwnersQuestion(Struct, frozen=True):
    """Do these owners of a pod lead to an object that was judged, for which that user creates pods?

    The kinds of such objects, and the accounts of their operators, are those of the ``policy``. If the owners lead to
    such an object, ``resume`` decides again, about a pod that may wait.
    """

    user: str
    namespace: str
    owners: tuple[PodOwner, ...]
    policy: Policy
    resume: Callable[[], "Answer"]


class ReferenceQuestion(Struct, frozen=True):
    """Which object does the one under review refer to? It says of which pods that one is.

    ``resume`` takes the object as it is stored, or ``None`` if it cannot be read.
    """

    reference: ObjectReference
    resume: Callable[[Unstructured | None], "Answer"]


class VolumesQuestion(Struct, frozen=True):
    """Which nodes can use the volumes of these claims, and which do storage classes make volumes on?

    ``resume`` takes the answer, or ``None`` without an API server: then the inventory counts.
    """

    claims: tuple[ClaimName, ...]
    resume: Callable[[Volumes | None], "Answer"]


class ClassQuestion(Struct, frozen=True):
    """Does the API server have these RuntimeClasses and PriorityClasses, which pods name and the watch has not brought?

    ``known`` are the classes of the inventory; ``resume`` decides again with those that exist.
    """

    classes: tuple[ClassRef, ...]
    known: PodDefaults
    resume: Callable[[PodDefaults], "Answer"]


class WholeQuestion(Struct, frozen=True):
    """Can everything of a Job run at a time? That may take longer than other reviews can wait.

    ``resume`` finds it out with the given way to solve integer programs.
    """

    resume: Callable[["Solving"], Awaitable["Answer"]]


class WorkloadsQuestion(Struct, frozen=True):
    """Which workloads has the API server whose pods belong to this job of the namespace?

    ``resume`` takes the workloads that exist, and returns the question whether all of them can run together.
    """

    namespace: str
    job: str
    resume: Callable[[Sequence[Unstructured]], WholeQuestion]


class FieldsQuestion(Struct, frozen=True):
    """Which of these fields of pod templates does the API server not know?

    Each is given by the names of the fields from the template down to it. ``resume`` takes those that it does not know,
    ``None`` if that could not be found out.
    """

    fields: tuple[tuple[str, ...], ...]
    resume: Callable[[frozenset[tuple[str, ...]] | None], "Answer"]


Question = (
    SizeQuestion
    | PodQuestion
    | RightsQuestion
    | JobQuestion
    | OwnersQuestion
    | ReferenceQuestion
    | RegionQuestion
    | ClassQuestion
    | VolumesQuestion
    | WholeQuestion
    | WorkloadsQuestion
    | FieldsQuestion
)
"""What an answer depends on: what only the API server knows, and what takes long to find out."""


class Answer(Struct, frozen=True, gc=False):
    """The answer to one request body.

    ``status`` is the HTTP status and ``body`` its JSON. The rest is for logs and metrics: ``reason`` is a short word
    (``Invalid``, ``Forbidden``, ...) or empty, ``message`` the refusal, if any; ``uid``, ``namespace`` and ``name`` are
    the caller's words and may hold anything. ``waits`` is why a pod is let in that no node can run now (``WaitCause``),
    empty for all others. ``rules`` are those of a refusal; an answer that allows has rules only in audit mode, where it
    would be a refusal. An answer with a ``question`` stands if there is no API server to ask; the reply may change it.
    """

    status: int
    body: bytes
    outcome: Outcome
    reason: str = ""
    kind: str = ""
    operation: str = ""
    uid: str = ""
    namespace: str = ""
    name: str = ""
    message: str = ""
    waits: str = ""
    rules: tuple[str, ...] = ()
    question: Question | None = None


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
    """An admission without its uid, made once for all pods that ask the same: ``rest`` is the JSON after the uid.

    ``changes`` says whether there is a patch in it.
    """

    rest: bytes
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
    body = _BEGINNING + _ENCODE(review.uid) + admitted.rest
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
