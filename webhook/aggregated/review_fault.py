"""``ReviewFaultError``: a request that gets an error, and the ``metav1.Status`` that says which."""

import math
from typing import Final

from aiohttp import hdrs, web

from webhook.admission.responses import status_body
from webhook.server.http.replies import HttpFault, json

REASONS: Final = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""The reason of Kubernetes for each error (apimachinery, ``StatusReason``)."""

_AGAIN: Final = frozenset({429, 503})
_RETRY: Final = 1.0
"""Seconds after which a request may be repeated that was refused because others came first."""


class ReviewFaultError(Exception):
    """A request that gets an error; ``close`` if its connection ends with the answer, the body unread.

    If it may be repeated, then ``after`` so many seconds, or :data:`_RETRY`.
    """

    def __init__(self, code: int, message: str, *, close: bool = False, after: float = 0.0) -> None:
        super().__init__(message)
        self.fault = HttpFault(code, message)
        self.close = close
        self.after = after

    def response(self) -> web.Response:
        """The answer, whose message kubectl shows."""
        code, message = self.fault.code, self.fault.message
        reply = json(code, status_body(code, REASONS[code], message))
        if code in _AGAIN:
            reply.headers[hdrs.RETRY_AFTER] = str(math.ceil(max(self.after, _RETRY)))
        if self.close:
            reply.force_close()
        return reply
