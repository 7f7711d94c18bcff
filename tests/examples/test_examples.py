"""Every example manifest comes out as the file beside it says, and its reviews take little work."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.golden.examples import EXAMPLES, Entry, answered, expected, manifests, results, snapshot
from tests.work import own_calls
from tests.yaml_values import all_loaded
from webhook.placement.inventory.inventory import Inventory

MISTAKEN: Final = 300
"""Calls of a review that is refused for what the pod says, at most: no node is looked at."""

REFUSED_BY_NODES: Final = 950
"""Calls of a review that is refused because no node can run the pod, at most."""

PATCHED: Final = 425
"""Calls of a review that patches the pod, at most."""

PATCHED_BESIDE: Final = 625
"""Calls where the whole group of the pod is placed with it, or where the pod waits for its node."""

BESIDE: Final = frozenset({"colocation-replicas", "host-not-ready"})

WHOLE_JOB: Final = 7500
"""Calls where elements that could run one by one have no room together: many ways to place them are tried."""

OF_WHOLE_JOB: Final = frozenset({"refused-job-whole"})


@pytest.fixture(scope="module")
def cluster() -> Inventory:
    return snapshot()


@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.stem)
def test_an_example_gives_its_expected_result(path: Path, cluster: Inventory) -> None:
    assert list(results(path, cluster)) == list(all_loaded(expected(path).read_text()))


class Costs:
    """Asks about objects, and counts the calls of each review once all caches are warm."""

    def __init__(self) -> None:
        self.patched: list[int] = []
        self.mistaken: list[int] = []
        self.refused: list[int] = []

    def ask(self, entry: Entry, document: dict[str, Any], cluster: Inventory) -> dict[str, Any]:
        response = answered(entry, document, cluster)
        made = own_calls(lambda: answered(entry, document, cluster))
        if "patch" in response:
            self.patched.append(made)
        elif not response["allowed"]:
            (self.refused if "Nearest fix" in response["status"]["message"] else self.mistaken).append(made)
        return response


@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.stem)
def test_the_reviews_of_an_example_take_few_calls(path: Path, cluster: Inventory) -> None:
    costs = Costs()
    assert list(results(path, cluster, costs.ask))
    assert bool(costs.mistaken or costs.refused) is path.stem.startswith("refused")
    assert max(costs.mistaken, default=0) <= MISTAKEN
    assert max(costs.refused, default=0) <= (WHOLE_JOB if path.stem in OF_WHOLE_JOB else REFUSED_BY_NODES)
    assert max(costs.patched, default=0) <= (PATCHED_BESIDE if path.stem in BESIDE else PATCHED)


def test_no_expected_result_is_left_without_its_manifest() -> None:
    assert {path.name for path in EXAMPLES.glob("*.expected.yaml")} == {expected(path).name for path in manifests()}


def test_every_example_says_in_a_comment_what_it_shows() -> None:
    silent = [path.name for path in manifests() if not path.read_text().startswith("# ")]
    assert silent == []
