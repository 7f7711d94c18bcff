"""Every word of the glossary has a file, and stands in its place."""

import pytest

from tests.docs.pages import ROOT, page

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in page("glossary.md").splitlines()
    if line.startswith("| **")
]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_file_of_a_word_is_there(row: list[str]) -> None:
    word, meaning, file = row
    path = file.strip("`")
    assert (ROOT / "webhook" / path).is_file() or (path.startswith("kubeapi/") and (ROOT / path).is_file()), word
    assert meaning


def test_words_are_in_order_and_stand_once() -> None:
    words = [row[0].strip("*").lower() for row in ROWS]
    assert words[1:] == sorted(set(words[1:]))
    assert len(words) > 40
