"""Why msgspec cannot decode a JSON text, in words (``reason``); ``ERRORS``: the exceptions that it raises."""

import re
from typing import Final

import msgspec

ERRORS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Exceptions that decoding with msgspec can raise; :func:`reason` turns each into a message."""

_PLACE: Final = re.compile(r"(.*) - at `(?:key in )?\$\.?(.*)`", re.DOTALL)


def reason(error: Exception) -> str:
    """Why the text could not be decoded: the path of the value, a colon, and the rule that it breaks."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    text = str(error)
    place = _PLACE.fullmatch(text)
    return f"{place[2]}: {_lower(place[1])}" if place and place[2] else _lower(place[1] if place else text)


def _lower(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
