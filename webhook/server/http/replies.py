"""HTTP responses of the server: JSON, plain text, and errors as the ``metav1.Status`` that the API server shows."""

from typing import Final

from aiohttp import web
from aiohttp.helpers import rfc822_formatted_time
from msgspec import Struct

from webhook.admission.responses import status_body
from webhook.server.http.long_body import LongBody

REASONS: Final = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    500: "InternalError",
    503: "ServiceUnavailable",
}
"""The reason of Kubernetes for each HTTP error of this server (apimachinery, ``StatusReason``)."""

SERVER: Final = "streams-placement"
"""Value of the header ``Server``: without a version, which would help only attackers who look for old versions."""

_JSON: Final = {"Content-Type": "application/json", "Server": SERVER}
_TEXT: Final = {"Content-Type": "text/plain; charset=utf-8", "Server": SERVER}


_OK: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: streams-placement\r\n"
    b"Content-Length: %d\r\nDate: %b\r\n\r\n%b"
)
"""A whole response of :func:`json` with status 200, as aiohttp writes it; length, date and body are to be filled in."""


class HttpFault(Struct, frozen=True, gc=False):
    """Why a request is answered with an HTTP error: the status code, and a message for the user."""

    code: int
    message: str


def json(status: int, body: bytes | bytearray) -> web.Response:
    """A response with a body that is JSON already."""
    return web.Response(status=status, body=body, headers=_JSON)


def long_json(status: int, body: bytes | bytearray) -> web.Response:
    """The same response, sent in pieces between which other requests are answered."""
    return web.Response(status=status, body=LongBody(body), headers=_JSON)


def ok_bytes(body: bytes) -> bytes:
    """All bytes of the response 200 with a body that is JSON already: what aiohttp writes for that of :func:`json`."""
    return _OK % (len(body), rfc822_formatted_time().encode(), body)


def text(status: int, message: str) -> web.Response:
    """A response with one line of plain text, for people and probes."""
    return web.Response(status=status, body=f"{message}\n".encode(), headers=_TEXT)


def failure(fault: HttpFault) -> web.Response:
    """The error response for a fault: a ``metav1.Status``, whose message the API server shows to the user."""
    return json(fault.code, status_body(fault.code, REASONS[fault.code], fault.message))
