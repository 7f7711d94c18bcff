"""Optional hardware (``mandatory: false``): requested only if a node that can run the pod has it free now.

A pod that requests a device waits until a node has one, and no pod should wait for what it can do without
(``docs/hardware.md``). Which processing elements of a Job get a device is decided with the Job's plan: the controller
writes the amounts into the pods that it makes, and nothing is added to these here.
"""

from typing import NamedTuple

from webhook.placement.constraints.families import room_for
from webhook.placement.decision.verdict import Judged
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.owner import is_element
from webhook.placement.kube.requests import pod_requests
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.grants import clause_of, granted
from webhook.placement.provision.resource_rules import broken
from webhook.placement.request.ask import Ask
from webhook.placement.request.unjudged import of_class
from webhook.placement.request.world import World

_ELSEWHERE = "is not requested: the plan of its Job decides which processing elements get it"


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
    if any(map(is_element, ask.references or ())):
        return GrantedHardware([], [], [f"{wish.cause} {_ELSEWHERE}" for wish in ask.provision.wanted])
    capacity, devices = world.inventory.nodes.capacity, world.inventory.devices.classes
    spec, possible = ask.spec, candidates
    for grant in ask.provision.grants:
        if not grant.firm:  # granted in an earlier review, because it was free
            possible &= capacity.fits_free({grant.resource: ask.requests.get(grant.resource, 0)})
    result = GrantedHardware([], [], [])
    for wish in ask.provision.wanted:
        richer = granted(spec, wish)
        if wrong := next(broken(richer, (wish,)), None):
            why = f"{wrong.field}: {wrong.message}"
            result.warnings.append(f"{wish.cause} is not requested: Kubernetes would refuse the pod with it: {why}")
            continue
        requests, _ = pod_requests(richer)
        wanted = {wish.resource: requests.get(wish.resource, 0)}
        able = possible & capacity.fits(devices.judged(requests)) & capacity.fits_free(wanted)
        if able:
            spec, possible = richer, able
            room = room_for(wanted, said=clause_of(wish))
            result.given.append(wish)
            result.rooms.append(Judged(room, room.filter(world)))
        else:
            more = f", and {of_class(name)}" if (name := devices.class_of(wish.resource)) else ""
            result.warnings.append(f"{wish.cause} is not requested: no node that could run this pod has it free{more}")
    return result
