"""Pods of applications of other operators, which wait as those of a reviewed workload do (``docs/applications.md``).

The application was judged when it was submitted. A user can write any owner into a pod, and an account creates other
pods, too, so both count: the chain of owners, as the API server has it, and the account.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, OwnersQuestion, PodOwner
from webhook.admission.review import Review
from webhook.placement.inventory.policy import Policy

_ACCOUNTS: Final = "system:serviceaccount:"

OWNERS: Final = 6
"""Owners of a pod that are asked about: an operator states one or two, and any user can state thousands."""

LONGEST: Final = 317
"""Characters of a group, a slash and a version: no part of a reference to an object that exists is longer."""


class _ReferringMetadata(Struct, frozen=True, gc=False, rename="camel"):
    owner_references: tuple[PodOwner, ...] | None = None


class _Pod(Struct, frozen=True, gc=False):
    metadata: _ReferringMetadata = _ReferringMetadata()


_POD: Final = msgspec.json.Decoder(_Pod)


def with_owners(answer: Answer, review: Review, policy: Policy, resume: Callable[[], Answer]) -> Answer:
    """The refusal of a pod, with the question whether the pod is of an application that was judged, if it may be one.

    ``resume`` judges such a pod. Nothing is asked about a pod without an owner, nor about the pod of a user who
    is neither an operator nor a ServiceAccount of the pod's namespace.
    """
    if not policy.reviewed or policy.unsatisfiable_pods != "wait":
        return answer
    user = review.user.username
    if user not in policy.operator_accounts and not user.startswith(f"{_ACCOUNTS}{review.namespace}:"):
        return answer
    stated = _POD.decode(review.object).metadata.owner_references or ()
    owners = tuple(filter(can_exist, stated[:OWNERS]))
    if not owners:
        return answer
    return replace(answer, question=OwnersQuestion(user, review.namespace, owners, policy, resume))


def can_exist(owner: PodOwner) -> bool:
    """Whether no part of the reference is longer than those of objects that exist: answers are kept by references."""
    return max(map(len, (owner.api_version, owner.kind, owner.name, owner.uid))) <= LONGEST
