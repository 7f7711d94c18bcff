"""The pages of the site in a folder of their own, with every file of the repository that they link to.

Pages lie there as in the repository, so links between them stay as they are; so do pictures and bundles. Another
file that is no page, such as a manifest, becomes a page that shows it; a folder becomes a page that lists it.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tools.site.fences import Fence, rewritten, unmarked

FIRST: Final = ("README.md", "CHANGELOG.md", "docs", "charts/streams-placement/README.md")
"""Where the pages of the site are; what they link to comes with them."""

_LINK: Final = re.compile(r"(?P<text>\[[^]]+\]\()(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
_UNSEARCHED: Final = "---\nsearch:\n  exclude: true\n---\n\n"
_AS_THEY_ARE: Final = (".png", ".svg", ".sab")
"""Pictures and bundles, which are no text."""
_COMPILED: Final = "__pycache__"
"""The folder beside modules that Python makes when they are run; no part of the repository."""

_LANGUAGES: Final = {".py": "python", ".yaml": "yaml", ".json": "json"}


class StagingError(Exception):
    """Pages that cannot become a site, with a line for everything that is wrong."""


class Stage:
    """Copies pages of a repository into a folder, and what they link to."""

    def __init__(self, repository: Path, folder: Path) -> None:
        """Take from the first folder, write into the second."""
        self._repository = repository.resolve()
        self._folder = folder
        self._problems: list[str] = []
        self._written: set[Path] = set()

    def write(self, first: Iterable[str] = FIRST) -> None:
        """Write all pages; raises ``StagingError`` with every dead link, and every block of shell that nothing runs."""
        for name in first:
            path = self._repository / name
            for page in sorted(path.glob("*.md")) if path.is_dir() else (path,):
                self._file(page)
        if self._problems:
            raise StagingError("\n".join(self._problems))

    def _file(self, path: Path) -> None:
        """A page, or a page that shows a file or lists a folder; once."""
        if path in self._written:
            return
        self._written.add(path)
        if path.suffix == ".md":
            self._page(path)
        elif path.is_dir():
            self._listing(path)
        elif path.suffix in _AS_THEY_ARE:
            self._copy(path)
        else:
            self._source(path)

    def _page(self, path: Path) -> None:
        name = path.relative_to(self._repository)
        text = path.read_text()
        self._problems += unmarked(name, text)

        def link(match: re.Match[str]) -> str:
            return match["text"] + self._target(path, match["target"]) + (match["anchor"] or "") + ")"

        self._put(name, rewritten(text, lambda prose: _LINK.sub(link, prose), shown_as))

    def _target(self, page: Path, target: str) -> str:
        """Where a link leads on the site; notes it if it leads nowhere."""
        if re.match(r"\w+:", target):
            return target
        path = Path(os.path.normpath(page.parent / target))
        if not path.is_relative_to(self._repository) or not path.exists():
            self._problems.append(f"{page.relative_to(self._repository)}: {target} is not in the repository")
            return target
        self._file(path)
        return target if path.suffix == ".md" else _shown_at(target, path)

    def _copy(self, path: Path) -> None:
        target = self._folder / path.relative_to(self._repository)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())

    def _source(self, path: Path) -> None:
        name = path.relative_to(self._repository)
        text = path.read_text()
        ticks = "`" * max((len(run) + 1 for run in re.findall(r"`{3,}", text)), default=3)
        language = _LANGUAGES.get(path.suffix, "text")
        shown = text if text.endswith("\n") else f"{text}\n"
        self._put(Path(f"{name}.md"), f"{_UNSEARCHED}# {name}\n\n{ticks}{language}\n{shown}{ticks}\n")

    def _listing(self, path: Path) -> None:
        name = path.relative_to(self._repository)
        lines = []
        for entry in sorted(path.iterdir()):
            if entry.name == _COMPILED:  # by whoever has run what is in the folder
                continue
            self._file(entry)
            lines.append(f"- [{entry.name}]({_shown_at(entry.name, entry)})")
        self._put(name / "index.md", f"{_UNSEARCHED}# {name}\n\n" + "\n".join(lines) + "\n")

    def _put(self, name: Path, text: str) -> None:
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def _shown_at(target: str, path: Path) -> str:
    """Where the site shows a folder, or a file that is no page, to which a link leads."""
    if path.is_dir():
        return f"{target.rstrip('/')}/index.md"
    return target if path.suffix in _AS_THEY_ARE else f"{target}.md"


def shown_as(fence: Fence) -> str:
    """The language that a block is coloured as: a block of shell with prompts is a session at a terminal."""
    if fence.language == "sh" and fence.commands:
        return "console"
    return fence.language
