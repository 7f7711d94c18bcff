"""Who makes an object: the account that a review names, by which it is told whether an owner reference is true.

Anybody may write owners into the metadata of his objects. Kubernetes' own controllers have accounts of their own, and
the API server says in the review who has asked (``authentication.k8s.io/v1 UserInfo``).
"""

from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.review import MALFORMED, Review
from webhook.placement.kube.owner import is_daemon_set, of_daemon_set
from webhook.placement.kube.pod import Metadata, Pod

_MANAGER: Final = "system:kube-controller-manager"
_ACCOUNTS: Final = "system:serviceaccount:kube-system:"
"""Whom Kubernetes' own controllers are (kube-controller-manager, ``--use-service-account-credentials``)."""

_OWNERS: Final = frozenset({"ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"})
"""Kinds of workloads that are decided about when they are submitted; Kubernetes' own controllers make their pods."""

_OF_DAEMON_SETS: Final = frozenset({_MANAGER, f"{_ACCOUNTS}daemon-set-controller"})
"""The accounts that pods of DaemonSets are made under; the first where all controllers share one."""


class User(Struct, frozen=True):
    """Who asks, as the API server has authenticated him."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = None
    extra: dict[str, tuple[str, ...]] | None = None

    @property
    def a_controller(self) -> bool:
        """Whether it is one of Kubernetes' own controllers."""
        name = self.username
        return name == _MANAGER or (name.startswith(_ACCOUNTS) and name.endswith("-controller"))

    @property
    def makes_daemons(self) -> bool:
        """Whether it is the controller that makes pods of DaemonSets."""
        return self.username in _OF_DAEMON_SETS


_NOBODY: Final = User()
_USER: Final = msgspec.json.Decoder(User | None)


def user_of(review: Review) -> User:
    """Who has asked; somebody without a name where the review does not say so in a way that can be read."""
    try:
        return _USER.decode(review.user) or _NOBODY
    except MALFORMED:
        return _NOBODY


def controlled(review: Review, metadata: Metadata | None) -> bool:
    """Whether a controller of Kubernetes makes the pod, of a workload that was decided about when it was submitted.

    A controller's account makes other pods as well, so the owner counts, too.
    """
    owners = (metadata.owner_references if metadata else None) or ()
    owned = any(owner.controller and owner.kind in _OWNERS for owner in owners)
    return owned and user_of(review).a_controller


def believed(pod: Pod, review: Review) -> Pod:
    """The pod without a DaemonSet as its owner, unless the controller of DaemonSets has made it.

    Pods of DaemonSets may run on exclusive hosts. Other owners are left as they are said: they only decide how the pod
    itself is bound, and what hardware it gets.
    """
    metadata = pod.metadata
    if metadata is None or not of_daemon_set(metadata.owner_references) or user_of(review).makes_daemons:
        return pod
    owners = tuple(owner for owner in metadata.owner_references or () if not is_daemon_set(owner))
    return replace(pod, metadata=replace(metadata, owner_references=owners))
