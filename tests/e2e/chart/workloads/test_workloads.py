"""Workloads whose pods cannot all run are refused when they are applied."""

import copy
import json
from typing import Any, Final

import pytest

from tests.e2e.chart.counters import counted
from tests.e2e.chart.kubectl_apply import INVALID, applied, denied, of_kind, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, namespace, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "workloads"
APPS: Final = f"/apis/apps/v1/namespaces/{SPACE}"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"

SECONDS: Final = 120
"""Controllers try a pod that was refused again later and later; on a busy machine it may take so long."""

TOO_MANY: Final = """\
hostExlocation("apart") and {said} cannot both hold: 3 of 4 pods fit, one on each of 3 of 3 nodes.
Nearest fix: add a node with room for one more of them, or lower {number} to 3, or drop hostExlocation("apart") \
(4 of 4 would fit).
"""

NO_ROOM_TO_SPARE: Final = """\
hostExlocation("apart") and replicas 3 with one more in a rollout cannot both hold: 3 of 4 pods fit, one on each of \
3 of 3 nodes.
Nearest fix: add a node with room for one more of them, or set maxUnavailable to 1, so that a rollout needs no room \
to spare, or drop hostExlocation("apart") (4 of 4 would fit).
"""

EVERYWHERE: Final = """\
metadata.annotations[streams.ibm.com/placement]: host("node-1"): a DaemonSet runs one pod on every node that its \
template selects: use nodeSelector, or a Deployment
"""


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


def apart(name: str, replicas: int, placement: str = 'hostExlocation("apart")', **spec: Any) -> Object:
    """A Deployment whose pods are a job of their own, each on a node of its own."""
    labels, annotations = {"streams.ibm.com/job": name}, {"streams.ibm.com/placement": placement}
    made = deployment(name, SPACE, replicas, labels=labels, annotations=annotations)
    made["spec"] |= spec
    return made


def rolled(found: Object, image: str, **strategy: Any) -> Object:
    """The Deployment with another image, rolled out like this."""
    made = copy.deepcopy(found)
    made["spec"]["template"]["spec"] = pod_spec(containers=[{"name": "main", "image": image}])
    made["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": strategy}
    return made


def nodes_of(admin: Api, name: str, image: str = "example.invalid/main") -> list[str]:
    """The nodes of its ready pods of that image, sorted."""
    found = admin.get(PODS, labelSelector=f"app={name}")["items"]
    running = [one for one in found if is_ready(one) and one["spec"]["containers"][0]["image"] == image]
    return sorted(one["spec"]["nodeName"] for one in running)


ALL_NODES: Final = ["node-1", "node-2", "node-3"]


def standing(admin: Api, plane: ControlPlane, name: str) -> Object:
    """A Deployment with as many pods as there are nodes, which all run."""
    found = apart(name, 3)
    applied(plane, found)
    until(lambda: nodes_of(admin, name) == ALL_NODES, "each node runs a pod", SECONDS)
    return found


def test_a_deployment_that_fits_runs_on_as_many_nodes(admin: Api, plane: ControlPlane) -> None:
    standing(admin, plane, "fits")


def test_kubectl_says_why_a_deployment_does_not_fit(admin: Api, plane: ControlPlane) -> None:
    found = apart("too-many", 4)
    done = plane.kubectl("apply", "--filename", "-", stdin=json.dumps(found))
    said = TOO_MANY.format(said="replicas 4", number="replicas")
    assert done.stderr == f'Error from server (Forbidden): error when creating "STDIN": {denied("workloads")}{said}'
    assert admin.find(f"{APPS}/deployments/too-many") is None


@pytest.mark.parametrize(
    ("kind", "number"),
    [("StatefulSet", "replicas"), ("ReplicaSet", "replicas"), ("Job", "parallelism"), ("CronJob", "parallelism")],
)
def test_so_is_every_other_kind(plane: ControlPlane, kind: str, number: str) -> None:
    at_a_time = {"completionMode": "Indexed", "completions": 4} if "Job" in kind else {}
    found = of_kind(kind, apart("too-many", 4), **at_a_time, **{number: 4})
    assert refusal(plane, found) == TOO_MANY.format(said=f"{number} 4", number=number)


def test_a_daemon_set_cannot_choose_hosts(plane: ControlPlane) -> None:
    found = of_kind("DaemonSet", apart("daemons", 1, 'host("node-1")'))
    assert refusal(plane, found, INVALID) == EVERYWHERE


def test_more_pods_than_fit_are_refused_and_the_others_stay(admin: Api, plane: ControlPlane) -> None:
    found = standing(admin, plane, "scaled")
    found["spec"]["replicas"] = 4
    assert refusal(plane, found) == TOO_MANY.format(said="replicas 4", number="replicas")
    assert nodes_of(admin, "scaled") == ALL_NODES


def test_a_scale_is_not_reviewed_and_the_pod_too_many_waits(admin: Api, plane: ControlPlane) -> None:
    standing(admin, plane, "scale")
    done = plane.kubectl("scale", "deployment/scale", "--replicas=4", "--namespace", SPACE)
    assert done.returncode == 0, done.stderr

    def waits() -> str:
        found = (one["metadata"]["annotations"] for one in admin.get(PODS, labelSelector="app=scale")["items"])
        return next((str(one["streams.ibm.com/waits"]) for one in found if "streams.ibm.com/waits" in one), "")

    message = until(waits, "a pod says what it waits for", SECONDS)
    assert message.startswith('no node yet: hostExlocation("apart") cannot hold: 0 of 3 nodes can run this pod.')
    assert nodes_of(admin, "scale") == ALL_NODES


def test_a_rollout_in_place_is_admitted_and_completes(admin: Api, plane: ControlPlane) -> None:
    found = standing(admin, plane, "rolled")
    applied(plane, rolled(found, "example.invalid/new", maxUnavailable=1))
    until(lambda: nodes_of(admin, "rolled", "example.invalid/new") == ALL_NODES, "all pods are new ones", SECONDS)


def test_a_rollout_without_room_to_spare_is_told_how_to_do_without(admin: Api, plane: ControlPlane) -> None:
    found = standing(admin, plane, "stuck")
    assert refusal(plane, rolled(found, "example.invalid/new", maxUnavailable=0, maxSurge=1)) == NO_ROOM_TO_SPARE


def test_what_could_not_be_recreated_can_be_deleted(admin: Api, plane: ControlPlane) -> None:
    """By somebody who waits for its pods, so that it is changed while it is being deleted."""
    found = standing(admin, plane, "ending")
    done = plane.kubectl("cordon", "node-3")
    try:
        until(lambda: refused_anew(plane, found), "the webhook knows that one node is gone", SECONDS)
        done = plane.kubectl(
            "delete", "deployment/ending", "--namespace", SPACE, "--cascade=foreground", "--timeout=240s"
        )
        assert done.returncode == 0, done.stderr
    finally:
        plane.kubectl("uncordon", "node-3")
    assert admin.find(f"{APPS}/deployments/ending") is None


def refused_anew(plane: ControlPlane, found: Object) -> bool:
    """Whether such a Deployment of another name and job would be refused now."""
    other = apart("another", found["spec"]["replicas"])
    return plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(other)).returncode != 0


def test_a_deployment_without_placement_is_not_reviewed(admin: Api, plane: ControlPlane) -> None:
    def asked() -> int:
        return counted(admin, "reviews_total", "kind")[("Deployment",)]

    before = asked()
    applied(plane, deployment("plain", SPACE, 4))
    until(lambda: len(nodes_of(admin, "plain")) == 4, "its pods run", SECONDS)
    assert (asked(), before > 0) == (before, True)
