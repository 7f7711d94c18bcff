"""Why JSON text could not be decoded, in words."""

import re
from typing import Final

import msgspec

ERRORS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding with msgspec can raise; :func:`reason` puts it into words."""

_PLACE: Final = re.compile(r"(.*) - at `(?:key in )?\$\.?(.*)`", re.DOTALL)


def reason(error: Exception) -> str:
    """Why the text could not be decoded: the path in it, then the rule."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    text = str(error)
    place = _PLACE.fullmatch(text)
    return f"{place[2]}: {_lower(place[1])}" if place and place[2] else _lower(place[1] if place else text)


def _lower(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
