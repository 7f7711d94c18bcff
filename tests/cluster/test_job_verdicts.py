"""Verdicts on whole Jobs while other reviews go on."""

import asyncio
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from tests.fake_clock import FakeClock
from tests.placement.planning.search.hard_problem import hard_problem
from webhook.admission.answer import Answer, Outcome, WholeQuestion
from webhook.cluster.queries import job_verdicts
from webhook.cluster.queries.job_verdicts import SHARE, SLICE, AtOnce, JobVerdicts, ThreadSearches
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.planning.search.assignment import AssignmentProblem, Block
from webhook.placement.planning.search.solver import Solving, assign, finished

ALLOWED = Answer(200, b"{}", Outcome.ALLOWED)

SMALL = AssignmentProblem(np.arange(1), np.array([[1]]), (Block(1, np.array([True]), (1,)),))


def question(problem: AssignmentProblem, told: list[bool]) -> WholeQuestion:
    async def resume(solving: Solving) -> Answer:
        told.append((await assign(problem, solving)).decided)
        return ALLOWED

    return WholeQuestion(resume)


async def test_an_easy_job_is_decided_about() -> None:
    told: list[bool] = []
    assert await JobVerdicts(1.0).find(question(SMALL, told)) is ALLOWED
    assert told == [True]


async def test_it_is_told_how_long_an_answer_took_from_the_beginning_of_the_review() -> None:
    took: list[float] = []
    await JobVerdicts(1.0, took.append).find(question(SMALL, []), since=time.monotonic() - 0.5)
    assert 0.5 <= took[0] < 1.5


async def test_others_go_on_while_a_hard_job_is_decided_about_and_the_time_is_kept() -> None:
    told: list[bool] = []
    begun = time.monotonic()
    deciding = asyncio.create_task(JobVerdicts(0.5).find(question(hard_problem(), told)))
    turns = 0
    while not deciding.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert (told, turns > 20, time.monotonic() - begun < 5) == ([False], True, True)


async def test_a_job_that_waits_too_long_for_its_turn_is_not_decided_about() -> None:
    verdicts, first, second = JobVerdicts(0.2), list[bool](), list[bool]()
    hard = question(hard_problem(), first), question(hard_problem(), second)
    await asyncio.gather(*map(verdicts.find, hard))
    assert (first, second) == ([False], [False])


async def test_a_search_that_fails_is_made_once_more() -> None:
    """The cluster may have changed under it; an error in the program comes again."""
    failures = [KeyError("a node that has gone"), ValueError("a conflict that has ended"), KeyError("an error")]

    async def resume(_solving: Solving) -> Answer:
        if failures:
            raise failures.pop(0)
        return ALLOWED

    verdicts = JobVerdicts(1.0)
    with pytest.raises(ValueError, match="a conflict that has ended"):
        await verdicts.find(WholeQuestion(resume))
    assert await verdicts.find(WholeQuestion(resume)) is ALLOWED


async def test_the_queries_of_reviews_find_it_out() -> None:
    told: list[bool] = []
    carrying = Answer(200, b"{}", Outcome.ALLOWED, question=question(SMALL, told))
    found = ReviewQueries().completed(carrying)
    assert not isinstance(found, Answer)
    assert (await found, told) == (ALLOWED, [True])


async def test_what_an_answer_depends_on_then_shares_its_time() -> None:
    told: list[float] = []

    async def last(solving: Solving) -> Answer:
        told.append(solving.left())
        return ALLOWED

    async def first(solving: Solving) -> Answer:
        told.append(solving.left())
        await asyncio.sleep(0.2)
        return Answer(200, b"{}", Outcome.ALLOWED, question=WholeQuestion(last))

    found = ReviewQueries(verdicts=JobVerdicts(5.0)).completed(
        Answer(200, b"{}", Outcome.ALLOWED, question=WholeQuestion(first))
    )
    assert not isinstance(found, Answer)
    assert await found is ALLOWED
    assert told[0] - told[1] >= 0.2


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of searches, which only the test moves."""
    clock = FakeClock()
    monkeypatch.setattr(job_verdicts, "time", SimpleNamespace(monotonic=clock))
    return clock


async def rested(clock: FakeClock, turn: float) -> tuple[float, int]:
    """How long a search rests after a slice, and how often others have their turn; each takes so many seconds."""
    search, turns = ThreadSearches()(), 0

    async def others() -> None:
        nonlocal turns
        while True:
            clock.now += turn
            turns += 1
            await asyncio.sleep(0)

    clock.now += SLICE
    task = asyncio.create_task(others())
    begun = clock.now
    await search.rest()
    task.cancel()
    return clock.now - begun, turns


async def test_a_search_rests_as_long_as_others_work_but_not_for_ever(stopped: FakeClock) -> None:
    took, turns = await rested(stopped, SHARE / 4)
    assert took == pytest.approx(SHARE)
    assert turns == 4


async def test_a_search_does_not_rest_within_a_slice() -> None:
    turns: list[int] = []
    asyncio.get_running_loop().call_soon(turns.append, 1)
    await ThreadSearches()().rest()
    assert turns == []


async def test_a_search_goes_on_at_once_if_others_are_idle(stopped: FakeClock) -> None:
    assert await rested(stopped, 0.0) == (0.0, 1)


async def test_a_search_runs_programs_in_a_thread_of_its_own() -> None:
    assert await ThreadSearches()().run(threading.get_ident) != threading.get_ident()


def test_a_command_decides_at_once() -> None:
    assert finished(assign(SMALL, AtOnce())).found is not None
    assert finished(assign(hard_problem(), AtOnce(0.1))).decided is False
