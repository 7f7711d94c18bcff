"""Batch Jobs whose pods run one after the other, and Jobs that are suspended, in a real cluster of three nodes."""

from typing import Any, Final

import pytest

from tests.e2e.chart.kubectl_apply import applied, denied, of_kind, refusal
from tests.e2e.chart.placement_pods import PLACEMENT
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, namespace

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "batch-jobs"
JOBS: Final = f"/apis/batch/v1/namespaces/{SPACE}/jobs"
APART: Final = 'hostExlocation("apart")'
NODE_1: Final = f'{APART}, host("node-1")'
SECONDS: Final = 120
"""Controllers try a pod that was refused again later and later."""

IN_TURN: Final = (
    f"Warning: parallelism 5: 3 of 5 pods run at a time ({APART}, one on each of 3 of 3 nodes)\n"  # of the three nodes
)
AT_A_TIME: Final = """\
hostExlocation("apart") and parallelism 5 cannot both hold: 3 of 5 pods fit, one on each of 3 of 3 nodes.
Nearest fix: add a node with room for one more of them, or lower parallelism to 3, or drop hostExlocation("apart") \
(5 of 5 would fit).
""".replace("a node with room for one more", "nodes with room for 2 more")


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


def job(name: str, placement: str = APART, kind: str = "Job", **spec: Any) -> Object:
    """A Job of five pods, each on a node of its own."""
    labels, annotations = {"streams.ibm.com/job": name}, {PLACEMENT: placement}
    found = deployment(name, SPACE, labels=labels, annotations=annotations)
    return of_kind(kind, found, **{"parallelism": 5, "completions": 5, **spec})


def succeeded(admin: Api, name: str) -> int:
    """How many of its pods have done their work."""
    return int(admin.get(f"{JOBS}/{name}")["status"].get("succeeded", 0))


def test_a_job_with_more_pods_than_nodes_is_admitted_with_a_warning_and_completes(
    admin: Api, plane: ControlPlane
) -> None:
    assert applied(plane, job("in-turn")) == IN_TURN
    until(lambda: succeeded(admin, "in-turn") == 5, "all five have done their work", SECONDS)


def test_so_does_one_that_has_a_single_node(admin: Api, plane: ControlPlane) -> None:
    said = (
        'Warning: parallelism 2: 1 of 2 pods runs at a time (hostExlocation("apart"), host("node-1") on 1 of 3 nodes)\n'
    )
    assert applied(plane, job("single", NODE_1, parallelism=2, completions=2)) == said
    until(lambda: succeeded(admin, "single") == 2, "both have done their work", SECONDS)


def test_a_cron_job_of_such_jobs_is_admitted_with_the_same_warning(plane: ControlPlane) -> None:
    assert applied(plane, job("nightly", kind="CronJob")) == IN_TURN


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_an_indexed_job_is_refused(plane: ControlPlane, kind: str) -> None:
    assert refusal(plane, job("indexed", kind=kind, completionMode="Indexed")) == AT_A_TIME


def test_a_job_of_a_gang_is_refused(plane: ControlPlane) -> None:
    found = job("gang")
    found["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "gang"
    assert refusal(plane, found) == AT_A_TIME


def test_a_suspended_job_is_warned_and_refused_when_it_is_to_run(admin: Api, plane: ControlPlane) -> None:
    found = job("later", completionMode="Indexed", suspend=True)
    headline = AT_A_TIME.partition("\n")[0]
    assert applied(plane, found) == f"Warning: not yet: {headline}\n"
    found["spec"]["suspend"] = False
    assert refusal(plane, found) == AT_A_TIME
    assert admin.get(f"{JOBS}/later")["spec"]["suspend"] is True


def test_a_suspended_job_that_fits_runs_when_it_is_to(admin: Api, plane: ControlPlane) -> None:
    fitting = {"completionMode": "Indexed", "parallelism": 3, "completions": 3}
    assert applied(plane, job("resumed", suspend=True, **fitting)) == ""
    assert applied(plane, job("resumed", suspend=False, **fitting)) == ""
    until(lambda: succeeded(admin, "resumed") == 3, "all three have done their work", SECONDS)


def test_kubectl_patch_is_told_as_well(plane: ControlPlane) -> None:
    applied(plane, job("patched", completionMode="Indexed", suspend=True))
    change = '{"spec": {"suspend": false}}'
    done = plane.kubectl("patch", "job/patched", "--namespace", SPACE, "--type=merge", "--patch", change)
    assert (done.returncode, done.stderr.partition(denied("workloads"))[2]) == (1, AT_A_TIME)


def test_a_cron_job_that_is_suspended_is_warned_and_refused_when_it_is_to_run(plane: ControlPlane) -> None:
    found = job("some-time", kind="CronJob", completionMode="Indexed")
    found["spec"]["suspend"] = True
    assert applied(plane, found).startswith("Warning: not yet: ")
    found["spec"]["suspend"] = False
    assert refusal(plane, found) == AT_A_TIME
