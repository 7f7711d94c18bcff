"""Alerts and dashboard: what they ask for is in the code, and what people read is there."""

import itertools
import json
import re
from pathlib import Path
from typing import Any, Final

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


QUERIES: Final = [(title(panel), target["expr"]) for panel in PANELS for target in panel["targets"]]
"""Each query of the dashboard with the title of its panel."""


# Alerts


def test_an_alert_asks_for_metrics_that_there_are() -> None:
    metrics = {rule["alert"]: asked(rule["expr"]) for rule in RULES}
    assert [alert for alert, names in metrics.items() if not names] == []
    assert {alert: names - NAMES for alert, names in metrics.items() if names - NAMES} == {}


def test_an_alert_says_how_bad_it_is_and_what_it_is() -> None:
    for rule in RULES:
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}, rule["alert"]
        ends = [rule["annotations"][name][-1] for name in ("summary", "description")]
        assert ends == [".", "."], rule["alert"]


def test_an_alert_speaks_of_labels_that_its_series_have() -> None:
    for rule in RULES:
        named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["description"]))
        grouped = re.search(r"\b(?:sum|max) by \(([^)]*)\)", rule["expr"])
        whole = not re.search(r"\b(?:sum|max|count)\b", rule["expr"])
        kept = set(grouped[1].split(", ")) if grouped else {"pod", "instance"} if whole else set()
        assert named <= kept, rule["alert"]


def test_the_schema_knows_the_names_of_all_alerts() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    names = schema["properties"]["metrics"]["properties"]["rules"]["properties"]["disabled"]["items"]["enum"]
    assert names == [rule["alert"] for rule in RULES]


# The dashboard


def test_a_panel_says_what_it_shows() -> None:
    for panel in PANELS:
        assert title(panel), panel["id"]
        assert panel["description"].endswith("."), title(panel)
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, title(panel)


def test_a_panel_asks_for_metrics_that_there_are() -> None:
    assert [title(panel) for panel in PANELS if not panel["targets"]] == []
    for panel, query in QUERIES:
        assert asked(query), panel
        assert asked(query) - NAMES - PROCESS == set(), panel
        assert "@" not in query, panel


def test_every_metric_of_a_panel_is_of_the_chosen_namespaces() -> None:
    for panel, query in QUERIES:
        ours = re.findall(rf"\b{PREFIX}\w+", query)
        chosen = re.findall(rf"\b{PREFIX}\w+\{{namespace=~\"\$namespace\"[,}}]", query)
        assert len(chosen) == len(ours), panel


def test_a_legend_speaks_of_labels_that_the_query_keeps() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            named = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            grouped = re.search(r"by \(([^)]*)\)", target["expr"])
            assert named <= (set(grouped[1].split(", ")) if grouped else {"instance"}), title(panel)


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
