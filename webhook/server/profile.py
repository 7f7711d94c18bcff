"""What the event loop spends its time on, as the health port answers it (``docs/operations.md``, Health)."""

import asyncio
import cProfile
import io
import pstats
from typing import Final

from webhook.placement.kube.numbers import integer

PAGE: Final = "/debug/profile"
"""The path of the profile, ``/debug/profile?seconds=5``; Go's programs have ``/debug/pprof/profile``."""

MOST: Final = 30
"""Seconds that a profile takes at most: meanwhile each call of a function costs some 0.1 µs more."""

_DEFAULT: Final = 5
_FUNCTIONS: Final = 60
"""Functions that are listed, those first in which most time was spent."""


class ProfileError(Exception):
    """Why there is no profile, in a sentence, with the HTTP status that says so."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Profiler:
    """Takes profiles of the thread of the event loop, one at a time."""

    def __init__(self) -> None:
        self._busy = False

    async def take(self, query: str) -> str:
        """A table of functions after the seconds of the query, ``seconds=5``; raises :class:`ProfileError`."""
        seconds = _seconds(query)
        if self._busy:
            raise ProfileError(503, "another profile is being taken; try again")
        profile = cProfile.Profile()
        self._busy = True
        try:
            try:
                profile.enable()
            except ValueError:  # a debugger, or coverage, since Python 3.12
                raise ProfileError(503, "another tool watches the calls of this process") from None
            try:
                await asyncio.sleep(seconds)
            finally:
                profile.disable()
        finally:
            self._busy = False
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(_FUNCTIONS)
        return text.getvalue().strip()


def _seconds(query: str) -> int:
    """The seconds that a query asks for."""
    name, _, value = (query or f"seconds={_DEFAULT}").partition("=")
    seconds = integer(value) if name == "seconds" else None
    if seconds is None or not 0 < seconds <= MOST:
        raise ProfileError(400, f"ask for seconds=1 to seconds={MOST}")
    return seconds
