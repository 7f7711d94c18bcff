"""How two texts differ, word by word."""

import difflib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"\w+|\s|[^\w\s]")
_WORD: Final = re.compile(r"\w")


class Hunk(NamedTuple):
    """``old[start:end]`` has become ``new``; an insertion has ``start == end``."""

    start: int
    end: int
    new: str


class Phrase(NamedTuple):
    """Words that have become other words."""

    old: str
    new: str

    def __str__(self) -> str:
        """As a summary shows it."""
        return f"{self.old!r} -> {self.new!r}"


def is_message(text: str) -> bool:
    """Whether a text is meant to be read: it has at least two words. Names and values are not."""
    return len([word for word in text.split() if _WORD.search(word)]) > 1


def hunks(old: str, new: str) -> list[Hunk]:
    """The differences, from left to right. Ones with nothing but a blank between them are one."""
    one, two = _TOKEN.findall(old), _TOKEN.findall(new)
    at, to = _offsets(one), _offsets(two)
    joined: list[tuple[int, int, int, int]] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if joined and not old[joined[-1][1] : at[i]].strip():
            joined[-1] = (joined[-1][0], at[j], joined[-1][2], to[m])
        else:
            joined.append((at[i], at[j], to[k], to[m]))
    return [Hunk(i, j, new[k:m]) for i, j, k, m in joined]


def phrases(old: str, new: str) -> Iterator[Phrase]:
    """Each difference with the words beside it, as far as that is needed to know the place again."""
    moved = 0
    for start, end, words in hunks(old, new):
        before, after = start, end
        if len(old[start:end].strip()) < 4 or not words.strip():  # shorter is in every other text
            before = _left(old, start)
            after = _right(old, end)
        yield Phrase(old[before:after], new[before + moved : start + moved] + words + old[end:after])
        moved += len(words) - (end - start)


def old_words(old: str, new: str) -> Iterator[str]:
    """The words that were replaced, each with the one behind it, for a search of other texts that have them."""
    for start, end, _ in hunks(old, new):
        yield old[start : _right(old, end)].strip()


def _left(text: str, at: int) -> int:
    """Where the word before a place begins."""
    found = re.search(r"\S+\s*$", text[:at])
    return found.start() if found else at


def _right(text: str, at: int) -> int:
    """Where the word after a place ends."""
    found = re.match(r"\s*\S+", text[at:])
    return at + found.end() if found else at


def _offsets(tokens: list[str]) -> list[int]:
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets
