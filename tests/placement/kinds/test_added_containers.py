"""Containers that an operator adds to pods: no user can lower what they request, so no fix says so."""

from typing import Any

import pytest

from tests.builders import NAMESPACE
from tests.placement.kinds.application_verdict import verdict_on
from tests.placement.kinds.random_applications import Case, Machine, Part
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded

PYTORCH = ("kubeflow.org", "PyTorchJob")
RAY = ("ray.io", "RayCluster")


def case(kind: tuple[str, str], cores: float, *parts: Part) -> Case:
    """An object of the kind with these parts, and a node with so many cores."""
    metadata = {"name": "app", "namespace": NAMESPACE}
    document = {"apiVersion": f"{kind[0]}/v1", "kind": kind[1], "metadata": metadata}
    return Case((Machine("node-a", cores, ""),), kind, (), document, None).with_parts(parts)


def pod(cores: float) -> Part:
    return Part(1, (), cores, "")


def test_a_fix_lowers_what_makes_room_for_a_container_that_the_operator_adds() -> None:
    # The init container of the worker takes 50m, so the master cannot keep the whole node whatever the worker requests.
    assert verdict_on(case(PYTORCH, 3, pod(3), pod(3))).text == (
        "requests cpu 3 cannot hold: 1 of 2 pods fits (master, worker).\n"
        "  1 node has cpu 3 free, but 2 pods that request cpu 50m or more take 3050m, as 1 leaves too little for "
        "another one\n"
        "Nearest fix: add a node with cpu 3, memory 10Mi free, or lower requests cpu 3 to cpu 0 (all 2 would fit), or "
        "run 1 of these 2."
    )


def test_requests_of_a_component_are_not_lowered_below_those_of_such_a_container() -> None:
    text = verdict_on(case(PYTORCH, 0.04, pod(0), pod(3))).text
    assert text == (
        "The pods cannot all run: 0 of 1 pod fits (worker).\n"
        "  1 node has less than cpu 3\n"
        "Nearest fix: add a node with cpu 3, memory 10Mi free."
    )
    assert "lower requests cpu 3, memory 10Mi to cpu 60m" in verdict_on(case(PYTORCH, 0.06, pod(0), pod(3))).text


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("v1", [{"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "5Gi"}]),
        ("v2beta1", []),
    ],
)
def test_the_launcher_of_an_mpi_job_of_version_1_has_an_init_container(version: str, expected: list[Any]) -> None:
    """Source: ``newLauncher`` of ``mpijob_controller.go`` of the Training Operator; the MPI Operator adds none."""
    document = case(("kubeflow.org", "MPIJob"), 8, pod(1), pod(1)).document
    kind = application_kinds()["kubeflow.org", "MPIJob"]
    launcher, worker = expanded(kind, {**document, "apiVersion": f"kubeflow.org/{version}"}).components
    added = launcher.pod["spec"].get("initContainers", [])
    assert [one["resources"]["requests"] for one in added] == expected
    assert "initContainers" not in worker.pod["spec"]


@pytest.mark.parametrize(
    ("options", "expected"), [({}, {"autoscaler"}), ({"resources": {"requests": {"cpu": "1"}}}, set())]
)
def test_resources_of_such_a_container_that_the_object_states_are_those_of_a_user(
    options: dict[str, Any], expected: set[str]
) -> None:
    document = case(RAY, 8, pod(1)).document
    spec = {**document["spec"], "enableInTreeAutoscaling": True, "autoscalerOptions": options}
    (head,) = expanded(application_kinds()[RAY], {**document, "spec": spec}).components
    assert head.added == expected
