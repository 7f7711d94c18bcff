"""Reviews that end with a question to the API server: may this user use these HostPools, and who is this pod?"""

from msgspec.structs import replace

from kubeapi.client.errors import ApiError
from webhook.admission.answer import Answer, Unseen
from webhook.admission.bindings import bound_after_all
from webhook.admission.pool_use import Use, unauthorized
from webhook.admission.responses import errored
from webhook.cluster.queries.authorization import Authorization
from webhook.cluster.queries.unseen_pods import Newcomers
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy


async def authorized(answer: Answer, use: Use, authorization: Authorization, policy: Policy) -> Answer:
    """The answer, if the user may use all of the pools; else a refusal, or an error where that cannot be found out."""
    try:
        refused = [
            (pool, clause)
            for pool, clause in use.pools
            if not await authorization.may_use(use.user, use.review.namespace, pool)
        ]
    except ApiError as failure:
        text = f"whether the HostPools may be used could not be found out: {failure}"
        return replace(errored(text), message=text)
    return unauthorized(use, refused, policy) if refused else answer


async def met(
    answer: Answer, body: bytes, unseen: Unseen, newcomers: Newcomers, cluster: Inventory, policy: Policy
) -> Answer:
    """The answer about a binding, once its pod was looked at; an error where that is not possible."""
    try:
        pod = await newcomers.meet(unseen)
    except ApiError as failure:
        text = f"whether the pod may be bound to an exclusive host could not be found out: {failure}"
        return replace(errored(text), message=text)
    return bound_after_all(body, pod, cluster, policy) if pod else answer
