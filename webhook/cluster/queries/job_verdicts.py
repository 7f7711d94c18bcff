"""``JobVerdicts``: decides whether whole Jobs can run while other reviews are answered.

A search is done in slices of half a millisecond, between which other reviews are answered; integer programs are solved
in a thread, as HiGHS does not hold the interpreter's lock. One Job is judged at a time, so that a flood of hard ones
takes one core at most; the time that a Job waits for its turn counts as its own.
"""

import asyncio
import concurrent.futures
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from kubeapi.client.decoding import inspect_types
from kubeapi.clock import Clock
from webhook.admission.answer import Answer, WholeQuestion
from webhook.placement.planning.search.steps import Result

SLICE: Final = 0.0005
"""Seconds of a search after which other reviews have their turn: five of them take as long."""

SHARE: Final = 0.005
"""Seconds for which a search waits at most after a slice, while others have something to do at every turn.

The review of a pod takes several turns of the event loop: with a slice after each of them it would take as many slices.
"""

IDLE: Final = 0.00005
"""Seconds of a turn of the event loop in which others did nothing: it takes some 0.02 ms."""

SECONDS: Final = 1.0
"""Seconds in which a Job is judged, unless a setting says otherwise."""

Found = TypeVar("Found")

_log = logging.getLogger(__name__)


async def searched(search: Callable[[], Awaitable[Found]]) -> Found:
    """The result of a search in slices; one that fails is made once more.

    Between two slices nodes and pods come and go, so a search may look for a node that does not exist any more, or for
    a conflict that has ended. The second search begins with what is true now; an error in the program comes again.
    """
    try:
        return await search()
    except (LookupError, ValueError):
        _log.info("a search failed, and is made again: the cluster may have changed meanwhile", exc_info=True)
    return await search()


class JobVerdicts:
    """Answers questions about whole Jobs, each in at most so many ``seconds``.

    ``took`` is called with the seconds of each answer, with the wait for its turn.
    """

    def __init__(self, seconds: float = SECONDS, took: Callable[[float], object] = lambda _: None) -> None:
        self._turn = asyncio.Lock()
        self._took = took
        self._searches = ThreadSearches(seconds)

    async def find(self, question: WholeQuestion, *, since: float | None = None) -> Answer:
        """The answer to the review that the question belongs to; the time counts from ``since``, or else from now."""
        begun = time.monotonic() if since is None else since
        search = self._searches(begun)
        async with self._turn:
            answer = await searched(lambda: question.resume(search))
        self._took(time.monotonic() - begun)
        return answer


class ThreadSearches:
    """Searches in a thread of its own: called, it begins a search of at most so many ``seconds``.

    The time counts from ``since`` on the monotonic clock, or else from the call.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        inspect_types()  # before the thread decodes templates beside the event loop
        self._thread = concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="programs")

    def __call__(self, since: float | None = None) -> "InThread":
        """The search that begins now."""
        begun = time.monotonic() if since is None else since
        return InThread(begun + self._seconds, self._thread)


class InThread:
    """Searches in a thread until the monotonic clock reaches ``end``."""

    def __init__(self, end: float, thread: concurrent.futures.Executor) -> None:
        self._end = end
        self._thread = thread
        self._rested = time.monotonic()

    def left(self) -> float:
        """Seconds that are left."""
        return self._end - time.monotonic()

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of the work, which the thread does while others go on."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def rest(self) -> None:
        """Let others work, once a slice of time is over, until they are idle or have had their share."""
        now = time.monotonic()
        if now - self._rested < SLICE:
            return
        end = now + SHARE
        busy = True
        while busy and now < end:
            begun = now
            await asyncio.sleep(0)
            now = time.monotonic()
            busy = now - begun > IDLE
        self._rested = now


class AtOnce:
    """Searches at once, for programs that have nothing else to do; in so many ``seconds`` in all, by the ``clock``."""

    def __init__(self, seconds: float = SECONDS, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Seconds that are left."""
        return self._end - self._clock()

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of the work."""
        return work()

    async def rest(self) -> None:
        """Runs at once: no other work shares the thread."""
