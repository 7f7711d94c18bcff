"""A process for each review, made by a template: answers, ends, and how often the webhook copies itself for them."""

import asyncio
import ctypes
import errno
import os
import resource
import select
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.builders import bound_pod, node
from tests.fake_clock import FakeClock
from webhook.aggregated import review_process
from webhook.aggregated.review_pace import BURST, COST, COST_OF_BYTE, REST
from webhook.aggregated.review_process import (
    IDLE,
    LEAST,
    LIFE,
    MEMORY,
    SECONDS,
    NoAnswerError,
    ReviewProcess,
)
from webhook.aggregated.review_template import ReviewedState
from webhook.cluster.judging import channel
from webhook.cluster.judging.changes import ChangeLog
from webhook.cluster.judging.forked import Forked, forked
from webhook.cluster.objects.kinds import KINDS, NODES, PODS
from webhook.placement.inventory.inventory import Inventory

pytestmark = pytest.mark.integration

ADJUSTED = Path("/proc/self/oom_score_adj")
COPY = 0.01
"""Seconds that a copy takes, by the clock of tests."""

_SUBREAPER = 36
"""The call by which orphans become children of this process, as they are of the first one (Linux, prctl.h)."""


class AskedWord(Struct, frozen=True):
    """A request of tests."""

    word: str = ""


Work = Callable[[AskedWord], bytes]


def sleepy(_request: AskedWord) -> bytes:
    """What takes a minute."""
    time.sleep(60)
    return b""


class Processes:
    """The processes for the reviews of a cluster, which are answered by ``work``; the clock stands still otherwise."""

    def __init__(self) -> None:
        self.inventory, self.changes, self.clock = Inventory(), ChangeLog(), FakeClock(1e6)
        self.kinds = dict(zip(KINDS, self.changes.kinds(), strict=True))
        self.work: Work = lambda request: request.word.encode()
        self.left: list[int | None] = []
        self.copies: list[float] = []
        self.slept: list[float] = []
        self._spent = 0.0
        self.process = self.with_fork(forked)

    def with_fork(self, fork: Callable[[Callable[[socket.socket], object]], Forked]) -> ReviewProcess:
        """Processes that are started in that way."""
        state = ReviewedState(self.inventory, self.changes, self._worked)
        self.process = ReviewProcess(
            state,
            self.copies.append,
            fork=fork,
            available=lambda: self.left.pop(0) if self.left else None,
            clock=self.clock,
            spent=self._cpu,
            sleep=self._sleep,
        )
        return self.process

    async def ask(self, word: str = "yes", seconds: float = 30.0) -> bytes:
        if rest := self.process.pace.rest:
            await self._sleep(rest)
        return bytes(await self.process.run(AskedWord(word), seconds))

    async def fails(self, **more: Any) -> NoAnswerError:
        with pytest.raises(NoAnswerError) as failed:
            await self.ask(**more)
        return failed.value

    def _worked(self, request: AskedWord) -> bytes:
        return self.work(request)

    def _cpu(self) -> float:
        self._spent += COPY  # it is asked before a copy and afterwards
        return self._spent

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.now += seconds


@pytest.fixture
async def tested() -> AsyncIterator[Processes]:
    found = Processes()
    yield found
    pid = found.process.pid
    await found.process.close()
    await found.process.close()
    if pid is not None:
        with pytest.raises(ChildProcessError):  # not even a zombie is left
            os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222 -- it does not wait


async def test_the_answer_comes_from_a_process_that_the_template_has_made(tested: Processes) -> None:
    tested.work = lambda request: f"{request.word} {os.getppid()} {os.getpid()}".encode()
    word, template, own = (await tested.ask("known")).decode().split()
    assert (word, int(template)) == ("known", tested.process.pid)
    assert int(own) not in {os.getpid(), int(template)}


async def test_a_flood_is_answered_from_one_copy_whatever_changes_meanwhile(tested: Processes) -> None:
    tested.work = lambda _: b"%d" % len(tested.inventory.nodes.nodes)
    for number in range(3):
        tested.kinds[NODES].put(tested.inventory, node(f"node-{number}"))
        assert await tested.ask() == b"%d" % (number + 1)  # an answer is never older than its question
    tested.kinds[NODES].drop(tested.inventory, "node-0")
    assert await tested.ask() == b"2"
    assert (len(tested.copies), tested.slept) == (1, [])
    assert tested.copies[0] == pytest.approx(COPY)


async def test_what_a_flood_costs_the_webhook_itself_is_bounded_as_well(tested: Processes) -> None:
    price, begun = REST * COST, tested.clock.now
    for _ in range(20):
        assert await tested.ask() == b"yes"
    assert tested.clock.now - begun == pytest.approx(19 * price - BURST, rel=0.01)
    tested.clock.now += 20 * price
    tested.slept.clear()
    for _ in range(int(BURST / price)):
        await tested.ask()  # a few in a row wait for nothing
    assert (len(tested.copies), tested.slept) == (1, [])


async def test_a_large_answer_costs_more(tested: Processes) -> None:
    tested.work = lambda _: b"x" * 8_000_000
    await tested.ask()
    await tested.ask()
    assert tested.slept == pytest.approx([REST * (COST + 8e6 * COST_OF_BYTE) - BURST], rel=0.01)


async def test_a_review_that_fails_costs_as_much(tested: Processes) -> None:
    tested.work = lambda _: bytes(1 // 0)
    for _ in range(15):
        assert (await tested.fails()).code == 500
    assert sum(tested.slept) == pytest.approx(14 * REST * COST - BURST, rel=0.01)


async def test_however_templates_end_a_rest_follows_each_copy(tested: Processes) -> None:
    def ends_its_template(_request: AskedWord) -> bytes:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
        return b""

    tested.work = ends_its_template
    begun = tested.clock.now
    for _ in range(5):
        failed = await tested.fails()
        assert (failed.code, str(failed)) == (503, ENDED)
        assert failed.after == pytest.approx(REST * COPY)
        await gone(tested)
    assert len(tested.copies) == 5
    assert tested.slept == pytest.approx([REST * COPY] * 4)
    assert tested.clock.now - begun == pytest.approx(4 * REST * COPY)


ENDED = "the process for reviews ended before the review was answered; try again in 2 seconds"


async def gone(tested: Processes) -> None:
    """Wait until the template is known to have ended."""
    async with asyncio.timeout(30):
        while tested.process.pid is not None:  # noqa: ASYNC110 -- nobody tells of it
            await asyncio.sleep(0.002)


async def test_a_review_that_cannot_wait_for_the_end_of_the_rest_is_told_so(tested: Processes) -> None:
    assert await tested.ask("a") == b"a"
    await tested.process.close()
    failed = await tested.fails(seconds=1.5)
    assert (failed.code, str(failed)) == (
        503,
        "the server starts the next process for reviews in 2 seconds; try again then",
    )
    assert failed.after == pytest.approx(REST * COPY)
    assert await tested.ask("b") == b"b"


async def test_a_review_that_waited_for_the_end_of_the_rest_has_its_whole_time_nevertheless(
    tested: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = list[float | None]()
    timeout = asyncio.timeout

    def noted(seconds: float | None) -> asyncio.Timeout:
        given.append(seconds)
        return timeout(seconds)

    assert await tested.ask("a") == b"a"
    await tested.process.close()
    tested.process._rested = tested.clock.now + 15  # noqa: SLF001 -- as after a copy of 75 ms
    monkeypatch.setattr(asyncio, "timeout", noted)
    assert await tested.ask("b", seconds=30) == b"b"
    assert (tested.slept, given[:2]) == ([15], [30, SECONDS])
    tested.process._rested = tested.clock.now + 25  # noqa: SLF001
    await tested.process.close()
    given.clear()
    assert await tested.ask("c", seconds=30) == b"c"
    assert given[:2] == [30, 5]


async def test_an_old_template_is_replaced_unless_the_last_copy_took_long(tested: Processes) -> None:
    for passed, copies in ((LIFE - 1, 1), (1, 2), (1, 2)):
        await tested.ask()
        tested.clock.now += passed
        await tested.ask()
        assert len(tested.copies) == copies
    tested.process._rested = tested.clock.now + 2 * LIFE  # noqa: SLF001 -- as after a copy of half a second
    tested.clock.now += LIFE
    await tested.ask()
    assert (len(tested.copies), tested.slept) == (2, [])


async def test_a_template_without_reviews_is_ended(tested: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_process, "IDLE", 0)
    assert await tested.ask("a") == b"a"
    await gone(tested)
    assert tested.changes.listeners == []
    monkeypatch.setattr(review_process, "IDLE", IDLE)
    assert await tested.ask("b") == b"b"
    assert len(tested.copies) == 2


async def test_a_template_that_cannot_be_told_of_a_change_is_ended(tested: Processes) -> None:
    tested.work = lambda _: b"%d" % len(list(tested.inventory.pod_uids))
    assert await tested.ask() == b"0"
    tested.kinds[PODS].put(tested.inventory, replace(bound_pod(), labels={"cannot": lambda: None}))
    assert (tested.process.pid, tested.changes.listeners) == (None, [])
    assert await tested.ask() == b"1"
    assert len(tested.copies) == 2


async def test_a_template_that_falls_behind_is_ended(tested: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await tested.ask() == b"yes"
    monkeypatch.setattr(channel, "LIMIT", 10)
    for number in range(2):
        tested.kinds[NODES].put(tested.inventory, node(f"node-{number}"))
    assert tested.process.pid is None


async def test_a_review_whose_template_is_full_has_no_answer(
    tested: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await tested.ask() == b"yes"
    monkeypatch.setattr(channel, "LIMIT", -1)
    assert (await tested.fails()).code == 503
    assert tested.process.pid is None


async def test_processes_that_get_no_core_compete_for_one_for_a_minute(
    tested: Processes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def held_up(*_: object) -> None:
        signal.pause()  # as long as no core is idle

    monkeypatch.setattr(os, "sched_setscheduler", held_up)
    monkeypatch.setattr(review_process, "PATIENCE", 0.01)
    for _ in range(3):
        assert await tested.ask() == b"yes"
    assert (len(tested.copies), tested.slept) == (2, [])
    assert caplog.messages == [
        "no core is idle: processes for placement reviews compete for one for 60 seconds",
    ]
    tested.clock.now += LIFE
    assert await tested.ask() == b"yes"
    assert len(tested.copies) == 4


async def test_a_template_that_ends_before_its_first_process_is_no_template(tested: Processes) -> None:
    def killed_when_told(channel: socket.socket) -> None:
        channel.recv(1)
        os.kill(os.getpid(), signal.SIGKILL)

    tested.with_fork(lambda _: forked(killed_when_told))
    failed = await tested.fails()
    assert (failed.code, str(failed)) == (503, ENDED)


async def test_a_large_answer_arrives_whole(tested: Processes) -> None:
    tested.work = lambda request: request.word.encode() * 1000
    assert await tested.ask("x" * 3000) == b"x" * 3_000_000


async def test_an_answer_that_is_too_large_is_said_so_and_costs_as_much(
    tested: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested.work = lambda _: b"x" * 8_000_000
    monkeypatch.setattr(review_process, "ANSWER_LIMIT", 1 << 20)
    failed = await tested.fails()
    assert (failed.code, str(failed)) == (
        413,
        "the answer would be over 1 MiB; ask about fewer manifests at a time",
    )
    assert tested.process.pace.caused >= REST * (COST + (1 << 20) * COST_OF_BYTE)


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.Timeout]:
    """The ends of the time of reviews, which come when a test says so and not by the clock."""
    timeout, found = asyncio.timeout, list[asyncio.Timeout]()

    def noted(_: float | None) -> asyncio.Timeout:
        found.append(timeout(60))
        return found[-1]

    monkeypatch.setattr(asyncio, "timeout", noted)
    return found


async def late(tested: Processes, ends: list[asyncio.Timeout], state: str, seconds: float = 1.0) -> NoAnswerError:
    """The error of a review whose time is over once its process is in that state, and had half of a short time."""
    asking = asyncio.create_task(tested.fails(word="long", seconds=seconds))
    while len(ends) < len(("all", "the answer", "its beginning")):  # noqa: ASYNC110 -- nobody tells of it
        await asyncio.sleep(0.002)
    while not (found := tested.process._running):  # noqa: SLF001, ASYNC110 -- the same
        await asyncio.sleep(0.002)
    stat = Path(f"/proc/{found}/stat")
    while True:
        fields = (await asyncio.to_thread(stat.read_text)).rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        if fields[0] == state and (state != "R" or ticks >= os.sysconf("SC_CLK_TCK") * seconds / 2):
            break
        await asyncio.sleep(0.002)
    ends[1].reschedule(asyncio.get_running_loop().time())
    return await asking


def busy(_request: AskedWord) -> bytes:
    """Keeps a core busy until it is killed."""
    while True:
        pass


@pytest.mark.parametrize(("work", "state"), [(sleepy, "S"), (busy, "R")])
async def test_a_process_that_takes_too_long_is_killed_and_its_template_answers_the_next_review(
    tested: Processes, ends: list[asyncio.Timeout], work: Work, state: str
) -> None:
    tested.work = lambda request: work(request) if request.word == "long" else b"short"
    failed = await late(tested, ends, state, 0.05)
    assert (failed.code, str(failed)) == (
        504,
        "the review took longer than 0.05 seconds; ask about fewer manifests at a time",
    )
    assert await tested.ask() == b"short"
    assert len(tested.copies) == 1


def stopped(_request: AskedWord) -> bytes:
    """What has no core any more."""
    os.kill(os.getpid(), signal.SIGSTOP)
    return b""


@pytest.mark.parametrize("idle", [True, False])
async def test_a_process_that_starves_is_no_long_review(
    tested: Processes, ends: list[asyncio.Timeout], *, idle: bool
) -> None:
    """It is told when to try again; a template that runs on idle cores only is replaced by one that competes."""
    tested.work = lambda request: stopped(request) if request.word == "long" else b"short"
    tested.process._busy_until = 0.0 if idle else tested.clock.now + LIFE  # noqa: SLF001 -- as after a starved one
    failed = await late(tested, ends, "T", 10.0)
    assert (failed.code, str(failed), failed.after) == (503, STARVED, SECONDS)
    assert await tested.ask() == b"short"
    template = tested.process._template  # noqa: SLF001 -- whether it competes shows in no answer
    assert template is not None
    assert (len(tested.copies), template.idle) == (1 + idle, False)


STARVED = "the webhook has no time for reviews now; try again in 10 seconds"


async def test_a_process_that_never_begins_starves(tested: Processes, ends: list[asyncio.Timeout]) -> None:
    def never(channel: socket.socket) -> None:
        channel.recv(1)
        signal.pause()

    tested.with_fork(lambda _: forked(never))
    asking = asyncio.create_task(tested.fails())
    while len(ends) < len(("all", "the answer", "its beginning")):  # noqa: ASYNC110 -- nobody tells of it
        await asyncio.sleep(0.002)
    ends[1].reschedule(asyncio.get_running_loop().time())
    failed = await asking
    assert (failed.code, str(failed)) == (503, STARVED)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "1 second"), (119.0, "119 seconds"), (119.5, "2 minutes"), (998.2, "17 minutes")]
)
async def test_a_wait_is_told_in_words(tested: Processes, seconds: float, said: str) -> None:
    tested.process._rested = tested.clock.now + seconds  # noqa: SLF001 -- as after a copy of that length
    failed = await tested.fails(seconds=0.1)
    assert str(failed) == f"the server starts the next process for reviews in {said}; try again then"
    assert failed.after == pytest.approx(seconds)


def test_a_process_that_has_ended_does_not_starve() -> None:
    ended = os.fork()
    if not ended:
        os._exit(0)
    os.waitpid(ended, 0)
    assert not review_process._starves(ended, 10.0)  # noqa: SLF001 -- its end comes between two looks


async def test_a_process_that_fails_or_takes_too_much_memory_has_no_answer(
    tested: Processes, capfd: pytest.CaptureFixture[str]
) -> None:
    tested.work = lambda request: bytes(1 // 0) if request.word == "wrong" else bytes(4 * MEMORY)
    for word, said in (("wrong", "ZeroDivisionError"), ("large", "MemoryError")):
        failed = await tested.fails(word=word)
        assert (failed.code, "the log of the server has the details" in str(failed)) == (500, True)
        assert said in capfd.readouterr().err
    assert len(tested.copies) == 1


async def test_a_process_has_no_more_memory_than_the_container_and_ends_first(
    tested: Processes, capfd: pytest.CaptureFixture[str]
) -> None:
    tested.work = lambda request: bytes(2 * LEAST) if request.word == "large" else ADJUSTED.read_bytes()
    tested.left = [LEAST, LEAST]
    assert await tested.ask() == b"1000\n"
    of_template = Path(f"/proc/{tested.process.pid}/oom_score_adj")
    assert await asyncio.to_thread(of_template.read_bytes) == b"900\n"
    assert await asyncio.to_thread(ADJUSTED.read_bytes) not in {b"900\n", b"1000\n"}
    assert "needed too much memory" in str(await tested.fails(word="large"))
    assert "MemoryError" in capfd.readouterr().err


async def test_without_memory_no_process_is_started(tested: Processes, caplog: pytest.LogCaptureFixture) -> None:
    tested.left = [LEAST - 1]
    failed = await tested.fails()
    assert (failed.code, str(failed)) == (
        503,
        "the webhook has too little memory left for a review; a higher resources.limits.memory helps",
    )
    assert f"{LEAST - 1} bytes of memory are left" in caplog.text
    assert tested.copies == []


async def test_a_template_gives_its_memory_back_if_there_is_little_left(tested: Processes) -> None:
    assert await tested.ask() == b"yes"
    tested.left = [LEAST - 1, LEAST - 1]
    assert (await tested.fails()).code == 503
    assert tested.process.pid is None
    assert await tested.ask() == b"yes"
    tested.left = [LEAST - 1, LEAST]
    assert await tested.ask("enough") == b"enough"
    assert len(tested.copies) == 3


async def test_a_system_that_starts_no_process_is_said_so(tested: Processes) -> None:
    def refused(_work: object) -> Forked:
        raise BlockingIOError("no more processes")

    tested.with_fork(refused)
    failed = await tested.fails()
    assert (failed.code, str(failed)) == (503, "the server could not start a process for the review; try again")


async def test_a_system_without_descriptors_is_said_so(tested: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> Any:
        raise OSError(errno.EMFILE, "too many open files")

    assert await tested.ask() == b"yes"
    with monkeypatch.context() as patched:
        patched.setattr(socket, "socketpair", none_left)
        assert "could not start a process for the review" in str(await tested.fails())
    with monkeypatch.context() as patched:
        patched.setattr(os, "dup", none_left)
        assert "the process for reviews ended before the review was answered" in str(await tested.fails())
    assert await tested.ask("again") == b"again"


async def test_a_process_that_is_reset_has_no_answer(tested: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reset(_channel: object, _answer: bytearray) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(review_process, "_receive", reset)
    assert (await tested.fails()).code == 500


async def test_an_answer_that_breaks_off_is_none(tested: Processes) -> None:
    """Its process was killed while it spoke."""

    def cut(_request: AskedWord) -> bytes:
        for file in Path("/proc/self/fd").iterdir():
            if os.path.realpath(file).startswith("/proc/") and "socket:" in str(file.readlink()):
                os.write(int(file.name), b'201{"kind": "Placement')
        os._exit(0)

    tested.work = cut
    assert (await tested.fails()).code == 500


async def test_template_and_process_keep_nothing_open_but_their_sockets(tested: Processes) -> None:
    def open_sockets(_request: AskedWord) -> bytes:
        return " ".join(sorted(file.name for file in Path("/proc/self/fd").iterdir())).encode()

    tested.work = open_sockets
    with socket.create_server(("127.0.0.1", 0)):
        numbers = (await tested.ask()).decode().split()
        assert sum(int(number) > 2 for number in numbers) == len(("its socket", "the folder that is listed"))
        of_template = await asyncio.to_thread(os.listdir, f"/proc/{tested.process.pid}/fd")
        assert sum(int(number) > 2 for number in of_template) == len(("its socket",))


async def test_a_process_whose_template_is_killed_ends_and_is_waited_for(tested: Processes) -> None:
    call = ctypes.CDLL(None).prctl
    call(_SUBREAPER, 1)
    try:
        tested.work = sleepy
        asking = asyncio.create_task(tested.fails())
        process = await child_of(tested)
        ending, template = os.pidfd_open(process), tested.process.pid
        assert template is not None
        os.kill(template, signal.SIGKILL)
        assert (await asking).code == 503
        await gone(tested)
        assert await asyncio.to_thread(select.select, [ending], [], [], 30)
        os.close(ending)
        await tested.process.close()
        for pid in (template, process):
            with pytest.raises(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222 -- it does not wait
    finally:
        call(_SUBREAPER, 0)


async def child_of(tested: Processes) -> int:
    """The process that the template has made, once there is one."""
    async with asyncio.timeout(30):
        while True:
            children = Path(f"/proc/{tested.process.pid}/task/{tested.process.pid}/children")
            if tested.process.pid and (found := (await asyncio.to_thread(children.read_text)).split()):
                return int(found[0])
            await asyncio.sleep(0.002)


def test_only_the_process_has_less_memory() -> None:
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
