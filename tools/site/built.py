"""What is wrong with a built site: links that lead nowhere, and anything that a browser would load from elsewhere."""

import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag

_LOADED: Final = {
    "script": ("src",), "link": ("href",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"),
    "video": ("src", "poster"), "audio": ("src",), "object": ("data",), "embed": ("src",),
    "use": ("href", "xlink:href"),
}  # fmt: skip
"""Attributes whose address a browser loads without being asked."""

_NAMES: Final = ("canonical", "next", "prev", "alternate")
"""What a ``link`` can be without being loaded."""

_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
"""An address with a scheme, or with a host: no file of the site."""
_STYLE: Final = re.compile(r"(?:@import\s+|url\()\s*[\"']?(?P<target>[^\"')\s;]+)")


class Page(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        """Read all of it at once."""
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One element."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in _NAMES:
            return
        self.loaded += [values[name] for name in _LOADED.get(tag, ()) if name in values]


def problems(folder: Path) -> list[str]:
    """A sentence for everything that is wrong with the site in a folder, with the first page where it is."""

    @cache
    def parsed(path: Path) -> Page:
        return Page(path.read_text())

    places_of: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.html")):
        for target in (*parsed(path).links, *parsed(path).loaded):
            if wrong := _wrong(path, target, parsed, folder):
                places_of.setdefault(wrong, []).append(str(path.relative_to(folder)))
    for path in sorted(folder.rglob("*.css")):
        for target in _styles(path):
            places_of.setdefault(f"{target} is loaded from outside", []).append(str(path.relative_to(folder)))
    return [f"{places[0]}{_more(len(set(places)))}: {wrong}" for wrong, places in places_of.items()]


def _more(pages: int) -> str:
    return f" and {pages - 1} more" if pages > 1 else ""


def _wrong(page: Path, target: str, parsed: Callable[[Path], Page], folder: Path) -> str | None:
    if _ELSEWHERE.match(target):
        loaded = target in parsed(page).loaded and not target.startswith("data:")
        return f"{target} is loaded from outside" if loaded else None
    address, anchor = urldefrag(target)
    path = (page.parent / unquote(address.partition("?")[0])).resolve() if address else page
    if path.is_dir():
        path /= "index.html"
    name = os.path.relpath(path, folder)
    if not path.is_file():
        return f"a link leads to {name}, which is not there"
    if anchor and path.suffix == ".html" and unquote(anchor) not in parsed(path).anchors:
        return f"a link leads to {name}#{anchor}, and {name} has no such heading"
    return None


def _styles(path: Path) -> Iterator[str]:
    for match in _STYLE.finditer(path.read_text()):
        if _ELSEWHERE.match(match["target"]) and not match["target"].startswith("data:"):
            yield match["target"]
