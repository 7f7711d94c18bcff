"""Links between the pages lead somewhere, and so do the code's mentions of pages."""

import re

import pytest

from tests.docs.pages import PAGES, ROOT, SOURCES, anchors, links, page

pytestmark = pytest.mark.untraced

CHART = ROOT / "charts" / "streams-placement" / "README.md"
PAPERS = [ROOT / name for name in ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "GOVERNANCE.md", "SECURITY.md")]


def test_every_link_leads_somewhere() -> None:
    broken = []
    for path in (*PAGES, CHART, *PAPERS):
        for target in links(path):
            name, _, anchor = target.partition("#")
            file = (path.parent / name) if name else path
            if not file.exists() or (anchor and anchor not in anchors(file)):
                broken.append((path, target))
    assert broken == []


def test_the_index_lists_every_page() -> None:
    listed = [row[0] for row in re.findall(r"^\| \[[\w-]+\]\(([\w-]+\.md)\) \|(.*)$", page("README.md"), re.MULTILINE)]
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md")


def test_every_page_that_the_code_mentions_is_there() -> None:
    mentioned = {name for path in SOURCES for name in re.findall(r"\bdocs/(\w+\.md)\b", path.read_text())}
    ours = mentioned - {"zone.md", "a.md"}  # pages that architecture.md and tests make up
    assert sorted(name for name in ours if not (ROOT / "docs" / name).exists()) == []
    assert len(ours) >= 10
