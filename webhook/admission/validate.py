"""``/validate`` and ``/guard``: one path from a body to its answer, and the table of what is checked.

The body is read once, the review is looked up in a table, and the one function found there decodes the object and
answers. Where an answer depends on what only the API server knows it carries a question, which an outer layer asks.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Final

from webhook.admission import pods
from webhook.admission.answer import Answer
from webhook.admission.checks import (
    application_scales,
    applications,
    custom_resources,
    daemon_sets,
    jobs,
    nodes,
    parallel_regions,
    workloads,
)
from webhook.admission.responses import allowed, denied, nested_too_deeply, unreadable, unreadable_object
from webhook.admission.review import MALFORMED, Review, Subject, UnreadableReviewError, read_review, subject_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text.api_kinds import (
    BINDING,
    DAEMON_SET,
    HOST_POOL,
    HPA_INTENT,
    NODE,
    PARALLEL_REGION,
    POD,
    PROCESSING_ELEMENT,
    SCALE,
    STREAMS_JOB,
    WORKLOADS,
)
from webhook.placement.text.problem import Fault

Check = Callable[[Review, Inventory, Policy], Answer]
"""Answers reviews of one kind; raises one of ``MALFORMED`` for an object that is not readable."""


def _scaled(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """The check of a scale: of an application of another operator, or of a parallel region."""
    kind = application_scales.kind_scaled(review, policy)
    if kind is None:
        return parallel_regions.scaled(review, inventory, policy)
    return application_scales.scaled(kind, review, inventory, policy)


CHECKS: Final[Mapping[Subject, Check]] = {
    subject_of(POD, "CREATE"): pods.created,
    subject_of(POD, "UPDATE"): pods.updated,
    subject_of(POD, "UPDATE", "status"): pods.updated,
    subject_of(BINDING, "CREATE"): pods.bound,
    subject_of(BINDING, "CREATE", "binding"): pods.bound,
    subject_of(NODE, "UPDATE"): nodes.changed,
    subject_of(NODE, "UPDATE", "status"): nodes.changed,
    subject_of(NODE, "DELETE"): nodes.changed,
    subject_of(HOST_POOL, "CREATE"): custom_resources.submitted_pool,
    subject_of(HOST_POOL, "UPDATE"): custom_resources.changed_pool,
    subject_of(HPA_INTENT, "CREATE"): custom_resources.submitted_intent,
    subject_of(HPA_INTENT, "UPDATE"): custom_resources.submitted_intent,
    subject_of(STREAMS_JOB, "CREATE"): jobs.submitted_job,
    subject_of(STREAMS_JOB, "UPDATE"): jobs.submitted_job,
    subject_of(PROCESSING_ELEMENT, "CREATE"): jobs.submitted_element,
    subject_of(PROCESSING_ELEMENT, "UPDATE"): jobs.submitted_element,
    subject_of(PARALLEL_REGION, "CREATE"): parallel_regions.created,
    subject_of(PARALLEL_REGION, "UPDATE"): parallel_regions.changed,
    subject_of(SCALE, "UPDATE", "scale"): _scaled,
    **{subject_of(kind, operation): workloads.submitted for kind in WORKLOADS for operation in ("CREATE", "UPDATE")},
}
"""What ``/validate`` checks; everything else is allowed unchanged."""

GUARDS: Final[Mapping[Subject, Check]] = {
    subject_of(DAEMON_SET, "CREATE"): daemon_sets.guarded,
    subject_of(DAEMON_SET, "UPDATE"): daemon_sets.guarded,
}
"""What ``/guard`` checks; everything else is allowed unchanged."""


def validate(body: bytes, inventory: Inventory, policy: Policy) -> Answer:
    """Review one request body of ``/validate`` against the cluster; nothing is ever patched here."""
    return _reviewed(body, CHECKS, inventory, policy)


def guard(body: bytes, inventory: Inventory, policy: Policy) -> Answer:
    """Review one request body of ``/guard`` against the cluster."""
    return _reviewed(body, GUARDS, inventory, policy)


def _of_application(review: Review, policy: Policy) -> Check | None:
    """The check of an application of another operator; ``None`` for an object of any other kind."""
    kind = applications.kind_of(review, policy)
    return None if kind is None else functools.partial(applications.submitted, kind)


def _reviewed(body: bytes, checks: Mapping[Subject, Check], inventory: Inventory, policy: Policy) -> Answer:
    try:
        review = read_review(body)
    except UnreadableReviewError as error:
        return unreadable(str(error))
    check = checks.get(review.subject) or (_of_application(review, policy) if checks is CHECKS else None)
    if check is None:
        return allowed(review)
    if review.deep:
        return nested_too_deeply(review)
    try:
        return check(review, inventory, policy)
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object(review.kind.kind, error, review.object))
