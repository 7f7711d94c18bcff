"""The nodes that have the devices which a HostPool asks of its hosts, whichever pod holds them (``docs/hostpool.md``).

A node is chosen by its devices, and stays a host without them: a driver that restarts must not move what runs.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.devices.allocation.allocation import Lack
from webhook.placement.devices.fits import Fit, Wanted
from webhook.placement.devices.published.claims import DeviceRequest
from webhook.placement.devices.published.described import spec_of
from webhook.placement.devices.selectors.selector import DeviceBudget
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.bits import Bits
from webhook.placement.objects.pool import Pool

_NODES: Final = 128
"""At so many nodes with different devices one look goes at most. The next look goes on from there."""


class EquippedNodes(Struct, frozen=True, gc=False):
    """``nodes`` have all of the devices, ``unknown`` ones may have them; ``lacks`` say what others have too few of.

    ``failed`` are selectors that could not be evaluated, ``unread`` are DeviceClasses that cannot be read. If the look
    is not ``complete``, some of the unknown nodes have not been looked at yet.
    """

    nodes: Bits
    unknown: Bits = 0
    lacks: tuple[tuple[Lack, Bits], ...] = ()
    failed: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    complete: bool = True

    @property
    def able(self) -> Bits:
        """The nodes that have the devices, or may have them."""
        return self.nodes | self.unknown


def nodes_with_devices(pool: Pool, inventory: Inventory, *, unhurried: bool = False) -> EquippedNodes:
    """The nodes with the devices of the pool: all nodes if it asks for none, and no node if devices are not known.

    ``unhurried`` tells that no other review waits for the look.
    """
    everything = inventory.nodes.everything
    if not pool.devices:
        return EquippedNodes(everything)
    if not inventory.devices.read:
        return EquippedNodes(0)
    budget = DeviceBudget.unhurried() if unhurried else DeviceBudget(nodes=_NODES)
    fits = [_fit(wish, inventory, budget) for wish in pool.devices]
    nodes = able = everything
    for fit in fits:
        nodes, able = nodes & fit.nodes, able & (fit.nodes | fit.unknown)
    lacks = [item for fit in fits for item in sorted(fit.lacks.items(), key=lambda item: -item[0].has)]
    failed = frozenset[str]().union(*(fit.failed for fit in fits))
    unread = tuple(dict.fromkeys(wish.device_class for wish in pool.devices if _unread(wish, inventory)))
    complete = all(fit.complete for fit in fits)
    return EquippedNodes(nodes, able & ~nodes, tuple(lacks), failed, unread, complete)


def _fit(wish: DescribedDevices, inventory: Inventory, budget: DeviceBudget) -> Fit:
    """The nodes that have these devices."""
    everything = inventory.nodes.everything
    if _unread(wish, inventory):
        return Fit(unknown=everything)
    known = inventory.devices.classes.get(wish.device_class)
    spec = spec_of(wish)
    request = spec.requests[0]
    if known is None:
        choice = request.choices[0]
        return Fit(lacks={Lack(request.name, choice, choice.count): everything})
    wanted = Wanted((replace(spec, requests=(_of_class(request, known.selectors),)),), present=True)
    return inventory.device_fits.fit(wanted, inventory.nodes, budget)


def _of_class(request: DeviceRequest, selectors: Sequence[str]) -> DeviceRequest:
    """The request with the selectors of its class."""
    choice = request.choices[0]
    return replace(request, choices=(replace(choice, selectors=(*selectors, *choice.selectors)),))


def _unread(wish: DescribedDevices, inventory: Inventory) -> bool:
    """Whether the class exists, but cannot be read."""
    known = inventory.devices.classes.get(wish.device_class)
    return known is not None and bool(known.fault or known.unread)
