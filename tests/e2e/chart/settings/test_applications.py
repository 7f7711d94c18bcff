"""Applications of another operator: refused by ``kubectl apply`` before anything of them is stored."""

import json
import os
import subprocess
import sys
from typing import Any, Final

import pytest

from tests.e2e.chart.kubectl_apply import INVALID, applied, refusal, refused
from tests.e2e.chart.placement_pods import ready_pods
from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.chart.reviews.test_outage import DEPLOYMENT
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.client.api import MERGE, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "applications"
CLUSTERS: Final = f"/apis/ray.io/v1/namespaces/{SPACE}/rayclusters"
SECONDS: Final = 60

APART: Final = """\
hostExlocation("ray") cannot hold: 3 of 4 pods fit (head, worker small).
Nearest fix: add a node with cpu 200m, memory 256Mi free, or drop hostExlocation("ray") (all 4 would fit), \
or run 3 of these 4.
"""

DEFINITION: Final = open_definition("ray.io", "RayCluster", "v1")


@pytest.fixture(scope="module", autouse=True)
def _reviewed(upgraded: Upgraded, plane: ControlPlane) -> None:
    """The kind is chosen before its definition is there, as the order of installations may be."""
    namespace(plane.admin, SPACE)
    upgraded({"workloads": {"kinds": ["RayCluster"]}})
    plane.admin.create(DEFINITION)
    until(lambda: refused_anew(plane, cluster("probe", 3)), "the kind is served and reviewed", SECONDS)


def refused_anew(plane: ControlPlane, found: Object) -> bool:
    """Whether the object would be refused now, by the webhook."""
    done = plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(found))
    return "cannot hold" in done.stderr


def cluster(name: str, workers: int, placement: str = 'hostExlocation("ray")', **metadata: Any) -> Object:
    template = {
        "metadata": {
            "labels": {"streams.ibm.com/job": "ray"},
            **({"annotations": {"streams.ibm.com/placement": placement}} if placement else {}),
        },
        "spec": {"containers": [{"name": "ray", "image": "ray"}]},
    }
    if not placement:
        template["metadata"] = {}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name, "namespace": SPACE, **metadata},
        "spec": {
            "headGroupSpec": {"template": template},
            "workerGroupSpecs": [{"groupName": "small", "replicas": workers, "template": template}],
        },
    }


def test_kubectl_says_what_cannot_hold_together(admin: Api, plane: ControlPlane) -> None:
    assert refusal(plane, cluster("large", 3), hook="applications") == APART
    assert admin.find(f"{CLUSTERS}/large") is None


def test_one_that_fits_is_stored_and_may_not_grow_beyond(admin: Api, plane: ControlPlane) -> None:
    applied(plane, cluster("fits", 2))
    assert refusal(plane, cluster("fits", 3), hook="applications") == APART
    assert admin.get(f"{CLUSTERS}/fits")["spec"]["workerGroupSpecs"][0]["replicas"] == 2
    assert "Warning" not in applied(plane, cluster("fits", 1))


def test_one_that_asks_for_nothing_is_stored(plane: ControlPlane) -> None:
    applied(plane, cluster("plain", 99, ""))


def changed(admin: Api, metadata: Object) -> int:
    """The code of the answer to a change of the metadata of the cluster that is stored, and asks."""
    return admin.send("PATCH", f"{CLUSTERS}/fits?dryRun=All", {"metadata": metadata}, content=MERGE).code


EMPTY: Final = ({"metadata": None}, {"metadata": {"annotations": None}}, {"metadata": 7}, None, [])
"""Templates that say nothing, as a definition without a schema lets them be."""


def test_check_says_which_kinds_are_judged_and_which_are_not_served(plane: ControlPlane) -> None:
    reviewed = "RayCluster.ray.io,JobSet.jobset.x-k8s.io"
    done = subprocess.run(  # noqa: S603 -- the program of this repository
        [sys.executable, "-m", "webhook", "check", "-n", SPACE, "--reviewed-kinds", reviewed],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig())},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *_, absent, judged = done.stdout.splitlines()
    assert absent.startswith("not served  a refusal of JobSet.jobset.x-k8s.io: the API server does not serve the kind")
    assert judged == "ok  a refusal of RayCluster.ray.io"


def test_without_a_running_webhook_only_those_that_ask_are_refused(admin: Api) -> None:
    admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 0}})
    try:
        until(lambda: not ready_pods(admin), "nobody answers")
        until(lambda: admin.send("POST", f"{CLUSTERS}?dryRun=All", cluster("asks", 1)).code == 500, "they are refused")
        for template in EMPTY:
            plain = cluster("idle", 1, "", annotations={"example.com/placement": "x"})
            plain["spec"]["workerGroupSpecs"][0]["template"] = template
            admin.create(plain, dryRun="All")
        assert changed(admin, {"labels": {"phase": "done"}, "annotations": {"example.com/by": "the operator"}}) == 200
        assert changed(admin, {"annotations": {"streams.ibm.com/placement": "host(a)"}}) == 500
        assert changed(admin, {"labels": {"streams.ibm.com/job": "other"}}) == 500
        named = cluster("named", 1, "", annotations={"streams.ibm.com/placement": "host(a)"})
        assert admin.send("POST", f"{CLUSTERS}?dryRun=All", named).code == 500
    finally:
        admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 2}})
        until(lambda: len(ready_pods(admin)) == 2, "they are back")
        until(lambda: admin.send("POST", f"{CLUSTERS}?dryRun=All", cluster("asks", 1)).code == 201, "they answer")


def racing(name: str) -> Object:
    """One whose three pods need all nodes, in a job that no other test has."""
    found: Object = json.loads(json.dumps(cluster(name, 2)).replace('"ray"', '"race"'))
    return found


def replicas(admin: Api) -> list[Object]:
    """All pods of the webhook, also those that are about to end, and may answer still."""
    chosen = "app.kubernetes.io/component=webhook"
    found: list[Object] = admin.get(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=chosen)["items"]
    return found


TAKEN: Final = "room for 3 pods, promised to applications within the last minute, counts as used"


def test_two_are_not_promised_the_same_room(admin: Api, plane: ControlPlane) -> None:
    """Each replica knows its own promises, so there is one."""
    admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 1}})
    try:
        until(lambda: len(replicas(admin)) == len(ready_pods(admin)) == 1, "the other one has ended", SECONDS)
        admin.create(racing("first"), dryRun="All")
        applied(plane, racing("first"))
        done = plane.kubectl("apply", "--filename", "-", stdin=json.dumps(racing("second")))
        assert done.returncode != 0
        assert TAKEN in done.stderr
        assert 'hostExlocation("ray") cannot hold: 0 of 3 nodes can run this pod.' in done.stderr
        assert admin.find(f"{CLUSTERS}/second") is None
        admin.delete(f"{CLUSTERS}/first")
        again = ("apply", "--filename", "-")  # what was found to be stored is not asked about for a second
        until(lambda: plane.kubectl(*again, stdin=json.dumps(racing("second"))).returncode == 0, "room is free again")
    finally:
        admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 2}})
        until(lambda: len(ready_pods(admin)) == 2, "both are back", SECONDS)


def test_a_mistake_is_refused_with_the_component(plane: ControlPlane) -> None:
    assert "2 of 2 components cannot run even by themselves (head, worker small):" in refused(
        plane, cluster("wrong", 1, "host("), INVALID
    )
