"""The alerts of the chart by promtool: they are valid, fire when they should, and not otherwise."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.e2e.chart.rendering import CHART, Values, helm, of_kind, only, render
from tests.e2e.monitoring.alert_cases import CASES, Series
from tests.e2e.programs import binaries

FILE: Final = CHART / "monitoring" / "alerts.yaml"
RULES: Final[dict[str, dict[str, Any]]] = {
    rule["alert"]: rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]
}
ON: Final[Values] = {"metrics": {"rules": {"enabled": True}}}
_SECONDS: Final = 120


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = str(binaries.monitoring()["promtool"])
    return subprocess.run([program, *arguments], check=False, capture_output=True, text=True, timeout=_SECONDS)  # noqa: S603 -- our own build, no shell


def rules(objects: list[Any]) -> dict[str, dict[str, Any]]:
    """The alerts of the PrometheusRule, by name."""
    groups = only(objects, "PrometheusRule")["spec"]["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def test_every_alert_has_series_for_which_it_fires_and_series_for_which_it_does_not() -> None:
    assert list(CASES) == list(RULES)
    assert [name for name, case in CASES.items() if not (case.fires and case.quiet)] == []


def test_the_file_is_one_of_rules() -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", str(FILE))
    assert done.returncode == 0, done.stderr + done.stdout
    assert f"{len(RULES)} rules found" in done.stdout


def test_so_is_what_the_chart_makes_of_it(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump(only(render(ON), "PrometheusRule")["spec"]))
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", str(file))
    assert done.returncode == 0, done.stderr + done.stdout


def tried(name: str) -> Iterator[dict[str, Any]]:
    """The tests of one alert, as promtool reads them."""
    case = CASES[name]
    annotations = {"summary": RULES[name]["annotations"]["summary"]}
    for fires in case.fires:
        alert = {
            "exp_labels": {**fires.labels, **RULES[name]["labels"]},
            "exp_annotations": {**annotations, "description": fires.description},
        }
        yield of_series(name, fires.series, fires.minute, [alert])
    for quiet in case.quiet:
        yield of_series(name, quiet, case.fires[0].minute, [])


def of_series(name: str, series: Series, minute: int, expected: list[Any]) -> dict[str, Any]:
    return {
        "interval": "1m",
        "input_series": [{"series": each, "values": values} for each, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{minute}m", "alertname": name, "exp_alerts": expected}],
    }


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_when_it_should_and_not_otherwise(name: str, tmp_path: Path) -> None:
    file = tmp_path / "tests.json"
    file.write_text(json.dumps({"rule_files": [str(FILE)], "evaluation_interval": "1m", "tests": list(tried(name))}))
    done = promtool("test", "rules", str(file))
    assert done.returncode == 0, done.stderr + done.stdout


# What the chart makes of it


def test_it_is_there_only_if_wanted() -> None:
    assert of_kind(render(), "PrometheusRule", "ServiceMonitor") == []


def test_every_alert_leads_to_its_section() -> None:
    found = rules(render({"metrics": {"rules": {"enabled": True, "runbooks": "https://docs.example.com/alerts.html"}}}))
    assert {name: rule["annotations"]["runbook_url"] for name, rule in found.items()} == {
        name: f"https://docs.example.com/alerts.html#{name.lower()}" for name in RULES
    }


def test_alerts_are_left_out_and_labelled_as_wanted() -> None:
    values = {"enabled": True, "disabled": ["StreamsPlacementNoLeader"], "alertLabels": {"team": "streams"}}
    found = rules(render({"metrics": {"rules": {**values, "labels": {"release": "prometheus"}}}}))
    assert list(found) == [name for name in RULES if name != "StreamsPlacementNoLeader"]
    assert {rule["labels"]["team"] for rule in found.values()} == {"streams"}
    assert [rule["labels"]["severity"] for rule in found.values()] == [
        RULES[name]["labels"]["severity"] for name in found
    ]


def test_an_alert_that_there_is_not_cannot_be_left_out() -> None:
    done = helm("template", "x", str(CHART), values={"metrics": {"rules": {"disabled": ["StreamsPlacementNolead"]}}})
    assert (done.returncode, "/metrics/rules/disabled/0" in done.stderr) == (1, True), done.stderr


def test_the_dashboard_is_found_by_its_label_and_in_its_folder() -> None:
    given = {"enabled": True, "label": "dash", "labelValue": "yes", "folder": "Streams", "folderAnnotation": "k/folder"}
    objects = render({"metrics": {"dashboard": given}})
    (found,) = (one for one in of_kind(objects, "ConfigMap") if one["metadata"]["name"].endswith("-dashboard"))
    assert (found["metadata"]["labels"]["dash"], found["metadata"]["annotations"]) == ("yes", {"k/folder": "Streams"})
    (text,) = found["data"].values()
    assert json.loads(text) == json.loads((CHART / "monitoring" / "dashboard.json").read_text())


def test_the_rest_interface_is_read_by_https_with_a_token() -> None:
    api = {"enabled": True, "tlsSecret": "own"}
    monitor = {"enabled": True, "hpaApi": {"token": {"name": "reader", "key": "token"}}}
    found = of_kind(render({"hpaApi": api, "serviceMonitor": monitor}), "ServiceMonitor")
    (endpoint,) = found[-1]["spec"]["endpoints"]
    assert (endpoint["scheme"], endpoint["authorization"]) == (
        "https", {"credentials": {"name": "reader", "key": "token"}}
    )  # fmt: skip
    assert endpoint["tlsConfig"]["ca"] == {"secret": {"name": "own", "key": "ca.crt"}}


def test_a_tls_configuration_of_ones_own_replaces_the_charts() -> None:
    monitor = {"enabled": True, "hpaApi": {"tlsConfig": {"insecureSkipVerify": True}}}
    values = {"hpaApi": {"enabled": True, "tlsSecret": "own"}, "serviceMonitor": monitor}
    (endpoint,) = of_kind(render(values), "ServiceMonitor")[-1]["spec"]["endpoints"]
    assert endpoint["tlsConfig"] == {"insecureSkipVerify": True}
