"""Every panel, alert and example query against metrics that a real Prometheus has read on a real control plane."""

import json
import math
import shlex
from typing import Any, Final

import pytest

from tests.docs.pages import ROOT, blocks
from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE
from tests.e2e.monitoring.conftest import Monitored, dashboard
from tests.e2e.polling import until
from tools.monitoring.registered import registered

PANELS: Final = [
    one for one in json.loads((CHART / "monitoring" / "dashboard.json").read_text())["panels"] if "targets" in one
]
QUIET: Final = {"Would be refused", "PlacementReviews", "PlacementReviews answered"}
"""Panels without data: nothing is in audit mode, and PlacementReviews are off."""

PAGES: Final = tuple(ROOT / "docs" / name for name in ("metrics.md", "alerts.md"))
QUERIES: Final = [(str(block), line) for block in blocks("promql", PAGES) for line in block.text.splitlines()]
RUN: Final = "sh no-run: tests/e2e/monitoring runs it, with pods in place of their logs"
COMMANDS: Final = [(str(block), line) for block in blocks(RUN, PAGES[1:]) for line in block.text.splitlines()]


def resolved(query: str) -> str:
    """The query with what Grafana puts in place of its variables."""
    return query.replace("$namespace", ".*").replace("$__rate_interval", "2m")


def numbers(found: list[Any]) -> list[float]:
    """The values of a vector that are numbers."""
    values = (float(one["value"][1]) if isinstance(one, dict) else float(one[1]) for one in found)
    return [value for value in values if not math.isnan(value)]


def test_every_process_is_read(monitored: Monitored) -> None:
    """By the ServiceMonitors' own selectors, ports, TLS and tokens."""
    found = monitored.prometheus.targets()
    assert [one["lastError"] for one in found if one["health"] != "up"] == []
    programs = monitored.prometheus.query("count by (program) (streams_placement_info)")
    assert {one["metric"]["program"]: one["value"][1] for one in programs} == {
        "serve": "2", "controller": "2", "hpa-api": "2"
    }  # fmt: skip


def test_the_dashboard_is_installed_as_it_is_in_the_chart(monitored: Monitored) -> None:
    assert [one for one in dashboard(monitored)["panels"] if "targets" in one] == PANELS


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_has_data(monitored: Monitored, panel: Any) -> None:
    found = [
        value for target in panel["targets"] for value in numbers(monitored.prometheus.query(resolved(target["expr"])))
    ]
    assert bool(found) == (panel["title"] not in QUIET)


def test_every_metric_is_there_with_the_labels_of_the_page(monitored: Monitored) -> None:
    """And only from the programs that the page names."""
    info = "group_left(program) streams_placement_info"
    for one, programs in registered().values():
        name = f"{one.name}_count" if one.kind == "histogram" else one.name
        found = monitored.prometheus.query(f"{name} * on (job, instance) {info}")
        assert {each["metric"]["program"] for each in found} <= set(programs), name
        if name != "streams_placement_info":
            scraped = {"instance", "job", "namespace", "pod", "service", "program"}
            assert {label for each in found for label in each["metric"]} - scraped <= set(one.labels), name


def test_every_rule_can_be_evaluated_and_none_fires(monitored: Monitored) -> None:
    found = monitored.prometheus.rules()
    assert len(found) > 15
    assert {rule["name"]: rule.get("lastError") for rule in found if rule["health"] != "ok"} == {}
    assert [rule["name"] for rule in found if rule["state"] == "firing"] == []


@pytest.mark.parametrize(("place", "query"), QUERIES, ids=[f"{place} {query}"[:80] for place, query in QUERIES])
def test_a_query_on_a_page_can_be_asked(monitored: Monitored, place: str, query: str) -> None:
    """Whether there is an answer depends on what happens; that it is no error does not."""
    assert place
    monitored.prometheus.query(query)


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) > 10


@pytest.mark.parametrize(("place", "command"), COMMANDS, ids=[f"{place} {command}"[:80] for place, command in COMMANDS])
def test_a_command_on_the_page_of_alerts_works(monitored: Monitored, place: str, command: str) -> None:
    """There are no logs in this cluster: instead of them, what would be logged is looked for."""
    program, *words = shlex.split(command)
    assert program == "kubectl", place
    if "logs" in words:
        words[words.index("logs")] = "get"
        words[words.index("get") + 1 : words.index("get") + 1] = ["pods", "--output", "name"]
        words = words[: words.index("--tail")]
    done = monitored.plane.kubectl(*words)
    assert done.returncode == 0, done.stderr
    if "--selector" in words and "certificates" not in command:  # certificates are the tests' own here
        assert "No resources found" not in done.stdout + done.stderr


def state(monitored: Monitored, alert: str) -> str:
    """``inactive``, or ``pending`` from the moment at which its condition holds."""
    (found,) = (rule for rule in monitored.prometheus.rules() if rule["name"] == alert)
    return str(found["state"])


@pytest.mark.parametrize(
    ("deployment", "alert"),
    [(RELEASE, "StreamsPlacementNoWebhook"), (f"{RELEASE}-controller", "StreamsPlacementNoLeader")],
)
def test_an_alert_notices_that_all_processes_are_gone(monitored: Monitored, deployment: str, alert: str) -> None:
    """The last tests of this plane: nothing is read any more afterwards."""
    assert state(monitored, alert) == "inactive"
    scale = ("--namespace", NAMESPACE, "scale", "deployment", deployment, "--replicas=0")
    assert monitored.plane.kubectl(*scale).returncode == 0
    until(lambda: state(monitored, alert) == "pending", f"{alert} is pending", 90)
