"""Fixtures: a control plane with the chart, Kueue, and a queue whose Workloads have to pass the product's check."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import STAGES, ControlPlane
from tests.e2e.kueue import kueue_manager
from tests.e2e.kueue.kueue_manager import KUEUE
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.programs import binaries
from tests.e2e.workloads import emptied, namespace
from webhook.controller.admissionchecks.records import CONTROLLER

VERSION: Final = "kueue.x-k8s.io/v1beta2"
SECONDS: Final = 120


def unending(folder: Path) -> Path:
    """Stages in which the pods of Jobs run until they are deleted."""
    stages = STAGES.read_text().split("---\n")
    written = folder / "stages.yaml"
    written.write_text("---\n".join(one for one in stages if "name: pod-complete" not in one))
    return written


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with four nodes of 8 CPUs of the flavor ``pool``, and one that Kueue's quota is not of."""
    folder = tmp_path_factory.mktemp("kueue")
    with ControlPlane(folder, service_accounts=(kueue_manager.ACCOUNT,), stages=unending(folder)) as running:
        create_nodes(running.admin, [node(f"node-{number}", labels={"pool": "batch"}) for number in range(4)])
        create_nodes(running.admin, [node("node-other")])
        yield running


@pytest.fixture(scope="package")
def installed(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart, which answers admission checks. Kueue is installed after it."""
    with kubelet(plane) as running:
        install(plane, running, {**QUICK, "settings": {**QUICK["settings"], "kueue": True}})
        yield running


@pytest.fixture(scope="package")
def queue(plane: ControlPlane, installed: Kubelet) -> Iterator[str]:  # noqa: ARG001 -- after it
    """Kueue runs, and a ClusterQueue of much quota has the check."""
    with kueue_manager.running(plane, binaries.kueue(), plane.folder / "kueue"):
        for one in _queue():
            _made(plane.admin, one)
        until(lambda: _active(plane.admin), "the ClusterQueue is active", SECONDS)
        yield "batch"


def _queue() -> list[Object]:
    flavor = {"name": "batch", "resources": [{"name": name, "nominalQuota": "1000Gi"} for name in ("cpu", "memory")]}
    groups = [{"coveredResources": ["cpu", "memory"], "flavors": [flavor]}]
    strategy = {"admissionChecks": [{"name": "placement"}]}
    spec = {"namespaceSelector": {}, "resourceGroups": groups, "admissionChecksStrategy": strategy}
    return [
        {"apiVersion": VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        for kind, name, spec in (
            ("ResourceFlavor", "batch", {"nodeLabels": {"pool": "batch"}}),
            ("AdmissionCheck", "placement", {"controllerName": CONTROLLER}),
            ("ClusterQueue", "batch", spec),
        )
    ]


def _made(admin: Api, one: Object) -> None:
    """Create it, once the API server has heard of the webhooks."""
    path = f"{KUEUE}/{one['kind'].lower()}s"
    until(lambda: admin.send("POST", path, one).code == HTTPStatus.CREATED, f"{one['kind']} is made", SECONDS)


def _active(admin: Api) -> bool:
    """The product has said that it answers the check."""
    conditions = admin.get(f"{KUEUE}/clusterqueues/batch").get("status", {}).get("conditions", [])
    return any(one["type"] == "Active" and one["status"] == "True" for one in conditions)


@pytest.fixture
def admin(plane: ControlPlane, queue: str) -> Api:  # noqa: ARG001 -- after it
    return plane.admin


@pytest.fixture
def space(admin: Api, queue: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own with a LocalQueue, ``jobs``."""
    name = namespace(admin, re.sub("[^a-z]+", "-", request.node.name.removeprefix("test_"))[:40].strip("-"))
    local = {"apiVersion": VERSION, "kind": "LocalQueue", "metadata": {"name": "jobs", "namespace": name}}
    admin.create({**local, "spec": {"clusterQueue": queue}})
    yield name
    for one in admin.get(f"/apis/batch/v1/namespaces/{name}/jobs")["items"]:
        admin.delete(f"/apis/batch/v1/namespaces/{name}/jobs/{one['metadata']['name']}")
    emptied(admin, name)
