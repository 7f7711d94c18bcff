"""The chart, installed as its README describes."""

import re
import shlex
import subprocess

import pytest

from tests.e2e.chart.installation import PORT
from tests.e2e.chart.placement_pods import asking, ready_pods
from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, namespace, pod

pytestmark = pytest.mark.usefixtures("installed")

SPACE = "asks"


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


def test_two_processes_answer(admin: Api) -> None:
    assert len(ready_pods(admin)) == 2


def test_the_api_server_reaches_them_by_the_service(admin: Api) -> None:
    service = admin.get(f"/api/v1/namespaces/{NAMESPACE}/services/{RELEASE}")
    assert [port["port"] for port in service["spec"]["ports"]] == [PORT]


def test_a_pod_that_asks_for_a_host_runs_there(admin: Api) -> None:
    admin.create(asking("named", SPACE, 'host("node-2")'))
    path = f"/api/v1/namespaces/{SPACE}/pods/named"
    until(lambda: is_ready(admin.get(path)), "the pod is ready")
    assert admin.get(path)["spec"]["nodeName"] == "node-2"


def test_a_pod_that_asks_for_what_there_is_not_is_refused(admin: Api) -> None:
    with pytest.raises(RefusedError) as refused:
        admin.create(asking("nowhere", SPACE, 'host("nowhere")'), dryRun="All")
    assert refused.value.code == 403
    assert 'host("nowhere") cannot hold: 0 of 3 nodes can run this pod.' in refused.value.message


def test_a_host_pool_is_known_as_soon_as_it_is_there(admin: Api, plane: ControlPlane) -> None:
    plane.kubectl("label", "node", "node-3", "streams.ibm.com/hostpool=fast")
    meta: Object = {"name": "fast", "namespace": SPACE}
    path = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools"
    made: Object = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": meta}
    admin.call("POST", path, {**made, "spec": {"name": "Fast", "tags": ["fast"]}})
    wanted = asking("pooled", SPACE, "host(Fast)")
    until(lambda: admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", wanted).code == 201, "it is known")
    admin.create(wanted)
    path = f"/api/v1/namespaces/{SPACE}/pods/pooled"
    until(lambda: is_ready(admin.get(path)), "the pod is ready")
    assert admin.get(path)["spec"]["nodeName"] == "node-3"


def test_a_deployment_of_such_pods_comes_up(admin: Api) -> None:
    annotations = {"streams.ibm.com/placement": 'host("node-1")'}
    admin.create(deployment("several", SPACE, replicas=2, annotations=annotations))
    path = f"/apis/apps/v1/namespaces/{SPACE}/deployments/several"
    until(lambda: admin.get(path)["status"].get("readyReplicas") == 2, "both are ready")


def test_a_pod_that_asks_for_nothing_stays_as_it_is(admin: Api) -> None:
    created = admin.create(pod("plain", SPACE), dryRun="All")
    assert ("annotations" in created["metadata"], "affinity" in created["spec"]) == (False, False)


def test_an_upgrade_without_changes_restarts_nothing(admin: Api, plane: ControlPlane) -> None:
    before = {one["metadata"]["uid"] for one in ready_pods(admin)}
    values = str(plane.folder / "values.yaml")
    chart = plane.helm("get", "manifest", RELEASE, "--namespace", NAMESPACE).stdout
    done = plane.helm("upgrade", RELEASE, str(CHART), "--namespace", NAMESPACE, "--values", values, "--wait")
    assert done.returncode == 0, done.stderr
    assert plane.helm("get", "manifest", RELEASE, "--namespace", NAMESPACE).stdout == chart
    assert {one["metadata"]["uid"] for one in ready_pods(admin)} == before


def tried(plane: ControlPlane, command: str) -> subprocess.CompletedProcess[str]:
    """A command of the notes, run as it stands, but for the node that a shell would fill in."""
    words = shlex.split(command.replace("\\\n", " ").replace("$NODE", "node-1"))
    return plane.kubectl(*words[1:])


def test_the_commands_of_the_notes_do_what_they_say(plane: ControlPlane) -> None:
    notes = plane.helm("get", "notes", RELEASE, "--namespace", NAMESPACE).stdout
    rollout, good, bad, *_ = re.findall(r"^  (kubectl (?:--namespace|run) .*?[^\\])$", notes, re.MULTILINE | re.DOTALL)
    assert tried(plane, rollout).returncode == 0
    assert "nodeName: node-1" in tried(plane, good).stdout
    assert 'host("nowhere") cannot hold: 0 of 3 nodes can run this pod.' in tried(plane, bad).stderr
