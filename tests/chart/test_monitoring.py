"""Alerts and dashboard: what they ask for is in the code, and what people read is there."""

import itertools
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.yaml_values import loaded
from tools.monitoring.registered import registered, sample_names
from webhook.server.metrics import PREFIX

CHART: Final = Path(__file__).parents[2] / "charts" / "streams-placement"
RULES: Final[list[dict[str, Any]]] = [
    rule for group in loaded((CHART / "monitoring" / "alerts.yaml").read_text())["groups"] for rule in group["rules"]
]
DASHBOARD: Final[dict[str, Any]] = json.loads((CHART / "monitoring" / "dashboard.json").read_text())
ROWS: Final = [one for one in DASHBOARD["panels"] if one["type"] == "row"]
PANELS: Final = [one for one in DASHBOARD["panels"] if one["type"] != "row"]
DESCRIBED: Final = [one for one, _ in registered().values()]
NAMES: Final = sample_names(DESCRIBED)
PROCESS: Final = {"process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds"}
UNITS: Final = {"none", "s", "reqps", "bytes", "percentunit"}
"""Units of Grafana (``packages/grafana-data/src/valueFormats``)."""


def asked(query: str) -> set[str]:
    """The metrics of a query."""
    return set(re.findall(r"\b(?:streams_placement|process)_[a-z_]+\b", query))


def title(panel: dict[str, Any]) -> str:
    return str(panel["title"])


# Alerts


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_that_there_are(rule: dict[str, Any]) -> None:
    assert asked(rule["expr"])
    assert asked(rule["expr"]) - NAMES == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_says_how_bad_it_is_and_what_it_is(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert [rule["annotations"][name][-1] for name in ("summary", "description")] == [".", "."]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_speaks_of_labels_that_its_series_have(rule: dict[str, Any]) -> None:
    named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["description"]))
    grouped = re.search(r"\b(?:sum|max) by \(([^)]*)\)", rule["expr"])
    whole = not re.search(r"\b(?:sum|max|count)\b", rule["expr"])
    kept = set(grouped[1].split(", ")) if grouped else {"pod", "instance"} if whole else set()
    assert named <= kept


def test_the_schema_knows_the_names_of_all_alerts() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    names = schema["properties"]["metrics"]["properties"]["rules"]["properties"]["disabled"]["items"]["enum"]
    assert names == [rule["alert"] for rule in RULES]


# The dashboard


@pytest.mark.parametrize("panel", PANELS, ids=title)
def test_a_panel_says_what_it_shows(panel: dict[str, Any]) -> None:
    assert title(panel)
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS


@pytest.mark.parametrize("panel", PANELS, ids=title)
def test_a_panel_asks_for_metrics_that_there_are(panel: dict[str, Any]) -> None:
    queries = [target["expr"] for target in panel["targets"]]
    assert queries
    for query in queries:
        assert asked(query)
        assert asked(query) - NAMES - PROCESS == set()
        assert "@" not in query


@pytest.mark.parametrize("panel", PANELS, ids=title)
def test_every_metric_of_a_panel_is_of_the_chosen_namespaces(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        ours = re.findall(rf"\b{PREFIX}\w+", target["expr"])
        assert len(re.findall(rf"\b{PREFIX}\w+\{{namespace=~\"\$namespace\"[,}}]", target["expr"])) == len(ours)


@pytest.mark.parametrize("panel", PANELS, ids=title)
def test_a_legend_speaks_of_labels_that_the_query_keeps(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        named = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        grouped = re.search(r"by \(([^)]*)\)", target["expr"])
        assert named <= (set(grouped[1].split(", ")) if grouped else {"instance"})


def test_every_metric_is_on_the_dashboard() -> None:
    shown = set[str]().union(*(asked(target["expr"]) for panel in PANELS for target in panel["targets"]))
    assert [one.name for one in DESCRIBED if sample_names([one]).isdisjoint(shown)] == []


def test_titles_and_numbers_are_given_once() -> None:
    assert len({title(one) for one in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    assert [one["id"] for one in DASHBOARD["panels"]] == list(range(1, len(DASHBOARD["panels"]) + 1))


def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
    place = panel["gridPos"]
    return set(
        itertools.product(range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"]))
    )


def test_no_panel_covers_another_or_leaves_the_page() -> None:
    taken = [cells(one) for one in DASHBOARD["panels"]]
    assert sum(map(len, taken)) == len(set[tuple[int, int]]().union(*taken))
    assert max(x for panel in taken for x, _ in panel) < 24


def test_every_row_has_panels() -> None:
    kinds = "".join("R" if one["type"] == "row" else "p" for one in DASHBOARD["panels"])
    assert re.fullmatch(r"(Rp+)+", kinds)
    assert len(ROWS) >= 7
