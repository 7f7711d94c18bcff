"""The API server is killed under load and started again: no pod is stored without a review, and caches catch up soon.

The times are those of a control plane's upgrade: five seconds of outage, ten seconds until caches are up to date.
"""

import http
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Object
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.live.configurations import reviewed
from tests.e2e.live.pod_creator import REFUSED, STORED, UNMUTATED, Creating, mutated
from tests.e2e.live.webhook_process import Server
from tests.e2e.nodes import node
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.workloads import namespace

SPACE: Final = "restarted"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"

RATE: Final = 20
AWAY: Final = 5.0
SOON: Final = 10.0


class Story(NamedTuple):
    """What happened; times are those of ``time.monotonic``."""

    killed: float
    back: float
    """When the API server said that it is ready."""
    right: float
    """When a pool and a node that were made after that were honoured."""
    pid: int | None
    creating: Creating
    server: Server


@pytest.fixture(scope="module")
def story(core: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    admin = core.admin
    namespace(admin, SPACE)
    admin.create(node("node-1", capacity={"pods": "10000"}))
    folder: Path = tmp_path_factory.mktemp("restarted")
    with Server(folder, core) as server, reviewed(admin, server):
        server.wait()
        pid = server.process.pid
        until(lambda: _admitted(core, asking("probe", SPACE)), "pods are reviewed")
        with Creating([admin], lambda number: asking(f"p-{number}", SPACE), RATE) as creating:
            _wait_for(lambda: creating.causes()[STORED] >= RATE, "load")
            killed = time.monotonic()
            core.apiserver.kill()
            time.sleep(AWAY)  # what is shown is how long it is away
            core.apiserver.restart()
            back = time.monotonic()
            admin.create(node("after", {"streams.ibm.com/hostpool": "after"}))
            pool: Object = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool"}
            pool |= {"metadata": {"name": "after", "namespace": SPACE}, "spec": {"name": "After", "tags": ["after"]}}
            path = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools"
            until(lambda: admin.send("POST", path, pool).code == http.HTTPStatus.CREATED, "the pool can be made")
            wanted = asking("pooled", SPACE, "host(After)")
            until(lambda: _admitted(core, wanted) and server.ready(), "both are honoured", 60)
            right = time.monotonic()
            _wait_for(lambda: creating.causes(since=right)[STORED] >= RATE, "load afterwards")
        say(f"API server away for {back - killed:.1f} s; right again {right - back:.1f} s after it was back")
        yield Story(killed, back, right, pid, creating, server)


def _admitted(core: BarePlane, wanted: Object) -> bool:
    answer = core.admin.send("POST", f"{PODS}?dryRun=All", wanted)
    return answer.code == http.HTTPStatus.CREATED and mutated(answer.body)


def _wait_for(fact: Callable[[], bool], what: str) -> None:
    until(fact, what, 60)


def test_there_was_load_before_meanwhile_and_after(story: Story) -> None:
    done = story.creating
    assert sum(done.causes().values()) == done.sent
    assert done.causes(until=story.killed)[STORED] >= RATE
    assert sum(done.causes(since=story.killed, until=story.back).values()) > AWAY * RATE * 0.8
    assert done.causes(since=story.right)[STORED] >= RATE


def test_no_pod_was_stored_that_the_webhook_has_not_seen(core: BarePlane, story: Story) -> None:
    assert story.creating.causes()[UNMUTATED] == 0
    stored = core.admin.get(PODS)["items"]
    assert [one["metadata"]["name"] for one in stored if not mutated(one)] == []
    assert len(stored) >= story.creating.causes()[STORED]


def test_no_pod_was_refused_by_us(story: Story) -> None:
    assert story.creating.causes()[REFUSED] == 0


def test_every_pod_is_stored_while_the_api_server_is_there(story: Story) -> None:
    assert set(story.creating.causes(until=story.killed - 1)) == {STORED}
    assert set(story.creating.causes(since=story.right)) == {STORED}


def test_what_is_new_is_honoured_ten_seconds_after_the_api_server_is_back(story: Story) -> None:
    assert story.right - story.back < SOON


def test_our_process_went_on_without_an_error(story: Story) -> None:
    assert (story.server.process.pid, story.server.process.alive) == (story.pid, True)
    assert [line["message"] for line in story.server.log() if line["level"] == "error"] == []
