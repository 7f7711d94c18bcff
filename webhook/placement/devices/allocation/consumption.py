"""The capacity of a device that a request consumes, and whether the device has enough of it.

Source: ``dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go`` of Kubernetes.
"""

from collections.abc import Mapping

from webhook.placement.devices.published.claims import DeviceChoice
from webhook.placement.devices.published.device import CapacityPolicy, Device, DeviceCapacity
from webhook.placement.kube.quantity import NANO, whole


def consumption(choice: DeviceChoice, device: Device) -> dict[str, int] | None:
    """What one device of the choice consumes of its capacities, in nano-units; ``None`` if it cannot meet the choice.

    A capacity that is not requested is consumed as a whole, or as its policy says.
    """
    wanted = dict(choice.capacity)
    if not wanted.keys() <= {capacity.name for capacity in device.capacity}:
        return None
    consumed = {capacity.name: _consumed(wanted.get(capacity.name), capacity) for capacity in device.capacity}
    for capacity in device.capacity:
        if consumed[capacity.name] > capacity.amount or _violates(consumed[capacity.name], capacity.policy):
            return None
    return consumed


def fits(device: Device, consumed: Mapping[str, int], in_use: Mapping[str, int]) -> bool:
    """Whether the device has that much beside what is taken of it."""
    return all(
        consumed[capacity.name] + in_use.get(capacity.name, 0) <= capacity.amount for capacity in device.capacity
    )


def _consumed(wanted: int | None, capacity: DeviceCapacity) -> int:
    policy = capacity.policy
    if wanted is None:
        return capacity.amount if policy is None or policy.default is None else policy.default
    if policy is None:
        return wanted
    if policy.ranged and policy.least is not None:
        return _in_range(wanted, policy.least, policy.step)
    return next((valid for valid in policy.valid if wanted <= valid), wanted)


def _in_range(wanted: int, least: int, step: int | None) -> int:
    """The amount rounded up to the least one, and then to a whole number of steps above it."""
    if wanted < least:
        return least
    if not step:
        return wanted
    unit = whole(step)
    return (whole(least) - (whole(least) - whole(wanted)) // unit * unit) * NANO


def _violates(consumed: int, policy: CapacityPolicy | None) -> bool:
    """Whether the policy does not allow that amount."""
    if policy is None or consumed == policy.default:
        return False
    if not policy.ranged:
        return bool(policy.valid) and consumed not in policy.valid
    if policy.most is not None and consumed > policy.most:
        return True
    return bool(policy.step) and (whole(consumed) - whole(policy.least or 0)) % whole(policy.step or NANO) != 0
