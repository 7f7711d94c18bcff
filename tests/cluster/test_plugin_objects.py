"""LimitRanges, RuntimeClasses and PriorityClasses as values, from snapshots and watches."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.objects import Recorder, limit_range, listed, node, priority_class, runtime_class
from webhook.cluster.objects.report import Report
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.kube.pod import Toleration
from webhook.placement.pod_defaults.limit_range import LimitRange, LimitRangeItem
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass


def read(folder: Path, *objects: Any) -> tuple[Recorder, Report]:
    (folder / "all.json").write_text(json.dumps(listed(*objects)))
    sink = Recorder()
    return sink, read_snapshot(folder, sink)


def test_each_kind_is_read_from_a_snapshot(tmp_path: Path) -> None:
    scheduling = {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]}
    sink, report = read(
        tmp_path,
        node(),
        limit_range("a", default={"cpu": "1"}),
        runtime_class(overhead={"podFixed": {"cpu": "100m"}}, scheduling=scheduling),
        priority_class(globalDefault=True, preemptionPolicy="Never"),
        runtime_class("plain"),
    )
    assert sink.pod_defaults.limit_ranges == {
        ("default", "a"): LimitRange(
            "default", "a", (LimitRangeItem("Container", default={"cpu": "1"}, default_request={"cpu": "1"}),)
        )
    }
    heavy = RuntimeClass("heavy", {"cpu": "100m"}, {"vm": "yes"}, (Toleration("vm", "Exists"),))
    assert sink.pod_defaults.classes == {"heavy": heavy, "plain": RuntimeClass("plain")}
    assert sink.pod_defaults.priorities == {"high": PriorityClass("high", 1000, default=True, policy="Never")}
    assert str(report) == (
        "1 Node, 0 Pod, 0 HostPool, 0 Job, 0 HPAIntent, 0 Namespace, 0 DeviceClass, 1 LimitRange, "
        "2 RuntimeClass, 1 PriorityClass; "
        "0 finished, 0 skipped, 0 ignored"
    )


def test_objects_without_a_spec_say_nothing(tmp_path: Path) -> None:
    bare = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a"}}
    priority = priority_class()
    del priority["value"]
    sink, _ = read(tmp_path, node(), bare, priority)
    assert sink.pod_defaults.limit_ranges == {("default", "a"): LimitRange("default", "a")}
    assert sink.pod_defaults.priorities == {"high": PriorityClass("high")}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (limit_range("a", max={"cpu": "much"}), 'spec.limits[0].max[cpu]: "much" is not a quantity'),
        (
            limit_range("a", maxLimitRequestRatio={"cpu": "-1"}),
            'spec.limits[0].maxLimitRequestRatio[cpu]: "-1" is not a quantity',
        ),
        (runtime_class("a", overhead={"podFixed": {"cpu": "x"}}), 'overhead.podFixed[cpu]: "x" is not a quantity'),
    ],
)
def test_one_with_an_amount_that_is_not_a_quantity_is_skipped(tmp_path: Path, found: Any, reason: str) -> None:
    sink, report = read(tmp_path, node(), found)
    name = "default/a" if found["kind"] == "LimitRange" else "a"
    assert [str(one) for one in report.skipped] == [f"all.json: {found['kind']} {name}: {reason}"]
    assert (sink.pod_defaults.limit_ranges, sink.pod_defaults.classes) == ({}, {})
