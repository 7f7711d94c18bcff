"""Reviews that end with a question to the API server: may this user use these HostPools?"""

from webhook.admission.answer import Answer, Outcome
from webhook.admission.pool_use import Use, unauthorized
from webhook.admission.responses import status_body
from webhook.cluster.authorization import Authorization
from webhook.cluster.failure import Failure
from webhook.placement.policy import Policy


async def authorized(answer: Answer, use: Use, authorization: Authorization, policy: Policy) -> Answer:
    """The answer, if the user may use all of the pools; else a refusal, or an error where that cannot be found out."""
    try:
        refused = [
            (pool, clause)
            for pool, clause in use.pools
            if not await authorization.may_use(use.user, use.review.namespace, pool)
        ]
    except Failure as failure:
        text = f"whether the HostPools may be used could not be found out: {failure}"
        body = status_body(503, "ServiceUnavailable", text)
        return Answer(status=503, body=body, outcome=Outcome.ERRORED, reason="ServiceUnavailable", message=text)
    return unauthorized(use, refused, policy) if refused else answer
