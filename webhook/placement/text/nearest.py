"""Spelling suggestions: the known word that is most like a mistyped one, and messages about unknown words."""

import difflib
from collections.abc import Collection, Iterable

from webhook.placement.text.problem import quote

WORD_LIMIT = 64
"""Characters of a word that is compared with the known ones: twice the longest of these; comparing stays cheap."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like ``word``, ignoring letter case; ``None`` if no known word is similar."""
    if len(word) > WORD_LIMIT:
        return None
    spelled = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), spelled, n=1)
    return spelled[matches[0]] if matches else None


def unknown(noun: str, word: str, known: Collection[str]) -> str:
    """The message that a word is unknown: ``unknown clause "Host" (did you mean host?)``, or with all known words."""
    if suggestion := nearest(word, known):
        return f"unknown {noun} {quote(word)} (did you mean {suggestion}?)"
    return f"unknown {noun} {quote(word)}: use one of {', '.join(known)}"
