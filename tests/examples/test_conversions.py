"""Every example of an input comes out as the file beside it says."""

from collections.abc import Sequence

import pytest

from tests.golden.conversions import INPUTS, conversions, expected_result, inputs


@pytest.mark.parametrize(("name", "words"), conversions(), ids=lambda value: value if isinstance(value, str) else "")
def test_an_input_gives_its_expected_result(name: str, words: Sequence[str]) -> None:
    path, text = expected_result(name, words)
    assert path.read_text() == text


def test_no_expected_result_is_left_without_its_input() -> None:
    wanted = {expected_result(name, words)[0] for name, words in conversions()}
    assert set(INPUTS.rglob("*.expected.*")) == wanted


@pytest.mark.parametrize("path", [path for path in inputs() if path.suffix != ".json"], ids=lambda path: path.name)
def test_every_input_says_in_a_comment_what_it_shows(path: str) -> None:
    lines = (INPUTS / path).read_text().splitlines()
    assert any(line.startswith(("# ", "// ", "<!-- ")) for line in lines[:2])
