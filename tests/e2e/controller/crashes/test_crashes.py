"""Controllers are killed, or paused for longer than their Lease, at named requests, and the next controller goes on.

At no time is a host published for two exclusive pools, and in the end every pool is complete or its status says why
not, and no node has a label or taint of a pool that does not exist. The work is shared by three small clusters, since
most of the time is spent waiting.
"""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.e2e.controller.crashes.crash_cluster import CrashCluster, Fault, Outcome, Run
from tests.e2e.controller.request_points import Kind, RequestPoint
from tests.e2e.controller.short_lease_controller import LOST
from tests.e2e.progress import say

pytestmark = pytest.mark.early

ARENAS: Final = 3

_BEFORE: Final[tuple[tuple[Kind, int], ...]] = (
    ("hold", 1),
    ("claim", 1),
    ("settling", 1),
    ("publish", 1),
    ("publish", 2),
)
_AFTER: Final[tuple[tuple[Kind, int], ...]] = (
    ("claim", 1),
    ("claim", 3),
    ("claim", 6),
    ("settling", 1),
    ("publish", 1),
)
_BEFORE_GIVING: Final[tuple[tuple[Kind, int], ...]] = (("release", 1), ("free", 1))
_AFTER_GIVING: Final[tuple[tuple[Kind, int], ...]] = (("release", 1), ("release", 5), ("free", 1))

TAKING: Final = (*(RequestPoint("before", *one) for one in _BEFORE), *(RequestPoint("after", *one) for one in _AFTER))
"""Before the first claim hosts are chosen and none is marked; three claims are one pool's, six are two pools'."""

GIVING: Final = (
    *(RequestPoint("before", *one) for one in _BEFORE_GIVING),
    *(RequestPoint("after", *one) for one in _AFTER_GIVING),
)

RARE: Final = (
    RequestPoint("before", "claim", 4),
    RequestPoint("after", "claim", 2),
    RequestPoint("after", "hold", 2),
    RequestPoint("before", "say"),
)

LONG: Final = float(os.environ.get("PROPERTY_TIMES", "1")) > 1
"""Whether each moment has two or three turns (``make e2e-long``) instead of one."""

STEP: Final = 1 if LONG else 3
"""Every moment, or every third one, has a controller that is paused, and one whose request is late."""

_EARLY: Final = tuple(one for one in TAKING if one.side == "before")[::STEP]
_EARLY_GIVING: Final = tuple(one for one in GIVING if one.side == "before")[::STEP]


def _runs(killed: int, others: int, orphaned: int) -> tuple[Run, ...]:
    """So many turns of every moment with a kill, and of every ``STEP``th one with each other fault."""
    return (
        *killed * [Run(moment, Fault.KILLED) for moment in TAKING],
        *killed * [Run(moment, Fault.KILLED, giving=True) for moment in GIVING],
        *others * [Run(moment, Fault.PAUSED) for moment in TAKING[::STEP]],
        *others * [Run(moment, Fault.PAUSED, giving=True) for moment in GIVING[::STEP]],
        *others * [Run(moment, Fault.LATE) for moment in _EARLY],
        *others * [Run(moment, Fault.LATE, giving=True) for moment in _EARLY_GIVING],
        *(Run(moment, Fault.KILLED) for moment in RARE),
        Run(RequestPoint("before", "release", 4), Fault.KILLED, giving=True),
        *orphaned * [Run(RequestPoint("before", "claim", 1), Fault.ORPHANED)],
    )


OTHERS: Final = 2 if LONG else 1
"""Turns of each moment in which a controller is paused, and in which only its request is late."""

ORPHANED: Final = 6 if LONG else 1

RUNS: Final = _runs(3 if LONG else 1, OTHERS, ORPHANED)


class Story(NamedTuple):
    """What came of all of them."""

    outcomes: list[Outcome]
    wrongs: list[str]
    counts: Counter[str]
    """Requests of all controllers, by kind."""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    def act(number: int, folder: Path) -> Story:
        with CrashCluster(folder) as crash_cluster:
            outcomes = [crash_cluster.run(run) for run in RUNS[number::ARENAS]]
            assert not crash_cluster.object_watcher.cut_off
            return Story(outcomes, crash_cluster.object_watcher.wrongs, crash_cluster.stopping_proxy.counts())

    folders = [tmp_path_factory.mktemp("arena") for _ in range(ARENAS)]
    with ThreadPoolExecutor(ARENAS, "arena") as pool:
        told = list(pool.map(act, range(ARENAS), folders))
    outcomes = [outcome for one in told for outcome in one.outcomes]
    whole = Story(
        outcomes, [wrong for one in told for wrong in one.wrongs], sum((one.counts for one in told), Counter())
    )
    longest = max(outcome.seconds for outcome in outcomes)
    say(f"{len(outcomes)} ends, the longest took {longest:.1f} s until all was well again: {dict(whole.counts)}")
    return whole


def of(story: Story, *faults: Fault) -> list[Outcome]:
    return [outcome for outcome in story.outcomes if outcome.run.fault in faults]


def test_every_end_was_survived(story: Story) -> None:
    assert len(story.outcomes) == len(RUNS) == (100 if LONG else 30)


def test_no_host_was_ever_published_for_two_exclusive_pools(story: Story) -> None:
    assert story.wrongs == []


def test_every_pool_that_could_have_its_hosts_got_them(story: Story) -> None:
    taking = [one for one in story.outcomes if not one.run.giving and one.run.fault is not Fault.ORPHANED]
    assert {outcome.ready for outcome in taking} == {3}


def test_every_controller_that_was_stopped_past_its_lease_ends(story: Story) -> None:
    codes = Counter(outcome.exit_code for outcome in of(story, Fault.PAUSED))
    assert codes == {LOST: OTHERS * (len(TAKING[::STEP]) + len(GIVING[::STEP]))}


def test_what_arrives_when_another_controller_has_done_it_changes_nothing(story: Story) -> None:
    late = Counter(
        outcome.late for outcome in of(story, Fault.LATE, Fault.PAUSED) if outcome.run.moment.side == "before"
    )
    say(f"answers to requests of controllers that led no more: {dict(late)}")
    assert late.keys() <= {404, 409}
    assert sum(late.values()) == 2 * OTHERS * (len(_EARLY) + len(_EARLY_GIVING))


def test_what_arrives_when_its_pool_is_gone_is_taken_back(story: Story) -> None:
    """The node has not changed, so the API server takes it; that it is gone in the end is part of every run."""
    assert [outcome.late for outcome in of(story, Fault.ORPHANED)] == [200] * ORPHANED
