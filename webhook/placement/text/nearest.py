"""The known word that a mistyped one was probably meant to be."""

import difflib
from collections.abc import Collection, Iterable

from webhook.placement.text.problem import quote

WORD_LIMIT = 64
"""Characters of a word that is compared at all: twice the longest known one, so that comparing stays cheap."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like ``word``, letter case aside, or ``None`` when none is at all like it."""
    if len(word) > WORD_LIMIT:
        return None
    spelled = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), spelled, n=1)
    return spelled[matches[0]] if matches else None


def unknown(noun: str, word: str, known: Collection[str]) -> str:
    """That a word is none of those there are: ``unknown clause "Host" (did you mean host?)``."""
    if meant := nearest(word, known):
        return f"unknown {noun} {quote(word)} (did you mean {meant}?)"
    return f"unknown {noun} {quote(word)}: use one of {', '.join(known)}"
