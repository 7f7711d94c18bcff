"""Whole Jobs judged in a real process of their own, and what happens when that fails."""

import asyncio
import os
import signal
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from types import MappingProxyType
from typing import Any

import pytest
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from tests.answers import refused, response
from tests.builders import bound_pod, cluster, node, nodes, pool, review
from tests.cluster import objects
from tests.cluster.judging.job_reviews import APART, LARGE, MANY, TWO, elements, job_review
from tests.fake_clock import FakeClock
from tests.workload_templates import workload
from webhook.admission.answer import Answer, PromisedQuestion, RightsQuestion, WorkloadsQuestion
from webhook.admission.validate import validate
from webhook.cluster.judging import channel, worker_judge
from webhook.cluster.judging.changes import ChangeLog
from webhook.cluster.judging.forked import Forked, forked
from webhook.cluster.judging.job_worker import IDLE, PATIENCE, PAUSE, TICK, FollowedCluster, JobWorker
from webhook.cluster.judging.job_worker import LARGE as LARGE_BYTES
from webhook.cluster.judging.messages import Failed, Forget, MessageReader, written
from webhook.cluster.objects.kinds import KINDS, NODES, PODS
from webhook.cluster.queries.job_verdicts import SECONDS
from webhook.cluster.queries.review_queries import Findable, ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy

pytestmark = pytest.mark.integration

Work = Callable[[socket.socket], object]


class Counted:
    """What was counted."""

    def __init__(self) -> None:
        self.starts = 0
        self.fallbacks = Counter[str]()
        self.times: list[float] = []

    def started(self) -> None:
        self.starts += 1

    def fell_back(self, cause: str) -> None:
        self.fallbacks[str(cause)] += 1

    def took(self, seconds: float) -> None:
        self.times.append(seconds)


class Queries(ReviewQueries):
    """The API server's answers: ``found`` to every question, as soon as it is ``open``; an error is raised."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Any = None
        self.asked: list[Findable | PromisedQuestion] = []
        self.asking = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def found_out(self, question: Findable | PromisedQuestion) -> Any:
        self.asked.append(question)
        self.asking.set()
        await self.open.wait()
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


class Around:
    """A worker over an inventory of one node, and everything around it."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.inventory = cluster(nodes(1, labels={"streams.ibm.com/hostpool": "ib"}), [pool(tags=["ib"])])
        self.changes = ChangeLog()
        self.kinds = dict(zip(KINDS, self.changes.kinds(), strict=True))
        self.queries = Queries()
        self.counted = Counted()
        self.clock = FakeClock(1e6)
        self.work: Work | None = None
        self.worker = JobWorker(
            FollowedCluster(lambda: self.inventory, policy or Policy(), self.changes),
            self.queries,
            self.counted,
            seconds=5.0,
            clock=self.clock,
            fork=self._fork,
        )

    def _fork(self, work: Work) -> Forked:
        return forked(self.work or work)

    async def allows(self, body: bytes = TWO) -> bool:
        allowed: bool = response(await self.worker.answer(body))["allowed"]
        return allowed

    def add_node(self, name: str = "node-b") -> None:
        self.kinds[NODES].put(self.inventory, node(name))

    async def gone(self, pid: int) -> None:
        """Wait until the worker is known to have ended."""
        async with asyncio.timeout(30):
            while self.worker.pid == pid:  # noqa: ASYNC110 -- nobody tells of it
                await asyncio.sleep(0.002)


@pytest.fixture
async def tested() -> AsyncIterator[Around]:
    found = Around()
    running = asyncio.create_task(found.worker.run())
    await asyncio.sleep(0)
    yield found
    pid = found.worker.pid
    running.cancel()
    await asyncio.wait({running})
    if pid is not None:
        with pytest.raises(ChildProcessError):  # not even a zombie is left
            os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222 -- it does not wait


@pytest.mark.parametrize("body", [TWO, MANY, LARGE], ids=["two", "many", "large"])
async def test_a_job_gets_the_answer_of_the_server(tested: Around, body: bytes) -> None:
    here = tested.queries.completed(validate(body, tested.inventory, Policy()))
    assert not isinstance(here, Answer)
    answer = await tested.worker.answer(body)
    assert (answer, refused(answer)[0]) == (await here, 403)
    assert (tested.counted.starts, tested.counted.fallbacks, tested.counted.times) == (1, {}, [0.0])


async def test_what_the_watch_has_told_by_then_counts(tested: Around) -> None:
    assert not await tested.allows()
    tested.add_node()
    assert await tested.allows()
    tested.kinds[NODES].drop(tested.inventory, "node-a")
    assert not await tested.allows()
    assert tested.counted.starts == 1


async def test_what_pods_of_no_job_hold_is_not_free_in_the_worker(tested: Around) -> None:
    for name in ("node-a", "node-b"):
        tested.kinds[NODES].put(tested.inventory, node(name, pods=1))
    assert await tested.allows()
    pod, _ = PODS.read(objects.pod(spec={"nodeName": "node-b", "containers": [{"name": "c"}]}))
    tested.kinds[PODS].put(tested.inventory, pod)
    assert not await tested.allows()
    assert (tested.counted.starts, tested.counted.fallbacks) == (1, {})


async def test_jobs_wait_for_one_another(tested: Around) -> None:
    tested.add_node()
    assert await asyncio.gather(*(tested.allows(body) for body in (TWO, MANY, LARGE) * 5)) == [True] * 15
    assert (tested.counted.starts, tested.counted.fallbacks) == (1, {})


async def test_another_snapshot_is_for_another_worker(tested: Around) -> None:
    assert not await tested.allows()
    first, tested.inventory = tested.worker.pid, cluster(nodes(2))
    assert await tested.allows()
    assert (tested.counted.starts, tested.worker.pid == first) == (2, False)


async def test_a_worker_without_jobs_is_ended_and_another_one_started_when_one_comes(tested: Around) -> None:
    assert not await tested.allows()
    first = tested.worker.pid
    tested.clock.now += IDLE
    tested.worker.look()
    assert tested.worker.pid == first
    tested.clock.now += 1
    tested.worker.look()
    tested.worker.look()
    assert (tested.worker.pid, tested.changes.listeners) == (None, [])
    tested.add_node()
    assert await tested.allows()
    assert (tested.counted.starts, tested.counted.fallbacks) == (2, {})


async def test_the_worker_is_looked_at_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhook.cluster.judging.job_worker.TICK", TICK / 1000)
    tested = Around()
    running = asyncio.create_task(tested.worker.run())
    assert not await tested.allows()
    pid = tested.worker.pid
    assert pid is not None
    tested.clock.now += IDLE + 1
    await tested.gone(pid)
    running.cancel()
    await asyncio.wait({running})


async def test_a_worker_that_is_killed_is_replaced_after_a_pause(tested: Around) -> None:
    assert not await tested.allows()
    pid = tested.worker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await tested.gone(pid)
    tested.add_node()
    assert await tested.allows()
    assert tested.counted.fallbacks == {"paused": 1}
    tested.clock.now += PAUSE
    assert await tested.allows()
    assert (tested.counted.starts, tested.counted.fallbacks) == (2, {"paused": 1})


async def test_a_job_whose_worker_ends_is_judged_in_the_server(tested: Around) -> None:
    tested.work = lambda connection: connection.recv(1)
    assert not await tested.allows()
    assert (tested.counted.fallbacks, tested.worker.pid, tested.counted.times) == ({"ended": 1}, None, [])


async def test_a_job_is_judged_in_the_server_if_no_process_can_be_started(
    tested: Around, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    assert not await tested.allows()
    assert not await tested.allows()
    assert (tested.counted.fallbacks, tested.counted.starts) == ({"start": 1, "paused": 1}, 0)
    said = "the process that judges Jobs cannot be started; the server decides: "
    assert caplog.messages == [f"{said}[Errno 11] Resource temporarily unavailable"]


async def sent(tested: Around, body: bytes = TWO) -> "asyncio.Task[Answer]":
    """The answer, of which the worker has been asked."""
    task = asyncio.create_task(tested.worker.answer(body))
    await asyncio.sleep(0)
    assert tested.worker.pid is not None
    return task


async def test_a_worker_that_says_nothing_is_ended(tested: Around, caplog: pytest.LogCaptureFixture) -> None:
    tested.work = lambda _: signal.pause()
    task = await sent(tested)
    tested.clock.now += 5.0 + PATIENCE
    tested.worker.look()
    assert not task.done()
    tested.clock.now += 1
    tested.worker.look()
    assert refused(await task)[0] == 403
    assert (tested.counted.fallbacks, tested.worker.pid) == ({"stuck": 1}, None)
    assert caplog.messages == ["the process that judges Jobs failed (stuck); the server decides"]


UNSENDABLE = MappingProxyType({"a": "b"})


async def test_a_change_that_cannot_be_sent_counts_in_the_server_and_ends_the_worker(
    tested: Around, caplog: pytest.LogCaptureFixture
) -> None:
    task = await sent(tested)
    pod = replace(bound_pod(), labels=UNSENDABLE)
    tested.kinds[PODS].put(tested.inventory, pod)
    assert (list(tested.inventory.pod_uids), tested.changes.listeners) == ([pod.uid], [])
    assert refused(await task)[0] == 403
    assert (tested.counted.fallbacks, tested.worker.pid) == ({"unsent": 1}, None)
    said = "a message to the process that judges Jobs cannot be sent: "
    assert caplog.messages == [
        f"{said}InventoryChange: cannot pickle 'mappingproxy' object",
        "the process that judges Jobs failed (unsent); the server decides",
    ]


async def test_a_job_about_which_a_reply_cannot_be_sent_is_judged_in_the_server(tested: Around) -> None:
    tested.queries.found = [UNSENDABLE]
    assert await tested.allows(ON_POOL)
    assert (tested.counted.fallbacks, tested.worker.pid) == ({"unsent": 1}, None)


async def test_a_worker_that_cannot_keep_up_is_ended(tested: Around, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "LIMIT", 10)
    tested.work = lambda _: signal.pause()
    task = await sent(tested)
    tested.add_node()
    tested.add_node("node-c")
    assert response(await task)["allowed"]
    assert (tested.counted.fallbacks, tested.worker.pid) == ({"full": 1}, None)


async def test_a_job_more_than_the_worker_is_sent_is_judged_in_the_server(
    tested: Around, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "LIMIT", 10)
    first = asyncio.create_task(tested.worker.answer(TWO))
    second = asyncio.create_task(tested.worker.answer(MANY))
    assert [refused(await each)[0] for each in (first, second)] == [403, 403]
    assert (tested.counted.fallbacks, tested.counted.times) == ({"full": 1}, [0.0])


async def test_an_error_in_the_worker_is_logged_and_the_server_decides(
    tested: Around, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> object:
        raise ValueError("unforeseen")

    monkeypatch.setattr(worker_judge, "validate", broken)
    caplog.set_level("ERROR")
    assert not await tested.allows()
    assert (tested.counted.fallbacks, tested.worker.pid is None) == ({"failed": 1}, False)
    (message,) = caplog.messages
    assert message.startswith("the process that judges Jobs had an error; the server decides: Traceback")
    assert message.splitlines()[-1] == "ValueError: unforeseen"


ON_POOL = job_review(elements("host(MyPool)"))


async def test_the_server_asks_what_only_the_api_server_knows(tested: Around) -> None:
    tested.queries.found = []
    assert await tested.allows(ON_POOL)
    (asked,) = tested.queries.asked
    assert isinstance(asked, RightsQuestion)
    tested.queries.found = list(asked.pools)
    assert not await tested.allows(ON_POOL)
    assert (tested.counted.starts, tested.counted.fallbacks) == (1, {})


async def test_a_job_whose_rights_are_not_known_is_an_error(tested: Around) -> None:
    tested.queries.found = ApiError(Cause.UNREACHABLE, "no route")
    answer = await tested.worker.answer(ON_POOL)
    assert (answer.status, answer.message) == (
        503,
        "whether the HostPools may be used could not be determined: no route",
    )
    tested.queries.found = []
    assert await tested.allows(ON_POOL)


async def test_a_worker_that_ends_while_the_api_server_is_asked(tested: Around) -> None:
    tested.queries.open.clear()
    tested.queries.found = []
    task = await sent(tested, ON_POOL)
    await tested.queries.asking.wait()
    pid = tested.worker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await tested.gone(pid)
    tested.queries.open.set()
    assert response(await task)["allowed"]
    assert tested.counted.fallbacks == {"ended": 1}


async def test_a_review_that_was_cancelled_is_forgotten(tested: Around) -> None:
    tested.add_node()
    first = await sent(tested, ON_POOL)
    first.cancel()  # the worker has the review, and will ask
    tested.queries.open.clear()
    second = asyncio.create_task(tested.worker.answer(ON_POOL))
    await tested.queries.asking.wait()
    second.cancel()  # while the API server is asked
    await asyncio.wait({first, second})
    assert (first.cancelled(), second.cancelled(), len(tested.queries.asked)) == (True, True, 1)
    assert await tested.allows()
    assert (tested.counted.starts, tested.counted.fallbacks) == (1, {})


async def test_the_answer_to_a_cancelled_review_is_dropped(tested: Around) -> None:
    first = await sent(tested)
    first.cancel()
    assert not await tested.allows(MANY)
    assert (first.cancelled(), tested.counted.starts, tested.counted.fallbacks) == (True, 1, {})


async def test_the_worker_ends_while_one_stops_waiting(tested: Around) -> None:
    task = await sent(tested)
    task.cancel()
    tested.worker.end()
    await asyncio.wait({task})
    assert (task.cancelled(), tested.worker.pid, tested.counted.fallbacks) == (True, None, {})


async def test_one_who_waits_no_more_when_the_worker_has_ended(tested: Around) -> None:
    tested.queries.open.clear()
    task = await sent(tested, ON_POOL)
    await tested.queries.asking.wait()
    tested.worker.end()
    task.cancel()
    await asyncio.wait({task})
    assert (task.cancelled(), tested.counted.fallbacks) == (True, {})


async def test_the_worker_is_told_who_waits_no_more_and_what_changes_meanwhile(
    tested: Around, capfd: pytest.CaptureFixture[str]
) -> None:
    def lists(connection: socket.socket) -> None:
        reader = MessageReader()
        while piece := connection.recv(10_000):
            for message in reader.read(piece):
                os.write(2, f"{type(message).__name__} ".encode())
                if isinstance(message, Forget):
                    connection.sendall(written(Failed(message.number, "too late")))
                    return

    tested.work = lists
    first, second = await sent(tested), await sent(tested)
    tested.add_node()
    first.cancel()
    assert response(await second)["allowed"]
    assert (capfd.readouterr().err, tested.counted.fallbacks) == ("Judge Judge InventoryChange Forget ", {"ended": 1})


WORKLOAD = review(workload("Deployment", APART, name="sink", count=1), kind="Deployment", group="apps")


async def test_a_workload_without_others_of_its_job_needs_no_worker(tested: Around) -> None:
    answer = validate(WORKLOAD, tested.inventory, Policy())
    assert isinstance(answer.question, WorkloadsQuestion)
    assert await tested.worker.beside(WORKLOAD, answer, answer.question) is answer
    assert tested.worker.pid is None


async def test_a_workload_is_judged_together_with_the_others(tested: Around) -> None:
    answer = validate(WORKLOAD, tested.inventory, Policy())
    assert isinstance(answer.question, WorkloadsQuestion)
    tested.queries.found = [workload("Deployment", APART, name="source", count=1)]
    found = await tested.worker.beside(WORKLOAD, answer, answer.question)
    assert (refused(found)[0], len(tested.queries.asked), tested.counted.starts) == (403, 1, 1)


async def test_which_reviews_are_for_the_worker(tested: Around) -> None:
    inventory, worker = tested.inventory, tested.worker
    assert [worker.takes(body) for body in (TWO, LARGE)] == [False, True]
    pods = review({"kind": "Pod", "metadata": {}, "spec": {"x": "x" * LARGE_BYTES}})
    assert [worker.takes(body) for body in (pods, b"x" * (LARGE_BYTES + 1))] == [False, False]
    asked = [validate(body, inventory, Policy()).question for body in (TWO, ON_POOL, WORKLOAD)]
    assert [worker.concerns(body, one) for body, one in zip((TWO, ON_POOL, WORKLOAD), asked, strict=True)] == [
        True, True, False,
    ]  # fmt: skip
    assert not worker.concerns(TWO, None)


def test_a_worker_has_the_time_of_the_server_by_default() -> None:
    cluster = FollowedCluster(Inventory, Policy(), ChangeLog())
    assert JobWorker(cluster, ReviewQueries(), Counted()).seconds == SECONDS
