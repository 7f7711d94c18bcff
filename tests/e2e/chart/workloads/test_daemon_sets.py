"""DaemonSets: clauses that not all of their pods can keep are refused, and what is admitted runs on every node."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.kubectl_apply import INVALID, applied, denied, of_kind, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, emptied, is_ready, namespace, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "daemons"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
ALL_NODES: Final = ["node-1", "node-2", "node-3"]
SECONDS: Final = 60


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)
    yield
    emptied(plane.admin, SPACE)


def daemons(name: str, *, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    """A DaemonSet whose pods are a job of their own."""
    labels = {"streams.ibm.com/job": name}
    made = deployment(name, SPACE, labels=labels, annotations=annotations or {}, spec=pod_spec(**spec))
    return of_kind("DaemonSet", made)


def placed(text: str) -> dict[str, str]:
    return {"streams.ibm.com/placement": text}


def nodes_of(admin: Api, name: str) -> list[str]:
    found = admin.get(PODS, labelSelector=f"app={name}")["items"]
    return sorted(one["spec"]["nodeName"] for one in found if is_ready(one))


@pytest.mark.parametrize(
    ("name", "annotations", "clause"),
    [
        ("colocated", placed('hostColocation("a")'), 'hostColocation("a")'),
        ("same", {"streams.ibm.com/kubernetes.worker.mapping.uniform": "all-same-node"}, "uniform all-same-node"),
        ("beside", {"streams.ibm.com/run-with": "app=beside"}, "run-with app=beside"),
    ],
)
def test_pods_that_would_wait_for_ever_are_refused(
    plane: ControlPlane, name: str, annotations: dict[str, str], clause: str
) -> None:
    said = plane.kubectl("apply", "--filename", "-", stdin=json.dumps(daemons(name, annotations=annotations)))
    assert said.stderr.partition(denied("workloads"))[2] == (
        f"{clause} and one pod on every node cannot both hold: 1 of 3 pods can run.\n"
        f"Nearest fix: use a Deployment, add a nodeSelector that one node meets, or drop {clause}.\n"
    )


@pytest.mark.parametrize(
    ("name", "annotations", "spec", "runs"),
    [
        (
            "single",
            placed('hostColocation("a")'),
            {"nodeSelector": {"kubernetes.io/hostname": "node-2"}},
            ["node-2"],
        ),
        ("apart", placed('hostExlocation("a")'), {}, ALL_NODES),
        (
            "spread",
            {},
            {
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/os",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"app": "spread"}},
                    }
                ]
            },
            ALL_NODES,
        ),
    ],
)
def test_what_is_admitted_runs_everywhere(
    admin: Api, plane: ControlPlane, name: str, annotations: dict[str, str], spec: dict[str, Any], runs: list[str]
) -> None:
    applied(plane, daemons(name, annotations=annotations, **spec))
    until(lambda: nodes_of(admin, name) == runs, "each of its nodes runs a pod", SECONDS)


def test_a_cordoned_node_is_open_to_it(admin: Api, plane: ControlPlane) -> None:
    plane.kubectl("cordon", "node-3")
    try:
        applied(plane, daemons("cordoned", nodeSelector={"kubernetes.io/hostname": "node-3"}))
        until(lambda: nodes_of(admin, "cordoned") == ["node-3"], "its pod runs", SECONDS)
    finally:
        plane.kubectl("uncordon", "node-3")


def test_its_nodes_are_counted_with_cordoned_ones(plane: ControlPlane) -> None:
    plane.kubectl("cordon", "node-3")
    try:
        found = daemons("both", annotations=placed('hostColocation("a")'))
        assert "1 of 3 pods can run" in refusal(plane, found, INVALID)
    finally:
        plane.kubectl("uncordon", "node-3")
