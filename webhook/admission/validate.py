"""``/validate`` and ``/guard``: one path from a body to its answer, and the table of what is checked.

The body is read once, the review is looked up in a table, and the one function found there decodes the object and
answers. Where an answer depends on what only the API server knows it carries a question, which an outer layer asks.
"""

from collections.abc import Callable, Mapping
from typing import Final

from webhook.admission import custom_resources, daemon_sets, nodes, pods, workloads
from webhook.admission.responses import Answer, allowed, denied, unreadable, unreadable_object
from webhook.admission.review import MALFORMED, Review, Subject, UnreadableReviewError, read_review
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text.problem import Fault

Check = Callable[[Review, Inventory, Policy], Answer]
"""Answers reviews of one kind; raises one of ``MALFORMED`` for an object that is not readable."""

CHECKS: Final[Mapping[Subject, Check]] = {
    ("", "Pod", "", "CREATE"): pods.created,
    ("", "Pod", "", "UPDATE"): pods.updated,
    ("", "Pod", "status", "UPDATE"): pods.updated,
    ("", "Binding", "", "CREATE"): pods.bound,
    ("", "Binding", "binding", "CREATE"): pods.bound,
    ("", "Node", "", "UPDATE"): nodes.changed,
    ("", "Node", "status", "UPDATE"): nodes.changed,
    ("", "Node", "", "DELETE"): nodes.changed,
    ("streams.ibm.com", "HostPool", "", "CREATE"): custom_resources.submitted_pool,
    ("streams.ibm.com", "HostPool", "", "UPDATE"): custom_resources.changed_pool,
    ("streams.ibm.com", "HPAIntent", "", "CREATE"): custom_resources.submitted_intent,
    ("streams.ibm.com", "HPAIntent", "", "UPDATE"): custom_resources.submitted_intent,
    **dict.fromkeys(workloads.WORKLOADS, workloads.submitted),
}
"""What ``/validate`` checks; everything else is allowed unchanged."""

GUARDS: Final[Mapping[Subject, Check]] = {
    ("apps", "DaemonSet", "", "CREATE"): daemon_sets.guarded,
    ("apps", "DaemonSet", "", "UPDATE"): daemon_sets.guarded,
}
"""What ``/guard`` checks; everything else is allowed unchanged."""


def validate(body: bytes, inventory: Inventory, policy: Policy) -> Answer:
    """Review one request body of ``/validate`` against the cluster; nothing is ever patched here."""
    return _reviewed(body, CHECKS, inventory, policy)


def guard(body: bytes, inventory: Inventory, policy: Policy) -> Answer:
    """Review one request body of ``/guard`` against the cluster."""
    return _reviewed(body, GUARDS, inventory, policy)


def _reviewed(body: bytes, checks: Mapping[Subject, Check], inventory: Inventory, policy: Policy) -> Answer:
    try:
        review = read_review(body)
    except UnreadableReviewError as error:
        return unreadable(str(error))
    check = checks.get(review.subject)
    if check is None:
        return allowed(review)
    try:
        return check(review, inventory, policy)
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object(review.kind.kind, error))
