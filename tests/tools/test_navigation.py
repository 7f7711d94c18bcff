"""The navigation of the site has every page of the documentation once, and no page that is not there."""

import tomllib
from collections.abc import Iterator
from typing import Any

from tests.docs.pages import ROOT

CONFIGURATION = tomllib.loads((ROOT / "tools" / "site" / "zensical.toml").read_text())["project"]


def pages(entries: list[Any]) -> Iterator[str]:
    """The pages of an entry and of what is below it."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from pages(below if isinstance(below, list) else [below])


LISTED = list(pages(CONFIGURATION["nav"]))


def test_every_page_is_in_the_navigation_once() -> None:
    listed = sorted(name for name in LISTED if name.startswith("docs/"))
    assert listed == sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))


def test_every_page_of_the_navigation_is_there() -> None:
    assert [name for name in LISTED if not (ROOT / name).is_file()] == []


def test_the_site_looks_for_links_that_lead_nowhere() -> None:
    assert CONFIGURATION["validation"] == {"invalid_links": True, "invalid_link_anchors": True}
