"""``RequestError``: why a request is refused, as data; the answer is a problem document (RFC 9457).

A problem document is JSON of the media type ``application/problem+json``. ``errors`` has an entry for each mistake,
with the field, its value and the rule that it breaks (``docs/rest.md``, Errors).
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import web
from msgspec import Struct

from webhook.placement.text.problem import quote, shorten
from webhook.server.http.replies import SERVER, HttpFault

MEDIA_TYPE: Final = "application/problem+json"

SHOWN: Final = 16
"""Mistakes that an answer names at most."""

_TEXT_LIMIT: Final = 400
"""Characters of one rule: a rule that quotes a text of the user cuts it, and no rule is longer. The path of an unknown
field is a text of the user, too."""

_VALUE_LIMIT: Final = 80
"""Characters of a value that an answer quotes."""

_CODE: Final[Mapping[int, str]] = {status.value: status.phrase for status in HTTPStatus}


class FieldError(Struct, frozen=True, omit_defaults=True):
    """One mistake: the path of the field, the value as text, and the rule; without a value the field is missing."""

    field: str
    rule: str
    value: str | None = None


class ProblemDocument(Struct, frozen=True):
    """The body of an answer about a refused request (RFC 9457)."""

    title: str
    status: int
    detail: str
    errors: tuple[FieldError, ...]
    type: str = "about:blank"


class RequestError(Exception):
    """A request is refused with an HTTP status; ``errors`` say why, ``headers`` go into the answer."""

    def __init__(self, status: int, errors: Iterable[FieldError], headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.errors = tuple(errors)[:SHOWN]
        self.headers = headers or {}
        super().__init__("; ".join(f"{each.field}: {each.rule}" for each in self.errors))

    def document(self) -> bytes:
        """The problem document as JSON, in printable ASCII."""
        errors = tuple(
            FieldError(
                shorten(each.field, _TEXT_LIMIT),
                shorten(each.rule, _TEXT_LIMIT),
                None if each.value is None else shorten(each.value, _VALUE_LIMIT),
            )
            for each in self.errors
        )
        detail = "; ".join(f"{each.field}: {each.rule}" for each in errors)
        return msgspec.json.encode(ProblemDocument(_CODE[self.status], self.status, detail, errors))

    def response(self) -> web.Response:
        """The answer."""
        return problem_response(self.status, self.document(), self.headers)


def refused(status: int, field: str, rule: str, value: str | None = None) -> RequestError:
    """The error of one mistake; ``rule`` begins with the quoted value, if there is one."""
    text = rule if value is None else f"{quote(value, _VALUE_LIMIT)} {rule}"
    return RequestError(status, (FieldError(field, text, value),))


def problem_response(status: int, document: bytes, headers: Mapping[str, str] | None = None) -> web.Response:
    """The answer with a problem document."""
    fixed = {"Content-Type": MEDIA_TYPE, "Server": SERVER, "Cache-Control": "no-store"}
    return web.Response(status=status, body=document, headers={**fixed, **(headers or {})})


def fault_response(fault: HttpFault) -> web.Response:
    """The answer to an unreadable request: not HTTP, or with too large a header."""
    return refused(fault.code, "request", fault.message).response()
