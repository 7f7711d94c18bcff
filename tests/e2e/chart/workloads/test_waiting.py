"""Nodes that cannot run pods for a while: which pods wait for them, and which are refused."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.chart.counters import counted
from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.kubectl_apply import applied, denied, refusal
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.events import told
from tests.e2e.controlplane.plane import STAGES, ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.workloads import deployment, is_ready, namespace

SPACE: Final = "waiting"
APPS: Final = f"/apis/apps/v1/namespaces/{SPACE}"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
WORKERS: Final = ("node-1", "node-2", "node-3")
WAITS: Final = "streams.ibm.com/waits"
NOT_READY: Final = "node.kubernetes.io/not-ready"

AWAY_SECONDS: Final = 12
"""For how long no node can be had: longer than the scheduler's longest back-off, which is 10 s.

That of a controller whose pods are refused would be longer still; whether one is refused is seen at once.
"""

SECONDS: Final = 60
SOON: Final = 6.0
"""Seconds in which pods that wait are scheduled when nodes come back: 3 on idle cores, which tests share."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A plane whose kubelets do not heal themselves; the webhook is on a node of its own."""
    folder = tmp_path_factory.mktemp("waiting")
    stages = folder / "stages.yaml"
    stages.write_text(_without_healing(STAGES))
    controller = f"{NAMESPACE}/{RELEASE}-controller"
    with (
        ControlPlane(folder / "plane", service_accounts=(controller,), stages=stages) as plane,
        kubelet(plane) as running,
    ):
        create_nodes(plane.admin, [node("home", {"home": "yes"}), *(node(name, {"work": "yes"}) for name in WORKERS)])
        install(plane, running, {**QUICK, "nodeSelector": {"home": "yes"}})
        namespace(plane.admin, SPACE)
        yield plane


@pytest.fixture
def admin(own: ControlPlane) -> Api:
    return own.admin


def _without_healing(stages: Path) -> str:
    parts = stages.read_text().split("\n---\n")
    return "\n---\n".join(part for part in parts if "{name: node-initialize}" not in part)


def turn(admin: Api, *, ready: bool) -> None:
    """The kubelets of all workers say so, and Kubernetes has drawn its conclusions."""
    for name in WORKERS:
        found = admin.get(f"/api/v1/nodes/{name}")["status"]["conditions"]
        status = {"status": "True" if ready else "False"}
        conditions = [one | status if one["type"] == "Ready" else one for one in found]
        admin.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": conditions}})
    until(lambda: all(ready is not _unready(admin, name) for name in WORKERS), "Kubernetes knows", SECONDS)


def _unready(admin: Api, name: str) -> bool:
    return any(taint["key"] == NOT_READY for taint in admin.get(f"/api/v1/nodes/{name}")["spec"].get("taints", ()))


def apart(name: str, replicas: int) -> Object:
    """A Deployment whose pods lie on a worker each."""
    labels = {"streams.ibm.com/job": name}
    annotations = {"streams.ibm.com/placement": 'hostExlocation("apart")'}
    found = deployment(name, SPACE, replicas, labels=labels, annotations=annotations)
    found["spec"]["template"]["spec"]["nodeSelector"] = {"work": "yes"}
    return found


def pods(admin: Api, name: str) -> list[Object]:
    found: list[Object] = admin.get(PODS, labelSelector=f"app={name}")["items"]
    return found


def scheduled(one: Object) -> dict[str, Any]:
    """The condition that autoscalers go by."""
    return next((found for found in one["status"].get("conditions", ()) if found["type"] == "PodScheduled"), {})


def refused_replicas(admin: Api, name: str) -> str:
    """What the Deployment says of pods that could not be made."""
    conditions = admin.get(f"{APPS}/deployments/{name}")["status"].get("conditions", ())
    return next((str(one["message"]) for one in conditions if one["type"] == "ReplicaFailure"), "")


def scaled(plane: ControlPlane, name: str, replicas: int) -> None:
    done = plane.kubectl("scale", f"deployment/{name}", f"--replicas={replicas}", "--namespace", SPACE)
    assert done.returncode == 0, done.stderr


class TestWhileNodesAreNotReady:
    def test_replicas_are_made_and_run_as_soon_as_nodes_are_back(self, own: ControlPlane, admin: Api) -> None:
        applied(own, apart("grows", 1))
        until(lambda: sum(map(is_ready, pods(admin, "grows"))) == 1, "the first pod runs", SECONDS)
        turn(admin, ready=False)
        try:
            scaled(own, "grows", 3)
            until(lambda: len(pods(admin, "grows")) == 3 or refused_replicas(admin, "grows"), "they are made or not")
            time.sleep(AWAY_SECONDS)
            failure = refused_replicas(admin, "grows")
        finally:
            back = time.monotonic()
            turn(admin, ready=True)
        until(lambda: sum(map(is_ready, pods(admin, "grows"))) == 3, "all of them run", 120)
        took = time.monotonic() - back
        say(f"all ran {took:.1f} s after the nodes were back")
        assert (failure, took < SOON) == ("", True), f"all ran after {took:.1f} s; {failure}"

    def test_people_are_let_in_with_a_warning(self, own: ControlPlane, admin: Api) -> None:
        turn(admin, ready=False)
        try:
            said = until(lambda: _warned(own), "the webhook knows, too")
            bare = own.kubectl("apply", "--filename", "-", stdin=json.dumps(asking("bare", SPACE)))
        finally:
            turn(admin, ready=True)
        assert "no node now: 3 nodes are not ready; the pod waits until they recover" in said
        assert bare.returncode == 0
        assert "no node now: 1 node is not ready; the pod waits until they recover" in bare.stderr
        until(lambda: is_ready(admin.get(f"{PODS}/bare")), "it runs", SECONDS)


def _warned(plane: ControlPlane) -> str:
    done = plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(apart("late", 3)))
    assert done.returncode == 0, done.stderr
    return done.stderr if "no node now" in done.stderr else ""


@pytest.fixture(scope="module")
def _cordoned(own: ControlPlane) -> Iterator[None]:
    """A Deployment with one pod that runs, and no node for another."""
    applied(own, apart("told", 1))
    until(lambda: sum(map(is_ready, pods(own.admin, "told"))) == 1, "the first pod runs", SECONDS)
    own.kubectl("cordon", *WORKERS)
    until(lambda: _refused(own, apart("late", 1)), "the webhook knows")
    yield
    own.kubectl("uncordon", *WORKERS)


def _refused(plane: ControlPlane, found: Object) -> bool:
    return plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(found)).returncode != 0


@pytest.mark.usefixtures("_cordoned")
class TestWhileNodesAreCordoned:
    """What somebody has done is not waited for by those who submit something now."""

    WHY: Final = "nodeSelector work=yes cannot hold: 0 of 4 nodes can run this pod."

    def test_a_workload_is_refused(self, own: ControlPlane) -> None:
        assert refusal(own, apart("late", 1)).startswith(self.WHY)

    def test_so_is_a_bare_pod(self, own: ControlPlane) -> None:
        assert refusal(own, asking("late", SPACE), hook="pods").startswith('host("node-1") cannot hold')

    def test_so_is_a_pod_whose_owner_is_forged(self, admin: Api) -> None:
        [owner] = admin.get(f"{APPS}/replicasets", labelSelector="app=told")["items"]
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": True}
        reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
        forged = asking("forged", SPACE, ownerReferences=[reference], labels={"streams.ibm.com/job": "forged"})
        answer = admin.send("POST", PODS, forged)
        assert answer.code == 403
        assert answer.message.startswith(f'{denied("pods")}host("node-1") cannot hold')

    def test_so_is_a_pod_that_says_itself_that_it_waits(self, admin: Api) -> None:
        forged = asking("forged", SPACE, annotations={WAITS: "for nothing"})
        assert admin.send("POST", PODS, forged).code == 403

    def test_a_replica_waits_and_autoscalers_and_people_see_why(self, own: ControlPlane, admin: Api) -> None:
        before = counted(admin, "waiting_pods_total", "cause")[("controlled",)]
        scaled(own, "told", 2)
        one = until(
            lambda: next((found for found in pods(admin, "told") if scheduled(found).get("status") == "False"), None),
            "the scheduler has looked at it",
            SECONDS,
        )
        assert (scheduled(one)["reason"], refused_replicas(admin, "told")) == ("Unschedulable", "")
        text = one["metadata"]["annotations"][WAITS]
        assert text.startswith(f"no node yet: {self.WHY}")
        assert counted(admin, "waiting_pods_total", "cause")[("controlled",)] == before + 1
        name = one["metadata"]["name"]
        until(lambda: ("Warning", "PlacementWaiting", text) in told(admin, SPACE, name), "there is an Event", SECONDS)

    def test_it_runs_when_there_is_a_node(self, own: ControlPlane, admin: Api) -> None:
        own.kubectl("uncordon", *WORKERS)
        until(lambda: sum(map(is_ready, pods(admin, "told"))) == 2, "both run", SECONDS)
        names = [one["metadata"]["name"] for one in pods(admin, "told")]
        said = [reason for name in names for _, reason, _ in told(admin, SPACE, name) if reason == "PlacementWaiting"]
        assert said == ["PlacementWaiting"]
