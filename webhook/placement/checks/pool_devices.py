"""Messages about the devices that a HostPool requires of its hosts: what is not judged, and what would help."""

import bisect
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from webhook.placement.kube.bits import Bits
from webhook.placement.objects.pool import Pool
from webhook.placement.pools.allocation import allocate
from webhook.placement.pools.host_devices import EquippedNodes, nodes_with_devices
from webhook.placement.request.world import World
from webhook.placement.text.fix import Advice, Fix, Lower, Partly
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import CLAUSE_LIMIT, REASON_LIMIT, counted, quote, shorten

LOOKS: Final = 8
"""Looks at the devices of nodes for one answer: some 40 ms, if selectors tell a thousand nodes apart."""


def look_at_devices(pool: Pool, world: World) -> None:
    """Find out which nodes have the devices of the pool, as far as the answer may take."""
    for _ in range(LOOKS):
        if nodes_with_devices(pool, world.inventory, unhurried=world.policy.unhurried).complete:
            return


def device_doubt(pool: Pool, hosts: Bits, world: World) -> str:
    """Of how many of these hosts of the pool it is not known whether they have the devices; empty if of none."""
    if not pool.devices:
        return ""
    equipped = nodes_with_devices(pool, world.inventory, unhurried=world.policy.unhurried)
    number = (hosts & equipped.unknown).bit_count()
    if not number:
        return ""
    name = shorten(pool.spl_name, CLAUSE_LIMIT)
    return f"HostPool {name}: devices of {counted(number, 'host')} are not judged{_why(equipped)}"


def fewer_devices(pool: Pool, world: World) -> Iterator[Fix]:
    """The largest count of an entry of ``devices`` with which the pool could have all of its hosts, if there is one."""
    for place, wish in enumerate(pool.devices):
        alone = nodes_with_devices(replace(pool, devices=(wish,)), world.inventory, unhurried=world.policy.unhurried)
        counts = sorted({lack.has for lack, _ in alone.lacks if lack.has})

        def fails(count: int, place: int = place) -> bool:
            lowered = replace(pool.devices[place], count=count)
            devices = (*pool.devices[:place], lowered, *pool.devices[place + 1 :])
            return bool(allocate(replace(pool, devices=devices), world.inventory, world.policy).reason)

        able = bisect.bisect_left(counts, 1, key=fails)  # the more devices, the fewer hosts
        if able:
            yield Lower(f"devices[{place}].count", counts[able - 1])
            return


def unmet_devices(pool: Pool, world: World) -> Fix | None:
    """What has to be done before any node can have the devices of the pool; ``None`` if nodes can."""
    devices = world.inventory.devices
    if not devices.read:
        return Advice("leave out devices, or serve resource.k8s.io/v1 and give the right to read it")
    classes = devices.classes
    missing = next((wish.device_class for wish in pool.devices if classes.get(wish.device_class) is None), "")
    if not missing:
        return None
    like = nearest(missing, classes.names)
    if not like:
        return Advice(f"create DeviceClass {missing}")
    named = (replace(wish, device_class=like) if wish.device_class == missing else wish for wish in pool.devices)
    able, size = allocate(replace(pool, devices=tuple(named)), world.inventory, world.policy).eligible, pool.size or 0
    fix = Advice(f"name DeviceClass {like}")
    return Partly(fix, f"{able} of {size} would be eligible") if able < size else fix


def _why(equipped: EquippedNodes) -> str:
    """Why devices are not judged, if more is known than that their drivers have not published all of them."""
    if equipped.failed:
        return f", since {quote(min(equipped.failed), REASON_LIMIT)} cannot be evaluated"
    return f", since DeviceClass {equipped.unread[0]} cannot be read" if equipped.unread else ""
