"""The right to use a HostPool: the question for the API server, and the refusal (``docs/hostpool.md``).

The user who submits a workload is asked about, not the controllers of Kubernetes that create its pods later.
"""

import functools
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from webhook.admission.answer import Answer, Outcome, PoolUse, RightsQuestion
from webhook.admission.responses import answered
from webhook.admission.review import Review
from webhook.placement.annotations.placement_text import annotation
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.ask import Ask
from webhook.placement.text.api_kinds import HOST_POOL
from webhook.placement.text.keys import PLACEMENT
from webhook.placement.text.problem import Fault, Problem, quote
from webhook.placement.text.rule import Rule


def with_rights(answer: Answer, review: Review, ask: Ask, policy: Policy) -> Answer:
    """The answer; if it allows, with the question whether the user may use the HostPools that ``ask`` names."""
    uses = ((pool.name, clause.text) for clause, pool in (*ask.pools, *ask.closed))
    return with_rights_to(answer, review, uses, annotation(PLACEMENT), policy)


def with_rights_to(answer: Answer, review: Review, uses: Iterable[PoolUse], field: str, policy: Policy) -> Answer:
    """The answer; if it allows, with the question whether the user may use these HostPools, named in ``field``."""
    pools = tuple(dict.fromkeys(uses))
    if not pools or answer.outcome is not Outcome.ALLOWED:
        return answer
    resume = functools.partial(_unauthorized, review, field, policy)
    return replace(answer, question=RightsQuestion(review.user, review.namespace, pools, resume))


def _unauthorized(review: Review, field: str, policy: Policy, refused: Sequence[PoolUse]) -> Answer:
    """The refusal of a user who may not use these of the pools; in audit mode, a warning."""
    problems = []
    for pool, clause in refused:
        message = f"{clause}: user {quote(review.user.username)} may not use HostPool {pool} of namespace "
        rule = f"{quote(review.namespace)}: this needs the verb use on {HOST_POOL.full_resource}"
        problems.append(Problem(field, message + rule, fault=Fault.FORBIDDEN))
    return answered(review, problems, policy, (Rule.RIGHTS,))
