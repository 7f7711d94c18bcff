"""YAML on the pages is that of the examples, and objects on them can be used."""

from typing import Any

import pytest

from tests.docs.pages import ROOT, Block, blocks
from tests.yaml_values import loaded
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.placement.inventory.inventory import Inventory


def part_of(shown: Any, whole: Any) -> bool:
    """Whether what is shown is there: mappings may leave keys out, lists may not leave out entries."""
    if isinstance(shown, dict) and isinstance(whole, dict):
        return all(key in whole and part_of(value, whole[key]) for key, value in shown.items())
    if isinstance(shown, list) and isinstance(whole, list):
        return len(shown) == len(whole) and all(map(part_of, shown, whole))
    return bool(shown == whole)


FRAGMENTS = [block for block in blocks("yaml") if block.text.startswith("# examples/")]


@pytest.mark.parametrize("block", FRAGMENTS, ids=str)
def test_a_fragment_of_an_example_is_part_of_it(block: Block) -> None:
    name = block.text.partition("\n")[0].removeprefix("# ")
    whole = loaded((ROOT / name).read_text())
    assert part_of(loaded(block.text), whole.get("admitted", whole))


def test_a_fragment_is_not_part_of_what_says_something_else() -> None:
    whole = {"a": [{"b": 1, "c": 2}]}
    assert [part_of(shown, whole) for shown in ({"a": [{"b": 1}]}, {"a": []}, {"a": [{"b": 2}]}, {"d": 1})] == [
        True, False, False, False,
    ]  # fmt: skip


OBJECTS = [block for block in blocks("yaml") if "\nkind: HostPool\n" in block.text]


@pytest.mark.parametrize("block", OBJECTS, ids=str)
def test_a_host_pool_on_a_page_can_be_used(block: Block) -> None:
    taken = SnapshotLoader(Inventory())
    taken.document(loaded(block.text))
    assert (taken.report().counts["HostPool"], taken.report().skipped) == (1, ())


INTENTS = [block for block in blocks("yaml") if "\nkind: HPAIntent\n" in block.text]


@pytest.mark.parametrize("block", INTENTS, ids=str)
def test_an_intent_on_a_page_can_be_used(block: Block) -> None:
    taken = SnapshotLoader(Inventory())
    taken.document(loaded(block.text))
    report = taken.report()
    assert (report.counts["HPAIntent"], report.skipped, report.noted) == (1, (), ())
