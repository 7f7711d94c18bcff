"""Who asks, as the API server has authenticated him: what an object says about who made it proves nothing."""

from typing import Final

import msgspec
from msgspec import Struct

from webhook.admission.review import MALFORMED, Review
from webhook.placement.pod import Metadata

_OWNERS: Final = frozenset({"ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"})
"""Kinds of workloads that are decided about when they are submitted; Kubernetes' own controllers make their pods."""

_MANAGER: Final = "system:kube-controller-manager"
_ACCOUNTS: Final = "system:serviceaccount:kube-system:"
"""Whom Kubernetes' own controllers are (kube-controller-manager, ``--use-service-account-credentials``)."""


class User(Struct, frozen=True):
    """The user of a request (``authentication.k8s.io/v1 UserInfo``)."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = None
    extra: dict[str, tuple[str, ...]] | None = None

    @property
    def a_controller(self) -> bool:
        """Whether it is one of Kubernetes' own controllers."""
        name = self.username
        return name == _MANAGER or (name.startswith(_ACCOUNTS) and name.endswith("-controller"))


_USER: Final = msgspec.json.Decoder(User)
_NOBODY: Final = User()


def user_of(review: Review) -> User:
    """Who asks; nobody, if the review does not say so readably."""
    try:
        return _USER.decode(review.user)
    except MALFORMED:
        return _NOBODY


def controlled(review: Review, metadata: Metadata | None) -> bool:
    """Whether a controller of Kubernetes makes the pod, of a workload that was decided about when it was submitted.

    Anybody can write an owner into a pod, so the account counts as well; and a controller's account makes other pods,
    so the owner does.
    """
    owners = (metadata.owner_references if metadata else None) or ()
    owned = any(owner.controller and owner.kind in _OWNERS for owner in owners)
    return owned and user_of(review).a_controller
