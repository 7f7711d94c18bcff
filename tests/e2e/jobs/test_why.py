"""``why`` at a real API server: a pod that runs, what became of its node, and a user with few rights."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.streams_jobs import TEMPLATE, Jobs
from tests.e2e.polling import until

NODE = "node-5"
CORDONED = {"spec": {"unschedulable": True}}


def why(plane: ControlPlane, jobs: Jobs, *words: str, user: str = "admin") -> dict[str, Any]:
    """What the command answers to a program."""
    done = subprocess.run(  # noqa: S603 -- the program of this repository
        [sys.executable, "-m", "webhook", "why", *words, "-n", jobs.space, "-o", "json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig(user))},
    )
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def cordoned(admin: Api) -> Iterator[Api]:
    """The API server; a node that a test cordons is open again afterwards, and its Deployments are gone."""
    yield admin
    for one in admin.get("/apis/apps/v1/deployments", labelSelector="test=why")["items"]:
        metadata = one["metadata"]
        admin.delete(f"/apis/apps/v1/namespaces/{metadata['namespace']}/deployments/{metadata['name']}")
    admin.patch(f"/api/v1/nodes/{NODE}", {"spec": {"unschedulable": None}}, content="application/merge-patch+json")


def workload(replicas: int) -> Object:
    labels = {"app": "web", "streams.ibm.com/job": "web"}
    placement = {"streams.ibm.com/placement": f'host("{NODE}"), hostExlocation("apart")'}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"test": "why"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": labels, "annotations": placement}, **TEMPLATE},
        },
    }


def test_a_pod_whose_node_was_cordoned(plane: ControlPlane, jobs: Jobs, cordoned: Api) -> None:
    made = plane.kubectl("create", "--namespace", jobs.space, "--filename", "-", stdin=json.dumps(workload(1)))
    assert made.returncode == 0, made.stderr
    path = f"/api/v1/namespaces/{jobs.space}/pods"
    pod = until(lambda: next(iter(cordoned.get(path)["items"]), None), "the Deployment has a pod", 40)
    name = pod["metadata"]["name"]
    until(lambda: cordoned.get(f"{path}/{name}")["status"].get("phase") == "Running", "the pod runs", 40)
    now = why(plane, jobs, name)
    assert (now["state"], now["verdict"], now["changes"]) == (f"Running on {NODE}", "fits", [])
    assert now["asks"] == [f'placement: host("{NODE}"), hostExlocation("apart")']
    cordoned.patch(f"/api/v1/nodes/{NODE}", CORDONED, content="application/merge-patch+json")
    until(lambda: cordoned.get(f"/api/v1/nodes/{NODE}")["spec"].get("taints"), "the node is tainted", 20)
    later = why(plane, jobs, f"pod/{name}")
    assert later["verdict"] == "refused"
    assert later["message"] == (
        f'host("{NODE}") cannot hold: 0 of 6 nodes can run this pod.\n'
        f"  5 nodes are not named {NODE}\n"
        "  1 node is cordoned\n"
        f"Nearest fix: uncordon node {NODE}."
    )
    assert [change["text"] for change in later["changes"]] == [
        f"node {NODE} got the taint node.kubernetes.io/unschedulable:NoSchedule"
    ]
    whole = why(plane, jobs, "deployment/web")
    assert (whole["verdict"], [pod["node"] for pod in whole["pods"]]) == ("refused", [NODE])


def test_a_user_who_may_not_list_nodes(plane: ControlPlane, jobs: Jobs) -> None:
    """May read their own namespace: they learn what the objects say, and what they may not read."""
    rights = plane.kubectl(
        "create", "rolebinding", "viewers", "--clusterrole=view", "--user=jane", "--namespace", jobs.space
    )
    assert rights.returncode == 0, rights.stderr
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w"}, **TEMPLATE}
    made = plane.kubectl("create", "--namespace", jobs.space, "--filename", "-", stdin=json.dumps(pod))
    assert made.returncode == 0, made.stderr
    found = why(plane, jobs, "w", user="user")
    assert found["verdict"] == "unknown"
    assert {"nodes", "pods"} <= set(found["unread"])
