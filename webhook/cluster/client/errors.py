"""What can go wrong between this program and the API server."""

import enum
from typing import Final

from webhook.placement.text.problem import escape

_WIDTH: Final = 400
"""Characters of one failure: a proxy may answer with a page."""


class Cause(enum.Enum):
    """What a failure means for whoever asked."""

    UNREACHABLE = "no connection, or one that broke or went silent"
    BROKEN = "the API server is there, but in trouble"
    BUSY = "the API server asks to come back later"
    UNAUTHORIZED = "it does not believe who is asking"
    FORBIDDEN = "it knows who is asking, and says no"
    MISSING = "there is no such object, or no such kind"
    EXISTS = "an object of that name is there already"
    CONFLICT = "the object has changed since it was read, or is another one: look again"
    INVALID = "what was sent breaks a rule: sending it again will not help"
    GONE = "what was asked for is too old: list again"
    UNREADABLE = "what it says cannot be understood: list again"


class ApiError(Exception):
    """Something that may work later; the text is one line of printable ASCII, ``wait`` the seconds until then."""

    def __init__(self, cause: Cause, text: str, *, wait: float = 0.0) -> None:
        shown = escape(text)
        super().__init__(f"{shown[:_WIDTH]}..." if len(shown) > _WIDTH else shown)
        self.cause = cause
        self.wait = wait
