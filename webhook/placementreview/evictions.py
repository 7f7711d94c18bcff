"""Drains played: pods that left drained nodes are made again, and find a node or not, all of them at the same time.

The successors come in the order in which the scheduler takes them: by priority, then by namespace and name. Each is
submitted as its controller would, and the cheapest of the nodes that have room for it is its own (``docs/scoring.md``).
The scheduler has further preferences: it may choose another one of these nodes.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, cast

import msgspec
from msgspec.structs import replace

from webhook.admission.checks.templates import DescribedPod, origin_of
from webhook.admission.review import User
from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.cluster.objects import wire
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.objects.pods import bound_pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pod import PodInfo
from webhook.placement.request.world import World
from webhook.placement.text.keys import WAITS
from webhook.placement.text.problem import counted
from webhook.placement.workload.ranking import rank
from webhook.placementreview.explanations.decided_pod import judge_described
from webhook.placementreview.review import EvictedPod
from webhook.placementreview.submitter import Submitter, escaped

_ACCOUNTS: Final = "system:serviceaccount:kube-system:"
"""How the user names of Kubernetes' controllers begin."""

_CONTROLLERS: Final = {
    "ReplicaSet": "replicaset-controller",
    "StatefulSet": "statefulset-controller",
    "Job": "job-controller",
    "ReplicationController": "replication-controller",
}
"""The controller that makes the pods of a workload."""

_GIVEN: Final = frozenset({"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"})
"""Metadata that a successor does not take over."""


def unbound(pod: Unstructured) -> Unstructured:
    """The pod without its node and status, as a user would submit it."""
    spec = {key: value for key, value in mapping(pod, "spec").items() if key != "nodeName"}
    return {**{key: value for key, value in pod.items() if key != "status"}, "spec": spec}


async def successors(
    evicted: Sequence[Unstructured], inventory: Inventory, policy: Policy, submit_as: Callable[[User], Submitter]
) -> AsyncIterator[EvictedPod]:
    """What becomes of each evicted pod; the inventory, a copy of the review's own, gets the successors."""
    for pod in sorted(evicted, key=_turn):
        owner = next(
            (one for one in sequence(mapping(pod, "metadata"), "ownerReferences") if one.get("controller")), None
        )
        about = EvictedPod(_namespace(pod), str(mapping(pod, "metadata").get("name") or ""), "Deleted")
        if owner is None:
            yield replace(about, message="no controller recreates the pod")
            continue
        submitter = submit_as(_maker(owner, policy))
        yield await _succeeded(about, pod, inventory, policy, submitter)


async def _succeeded(
    about: EvictedPod, pod: Unstructured, inventory: Inventory, policy: Policy, submitter: Submitter
) -> EvictedPod:
    """What becomes of the successor of the pod, which its controller submits."""
    metadata = {key: value for key, value in mapping(pod, "metadata").items() if key not in _GIVEN}
    # The API server writes the priority, by the class that the pod names.
    stated = {key: value for key, value in mapping(unbound(pod), "spec").items() if key != "priority"}
    fresh = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": stated}
    said = await submitter.submit(fresh, about.namespace, inventory)
    if said.after is None:
        return replace(about, verdict="Refused", message=said.message)
    node, message = _node_for(said.after, inventory, policy)
    if not node:
        waits = mapping(said.after, "metadata", "annotations").get(WAITS)
        return replace(about, verdict="Unplaced", message=escaped(str(waits)) if waits else message)
    uid = f"successor-of-{mapping(pod, 'metadata').get('uid') or about.name}"
    priority = mapping(pod, "spec").get("priority")
    inventory.set_pod(replace(_info(said.after, uid, node), priority=priority if isinstance(priority, int) else 0))
    return replace(about, verdict="Placed", node=node)


def _node_for(pod: Unstructured, inventory: Inventory, policy: Policy) -> tuple[str, str]:
    """The name of the cheapest node that can run the pod now and has room; or empty, and why it has to wait."""
    judged = judge_described(DescribedPod(origin_of(pod), pod), World(inventory, policy))
    decision, verdict = judged.decision, judged.decision.verdict
    if verdict is None or decision.refused or decision.recovered or not verdict.candidates:
        return "", "no node can run it now"
    capacity = inventory.nodes.capacity
    free = verdict.candidates & capacity.fits_free(_info(pod, "", "").requests)
    if not free:
        return "", f"{counted(verdict.candidates.bit_count(), 'node')} can run it, but none has room now"
    return rank(decision.ask, replace(verdict, candidates=free), judged.world)[0].node, ""


def _info(pod: Unstructured, uid: str, node: str) -> PodInfo:
    """The pod as the inventory has it once it is bound to the node."""
    metadata = {**mapping(pod, "metadata"), "uid": uid}
    bound = {"metadata": metadata, "spec": {**mapping(pod, "spec"), "nodeName": node}}
    info, _ = bound_pod(msgspec.convert(bound, wire.PodObject))
    return cast("PodInfo", info)  # None stands for a pod that has finished, by its status


def _turn(pod: Unstructured) -> tuple[int, str, str]:
    """What the scheduler takes pods by: those of the highest priority first."""
    priority = mapping(pod, "spec").get("priority")
    name = str(mapping(pod, "metadata").get("name") or "")
    return -priority if isinstance(priority, int) else 0, _namespace(pod), name


def _namespace(pod: Unstructured) -> str:
    return str(mapping(pod, "metadata").get("namespace") or NAMESPACE)


def _maker(owner: Unstructured, policy: Policy) -> User:
    """The user who makes the pods of the owner, as far as that is known."""
    controller = _CONTROLLERS.get(str(owner.get("kind")))
    return User(f"{_ACCOUNTS}{controller}" if controller else policy.controller_account)
