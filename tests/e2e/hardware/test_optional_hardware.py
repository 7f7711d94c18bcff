"""An optional device is requested while one is free; otherwise the pod runs without it."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.all_processes import everyone
from tests.e2e.hardware.applied_workloads import applied, asked, nodes_of, resources, running, space
from tests.e2e.hardware.node_hardware import OTHER_GPU, QAT
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, pod
from webhook.placement.text import keys

SPACE: Final = "wanted"

GPU_WANTED: Final = f"{{name: {OTHER_GPU}, limits: 1, mandatory: false, weight: 9}}"
QAT_WANTED: Final = f"{{name: {QAT}, limits: 1, mandatory: false, weight: 2}}"
ABSENT: Final = "{name: example.com/quantum, limits: 1, mandatory: false}"


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    with space(plane, SPACE):
        until(lambda: answered(plane.admin) == {()}, "other tests' devices are known to be free", 60)
        yield


def wanting(*requirements: str) -> Object:
    """Metadata of a pod with these requirements."""
    return {"annotations": {keys.HARDWARE: f"[{', '.join(requirements)}]"}}


def answered(admin: Api) -> set[tuple[str, ...]]:
    """What the processes warn of if a pod wants the one GPU there is."""
    return {said.warnings for said in everyone(admin, pod("p", SPACE, **wanting(GPU_WANTED)))}


def skipped(name: str) -> str:
    """What the API server's reply says about a wish that is not met."""
    return f"hardware {name} 1 is not requested: no node that could run this pod has it free"


def test_of_two_wishes_that_no_node_has_together_the_heavier_is_met(admin: Api) -> None:
    answer = asked(admin, pod("p", SPACE, **wanting(QAT_WANTED, GPU_WANTED)))
    assert (resources(answer.body)["limits"], answer.warnings) == ({OTHER_GPU: "1"}, (skipped(QAT),))


def test_what_no_node_has_is_left_out_with_a_warning(admin: Api) -> None:
    answer = asked(admin, pod("p", SPACE, **wanting(ABSENT)))
    assert (answer.code, resources(answer.body), answer.warnings) == (201, {}, (skipped("example.com/quantum"),))


def test_pods_take_what_is_free_and_the_next_one_runs_without(admin: Api, plane: ControlPlane) -> None:
    """There is one such device: it is the first pod's, and the other two want it in vain."""
    wish = wanting(GPU_WANTED)
    applied(plane, deployment("first", SPACE, **wish))
    (first,) = running(admin, SPACE, "first")
    assert (first["spec"]["nodeName"], resources(first)["limits"]) == ("gpu-1", {OTHER_GPU: "1"})
    until(lambda: answered(admin) == {(skipped(OTHER_GPU),)}, "it is known to be taken", 60)

    applied(plane, deployment("others", SPACE, 2, **wish))
    others = running(admin, SPACE, "others", 2)
    assert [resources(one) for one in others] == [{}, {}]
    assert len(nodes_of(others)) == 2


def test_once_it_is_free_again_the_next_pod_gets_it(admin: Api, plane: ControlPlane) -> None:
    done = plane.kubectl("delete", "deployment", "--all", "--namespace", SPACE, "--cascade=foreground")
    assert done.returncode == 0, done.stderr
    until(lambda: answered(admin) == {()}, "it is known to be free", 60)
    applied(plane, deployment("again", SPACE, **wanting(GPU_WANTED)))
    assert nodes_of(running(admin, SPACE, "again")) == ["gpu-1"]
