"""Who is decided about next, when there is more to decide than one core can do at once.

A decision runs on the event loop and cannot be interrupted. So while others wait, one decision is made in a turn of the
loop, and in between requests are read: whoever used the least time lately goes first. Time is charged to the client's
address, to its connection, and to the namespace that a review names (fair queueing, as in the API server's priority and
fairness): floods that come through the API server come on its connections, and differ in nothing but the namespace.
Namespaces are what the client claims; they count within its address only.
"""

import asyncio
import math
from collections.abc import Hashable
from time import perf_counter
from typing import Final

from msgspec import Struct

SLICE: Final = 0.010
"""Seconds of decisions in one turn of the loop until later ones have to wait: some fifty usual ones."""

HALF_LIFE: Final = 2.0
"""Seconds after which half of the time that somebody used is forgotten."""

_ACCOUNTS: Final = 4096
"""Addresses and namespaces that are told apart; when there are more, those that used next to nothing are forgotten."""

_NOTHING: Final = 0.001
"""Seconds of use that are next to nothing."""

_NAMESPACE: Final = b'"namespace":"'
_WITHIN: Final = 4096
"""Bytes at the beginning of a review among which its namespace stands: the API server writes it before the object."""

_NAME_LIMIT: Final = 63
"""Characters of a namespace (DNS label)."""


class Account:
    """Seconds of decisions that somebody used lately."""

    __slots__ = ("_at", "_seconds")

    def __init__(self) -> None:
        self._seconds = self._at = 0.0

    def charge(self, seconds: float, now: float) -> None:
        """Add so many seconds, at that ``perf_counter`` time."""
        self._seconds = seconds + self.owed(now)
        self._at = now

    def owed(self, now: float) -> float:
        """What is left of it."""
        return self._seconds * math.exp2((self._at - now) / HALF_LIFE)


class Asker(Struct, frozen=True, eq=False):
    """A connection, with the address of its client: what was used for each of the two."""

    address: str
    everyone: Account
    own: Account


class _Turn(Struct, eq=False):
    """A review that waits to be decided; ``kin`` is what the namespace that it names has used."""

    asker: Asker
    kin: Account
    come: asyncio.Future[None]


class Turns:
    """The order of decisions on one event loop."""

    def __init__(self) -> None:
        self._accounts: dict[Hashable, Account] = {}
        self._waiting: list[_Turn] = []
        self._spent = 0.0
        self._ending = False

    def __len__(self) -> int:
        """How many reviews wait."""
        return len(self._waiting)

    @property
    def free(self) -> bool:
        """Whether a decision can be made at once: nobody waits, and this turn of the loop has time left."""
        return not self._waiting and self._spent < SLICE

    def asker(self, address: str) -> Asker:
        """A new connection of that address."""
        return Asker(address, self._account(address), Account())

    async def wait(self, asker: Asker, body: bytes | bytearray, seconds: float) -> Account | None:
        """Wait to be the next, and no longer than so many seconds: ``None`` then, else the account of its namespace."""
        turn = _Turn(
            asker, self._account((asker.address, namespace_of(body))), asyncio.get_running_loop().create_future()
        )
        self._waiting.append(turn)
        self._end_soon()
        try:
            await asyncio.wait((turn.come,), timeout=seconds)
        finally:
            if not turn.come.done():
                self._waiting.remove(turn)
        return turn.kin if turn.come.done() else None

    def charge(self, seconds: float, asker: Asker, kin: Account | None = None) -> None:
        """A decision took so long."""
        self._spent += seconds
        now = perf_counter()
        asker.everyone.charge(seconds, now)
        asker.own.charge(seconds, now)
        if kin is not None:
            kin.charge(seconds, now)
        self._end_soon()

    def _end_soon(self) -> None:
        if not self._ending:
            self._ending = True
            asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        """A turn of the loop is over; in the next one whoever used least is decided about."""
        self._ending = False
        self._spent = 0.0
        if self._waiting:
            now = perf_counter()
            first = min(
                self._waiting,
                key=lambda turn: (turn.asker.everyone.owed(now), turn.asker.own.owed(now) + turn.kin.owed(now)),
            )
            self._waiting.remove(first)
            first.come.set_result(None)
            self._end_soon()

    def _account(self, whose: Hashable) -> Account:
        found = self._accounts.get(whose)
        if found is None:
            if len(self._accounts) >= _ACCOUNTS:
                self._forget()
            found = self._accounts[whose] = Account()
        return found

    def _forget(self) -> None:
        """Forget accounts of next to nothing; all, where somebody makes up more names than are told apart."""
        now = perf_counter()
        left = {whose: account for whose, account in self._accounts.items() if account.owed(now) > _NOTHING}
        self._accounts = left if len(left) < _ACCOUNTS // 2 else {}


def namespace_of(body: bytes | bytearray) -> bytes:
    """The namespace that the review names, as far as it is read without decoding it; empty where there is none."""
    at = body.find(_NAMESPACE, 0, _WITHIN)
    if at < 0:
        return b""
    start = at + len(_NAMESPACE)
    end = body.find(b'"', start, start + _NAME_LIMIT + 1)
    return bytes(body[start:end]) if end >= 0 else b""
