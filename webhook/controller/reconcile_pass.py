"""One pass of a reconciler over an object that may change or disappear while the pass goes on."""

import contextlib
from collections.abc import Awaitable, Callable

from kubeapi.client.errors import ApiError, Cause
from webhook.controller.reconciler_settings import SOON


async def one_pass(advance: Awaitable[float | None], refresh: Callable[[], Awaitable[object]]) -> float | None:
    """Await ``advance``; returns the seconds until the next pass, ``None`` if only a change needs one.

    If the object is gone or has changed, the next pass is due soon; a changed object is read again by ``refresh``.
    Raises :class:`ApiError` for any other failure of a request.
    """
    try:
        return await advance
    except ApiError as failure:
        if failure.cause is Cause.MISSING:
            return SOON  # the watch will say that it is gone
        if failure.cause is not Cause.CONFLICT:
            raise
        with contextlib.suppress(ApiError):
            await refresh()
        return SOON
