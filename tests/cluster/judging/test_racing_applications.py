"""Applications that race for the last room, judged in a real process."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.answers import response, warnings
from tests.cluster.judging.application_reviews import POLICY, application_review
from tests.cluster.judging.test_job_worker import Around
from webhook.admission.answer import PromisedQuestion
from webhook.cluster.judging.job_worker import IDLE
from webhook.cluster.judging.kept_room import SECONDS

pytestmark = pytest.mark.integration


@pytest.fixture
async def tested() -> AsyncIterator[Around]:
    """Two nodes, which one application fills; what was promised is for objects that are stored."""
    found = Around(POLICY)
    found.add_node()
    found.queries.found = frozenset({"uid-one"})
    running = asyncio.create_task(found.worker.run())
    await asyncio.sleep(0)
    yield found
    running.cancel()
    await asyncio.wait({running})


async def test_of_two_at_the_same_moment_one_is_refused(tested: Around) -> None:
    bodies = application_review("one"), application_review("two", namespace="elsewhere")
    answers = await asyncio.gather(*map(tested.worker.answer, bodies))
    assert [response(one)["allowed"] for one in answers] == [True, False]
    assert warnings(answers[1]) == ["room for 4 pods, promised to applications within the last minute, counts as used"]
    assert (tested.counted.starts, tested.counted.fallbacks) == (1, {})


async def test_the_server_judges_pods_without_what_was_promised(tested: Around) -> None:
    assert await tested.allows(application_review("one"))
    assert (tested.inventory.promised, tested.inventory.has_pod("promised/uid-one/0/0")) == (0, False)


async def test_room_of_objects_that_were_never_stored_is_not_kept_from_others(tested: Around) -> None:
    assert await tested.allows(application_review("one"))
    tested.queries.found = frozenset()
    assert await tested.allows(application_review("two"))
    (question,) = tested.queries.asked
    assert isinstance(question, PromisedQuestion)
    assert [one.uid for one in question.objects] == ["uid-one"]


async def test_the_worker_stays_while_it_keeps_room(tested: Around) -> None:
    assert await tested.allows(application_review("one"))
    pid = tested.worker.pid
    tested.clock.now += IDLE + 1
    tested.worker.look()
    assert tested.worker.pid == pid
    tested.clock.now += SECONDS
    tested.worker.look()
    assert tested.worker.pid is None


async def test_a_worker_of_its_own_begins_without_promises(tested: Around) -> None:
    """They end with the process: then the next application is judged as if nothing had been promised."""
    assert await tested.allows(application_review("one"))
    tested.worker.end()
    assert await tested.allows(application_review("two"))
