"""Optional hardware (``mandatory: false``): requested only if a node that can run the pod has it free now.

A pod that requests a device waits until a node has one, and no pod should wait for what it can do without
(``docs/hardware.md``).
"""

from typing import NamedTuple

from webhook.placement.constraints.resources import Room
from webhook.placement.decision.verdict import Judged
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.requests import pod_requests
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.grants import granted
from webhook.placement.provision.resource_rules import broken
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World


class GrantedHardware(NamedTuple):
    """The optional amounts that a pod gets, constraints for their room, and a warning for each that it does not get."""

    given: list[SetResources]
    rooms: list[Judged]
    warnings: list[str]


def granted_hardware(ask: Ask, candidates: Bits, world: World) -> GrantedHardware:
    """What the pod gets of its optional hardware, heaviest first.

    Some node of ``candidates`` must have all that is granted free, beside all else that the pod asks for. An amount for
    which the API server would refuse the pod is left out.
    """
    capacity = world.inventory.nodes.capacity
    spec, left = ask.spec, candidates
    for grant in ask.provision.grants:
        if not grant.firm:  # granted in an earlier review, because it was free
            left &= capacity.fits_free({grant.resource: ask.requests.get(grant.resource, 0)})
    found = GrantedHardware([], [], [])
    for wish in ask.provision.wanted:
        richer = granted(spec, wish)
        if wrong := next(broken(richer, (wish,)), None):
            why = f"{wrong.field}: {wrong.message}"
            found.warnings.append(f"{wish.cause} is not asked for: Kubernetes would refuse the pod with it: {why}")
            continue
        requests, _ = pod_requests(richer)
        wanted = {wish.resource: requests.get(wish.resource, 0)}
        able = left & capacity.fits(requests) & capacity.fits_free(wanted)
        if able:
            spec, left = richer, able
            room = Room(wanted, said=wish.cause)
            found.given.append(wish)
            found.rooms.append(Judged(room, room.filter(world)))
        else:
            found.warnings.append(f"{wish.cause} is not asked for: no node that could run this pod has it free")
    return found
