"""What a check of ``/validate`` finds, and the answer that all of it comes to."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, Unseen
from webhook.admission.responses import allowed, denied
from webhook.admission.review import Review
from webhook.placement.inventory.policy import Policy
from webhook.placement.text.problem import Fault, Problem, render


class Objection(Struct, frozen=True, gc=False):
    """A refusal in words of its own (403): it is about the cluster, not about a field. Its first line stands alone."""

    text: str


Finding = Problem | Objection | Unseen | str
"""Something wrong with the request, an objection, a pod that has to be looked at first, or a warning."""


def answer(review: Review, findings: Sequence[Finding], policy: Policy) -> Answer:
    """Refused for all problems, else for the objection, else allowed; warnings are told in any case.

    Where a pod has to be looked at first, it is allowed for want of a way to do so.
    """
    warnings = [found for found in findings if isinstance(found, str)]
    problems = [found for found in findings if isinstance(found, Problem)]
    objections = [found.text for found in findings if isinstance(found, Objection)]
    unseen = next((found for found in findings if isinstance(found, Unseen)), None)
    if unseen:
        return replace(allowed(review, warnings), unseen=unseen)
    if policy.audit:
        refusals = [*(problem.message for problem in problems), *(text.partition("\n")[0] for text in objections)]
        return allowed(review, [*(f"audit: this would be refused: {text}" for text in refusals), *warnings])
    if problems:
        fault = Fault.INVALID if any(problem.fault is Fault.INVALID for problem in problems) else Fault.FORBIDDEN
        return denied(review, fault, render(problems), warnings)
    return denied(review, Fault.FORBIDDEN, objections[0], warnings) if objections else allowed(review, warnings)
