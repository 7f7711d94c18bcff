"""``ApiError``: the exception of a failed request to the API server, with its ``Cause`` and the facts about it."""

import enum
import re
from typing import Final

from msgspec import Struct

_WIDTH: Final = 400
"""Characters of one error text: a proxy may answer with a whole page."""

_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


class Cause(enum.Enum):
    """The cause of a failed request, by what its sender should do. The values explain the members to readers."""

    UNREACHABLE = "the connection failed, broke or went silent"
    BROKEN = "the API server reports a failure of its own"
    BUSY = "the API server asks to retry later"
    UNAUTHORIZED = "the API server does not accept the credentials"
    FORBIDDEN = "the user has no right to this request"
    MISSING = "the object or its kind does not exist"
    EXISTS = "an object of that name already exists"
    CONFLICT = "the object was changed or replaced since it was read: read it again"
    INVALID = "the request is invalid: retrying does not help"
    GONE = "the requested version is too old: list again"
    UNREADABLE = "the answer cannot be parsed: list again"


class FailedRequest(Struct, frozen=True, kw_only=True):
    """The facts of a request that failed, for a program that words the error itself.

    ``code`` is the HTTP status of the answer, 0 where none came. ``detail`` is the message of the API server or of the
    system, unescaped. ``seconds`` is the time-out that ran out, ``limit`` the number of bytes that an answer exceeded;
    each is 0 where it was not the reason.
    """

    method: str
    path: str
    code: int = 0
    detail: str = ""
    seconds: float = 0.0
    limit: int = 0


class ApiError(Exception):
    """A request failed, and may succeed later. The text is one line of printable ASCII, cut after 400 characters.

    ``wait`` is the number of seconds after which the API server wants to be asked again; 0 if it did not say.
    ``request`` has the facts of the request, if the error belongs to one.
    """

    def __init__(self, cause: Cause, text: str, *, wait: float = 0.0, request: FailedRequest | None = None) -> None:
        shown = escape(text)
        super().__init__(f"{shown[:_WIDTH]}..." if len(shown) > _WIDTH else shown)
        self.cause = cause
        self.wait = wait
        self.request = request


class NotServedError(ApiError):
    """The API server does not serve a kind that its client can do without."""


def escape(text: str) -> str:
    r"""The text in printable ASCII: a line break becomes ``\n``, an escape ``\x1b``.

    Texts of a server or a file reach terminals and logs, where escape sequences and line breaks must have no effect.
    """
    return _UNPRINTABLE.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)
