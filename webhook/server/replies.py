"""HTTP answers: a review's, and errors in the API server's own words."""

from typing import Final

from aiohttp import web
from msgspec import Struct

from webhook.admission.responses import status_body

REASONS: Final = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    500: "InternalError",
    503: "ServiceUnavailable",
}
"""Kubernetes' reason for each HTTP error of this server (apimachinery, ``StatusReason``)."""

SERVER: Final = "streams-placement"
"""Names the program, not its version: a version only helps those who look for old ones."""

_JSON: Final = {"Content-Type": "application/json", "Server": SERVER}
_TEXT: Final = {"Content-Type": "text/plain; charset=utf-8", "Server": SERVER}


class HttpFault(Struct, frozen=True, gc=False):
    """Why a request is not answered: an HTTP status and a text for the person who will read it."""

    code: int
    message: str


def json(status: int, body: bytes) -> web.Response:
    """A JSON body as it is."""
    return web.Response(status=status, body=body, headers=_JSON)


def text(status: int, message: str) -> web.Response:
    """A line of plain text, for people and probes."""
    return web.Response(status=status, body=f"{message}\n".encode(), headers=_TEXT)


def failure(fault: HttpFault) -> web.Response:
    """The fault as a ``metav1.Status``: the API server shows its message to the user."""
    return json(fault.code, status_body(fault.code, REASONS[fault.code], fault.message))
