"""Hardware that a pod only wants: it is asked for where some node has it free (``docs/hardware.md``).

Nothing should wait for what it can do without; a pod that asks for a device waits for it.
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
    """What a pod is given of what it wants, the room that it needs for it, and a warning for everything else."""

    given: list[SetResources]
    rooms: list[Judged]
    warnings: list[str]


def granted_hardware(ask: Ask, candidates: Bits, world: World) -> GrantedHardware:
    """What the pod gets of what it wants, heaviest first.

    All of it must be on one of the ``candidates``: there free, beside all the rest that the pod asks for. What would
    make the API server refuse the pod is left out.
    """
    capacity = world.inventory.nodes.capacity
    spec, left = ask.spec, candidates
    for grant in ask.provision.grants:
        if not grant.firm:  # the pod was given it before, for its being free
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
