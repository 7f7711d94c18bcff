"""Fenced blocks of Markdown pages, and who runs the commands in them.

Every block of shell says in its first line which of these it is::

    sh                    lines that start with ``$ `` are run, and must write what the page shows
    sh on-cluster         the same, on a cluster with the product installed; without ``$ `` every line must succeed
    sh no-run: REASON     nothing runs it, for this reason
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

SHELL: Final = ("sh", "bash", "console", "shell", "zsh")
"""Words by which a block can say that it is for a shell; pages use the first one."""

_FENCE: Final = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_MARK: Final = re.compile(r"sh( on-cluster| no-run: \w.*)?")
_COMMAND: Final = "$ "


class Fence(NamedTuple):
    """A fenced block: the line of its backticks, what stands behind them, and the lines between."""

    line: int
    info: str
    text: str

    @property
    def language(self) -> str:
        """The first word: ``sh``, ``yaml``; empty if there is none."""
        return self.info.partition(" ")[0]

    @property
    def commands(self) -> bool:
        """Whether a line of it is a command, with its prompt."""
        return any(line.lstrip().startswith(_COMMAND) for line in self.text.splitlines())


def fences(text: str) -> Iterator[Fence]:
    """Every fenced block of a page, indented ones too."""
    for match in _FENCE.finditer(text):
        yield Fence(text.count("\n", 0, match.start()) + 1, match["info"].strip(), match["text"])


def rewritten(text: str, prose: Callable[[str], str], info: Callable[[Fence], str]) -> str:
    """The page with what lies outside of blocks, and the words behind the backticks, passed through functions."""
    parts, end = [], 0
    for match in _FENCE.finditer(text):
        fence = Fence(0, match["info"].strip(), match["text"])
        indent = match["indent"]
        parts += [prose(text[end : match.start()]), f"{indent}```{info(fence)}\n{fence.text}{indent}```"]
        end = match.end()
    return "".join([*parts, prose(text[end:])])


def unmarked(page: Path, text: str) -> list[str]:
    """A sentence for every block of shell that nothing runs, and that does not say why."""
    return [f"{page}:{fence.line}: {wrong}" for fence in fences(text) if (wrong := _wrong(fence))]


def _wrong(fence: Fence) -> str | None:
    if fence.language not in SHELL:
        return None
    if not _MARK.fullmatch(fence.info):
        return f'a block of shell says "{fence.info}": write sh, sh on-cluster, or sh no-run: REASON'
    if fence.info == "sh" and not fence.commands:
        return 'no line of this block starts with "$ ", so nothing runs it: add prompts, or say sh no-run: REASON'
    return None
