"""What a selector reads of a device, and selectors that are not evaluated here."""

import pytest

from webhook.placement.devices.selectors.expression import Reads, reads
from webhook.placement.devices.selectors.selector import EVALUATIONS

D = 'device.attributes["d.example.com"]'
C = 'device.capacity["d.example.com"]'


@pytest.mark.parametrize(
    ("expression", "attributes", "capacity", "names"),
    [
        ('device.driver == "x"', (), (), {"device", "driver"}),
        (f'{D}.model == "A100"', ("d.example.com",), (), {"model"}),
        ('device.attributes.nic.model == "x"', ("nic",), (), {"model"}),
        (f'{C}["memory"].compareTo(quantity("1")) > 0', (), ("d.example.com",), {"memory"}),
        (f"cel.bind(d, {D}, d.a && d.b)", ("d.example.com",), (), {"a", "b"}),
        (f'"model" in {D}', ("d.example.com",), (), {"model"}),
        (f'has({D}.x) && device.attributes["e"].?y.orValue(1) == 1', ("d.example.com", "e"), (), {"x", "y"}),
        (f"device.allowMultipleAllocations || {D}.device == 1", ("d.example.com",), (), {"device"}),
    ],
)
def test_reads(expression: str, attributes: tuple[str, ...], capacity: tuple[str, ...], names: set[str]) -> None:
    """An expression reads entries of the domains that it looks up, by names that are in its text."""
    found = reads(expression)
    assert found
    assert (found.attributes, found.capacity) == (attributes, capacity)
    assert found.names is not None
    assert names <= found.names
    assert "other" not in found.names


@pytest.mark.parametrize(
    "expression",
    [
        f"{D}.exists(k, k == 'x')",
        f"size({D}) > 1",
        f"{D} == {D}",
        f"{{}} != {D}".replace("{}", C),
        f"{D} in [{D}]",
        f"cel.bind(d, {D}, d == d)",
    ],
)
def test_whole_maps(expression: str) -> None:
    """An expression that may look at every entry of a map depends on all of them."""
    found = reads(expression)
    assert found
    assert found.names is None
    assert found.has(("d.example.com",), "d.example.com", "anything")
    assert not found.has(("d.example.com",), "e.example.com", "anything")


@pytest.mark.parametrize(
    "expression",
    [
        f'{D}.model == "A" + "100"',
        f'{D}.model == "A\\x31"',
        "device.attributes[device.driver].x == 1",
        "device.attributes.exists(k, k == 'x')",
        "device.capacity == {}",
        "device.unknown",
        "device",
        f"{D}.model.replace('a', 'aa') == 'x'",
        f"[1].all(a, [1].all(b, {D}.x == a))",
        f"{D}.m.matches('a') || " * 4 + f"{D}.m.matches('a')",
        f"[1].all(a, {D}.m.matches('a'))",
        f"{D}.m.matches('a{{1000}}')",
        "true || " * 128 + "true",
        "true // a comment",
    ],
    ids=["plus", "escape", "domain", "all domains", "map", "unknown", "device", "function", "nested loops", "patterns",
         "pattern in a loop", "counted repetition", "long", "comment"],
)  # fmt: skip
def test_not_evaluated(expression: str) -> None:
    """An expression without the plain form, or whose cost has no small bound, is not evaluated here."""
    assert reads(expression) is None


def test_cost() -> None:
    """Loops, regular expressions and long texts cost more, so that a decision evaluates them less often."""
    plain, loop, pattern, long = (
        reads(text) or Reads()
        for text in (f"{D}.x == 1", f"[1].all(a, a == {D}.x)", f"{D}.x.matches('a')", f"{D}.x == '{'a' * 900}'")
    )
    assert plain.cost == 2
    assert (loop.cost, pattern.cost) == (14, 14)
    assert long.cost == 11
    assert EVALUATIONS // max(loop.cost, pattern.cost) < 200
