"""The control plane of the tests works like a real one, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.client.api import Api, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.workloads import deployment, is_ready, namespace, pod, pod_spec

RUNNER = """
import pathlib, signal, sys, time
from tests.e2e.controlplane.plane import ControlPlane

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have switched off for what runs behind
with ControlPlane(pathlib.Path(sys.argv[1])) as plane:
    print(*plane.pids(), flush=True)
    time.sleep(60)
"""


def test_it_comes_up_in_seconds(plane: ControlPlane) -> None:
    say(f"the control plane came up in {plane.start_seconds:.1f} s")
    assert plane.start_seconds < 60


def test_it_reports_the_version_that_it_was_built_from(admin: Api) -> None:
    assert admin.get("/version")["gitVersion"] == "v1.36.3"


def test_a_pod_is_scheduled_and_becomes_ready(admin: Api) -> None:
    space = namespace(admin, "one-pod")
    admin.create(pod("p", space))
    path = f"/api/v1/namespaces/{space}/pods/p"
    until(lambda: is_ready(admin.get(path)), "the pod is ready")
    assert admin.get(path)["spec"]["nodeName"].startswith("node-")


def test_the_scheduler_honours_labels_and_room_of_a_node(admin: Api) -> None:
    space = namespace(admin, "picky")
    names = create_nodes(admin, [node("large", {"size": "xl"}, capacity={"cpu": "64"})])
    try:
        spec = pod_spec(nodeSelector={"size": "xl"})
        spec["containers"][0]["resources"] = {"requests": {"cpu": "60"}}
        admin.create(pod("p", space, spec))
        until(lambda: is_ready(admin.get(f"/api/v1/namespaces/{space}/pods/p")), "the pod is ready")
        assert admin.get(f"/api/v1/namespaces/{space}/pods/p")["spec"]["nodeName"] == "large"
    finally:
        delete_nodes(admin, names)


def test_a_deployment_scales_up_and_down(admin: Api) -> None:
    space = namespace(admin, "scales")
    admin.create(deployment("d", space, replicas=2))
    path = f"/apis/apps/v1/namespaces/{space}/deployments/d"

    def ready() -> int:
        return int(admin.get(path)["status"].get("readyReplicas", 0))

    until(lambda: ready() == 2, "two pods are ready")
    admin.patch(f"{path}/scale", {"spec": {"replicas": 5}})
    until(lambda: ready() == 5, "five pods are ready")
    admin.patch(f"{path}/scale", {"spec": {"replicas": 0}})
    until(lambda: not admin.get(f"/api/v1/namespaces/{space}/pods")["items"], "no pods are left")


def test_the_pods_of_a_job_complete(admin: Api) -> None:
    space = namespace(admin, "completes")
    template = {"spec": pod_spec(restartPolicy="Never")}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": space}}
    admin.create({**job, "spec": {"completions": 2, "parallelism": 2, "template": template}})
    path = f"/apis/batch/v1/namespaces/{space}/jobs/j"
    until(lambda: admin.get(path)["status"].get("succeeded") == 2, "the Job has succeeded twice")


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("admin", "kubernetes-admin"),
        ("user", "jane"),
        ("node", "system:node:node-1"),
        ("streams-system/streams-placement", "system:serviceaccount:streams-system:streams-placement"),
    ],
)
def test_each_identity_is_its_user(plane: ControlPlane, name: str, user: str) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
    said = plane.api(name).call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review).body
    assert said["status"]["userInfo"]["username"] == user


def test_a_plain_user_may_do_nothing(plane: ControlPlane) -> None:
    with pytest.raises(RefusedError, match=r'403: nodes is forbidden: User "jane" cannot list resource "nodes"'):
        plane.api("user").get("/api/v1/nodes")


def test_controllers_create_pods_under_the_account_that_they_have_in_a_real_cluster(plane: ControlPlane) -> None:
    """Seen through an admission policy, as a webhook would."""
    rule = {"expression": "request.userInfo.username == 'nobody'", "messageExpression": "request.userInfo.username"}
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    here = {"matchLabels": {"kubernetes.io/metadata.name": namespace(plane.admin, "who")}}
    api, meta = "admissionregistration.k8s.io/v1", {"name": "who"}
    constraints = {"resourceRules": [pods], "namespaceSelector": here}
    policy = {"failurePolicy": "Fail", "matchConstraints": constraints, "validations": [rule]}
    binding = {"policyName": "who", "validationActions": ["Deny"]}
    plane.admin.create({"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": meta, "spec": policy})
    plane.admin.create(
        {"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": meta, "spec": binding}
    )
    pods_path = "/api/v1/namespaces/who/pods?dryRun=All"
    until(lambda: plane.admin.send("POST", pods_path, pod("p", "who")).code == 422, "the policy is honoured")
    plane.admin.create(deployment("d", "who"))

    def message() -> str:
        conditions = plane.admin.get("/apis/apps/v1/namespaces/who/deployments/d")["status"].get("conditions", ())
        return next((one["message"] for one in conditions if one["type"] == "ReplicaFailure"), "")

    assert "system:serviceaccount:kube-system:replicaset-controller" in until(message, "the pod is refused")


def test_kubectl_talks_to_it(plane: ControlPlane) -> None:
    assert plane.kubectl("get", "nodes", "node-1", "-o", "name").stdout == "node/node-1\n"


def test_helm_talks_to_it(plane: ControlPlane) -> None:
    assert plane.helm("list", "--short").returncode == 0


def test_the_api_server_comes_back_with_everything_after_sigkill(plane: ControlPlane) -> None:
    space = namespace(plane.admin, "survives")
    plane.apiserver.kill()
    plane.apiserver.restart()
    assert plane.admin.get(f"/api/v1/namespaces/{space}")["metadata"]["name"] == space
    plane.admin.create(pod("p", space))
    until(lambda: is_ready(plane.admin.get(f"/api/v1/namespaces/{space}/pods/p")), "scheduler and kwok are back", 30)


def test_nothing_is_left_when_it_ends(tmp_path: Path) -> None:
    with ControlPlane(tmp_path) as plane:
        pids = plane.pids()
        assert all(_alive(pid) for pid in pids)
    assert len(pids) == 5
    assert not any(_alive(pid) for pid in pids)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_nothing_is_left_when_the_tests_are_ended_by_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    command = (sys.executable, "-c", RUNNER, str(tmp_path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as runner:  # noqa: S603 -- this test's own program
        assert runner.stdout is not None
        pids = [int(pid) for pid in runner.stdout.readline().split()]
        runner.send_signal(number)
        runner.wait(30)
    assert len(pids) == 5
    until(lambda: not any(_alive(pid) for pid in pids), "the processes are gone")


def _alive(pid: int) -> bool:
    """Whether there is such a process; the dead that nobody has asked about do not count."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
