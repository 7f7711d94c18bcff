"""Outputs of commands and verbatim texts that pages of the documentation show, written anew."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.docs.commands import Command, commands, pattern, run, runnable
from tests.docs.pages import PAGES, Block
from tests.golden.wording import Phrase

DOTS = "..."


def written_anew(pages: Iterable[Path] = PAGES) -> Iterator[tuple[Path, str | None]]:
    """Run the commands of all pages: each page that was changed, or with a reason why an output was left alone."""
    for page in pages:
        before = page.read_text()
        text = before
        for block in runnable((page,)):
            shown, left = _anew(block)
            text = text.replace(block.text, shown)
            if left:
                yield page, f"{block}: {left}"
        if text != before:
            page.write_text(text)
            yield page, None


def _anew(block: Block) -> tuple[str, str]:
    """The block with what its commands write now, and what could not be matched."""
    text, left = block.text, ""
    for command in commands(block):
        output = run(command.text)
        if pattern(command.shown).fullmatch(_joined(output)):
            continue
        shown = updated(command, output)
        if not pattern(shown).fullmatch(_joined(output)):
            left = f"its dots do not fit what comes of: {command.text}"
            continue
        text = text.replace(_joined(command.shown), _joined(shown), 1)
    return text, left


def updated(command: Command, output: list[str]) -> list[str]:
    """The shown lines, each the line of the output that is most like it; all of the output where there are no dots."""
    if DOTS not in command.shown:
        return output
    shown: list[str] = []
    rest = output
    for line in command.shown:
        found = [] if line == DOTS else difflib.get_close_matches(line, rest, 1)
        shown += found or [line]
        if found:
            rest = rest[rest.index(found[0]) + 1 :]
    return shown


def reworded(phrases: Iterable[Phrase], wanted: Iterable[str], pages: Iterable[Path] = PAGES) -> Iterator[Path]:
    """Change lines of pages that, with the phrases as they are now, are texts that tests look for there."""
    texts = {text.strip("\n") for text in wanted}
    for page in pages:
        before = page.read_text()
        lines = [_reworded(line, phrases, texts) for line in before.split("\n")]
        if lines != before.split("\n"):
            page.write_text("\n".join(lines))
            yield page


def _reworded(line: str, phrases: Iterable[Phrase], texts: set[str]) -> str:
    now = line
    for phrase in phrases:
        now = now.replace(*phrase)
    return now if now in texts else line


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
