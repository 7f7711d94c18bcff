"""Bindings under review: a pod that is put onto a node past what its pools, or those of others, say."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer, Unseen
from webhook.admission.findings import Finding, Objection, answer
from webhook.admission.responses import unreadable_object
from webhook.admission.review import MALFORMED, Review, read_review
from webhook.placement.checks.waiting_pods import is_exclusive, obstacle, waiting_pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import PodInfo
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata
from webhook.placement.request.world import World


class _Target(Struct, frozen=True, gc=False):
    name: str = ""


class _Binding(Struct, frozen=True, gc=False):
    """``v1 Binding``: which pod goes to which node; schedulers say the pod's uid as well."""

    metadata: Metadata = Metadata()
    target: _Target = _Target()


_BINDING = msgspec.json.Decoder(_Binding)


def bound(review: Review, cluster: Inventory, policy: Policy) -> Iterator[Finding]:
    """A pod of a job, or a sleeper, that is known to wait; any other only if the node is exclusive to a HostPool."""
    if not policy.guard_bindings:
        return
    try:
        binding = _BINDING.decode(review.object)
    except MALFORMED as error:
        yield unreadable_object("Binding", error)
        return
    name, uid, world = binding.metadata.name or review.name, binding.metadata.uid or "", World(cluster, policy)
    pod = waiting_pod(uid, review.namespace, name, cluster)
    if pod:
        yield from _refused(name, pod, binding.target.name, world)
    elif is_exclusive(binding.target.name, world):
        yield Unseen(review.namespace, name, uid)


def bound_after_all(body: bytes, pod: PodInfo, cluster: Inventory, policy: Policy) -> Answer:
    """The answer to a review that found its pod to be unseen, now that somebody has looked at it."""
    review = read_review(body)
    binding = _BINDING.decode(review.object)
    found = _refused(binding.metadata.name or review.name, pod, binding.target.name, World(cluster, policy))
    return answer(review, list(found), policy)


def _refused(name: str, pod: PodInfo, node: str, world: World) -> Iterator[Objection]:
    why = obstacle(pod, node, world)
    if why:
        yield Objection(f"pod {name} cannot be bound: {why}")
