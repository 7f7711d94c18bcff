"""A pod without the fields of clauses: each clause takes its own field away, and nothing else."""

from typing import Any

import pytest

from tests.builders import pod, typed
from webhook.placement.objects.device_classes import DeviceClasses
from webhook.placement.request.pod_text import label, node_name, ports, without
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause, Source

CLASSES = DeviceClasses()
PORT = {"hostPort": 80, "containerPort": 8080}
CONTAINER = {"name": "c"}
SPEC: dict[str, Any] = {
    "nodeName": "node-a",
    "nodeSelector": {"disk": "ssd", "zone": "z"},
    "containers": [{**CONTAINER, "ports": [PORT]}],
    "initContainers": [{**CONTAINER, "name": "i", "restartPolicy": "Always", "ports": [{"hostPort": 81}]}],
}
WHOLE = typed(pod(**SPEC))
WITHOUT: dict[str, tuple[Clause | None, dict[str, Any]]] = {
    "node name": (node_name("node-a"), {"nodeName": None}),
    "the name of another node": (node_name("node-b"), {}),
    "one label": (label("disk", "ssd"), {"nodeSelector": {"zone": "z"}}),
    "host ports": (
        ports(WHOLE.spec) if WHOLE.spec else None,
        {
            "containers": [CONTAINER],
            "initContainers": [{**CONTAINER, "name": "i", "restartPolicy": "Always"}],
        },
    ),
}


@pytest.mark.parametrize(("clause", "left"), WITHOUT.values(), ids=WITHOUT)
def test_a_clause_takes_its_field_away(clause: Clause | None, left: dict[str, Any]) -> None:
    assert clause is not None
    assert without(WHOLE, [clause], CLASSES) == typed(pod(**{**SPEC, **left}))


def test_host_ports_go_from_a_pod_without_init_containers() -> None:
    stated = typed(pod(containers=[{**CONTAINER, "ports": [PORT]}]))
    assert without(stated, [Clause(Source.PORTS, (80,), "hostPort 80")], CLASSES) == typed(pod(containers=[CONTAINER]))


def test_binding_is_an_annotation() -> None:
    stated = typed(pod(annotations={keys.BIND: "true", "mine": "x"}))
    assert without(stated, [Clause(Source.BINDING, (), "cpu binding")], CLASSES) == typed(
        pod(annotations={"mine": "x"})
    )


def test_a_pod_without_a_spec_stays() -> None:
    stated = typed({"metadata": {"name": "p"}})
    assert without(stated, [node_name("node-a")], CLASSES) == stated
