"""Every example manifest comes out as the file beside it says."""

from pathlib import Path

import pytest
import yaml

from tests.golden.examples import EXAMPLES, expected, manifests, results, snapshot
from webhook.placement.inventory.inventory import Inventory


@pytest.fixture(scope="module")
def cluster() -> Inventory:
    return snapshot()


@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.stem)
def test_an_example_gives_its_expected_result(path: Path, cluster: Inventory) -> None:
    assert list(results(path, cluster)) == list(yaml.safe_load_all(expected(path).read_text()))


def test_no_expected_result_is_left_without_its_manifest() -> None:
    assert {path.name for path in EXAMPLES.glob("*.expected.yaml")} == {expected(path).name for path in manifests()}


def test_every_example_says_in_a_comment_what_it_shows() -> None:
    silent = [path.name for path in manifests() if not path.read_text().startswith("# ")]
    assert silent == []
