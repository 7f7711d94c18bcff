"""The lines of an answer for a person: ages, and how much of a long answer is shown."""

from datetime import datetime
from typing import Any

import pytest

from webhook.cli.why.lines import lines_of
from webhook.cli.why.report import Channels, EventLine, PodLine, WhyReport

NOW = datetime.fromisoformat("2026-01-02T00:00:00Z")
HOSTILE = "\x1b[2J\u009b31m\u202e\r\n"
SHOWN = "\\x1b[2J\\x9b31m\\u202e\\r\\n"


def lines(created: str = "", **more: Any) -> list[str]:
    report = WhyReport(
        namespace="team",
        name="w",
        created=created,
        **{"kind": "Pod", "verdict": "unknown", "state": "waits"} | more,
    )
    return [line.text for line in lines_of(report, NOW)]


@pytest.mark.parametrize(
    ("created", "age"),
    [
        ("2025-11-30T23:00:00Z", ", created 32d ago"),
        ("2026-01-01T00:00:00Z", ", created 1d ago"),
        ("2026-01-01T00:00:01Z", ", created 23h ago"),
        ("2026-01-02T00:58:01+01:00", ", created 1m ago"),
        ("2026-01-01T23:59:59Z", ", created 1s ago"),
        pytest.param("2026-01-02T00:00:05Z", "", id="by a clock that is ahead"),
        pytest.param("yesterday", "", id="no time"),
    ],
)
def test_the_age_is_told_in_its_largest_unit(created: str, age: str) -> None:
    assert lines(created)[0] == f"Pod team/w: waits{age}"


def test_what_others_have_written_has_no_effect_on_a_terminal() -> None:
    found = lines(
        state=HOSTILE,
        asks=[HOSTILE],
        scheduler=HOSTILE,
        warnings=[HOSTILE],
        events=[EventLine("", f"Pod {HOSTILE}", HOSTILE, HOSTILE)],
        pods=[PodLine("p", "", HOSTILE, HOSTILE)],
    )
    assert found == [
        f"Pod team/w: {SHOWN}",
        f"  asks for {SHOWN}",
        "  the current admission verdict cannot be determined",
        f"  warning: {SHOWN}",
        f"  the scheduler says: {SHOWN}",
        f"  {SHOWN} of Pod {SHOWN}: {SHOWN}",
        f"  pod p: {SHOWN}: {SHOWN}",
    ]


@pytest.mark.parametrize(
    ("fit", "proved", "words"),
    [
        (4, True, "at most 4 fit now"),
        (0, True, "not even 1 fits now"),
        (3, False, "3 fit now"),
        (0, False, "how many fit was not decided in time"),
    ],
)
def test_channels_that_fit_are_told(fit: int, proved: bool, words: str) -> None:  # noqa: FBT001 -- a column of the table
    found = lines(verdict="fits", kind="ParallelRegion", channels=Channels(2, 2, 4, fit, proved))
    assert found[1:] == [
        "  scaled to 2 today it would be admitted",
        f"  channels: {words}; 2 are made, and the Job allows 4",
    ]


def test_of_many_pods_those_without_a_node_come_first() -> None:
    pods = [PodLine(f"p-{at:02}", "node-a", "Running", "") for at in range(29)] + [PodLine("z", "", "Pending", "full")]
    found = lines(pods=pods)[2:]
    assert found[:2] == ["  pod z: Pending: full", "  pod p-00: Running on node-a"]
    assert found[-1] == "  and 10 more pods"
