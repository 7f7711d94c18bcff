"""What requests consume of capacities."""

import pytest

from webhook.placement.devices.allocation.consumption import consumption, fits
from webhook.placement.devices.published.claims import DeviceChoice
from webhook.placement.devices.published.device import CapacityPolicy, Device, DeviceCapacity
from webhook.placement.kube.quantity import NANO

VALUES = CapacityPolicy(default=20, valid=(10, 20, 40))
RANGE = CapacityPolicy(20 * NANO, ranged=True, least=10 * NANO, most=50 * NANO, step=15 * NANO)


def of(policy: CapacityPolicy | None, wanted: int | None, amount: int = 100 * NANO) -> int | None:
    """What is consumed of such a capacity."""
    choice = DeviceChoice("c", capacity=() if wanted is None else (("memory", wanted),))
    found = consumption(choice, Device("d", capacity=(DeviceCapacity("memory", amount, policy),)))
    return None if found is None else found["memory"]


@pytest.mark.parametrize(
    ("policy", "wanted", "consumed"),
    [
        pytest.param(None, None, 100 * NANO, id="all of it"),
        pytest.param(None, 7, 7, id="as requested"),
        pytest.param(None, 101 * NANO, None, id="more than there is"),
        pytest.param(CapacityPolicy(), None, 100 * NANO, id="a policy without default"),
        pytest.param(VALUES, None, 20, id="the default"),
        pytest.param(VALUES, 11, 20, id="the next valid value"),
        pytest.param(VALUES, 41, None, id="above all valid values"),
        pytest.param(RANGE, 3 * NANO, 10 * NANO, id="at least the minimum"),
        pytest.param(RANGE, 11 * NANO, 25 * NANO, id="the next step"),
        pytest.param(RANGE, 25 * NANO, 25 * NANO, id="a step"),
        pytest.param(RANGE, 41 * NANO, None, id="a step above the maximum"),
        pytest.param(CapacityPolicy(ranged=True, least=10, most=50), 30, 30, id="without steps"),
        pytest.param(CapacityPolicy(ranged=True, most=50 * NANO, step=20 * NANO), 30 * NANO, None, id="no step"),
        pytest.param(
            CapacityPolicy(ranged=True, most=50 * NANO, step=20 * NANO), 40 * NANO, 40 * NANO, id="steps from zero"
        ),
    ],
)
def test_consumed(policy: CapacityPolicy | None, wanted: int | None, consumed: int | None) -> None:
    """The amount is that of the request, as the policy rounds it up, or the default."""
    assert of(policy, wanted) == consumed


def test_unknown_capacity() -> None:
    """A device without a capacity that is requested cannot meet the request."""
    assert consumption(DeviceChoice("c", capacity=(("memory", 1),)), Device("d")) is None


def test_fits() -> None:
    """A device has room for what is consumed beside what is taken."""
    device = Device("d", capacity=(DeviceCapacity("memory", 10),))
    assert fits(device, {"memory": 6}, {"memory": 4})
    assert not fits(device, {"memory": 6}, {"memory": 5})
