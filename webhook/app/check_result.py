"""``CheckResult``: one question of ``check`` to an API server, and what was wrong with the answer."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause
from webhook.server.fatal_error import FatalError

CONTRADICTION: Final = 'hostColocation("check"), hostExlocation("check")'
"""A placement that no cluster can satisfy."""

_SAYS: Final = "contradict each other"
"""Part of the refusal."""

_OURS: Final = "placement.streams.ibm.com"
"""The end of the names of the webhooks, which the API server puts in front of a refusal."""


class CheckResult(Struct, frozen=True):
    """One question to the API server: ``ok``, or what was wrong in ``message``.

    Without ``served`` it was about a kind that the API server does not serve. That is not a fault: its definition may
    be installed later.
    """

    name: str
    ok: bool
    message: str
    milliseconds: float
    served: bool = True


async def timed(name: str, ask: Callable[[], Awaitable[str]]) -> CheckResult:
    """The result of one question, which returns what is wrong."""
    began = time.perf_counter()
    try:
        wrong = await ask()
    except ApiError as failure:
        if failure.cause in {Cause.UNREACHABLE, Cause.UNAUTHORIZED}:
            raise FatalError(str(failure)) from failure
        wrong = str(failure)
    return CheckResult(name, not wrong, wrong, round((time.perf_counter() - began) * 1e3, 1))


def is_our_refusal(failure: ApiError) -> bool:
    """Whether the webhook refused the contradiction."""
    detail = failure.request.detail if failure.request else ""
    return _OURS in detail and _SAYS in detail
