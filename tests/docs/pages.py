"""The pages of the documentation, taken apart: their fenced blocks, links and headings."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
TOPS: Final = ("kubeapi", "webhook", "certs", "tests")
SOURCES: Final = tuple(sorted(path for top in TOPS for path in (ROOT / top).rglob("*.py")))

_FENCE: Final = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\[[^]\n]+\]\((?P<target>[^)\s]+)\)")
_HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
_DROPPED: Final = re.compile(r"[^\w\- ]")
"""What GitHub leaves out of the anchor of a heading."""


class Block(NamedTuple):
    """A fenced block: where it begins, what stands behind its backticks, and its lines."""

    page: Path
    line: int
    info: str
    text: str

    def __str__(self) -> str:
        """As compilers write a place: ``docs/host.md:12``."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def page(name: str) -> str:
    """The text of a page of ``docs``."""
    return (ROOT / "docs" / name).read_text()


def blocks(info: str, pages: tuple[Path, ...] = PAGES) -> list[Block]:
    """Every block of that kind (``sh``, ``yaml``), in the order of the pages."""
    return [block for path in pages for block in _blocks(path) if block.info == info]


def _blocks(path: Path) -> Iterator[Block]:
    text = path.read_text()
    for found in _FENCE.finditer(text):
        yield Block(path, text.count("\n", 0, found.start()) + 1, found["info"].strip(), found["text"])


def links(path: Path) -> list[str]:
    """The targets of all links of a page but those that leave the repository."""
    prose = _FENCE.sub("", path.read_text())
    return [found["target"] for found in _LINK.finditer(prose) if "://" not in found["target"]]


def anchors(path: Path) -> set[str]:
    """The anchors that the headings of a page make on GitHub."""
    prose = _FENCE.sub("", path.read_text())
    return {_DROPPED.sub("", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(prose)}
