"""A process for each review: its answer, its end, and what becomes of one that takes too long or too much."""

import asyncio
import os
import resource
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from webhook.aggregated import review_process
from webhook.aggregated.review_process import NoAnswerError, ReviewProcess
from webhook.cluster.judging.forked import Forked, forked

ADJUSTED = Path("/proc/self/oom_score_adj")


def sleepy() -> bytes:
    """What takes a minute."""
    time.sleep(60)
    return b""


async def test_an_answer_that_breaks_off_is_none() -> None:
    """Its process was killed while it spoke."""

    def half(act: Callable[[socket.socket], object]) -> Forked:
        def speak(channel: socket.socket) -> None:
            channel.sendall(b'201{"kind": "Placement')

        assert act
        return forked(speak)

    with pytest.raises(NoAnswerError, match="the review failed or needed too much memory"):
        await ReviewProcess(half).run(lambda: b"x")


async def test_the_answer_comes_from_another_process_which_ends() -> None:
    process = ReviewProcess()
    assert int(await process.run(lambda: str(os.getpid()).encode())) != os.getpid()
    await process.close()
    await process.close()


async def test_a_large_answer_arrives_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    process = ReviewProcess()
    assert await process.run(lambda: b"x" * 3_000_000) == b"x" * 3_000_000
    monkeypatch.setattr(review_process, "ANSWER_LIMIT", 1000)
    with pytest.raises(NoAnswerError, match="the review failed or needed too much memory"):
        await process.run(lambda: b"x" * 1001)
    await process.close()


async def test_a_process_that_takes_too_long_is_killed() -> None:
    process = ReviewProcess()
    with pytest.raises(NoAnswerError, match="the review took longer than 0.05 seconds") as late:
        await process.run(sleepy, 0.05)
    assert late.value.code == 504
    before = time.monotonic()
    await process.close()
    assert time.monotonic() < before + 10


async def test_a_process_that_fails_or_takes_too_much_memory_has_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    process = ReviewProcess()
    for work, said in (
        (lambda: bytes(1 // 0), "ZeroDivisionError"),
        (lambda: bytes(4 * review_process.MEMORY), "MemoryError"),
    ):
        with pytest.raises(NoAnswerError, match="the log of the server has the details") as failed:
            await process.run(work)
        await process.close()
        assert failed.value.code == 500
        assert said in capfd.readouterr().err


async def test_a_process_has_no_more_memory_than_the_container_and_ends_first(
    capfd: pytest.CaptureFixture[str],
) -> None:
    process = ReviewProcess(left=lambda: review_process.LEAST)
    assert await process.run(ADJUSTED.read_bytes) == b"1000\n"
    assert await asyncio.to_thread(ADJUSTED.read_bytes) != b"1000\n"
    with pytest.raises(NoAnswerError, match="needed too much memory"):
        await process.run(lambda: bytes(2 * review_process.LEAST))
    await process.close()
    assert "MemoryError" in capfd.readouterr().err


async def test_without_memory_no_process_is_started(caplog: pytest.LogCaptureFixture) -> None:
    process = ReviewProcess(left=lambda: review_process.LEAST - 1)
    with pytest.raises(NoAnswerError) as failed:
        await process.run(lambda: b"x")
    assert (failed.value.code, str(failed.value)) == (
        503,
        "the webhook has too little memory left for a review; a higher resources.limits.memory helps",
    )
    assert f"{review_process.LEAST - 1} bytes of memory are left" in caplog.text


async def test_a_rest_follows_the_start_of_each_process() -> None:
    begun: list[float] = []
    ended: list[float] = []
    burnt = 0.01

    def slow_fork(work: Callable[[socket.socket], object]) -> Forked:
        begun.append(time.perf_counter())
        since = time.thread_time()
        while time.thread_time() < since + burnt:
            pass
        child = forked(work)
        ended.append(time.perf_counter())
        return child

    process = ReviewProcess(slow_fork)
    for _ in range(2):
        assert await process.run(lambda: b"x") == b"x"
    await process.close()
    assert begun[1] - ended[0] >= review_process.REST * burnt


async def test_a_system_that_starts_no_process_is_said_so() -> None:
    def refused(_work: object) -> Forked:
        raise BlockingIOError("no more processes")

    with pytest.raises(NoAnswerError, match="the server could not start a process for the review; try again") as failed:
        await ReviewProcess(refused).run(lambda: b"")
    assert failed.value.code == 503


async def test_a_process_that_is_reset_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def reset(_channel: object) -> bytes:
        raise ConnectionResetError

    monkeypatch.setattr(review_process, "_received", reset)
    with pytest.raises(NoAnswerError, match="the review failed"):
        await ReviewProcess().run(lambda: b"x")


def test_only_the_process_has_less_memory() -> None:
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
