"""NUMA zones that agents publish: pods are kept from nodes whose kubelets would turn them away, or refused."""

import http
import json
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.polling import until
from tests.e2e.workloads import emptied, namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "numa"
SECONDS: Final = 60
GROUP: Final = "topology.node.k8s.io"
NODES: Final = ("node-1", "node-2", "node-3")
DEFINITION: Final = open_definition(
    GROUP,
    "NodeResourceTopology",
    "v1alpha2",
    plural="noderesourcetopologies",
    scope="Cluster",
    approved="https://github.com/kubernetes/enhancements/pull/1870",
)
"""The kind of the agents."""


def zones(node: str, *cores: int) -> Object:
    """The node has zones of so many cores, and a kubelet that gives each container those of one zone."""
    return {
        "apiVersion": f"{GROUP}/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": node},
        "topologyPolicies": ["SingleNUMANodeContainerLevel"],
        "attributes": [
            {"name": "topologyManagerPolicy", "value": "single-numa-node"},
            {"name": "topologyManagerScope", "value": "container"},
        ],
        "zones": [
            {"name": f"node-{at}", "type": "Node", "resources": [
                {"name": "cpu", "capacity": str(count), "allocatable": str(count), "available": str(count)},
            ]}
            for at, count in enumerate(cores)
        ],
    }  # fmt: skip


def exclusive(name: str, cores: int) -> Object:
    """A pod of a job with so many cores of its own."""
    both = {"cpu": str(cores), "memory": "64Mi"}
    spec = pod_spec()
    spec["containers"][0]["resources"] = {"requests": both, "limits": both}
    return pod(name, SPACE, spec, labels={"streams.ibm.com/job": "numa"})


@pytest.fixture(scope="module", autouse=True)
def _zones(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    """Agents publish the zones of all nodes; those of one node are large."""
    admin = plane.admin
    namespace(admin, SPACE)
    admin.create(DEFINITION)
    published = [zones(node, *((4, 4) if node == NODES[1] else (1, 1))) for node in NODES]
    items = json.dumps({"apiVersion": "v1", "kind": "List", "items": published})
    until(lambda: plane.kubectl("apply", "--filename", "-", stdin=items).returncode == 0, "the kind is served", SECONDS)
    path = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
    until(
        lambda: admin.send("POST", path, exclusive("probe", 5)).code != http.HTTPStatus.CREATED,
        "the webhook knows the zones",
        SECONDS,
    )
    yield
    emptied(admin, SPACE)
    admin.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/noderesourcetopologies.{GROUP}")


def test_a_pod_runs_where_its_kubelet_can_align_it(admin: Api, plane: ControlPlane) -> None:
    applied(plane, exclusive("aligned", 2))
    path = f"/api/v1/namespaces/{SPACE}/pods/aligned"
    until(lambda: admin.get(path)["spec"].get("nodeName") == NODES[1], "it runs on the node of large zones", SECONDS)
    (term,) = admin.get(path)["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"] == [
        {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [NODES[0], NODES[2]]}
    ]


def test_one_that_no_kubelet_can_align_is_refused(plane: ControlPlane) -> None:
    assert refusal(plane, exclusive("wide", 5), hook="pods").startswith(
        "requests cpu 5 by NUMA zone cannot hold: 0 of 3 nodes can run this pod."
    )
