"""``streams-placement explain``: workloads of one job among the manifests, as if submitted one after the other."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import Json
from tests.cli.conftest import Explain
from tests.workload_templates import workload

APART = 'hostExlocation("a")'
REFUSED = 'The workloads of job parallel together: hostExlocation("a") cannot hold: '


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """Three nodes."""
    offers = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": offers, "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for name in ("node-a", "node-b", "node-c")
    ]
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(folder)


def explained(explain: Explain, snapshot: str, *documents: Json, flags: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What is said about the objects of one file."""
    file = Path(snapshot).parent / "given.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    _, out, _ = explain("-o", "json", "--snapshot", snapshot, "-f", str(file), *flags)
    found: list[dict[str, Any]] = json.loads(out)
    return found


def verdicts(found: list[dict[str, Any]]) -> list[str]:
    return [each["verdict"] for each in found]


SOURCE = workload("Deployment", APART, count=2, name="source")
SINK = workload("StatefulSet", APART, count=2, name="sink")


def test_the_second_is_refused_if_it_does_not_fit_beside_the_first(explain: Explain, snapshot: str) -> None:
    first, second = explained(explain, snapshot, SOURCE, SINK)
    assert (first["verdict"], second["verdict"], second["code"]) == ("admitted", "refused", 403)
    assert second["message"].startswith(f"{REFUSED}3 of 4 pods fit (Deployment source, StatefulSet sink).\n")
    assert (second["patch"], second["after"]) == ([], None)


def test_one_that_is_refused_takes_no_room(explain: Explain, snapshot: str) -> None:
    small = workload("Deployment", APART, name="small")
    assert verdicts(explained(explain, snapshot, SOURCE, SINK, small)) == ["admitted", "refused", "admitted"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(workload("Deployment", APART, count=2, name="x", job="other"), id="another job"),
        pytest.param(workload("Deployment", APART, count=2, name="x", metadata={"namespace": "b"}), id="a namespace"),
        pytest.param(workload("CronJob", APART, count=2, name="x"), id="a CronJob"),
        pytest.param(workload("Deployment", APART, count=0, name="x"), id="no pods"),
        pytest.param(workload("Deployment", count=2, name="x", job=None), id="no job"),
    ],
)
def test_what_does_not_belong_together_is_judged_alone(explain: Explain, snapshot: str, other: Json) -> None:
    assert verdicts(explained(explain, snapshot, SOURCE, other)) == ["admitted"] * 2


def test_warnings_are_shown(explain: Explain, snapshot: str) -> None:
    _, second = explained(explain, snapshot, SOURCE, SINK, flags=("--elastic",))
    assert second["verdict"] == "admitted"
    assert f"no room yet: {REFUSED}3 of 4 pods fit (Deployment source, StatefulSet sink)." in second["warnings"]
