"""Nodes with room for a pod beside the live pods of its job with which the pod must share a node."""

from collections.abc import Collection, Mapping, Sequence

from webhook.placement.constraints.topology_limit import UNLIMITED
from webhook.placement.inventory.job_pods import JobPods, PodLabel
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.request.world import World


def room_beside(occupied: Bits, labels: Collection[PodLabel], job_pods: JobPods, requests: Tally, world: World) -> Bits:
    """The nodes of ``occupied`` with room for the requests beside their live pods with one of the ``labels``."""
    roomy = 0
    for slot in slots(occupied):
        if _fits(slot, requests, job_pods.together(slot, labels), world):
            roomy |= 1 << slot
    return roomy


def beside(occupied: Bits, labels: Collection[PodLabel], job_pods: JobPods) -> Mapping[int, list[Tally]]:
    """What the live pods with one of the ``labels`` request, by the slot of their node among ``occupied``."""
    return {slot: job_pods.together(slot, labels) for slot in slots(occupied)}


def copies_beside(slot: int, requests: Tally, others: Sequence[Tally], world: World) -> int:
    """How many pods with these requests the node in ``slot`` can hold beside the ``others``.

    Only resources that both they and the others request count.
    """
    copies = UNLIMITED
    for resource, amount in requests.items():
        used = sum(tally.get(resource, 0) for tally in others)
        if amount and used:
            copies = min(copies, (world.inventory.nodes.capacity.allocatable(resource, slot) - used) // amount)
    return copies


def _fits(slot: int, requests: Tally, others: list[Tally], world: World) -> bool:
    """Whether the node in ``slot`` can hold the requests and the ``others`` together, or not even the requests alone.

    Only resources that the pod itself requests count, as for the scheduler. A node that cannot hold the pod alone is
    left to the family ``resources``, which gives the better reason.
    """
    for resource, amount in requests.items():
        offered = world.inventory.nodes.capacity.allocatable(resource, slot)
        if amount <= offered < amount + sum(tally.get(resource, 0) for tally in others):
            return False
    return True
