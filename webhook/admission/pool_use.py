"""Which HostPools somebody is about to use: whether he may is a question for the API server (``docs/hostpool.md``).

Whoever submits a workload is asked about, not the controllers of Kubernetes that make its pods later: these are
trusted for pods of workloads that were asked about themselves.
"""

from typing import Final

import msgspec
from msgspec import Struct

from webhook.admission.accounts import User, controlled, user_of
from webhook.admission.answer import Answer
from webhook.admission.findings import answer
from webhook.admission.review import MALFORMED, Review, read_review
from webhook.admission.submission import WORKLOADS, described
from webhook.placement.annotations.placement_text import annotation
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text.keys import PLACEMENT
from webhook.placement.text.problem import Fault, Problem, quote

_POD: Final = ("", "Pod", "", "CREATE")


class Use(Struct, frozen=True):
    """Somebody wants to use these pools of the review's namespace; ``pools`` are names of objects and what is said."""

    review: Review
    user: User
    pools: tuple[tuple[str, str], ...]


def use_of(body: bytes, cluster: Inventory, policy: Policy) -> Use | None:
    """What an admitted review is about to use; ``None`` if nothing, or if somebody has answered for it before."""
    review = read_review(body)
    what = review.kind.group, review.kind.kind, review.subresource, review.operation
    if what != _POD and what not in WORKLOADS:
        return None
    user = user_of(review)
    try:
        pod = _pod_of(review) if what == _POD else _template_of(review, user)
    except MALFORMED:  # what cannot be read has been answered already
        return None
    if pod is None:
        return None
    ask, _ = read(pod, review.namespace, World(cluster, policy))
    pools = dict.fromkeys((pool.name, clause.text) for clause, pool in ask.pools)
    return Use(review, user, tuple(pools)) if pools else None


def unauthorized(use: Use, refused: list[tuple[str, str]], policy: Policy) -> Answer:
    """The refusal of somebody who may not use these of the pools; in audit mode, a warning."""
    problems = []
    for pool, clause in refused:
        message = f"{clause}: user {quote(use.user.username)} may not use HostPool {pool} of namespace "
        rule = f"{quote(use.review.namespace)}: that takes the verb use on streamshostpools.streams.ibm.com"
        problems.append(Problem(annotation(PLACEMENT), message + rule, fault=Fault.FORBIDDEN))
    return answer(use.review, problems, policy)


def _pod_of(review: Review) -> Pod | None:
    pod = msgspec.json.decode(review.object, type=Pod)
    return None if controlled(review, pod.metadata) else pod


def _template_of(review: Review, user: User) -> Pod | None:
    found = described(review, trusted=user.a_controller)
    return msgspec.convert(found.pod, Pod) if found else None
