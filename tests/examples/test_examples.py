"""Every example manifest comes out as the file beside it says, and a refusal takes little work."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.golden.examples import EXAMPLES, Entry, answered, expected, manifests, results, snapshot
from tests.work import own_calls
from tests.yaml_values import all_loaded
from webhook.placement.inventory.inventory import Inventory

CALLS: Final = 1000
"""Calls of a refused review, at most."""

WHOLE_JOB: Final = 7500
"""Calls where elements that could run one by one have no room together: many ways to place them are tried."""

OF_WHOLE_JOB: Final = frozenset({"refused-job-whole"})

REFUSED: Final = [path for path in manifests() if path.stem.startswith("refused")]


@pytest.fixture(scope="module")
def cluster() -> Inventory:
    return snapshot()


@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.stem)
def test_an_example_gives_its_expected_result(path: Path, cluster: Inventory) -> None:
    assert list(results(path, cluster)) == list(all_loaded(expected(path).read_text()))


class Refusals:
    """Asks about objects, and counts the calls of each refusal once all caches are warm."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def ask(self, entry: Entry, document: dict[str, Any], cluster: Inventory) -> dict[str, Any]:
        response = answered(entry, document, cluster)
        if not response["allowed"]:
            self.calls.append(own_calls(lambda: answered(entry, document, cluster)))
        return response


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_the_refusal_of_an_example_takes_few_calls(path: Path, cluster: Inventory) -> None:
    refusals = Refusals()
    assert list(results(path, cluster, refusals.ask))
    assert refusals.calls
    assert max(refusals.calls) <= (WHOLE_JOB if path.stem in OF_WHOLE_JOB else CALLS)


def test_no_expected_result_is_left_without_its_manifest() -> None:
    assert {path.name for path in EXAMPLES.glob("*.expected.yaml")} == {expected(path).name for path in manifests()}


def test_every_example_says_in_a_comment_what_it_shows() -> None:
    silent = [path.name for path in manifests() if not path.read_text().startswith("# ")]
    assert silent == []
