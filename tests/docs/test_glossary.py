"""Every term of the glossary stands in its place once, has a file, and is used."""

import re

import pytest

from tests.docs.pages import PAGES, ROOT, page

pytestmark = pytest.mark.untraced

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in page("glossary.md").splitlines()
    if line.startswith("| **")
]


def squeezed(text: str) -> str:
    """The text without upper case and without what stands between words: ``ReplicaFit`` is ``replica fit``."""
    return re.sub(r"[\s_-]", "", text.lower())


OTHERS = squeezed("".join(path.read_text() for path in PAGES if path.name != "glossary.md"))


def test_the_file_of_a_word_is_there_and_uses_it() -> None:
    wrong = []
    for word, meaning, file in ROWS:
        paths = [folder / file.strip("`") for folder in (ROOT / "webhook", ROOT) if (folder / file.strip("`")).exists()]
        uses = squeezed(file + "".join(path.read_text() for path in paths[:1])) + OTHERS
        if not (paths and meaning and squeezed(word.strip("*")) in uses):
            wrong.append(word)
    assert wrong == []


def test_words_are_in_order_and_stand_once() -> None:
    words = [row[0].strip("*").lower() for row in ROWS]
    assert words == sorted(set(words))
    assert len(words) > 60
