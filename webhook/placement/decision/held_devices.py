"""The claims that hold the devices a pod waits for (``docs/why.md``). Verdicts ignore them: devices become free."""

from collections.abc import Iterator
from typing import Final

from webhook.placement.constraints.constraint import Reason
from webhook.placement.devices.published.claims import ClaimName, ClaimSpec
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.request.ask import Ask
from webhook.placement.request.claimed_devices import WantedDevices
from webhook.placement.request.world import World
from webhook.placement.text.problem import enumerated

_NAMED: Final = 3
"""Maximum number of claims named in a message."""


def held_devices(ask: Ask, world: World, candidates: Bits) -> Iterator[Reason]:
    """The candidates where too few devices for the pod are free now, under the claims that hold some."""
    parts = [part for part in ask.devices if part.specs and not part.loose]
    inventory = world.inventory
    by_claims: dict[tuple[ClaimSpec, ...], list[int]] = {}
    for slot in slots(candidates) if parts else ():
        by_claims.setdefault(_claims(parts, slot, world), []).append(slot)
    by_holders: dict[tuple[ClaimName, ...], Bits] = {}
    for claims, places in by_claims.items():
        for slot, names in inventory.device_fits.holders(claims, places, inventory.nodes):
            by_holders[names] = by_holders.get(names, 0) | 1 << slot
    for names, nodes in by_holders.items():
        what = f"too few free devices for {_clause(parts)} now: {_held_by(names)}"
        yield Reason(f"has {what}", f"have {what}", nodes)


def _claims(parts: list[WantedDevices], slot: int, world: World) -> tuple[ClaimSpec, ...]:
    """What the pod wants of the devices of that node: nothing for resources that the node offers itself."""
    capacity = world.inventory.nodes.capacity
    wanted = [part for part in parts if not (part.resource and capacity.fits({part.resource: 1}) >> slot & 1)]
    return tuple(spec for part in wanted for spec in part.specs)


def _clause(parts: list[WantedDevices]) -> str:
    return enumerated([part.clause.text for part in parts], 1)


def _held_by(names: tuple[ClaimName, ...]) -> str:
    kind, verb = ("ResourceClaim", "holds") if len(names) == 1 else ("ResourceClaims", "hold")
    return f"{kind} {enumerated([f'{namespace}/{name}' for namespace, name in names], _NAMED)} {verb} some"
