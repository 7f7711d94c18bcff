"""Settings of Flink that say which nodes its pods are for, in every form that Flink reads, and in others."""

from typing import Any

import pytest

from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded
from webhook.placement.kinds.settings import setting_map, setting_resources, setting_tolerations

NAME = "kubernetes.jobmanager.node-selector"
ZONE = "topology.kubernetes.io/zone"
LONG = "a" * 400


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({NAME: f"disk:ssd,{ZONE}:eu-1"}, {"disk": "ssd", ZONE: "eu-1"}),
        ({NAME: "'disk:ssd'"}, {"disk": "ssd"}),
        ({NAME: "'disk:''s:d''','a:\"b,c\"'"}, {"disk": "s:d", "a": "b,c"}),
        ({NAME: "disk:"}, {"disk": ""}),
        (
            {f"{NAME}.{ZONE}": "eu-1", f"{NAME}.gpu": True, f"{NAME}.rack": 7},
            {ZONE: "eu-1", "gpu": "true", "rack": "7"},
        ),
        ({"kubernetes": {"jobmanager": {"node-selector": {"disk": "ssd"}}}}, {"disk": "ssd"}),
        ({"kubernetes.jobmanager": {"node-selector": {"topology": {"kubernetes.io/zone": "eu"}}}}, {ZONE: "eu"}),
        ({NAME: {"disk": "ssd", "none": None, "list": ["a"]}}, {"disk": "ssd"}),
        ({NAME: "disk:ssd", f"{NAME}.disk": "hdd"}, {"disk": "ssd"}),
        ({NAME: ""}, None),
        ({NAME: "disk"}, None),
        ({NAME: "a:b:c"}, None),
        ({NAME: "disk:ssd,"}, None),
        ({NAME: "disk:'ssd"}, None),
        ({NAME: "di'sk:ssd"}, None),
        ({NAME: "{disk: ssd}, {}"}, None),
        (
            {NAME: f"{{disk: ssd, {ZONE}: 'eu-1', gpu: true, rack: 7}}"},
            {"disk": "ssd", ZONE: "eu-1", "gpu": "true", "rack": "7"},
        ),
        ({NAME: "disk: ssd"}, {"disk": "ssd"}),
        ({NAME: "{disk: {a: b}}"}, None),
        ({NAME: ["disk:ssd"]}, {"disk": "ssd"}),
        ({NAME: ["disk: ssd", {}]}, {"disk": "ssd;"}),
        ({NAME: 7}, None),
        ({f"{NAME}s.disk": "ssd", "kubernetes": "text", f"{NAME}.{LONG}": {"a": "b"}}, None),
        ({}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_map_is_one_text_or_a_setting_for_each_entry(settings: Any, expected: dict[str, str] | None) -> None:
    assert setting_map(settings, NAME) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "key:a,operator:Equal,value:b,effect:NoSchedule;Key:c,Operator:Exists,TolerationSeconds:60,more:x",
            [
                {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
                {"key": "c", "operator": "Exists", "tolerationSeconds": 60},
            ],
        ),
        ('\'key:a,"value:""x;y"""\'', [{"key": "a", "value": "x;y"}]),
        ("'key:a,value:\"x;y\"'", None),
        (
            "[{key: a, operator: Exists}, {Key: b, tolerationSeconds: 60}]",
            [{"key": "a", "operator": "Exists"}, {"key": "b", "tolerationSeconds": 60}],
        ),
        (["key:a,operator:Exists", "key:b"], [{"key": "a", "operator": "Exists"}, {"key": "b"}]),
        ("[{key: a}, b]", None),
        ("[{key: a}, {tolerationSeconds: soon}]", None),
        ("[]", None),
        ("key:a;", None),
        ("key:a;key", None),
        ("key:a,tolerationSeconds:soon", None),
        ("'key:a", None),
        (7, None),
        (None, None),
    ],
)
def test_tolerations_are_one_text(text: Any, expected: list[dict[str, Any]] | None) -> None:
    assert setting_tolerations({NAME: text}, NAME) == expected


RESOURCES = {
    "external-resource.gpu.amount": 2,
    "external-resource.gpu.kubernetes.config-key": "nvidia.com/gpu",
    "external-resource": {
        "fpga": {"amount": "1", "kubernetes.config-key": "example.com/fpga"},
        "none": {"amount": "x"},
    },
    "external-resource.zero.amount": "0",
    "external-resource.zero.kubernetes.config-key": "example.com/zero",
}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("gpu", {"nvidia.com/gpu": 2}),
        ("gpu;fpga", {"nvidia.com/gpu": 2, "example.com/fpga": 1}),
        ("[gpu, fpga]", {"nvidia.com/gpu": 2, "example.com/fpga": 1}),
        (["fpga", "zero"], {"example.com/fpga": 1}),
        ("none", None),
        ("[[gpu]]", None),
        ("'gpu", None),
        (";" * 16 + "gpu", None),
        ("." * 400, None),
        (7, None),
        (None, None),
    ],
)
def test_extended_resources_have_settings_by_their_names(names: Any, expected: dict[str, int] | None) -> None:
    assert setting_resources({"external-resources": names, **RESOURCES}, "external-resources") == expected


def test_what_flink_is_configured_with_is_added_to_what_templates_say() -> None:
    kind = application_kinds()["flink.apache.org", "FlinkDeployment"]
    own = {"nodeSelector": {"disk": "ssd", "rack": "1"}, "tolerations": [{"key": "a", "operator": "Exists"}]}
    configuration = {
        "kubernetes.jobmanager.node-selector": "disk:hdd",
        "kubernetes.taskmanager.node-selector.gpu": "true",
        "kubernetes.taskmanager.tolerations": "key:gpu,operator:Exists,effect:NoSchedule",
    }
    spec = {
        "flinkConfiguration": configuration,
        "podTemplate": {"spec": own},
        "jobManager": {},
        "taskManager": {},
        "job": {"parallelism": 1},
    }
    manager, worker = (
        one.pod["spec"] for one in expanded(kind, {"metadata": {"name": "app"}, "spec": spec}).components
    )
    assert (manager["nodeSelector"], manager["tolerations"]) == ({"disk": "hdd", "rack": "1"}, own["tolerations"])
    assert worker["nodeSelector"] == {"disk": "ssd", "rack": "1", "gpu": "true"}
    added = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert worker["tolerations"] == [{"key": "a", "operator": "Exists"}, added]
