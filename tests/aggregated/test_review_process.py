"""A process for each review: its answer, its end, and what becomes of one that takes too long or too much."""

import os
import resource
import time

import pytest

from webhook.aggregated import review_process
from webhook.aggregated.review_process import NoAnswerError, ReviewProcess
from webhook.cluster.judging.forked import Forked


def sleepy() -> bytes:
    """What takes a minute."""
    time.sleep(60)
    return b""


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
