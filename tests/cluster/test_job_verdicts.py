"""Verdicts on whole Jobs while other reviews go on."""

import asyncio
import time

import numpy as np

from tests.placement.planning.hard_problem import hard_problem
from webhook.admission.responses import Answer, Outcome, WholeQuestion
from webhook.cluster.queries.job_verdicts import AtOnce, JobVerdicts
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.planning.assignment import AssignmentProblem, Block
from webhook.placement.planning.solver import Solving, assign, finished

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


async def test_the_queries_of_reviews_find_it_out() -> None:
    told: list[bool] = []
    carrying = Answer(200, b"{}", Outcome.ALLOWED, question=question(SMALL, told))
    assert ReviewQueries().completed(carrying) is carrying
    found = ReviewQueries(verdicts=JobVerdicts()).completed(carrying)
    assert not isinstance(found, Answer)
    assert (await found, told) == (ALLOWED, [True])


def test_a_command_decides_at_once() -> None:
    assert finished(assign(SMALL, AtOnce())).found is not None
    assert finished(assign(hard_problem(), AtOnce(0.1))).decided is False
