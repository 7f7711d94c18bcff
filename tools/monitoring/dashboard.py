"""The Grafana dashboard of the chart, as JSON of Grafana's schema, made of :data:`ROWS`."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tools.monitoring.panels import ROWS, Panel, Row

Json = dict[str, Any]

_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}

_WIDTH: Final = 24
"""Columns of Grafana's grid."""

_SIZES: Final = {"stat": (4, 4), "timeseries": (8, 8), "table": (8, 8)}
"""Columns and lines of a panel, by its kind."""


def text() -> str:
    """The file: readable, one field a line."""
    return f"{json.dumps(dashboard(), indent=1)}\n"


def dashboard() -> Json:
    """The dashboard."""
    return {
        "uid": "streams-placement",
        "title": "streams-placement",
        "description": "Host constraints of stream-processing jobs: reviews, refusals, HostPools, Jobs.",
        "tags": ["streams-placement"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": [_source_variable(), _namespace_variable()]},
        "annotations": {"list": []},
        "panels": list(_panels()),
    }


def _source_variable() -> Json:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "refresh": 1}


def _namespace_variable() -> Json:
    """All namespaces to begin with; so series without such a label are shown as well."""
    return {
        "name": "namespace",
        "label": "Namespace",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": "label_values(streams_placement_info, namespace)", "refId": "namespace"},
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }


def _panels() -> Iterator[Json]:
    """Rows and panels from left to right and from top to bottom, with their numbers."""
    number, top = 0, 0
    for row in ROWS:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "panels": [],
            "gridPos": _place(0, top, _WIDTH, 1),
        }
        placed, top = _placed(row, top + 1)
        for panel, place in placed:
            number += 1
            yield {"id": number, **_panel(panel), "gridPos": place}


def _placed(row: Row, top: int) -> tuple[list[tuple[Panel, Json]], int]:
    """The panels of a row with their places, and the first line below them."""
    placed: list[tuple[Panel, Json]] = []
    column = line = 0
    for panel in row.panels:
        width, height = _SIZES[panel.kind]
        if column + width > _WIDTH or line not in {0, height}:
            column, top, line = 0, top + line, 0
        placed.append((panel, _place(column, top, width, height)))
        column, line = column + width, height
    return placed, top + line


def _place(column: int, top: int, width: int, height: int) -> Json:
    return {"x": column, "y": top, "w": width, "h": height}


def _panel(panel: Panel) -> Json:
    options: dict[str, Json] = {
        "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "none"},
        "timeseries": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "table": {"showHeader": True},
    }
    shown: Json = {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": options[panel.kind],
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": _SOURCE,
                "expr": query.promql,
                "legendFormat": query.legend or "__auto",
                **({"instant": True, "format": "table"} if panel.kind == "table" else {}),
            }
            for at, query in enumerate(panel.queries)
        ],
    }
    if panel.kind == "table":
        shown["transformations"] = [{"id": "organize", "options": {"excludeByName": {"Time": True, "Value": True}}}]
    return shown


def _defaults(panel: Panel) -> Json:
    custom = {"fillOpacity": 10, "showPoints": "never"} if panel.kind == "timeseries" else {}
    return {"unit": panel.unit, "min": 0, "custom": custom, "thresholds": {"mode": "absolute", "steps": _steps(panel)}}


def _steps(panel: Panel) -> list[Json]:
    colours = ("red", "yellow", "green") if panel.low else ("green", "yellow", "red")
    return [{"color": colours[at], "value": value} for at, value in enumerate((None, *panel.steps))]
