"""Room for a pod beside the pods of its job that it must share a host with."""

from collections.abc import Collection

from webhook.placement.inventory.job_pods import JobPods, PodLabel
from webhook.placement.inventory.objects import Tally
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.request.world import World


def room_beside(held: Bits, marks: Collection[PodLabel], siblings: JobPods, requests: Tally, world: World) -> Bits:
    """The nodes of ``held`` with room for the requests beside the pods there that carry one of the marks."""
    roomy = 0
    for slot in slots(held):
        if _fits(slot, requests, siblings.together(slot, marks), world):
            roomy |= 1 << slot
    return roomy


def _fits(slot: int, requests: Tally, others: list[Tally], world: World) -> bool:
    """Whether the node in ``slot`` has room beside the others, as far as it has any for the pod alone.

    Only what the pod itself requests counts, as for the scheduler.
    """
    for resource, amount in requests.items():
        offered = world.inventory.nodes.capacity.allocatable(resource, slot)
        # What it lacks for the pod alone is not the neighbours' fault.
        if amount <= offered < amount + sum(tally.get(resource, 0) for tally in others):
            return False
    return True
