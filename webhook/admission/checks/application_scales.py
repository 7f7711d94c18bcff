"""The subresource ``scale`` of applications of other operators: growth beyond what fits is a warning, and waits.

Who scales reads the warning; an autoscaler goes on. Fewer pods are not looked at (``docs/applications.md``).
"""

import functools
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from webhook.admission.answer import Answer, ReferenceQuestion
from webhook.admission.checks import applications
from webhook.admission.checks.submitted_scale import SubmittedScale
from webhook.admission.responses import allowed
from webhook.admission.review import MALFORMED, GroupVersionKind, Review
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kinds.kind import OperatorKind, ReferencedKind
from webhook.placement.kinds.references import ObjectReference
from webhook.placement.kube.names import is_namespace, is_object_name

_SCALE: Final = msgspec.json.Decoder(SubmittedScale)


def kind_scaled(review: Review, policy: Policy) -> OperatorKind | None:
    """The kind of the object whose scale is under review, if it is one of other operators that can be scaled."""
    resource = review.scaled
    return next(
        (
            kind
            for kind in policy.kinds.values()
            if kind.spec_replicas_path and f"{kind.kind.resource}.{kind.kind.group}" == resource
        ),
        None,
    )


def scaled(kind: OperatorKind, review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Judge an application that gets more pods; raises one of ``MALFORMED`` for a scale that is not readable."""
    wanted = _SCALE.decode(review.object).spec.replicas
    path, known = kind.spec_replicas_path, review.scaled_version in kind.kind.versions
    named = is_object_name(review.name) and is_namespace(review.namespace)
    if path is None or wanted <= _before(review) or not (named and known):
        return allowed(review)
    stated = kind.kind
    referenced = ReferencedKind(stated.group, stated.kind, stated.resource, review.scaled_version, namespaced=True)
    grown = functools.partial(_put, path.path.split("."), wanted)
    resume = functools.partial(_resumed, kind, review, inventory, policy, grown)
    reference = ObjectReference(referenced, review.namespace, review.name)
    return replace(allowed(review), question=ReferenceQuestion(reference, resume))


def _before(review: Review) -> int:
    """The number as it was; 0 if it cannot be read."""
    try:
        return _SCALE.decode(review.old).spec.replicas
    except MALFORMED:
        return 0


def _resumed(
    kind: OperatorKind,
    review: Review,
    inventory: Inventory,
    policy: Policy,
    grown: Callable[[Unstructured], Unstructured],
    stored: Unstructured | None,
) -> Answer:
    """The answer once the object was read, by what makes it ``grown``.

    One that is being deleted, or cannot be read, is not judged.
    """
    if stored is None or mapping(stored, "metadata").get("deletionTimestamp"):
        return allowed(review)
    stated = GroupVersionKind(kind.kind.kind, kind.kind.group, review.scaled_version)
    about = replace(review, kind=stated, operation="UPDATE", old=Raw(msgspec.json.encode(stored)))
    return applications.scaled(kind, about, inventory, policy, grown(stored))


def _put(path: Sequence[str], wanted: int, document: object) -> Unstructured:
    """The object with that number at the path; what the path leads through is made if it is absent."""
    step, *further = path
    own = document if isinstance(document, dict) else {}
    return {**own, step: _put(further, wanted, own.get(step)) if further else wanted}
