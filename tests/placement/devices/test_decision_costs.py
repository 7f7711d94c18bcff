"""What a decision on devices may cost, whatever selectors read, and however many nodes there are."""

import functools

import pytest

from tests.builders import node
from tests.placement.devices.clusters import GPU, equipped, wanting
from tests.suite.example_count import EVERY_DAY
from tests.work import calls
from webhook.placement.devices.fits import Fit, Wanted
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice
from webhook.placement.devices.published.device import Attribute, Device, Reach
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.selectors.selector import EVALUATIONS, DeviceBudget
from webhook.placement.inventory.inventory import Inventory


def fit(inventory: Inventory, claim: ClaimSpec, budget: DeviceBudget | None = None) -> Fit:
    return inventory.device_fits.fit(Wanted((claim,)), inventory.nodes, budget or DeviceBudget())


def attributed(count: int) -> Inventory:
    """So many nodes, each with eight devices that have ten attributes, of which two are their own."""
    machines = [node(f"node-{at}") for at in range(count)]
    shared = tuple(Attribute(f"a{at}", f"v{at}") for at in range(8))
    slices = [
        DeviceSlice(
            one.name,
            GPU,
            one.name,
            reach=Reach(node=one.name),
            devices=tuple(
                Device(
                    f"d{at}", (*shared, Attribute("serial", f"{one.name}-{at}"), Attribute("uuid", f"{at}{one.name}"))
                )
                for at in range(8)
            ),
        )
        for one in machines
    ]
    return equipped(*slices, machines=machines)


def costly(kind: str) -> list[ClaimSpec]:
    """Claims that cost a decision as much as one of that kind can."""
    own = f'device.attributes["{GPU}"]'
    if kind == "new attributes":
        return [wanting(DeviceChoice(GPU, selectors=(f'{own}.a{at} != "{kind}"',))) for at in range(8)]
    text = {
        "own attribute": f'{own}.uuid != "{kind}"',
        "long": f'{own}.uuid != "{kind}" && ' + " && ".join(f'{own}.serial != "x{at}"' for at in range(15)),
        "loop": f'{own}.exists(k, k == "uuid" && {own}[k] != "{kind}")',
    }
    if kind != "eight requests":
        return [wanting(DeviceChoice(GPU, selectors=(text[kind],)))] * 8
    each = (DeviceChoice(GPU, selectors=(f'{own}.uuid != "{kind} {at}"',)) for at in range(8))
    return [wanting(*each)] * 8


KINDS = pytest.mark.parametrize("kind", ["own attribute", "long", "loop", "eight requests", "new attributes"])


@KINDS
def test_no_selector_makes_a_decision_cost_more_than_so_much(kind: str) -> None:
    """Whatever it reads, and however many nodes there are; 45,000 calls take some 5 ms."""
    for count in (500, 1000) if EVERY_DAY else (1000, 2000):
        inventory = attributed(count)
        costs = [calls(functools.partial(fit, inventory, claim)) for claim in costly(kind)[: 4 if EVERY_DAY else 8]]
        assert max(costs) < 60_000, count


HOSTILE = {
    "text of 1 MiB": 'device.driver != "' + "x" * 2**20 + '"',
    "a million operators": "true && " * 125_000 + "true",
    "a million rounds": "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(a, " * 6 + "true" + ")" * 6,
    "a pattern in a loop": f'device.attributes["{GPU}"].exists(k, k.matches("(a+)+$"))',
    "a text that grows": f'device.attributes["{GPU}"].uuid.replace("", "xxxxxxxxxx").replace("", "xxxxxxxxxx") == "x"',
}
"""Selectors by what makes them cost a million units of the API server, or more."""


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_selector_is_not_judged(kind: str) -> None:
    """It is never evaluated, and each decision on it costs as little as the first: 45,000 calls take some 5 ms."""
    inventory = attributed(1000)
    claim = wanting(DeviceChoice(GPU, selectors=(HOSTILE[kind],)))
    for _ in range(2):
        budget, found = DeviceBudget(), list[Fit]()
        assert calls(lambda: found.append(fit(inventory, claim, budget))) < 10_000  # noqa: B023 -- called at once
        (judged,) = found
        assert (judged.nodes, judged.unknown.bit_count(), judged.lacks) == (0, 1000, {})
        assert judged.failed == {HOSTILE[kind]}
        assert budget.evaluations > EVALUATIONS // 2


@KINDS
def test_each_decision_gets_further(kind: str) -> None:
    inventory, known = attributed(300), set()
    claims = costly(kind)[:3]
    for claim in claims:
        left = fit(inventory, claim).unknown.bit_count()
        known.add((claim, 300 - left))
    assert len(known) == len(claims)
    assert min(count for _, count in known) > 0
