"""The kinds of other operators in the chart, the docs and the files of kinds are the same."""

import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from tools import kinds

CHART: Final = Path(__file__).parents[2] / "charts" / "streams-placement"


def test_the_chart_knows_the_kinds_that_there_are_files_of() -> None:
    assert kinds.CHART.read_text() == kinds.chart_file(), "run: make kinds"
    assert yaml.safe_load(kinds.chart_file())["VolcanoJob"] == {
        "group": "batch.volcano.sh", "resource": "jobs", "versions": ["v1alpha1"],
    }  # fmt: skip


def test_the_page_lists_them() -> None:
    assert kinds.with_table(kinds.PAGE.read_text()) == kinds.PAGE.read_text(), "run: make kinds"
    with pytest.raises(ValueError, match="the page has no table of kinds"):
        kinds.with_table("")


def test_none_is_reviewed_by_default() -> None:
    assert yaml.safe_load((CHART / "values.yaml").read_text())["workloads"] == {"kinds": []}
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]["workloads"]
    assert schema["additionalProperties"] is False
