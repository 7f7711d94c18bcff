"""Every example of an input comes out as the file beside it says."""

from collections.abc import Sequence

import pytest

from tests.golden.conversions import INPUTS, conversions, expected_result, inputs
from webhook.convert.bundle import adl_of_bundle

SILENT = {".json", ".sab"}
"""Kinds of files that have no comments."""


@pytest.mark.parametrize(("name", "words"), conversions(), ids=lambda value: value if isinstance(value, str) else "")
def test_an_input_gives_its_expected_result(name: str, words: Sequence[str]) -> None:
    path, text = expected_result(name, words)
    assert path.read_text() == text


def test_no_expected_result_is_left_without_its_input() -> None:
    wanted = {expected_result(name, words)[0] for name, words in conversions()}
    assert set(INPUTS.rglob("*.expected.*")) == wanted


@pytest.mark.parametrize("path", [path for path in inputs() if path.suffix not in SILENT], ids=lambda path: path.name)
def test_every_input_says_in_a_comment_what_it_shows(path: str) -> None:
    lines = (INPUTS / path).read_text().splitlines()
    assert any(line.startswith(("# ", "// ", "<!-- ")) for line in lines[:2])


def test_the_bundle_holds_the_description_beside_it() -> None:
    """A bundle is no text, so its ADL can be read in the folder ``bundle``."""
    path, adl = adl_of_bundle("collector.sab", (INPUTS / "collector.sab").read_bytes())
    assert path.endswith("apps.flows/collector.adl")
    assert adl == (INPUTS / "bundle" / "collector.adl").read_bytes()
    assert b"<!-- " in adl.splitlines()[1]
