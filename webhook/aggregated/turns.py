"""``Turns``: the order of the reviews that wait for one another: the user who took least time lately comes first.

The rest that follows a review belongs to its turn: others wait for it, and its user is charged with it.
"""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator
from time import perf_counter
from typing import Final

from msgspec import Struct

from webhook.aggregated.review_pace import ReviewPace
from webhook.server.fair_queue import FlowUsage

WAITING: Final = 32
"""Reviews that wait at a time: with a body of 100 KiB each they take 3 MiB."""

EACH: Final = 4
"""Reviews of one user (:func:`flow_of`) that wait or are answered at a time: a pipeline asks one after another."""

TIME_USED_UP: Final = "other placement reviews used up the time; try again"
"""What a review is told that had no turn in time, or had too little time left when its turn came."""

_USERS: Final = 1024
"""Users whose usage is remembered; above that, all is forgotten but that of those who wait."""


_ACCOUNT: Final = re.compile("system:serviceaccount:[^:]+:")
"""How the user names of the service accounts of one namespace begin."""


def flow_of(username: str) -> str:
    """Who counts as one user: all service accounts of a namespace, since its users can make any number of them."""
    account = _ACCOUNT.match(username)
    return account[0] if account else username


class NoTurnError(Exception):
    """The review gets no turn; the text says why."""


class _WaitingReview(Struct, eq=False):
    """A review that waits; ``called`` is done when its turn has come."""

    user: str
    called: asyncio.Future[None]


class Turns:
    """One review is answered at a time, at the ``pace``; others wait."""

    def __init__(self, pace: ReviewPace) -> None:
        self._pace = pace
        self._usage: dict[str, FlowUsage] = {}
        self._waiting: list[_WaitingReview] = []
        self._counts: Counter[str] = Counter()
        self._busy = False

    def __len__(self) -> int:
        """How many reviews wait."""
        return len(self._waiting)

    @contextlib.asynccontextmanager
    async def turn(self, user: str, seconds: float) -> AsyncIterator[None]:
        """Wait at most so many seconds for the user's turn, which lasts as long as the context.

        Raises :class:`NoTurnError` if too many reviews wait, or the time is over.
        """
        if self._counts[user] >= EACH:
            raise NoTurnError(f"{EACH} placement reviews of yours are waiting already; try again")
        if len(self._waiting) >= WAITING:
            raise NoTurnError("too many placement reviews are waiting; try again")
        self._counts[user] += 1
        try:
            await self._called(user, seconds)
            begun, caused = perf_counter(), self._pace.caused
            try:
                yield
            finally:
                now = perf_counter()
                self._of(user).charge(now - begun + self._pace.caused - caused, now)
                self._over()
        finally:
            self._counts[user] -= 1
            if not self._counts[user]:
                del self._counts[user]

    async def _called(self, user: str, seconds: float) -> None:
        if not self._busy:
            self._busy = True
            return
        review = _WaitingReview(user, asyncio.get_running_loop().create_future())
        self._waiting.append(review)
        try:
            await asyncio.wait((review.called,), timeout=seconds)
        except asyncio.CancelledError:
            self._leave(review)
            raise
        if not review.called.done():
            self._leave(review)
            raise NoTurnError(TIME_USED_UP)

    def _leave(self, review: _WaitingReview) -> None:
        if review.called.done():  # called in the same iteration of the loop as it was cancelled
            self._over()
        else:
            self._waiting.remove(review)

    def _over(self) -> None:
        """End a turn, as soon as the rest is over."""
        if pause := self._pace.rest:
            asyncio.get_running_loop().call_later(pause, self._over)
        else:
            self._call()

    def _call(self) -> None:
        """Call the waiting review whose user took least time lately; of several, the one that has waited longest."""
        self._busy = False
        if not self._waiting:
            return
        now = perf_counter()
        first = min(self._waiting, key=lambda review: self._of(review.user).at(now))
        self._waiting.remove(first)
        self._busy = True
        first.called.set_result(None)

    def _of(self, user: str) -> FlowUsage:
        if user not in self._usage and len(self._usage) >= _USERS:
            kept = {review.user for review in self._waiting}
            self._usage = {name: usage for name, usage in self._usage.items() if name in kept}
        return self._usage.setdefault(user, FlowUsage())
