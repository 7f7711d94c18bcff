"""Which pods the webhook judges (opt-in), and when a DaemonSet is believed to be a pod's owner.

A pod opts in by an annotation under ``streams.ibm.com/``, or by the label of a job or of a PE (:func:`opted_in`). Any
other pod is judged only if its namespace has the label ``inject`` and an HPAIntent is for its workload
(:func:`concerned`). Any user may write owner references into a pod, so they count together with the user who sent the
request.
"""

from typing import Final

from msgspec.structs import replace

from webhook.admission.answer import JobRef
from webhook.admission.review import Review
from webhook.placement.annotations.placement_text import read_placement
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.owner import is_daemon_set, is_element, of_daemon_set
from webhook.placement.kube.pod import Metadata, Pod
from webhook.placement.provision.intended_hardware import consumes
from webhook.placement.text import keys

MIRROR: Final = "kubernetes.io/config.mirror"
"""Annotation of a mirror pod: the object by which the API server shows a static pod, which is never scheduled.

Any user may write it, so it counts only on pods that a kubelet creates.
"""

_OWNERS: Final = frozenset({"ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"})
"""Kinds of workloads that are judged when they are submitted; Kubernetes' own controllers make their pods."""

NO_METADATA: Final = Metadata()
"""The metadata of a pod without any."""


def exempt(metadata: Metadata, review: Review) -> bool:
    """Whether the pod is left alone whatever it says: it is being deleted, or is a mirror pod of a kubelet."""
    mirrors = MIRROR in (metadata.annotations or {}) and review.user.is_node
    return bool(metadata.deletion_timestamp) or mirrors


def opted_in(pod: Pod) -> bool:
    """Whether the pod itself asks for placement, by an annotation of this product, or by the label of a job or PE."""
    metadata = pod.metadata or NO_METADATA
    labels = metadata.labels or {}
    if keys.JOB in labels or keys.PE in labels:
        return True
    return any(key.startswith(keys.PREFIX) for key in metadata.annotations or ())


def concerned(pod: Pod, namespace: str, inventory: Inventory) -> bool:
    """Whether the pod asks for placement, or gets hardware by an HPAIntent for its workload without asking."""
    return opted_in(pod) or consumes(pod.metadata or NO_METADATA, namespace, inventory.intents)


def controlled(review: Review, metadata: Metadata | None, policy: Policy) -> bool:
    """Whether a controller creates the pod for a workload, or Job of Streams, that was reviewed when it was submitted.

    The account of a controller creates other pods as well, so the pod's owner must be such a workload, too. Pods of
    ProcessingElements are made by the product's own controller.
    """
    owners = metadata.owner_references if metadata else None
    if not owners:
        return False
    if any(map(is_element, owners)):
        return bool(policy.controller_account) and review.user.username == policy.controller_account
    owned = any(owner.controller and owner.kind in _OWNERS for owner in owners)
    return owned and review.user.is_kubernetes_controller


def unknown_job(pod: Pod, namespace: str, inventory: Inventory) -> JobRef | None:
    """The Job of a pod of a ProcessingElement if it is not known, or says something else about that element.

    Colocation groups, isolation and resources of the pod are the Job's, so such a pod is judged once the Job is
    known. ``None`` for all other pods.
    """
    metadata = pod.metadata or NO_METADATA
    if not any(map(is_element, metadata.owner_references or ())):
        return None
    labels, annotations = metadata.labels or {}, metadata.annotations or {}
    job, pe = labels.get(keys.JOB), labels.get(keys.PE)
    if not job or not pe:
        return None
    model = inventory.jobs.get((namespace, job))
    clauses = read_placement(annotations.get(keys.PLACEMENT), None).clauses
    return None if model and model.knows(pe, clauses) else JobRef(namespace, job)


def believed(pod: Pod, review: Review) -> Pod:
    """The pod without a DaemonSet as its owner, unless the controller of DaemonSets has made the pod.

    Pods of DaemonSets may run on exclusive hosts. Other owner references stay as they are: they only decide how
    the pod itself is bound, and what hardware it gets.
    """
    metadata = pod.metadata
    if metadata is None or not of_daemon_set(metadata.owner_references) or review.user.makes_daemons:
        return pod
    owners = tuple(owner for owner in metadata.owner_references or () if not is_daemon_set(owner))
    return replace(pod, metadata=replace(metadata, owner_references=owners))
