"""The allocator against one that tries all assignments, in random worlds."""

import pytest

from tests.placement.devices.brute_force import BruteForce, usable_by
from tests.placement.devices.worlds import NODE, PlacedWorld, world
from tests.suite.example_count import some_of
from webhook.placement.devices.allocation.allocation import Holders, allocatable
from webhook.placement.devices.allocation.node_devices import NodeSights
from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.selectors.selector import Answer, DeviceBudget


def answer(found: PlacedWorld, *, held: bool) -> Answer:
    """What the product says."""
    devices = Devices()
    for part in found.slices:
        devices.put_slice(part)
    for rule in found.rules:
        devices.put_rule(rule)
    for claim in found.holders:
        devices.put_claim(claim)
    holders: Holders = devices.holders if held else lambda _: ()
    usable = NodeSights(devices).of_node(NODE, usable_by)
    return allocatable(found.claims, usable, holders, DeviceBudget(10**6, 10**6)).answer


def lax(found: PlacedWorld) -> bool:
    """Whether a claim wants distinct values of devices of one request."""
    return any(
        agreement.distinct
        and any(choice.all or choice.count > 1 for request in claim.requests for choice in request.choices)
        for claim in found.claims
        for agreement in claim.agreements
    )


def strict(found: PlacedWorld) -> bool:
    """Whether a claim wants all devices, and an attribute of theirs: the scheduler may stop with an error."""
    return any(
        claim.agreements and any(choice.all for request in claim.requests for choice in request.choices)
        for claim in found.claims
    )


@pytest.mark.parametrize("held", [False, True], ids=["all free", "as held"])
def test_allocator(*, held: bool) -> None:
    """The allocator finds devices where there are some, and says no only where there are none."""
    answers = {True: 0, False: 0, None: 0}
    for seed in range(some_of(5000, every_day=500)):
        found = world(seed)
        said = answer(found, held=held)
        brute = BruteForce(found, held=held)
        right = brute.allocates()
        answers[said] += 1
        if said is None:
            assert brute.failed or lax(found) or strict(found), seed
        else:
            assert said is right, seed
    assert min(answers.values()) > some_of(5000, every_day=500) // 20
