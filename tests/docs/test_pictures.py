"""Pictures of the documentation: each is on a page with words for those who do not see it, and none is large."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import PAGES, ROOT

pytestmark = pytest.mark.untraced

LARGEST: Final = 150_000
"""Bytes of a picture: every version of it stays in the repository."""

PICTURES: Final = sorted((ROOT / "docs" / "pictures").iterdir())


@pytest.mark.parametrize("picture", PICTURES, ids=[path.name for path in PICTURES])
def test_a_picture_is_small_and_on_a_page_with_words(picture: Path) -> None:
    shown = rf"!\[(?P<words>[^]]+)\]\((?:docs/)?pictures/{re.escape(picture.name)}\)"
    found = [match["words"] for page in PAGES for match in re.finditer(shown, page.read_text())]
    assert found
    assert all(len(words.split()) > 5 for words in found)
    assert picture.stat().st_size < LARGEST
