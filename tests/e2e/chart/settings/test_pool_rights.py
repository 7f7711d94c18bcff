"""With ``authorizePools`` only users with the right may name a pool, and controllers on behalf of such users."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.client.api import Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import emptied, namespace, pod

SPACE: Final = "rights"
POOL: Final = "/apis/streams.ibm.com/v1/namespaces/rights/streamshostpools/p1"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
NO_RIGHT: Final = (
    'host(P1): user "jane" may not use HostPool p1 of namespace "rights": '
    "this needs the verb use on streamshostpools.streams.ibm.com"
)
_GROUP: Final = "rbac.authorization.k8s.io"


@pytest.fixture(scope="module")
def own(upgraded: Upgraded, plane: ControlPlane) -> Iterator[ControlPlane]:
    """The chart with the setting, and a pool with a node of its own; jane may create pods and Deployments."""
    upgraded({"settings": {"authorizePools": True}})
    names = create_nodes(plane.admin, [node("rights-1", {"streams.ibm.com/hostpool": "ib"})])
    namespace(plane.admin, SPACE)
    grant(plane, "work", {"apiGroups": ["", "apps"], "resources": ["pods", "deployments"], "verbs": ["*"]})
    pool = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": {"name": "p1", "namespace": SPACE}}
    plane.admin.call("POST", POOL.rpartition("/")[0], {**pool, "spec": {"name": "P1", "tags": ["ib"]}})
    until(lambda: "jane" in said(plane, asking("seen")), "the webhook knows the pool")
    yield plane
    plane.admin.delete(f"{DEPLOYMENTS}/made", propagationPolicy="Foreground")
    emptied(plane.admin, SPACE)
    delete_nodes(plane.admin, names)


def grant(plane: ControlPlane, name: str, rule: Object) -> None:
    """Give jane a right in the namespace."""
    meta = {"name": name, "namespace": SPACE}
    plane.admin.create({"apiVersion": f"{_GROUP}/v1", "kind": "Role", "metadata": meta, "rules": [rule]})
    subject = {"apiGroup": _GROUP, "kind": "User", "name": plane.identities["user"].user}
    role = {"apiGroup": _GROUP, "kind": "Role", "name": name}
    binding = {"apiVersion": f"{_GROUP}/v1", "kind": "RoleBinding", "metadata": meta}
    plane.admin.create({**binding, "roleRef": role, "subjects": [subject]})


def asking(name: str) -> Object:
    return pod(name, SPACE, annotations={"streams.ibm.com/placement": "host(P1)"})


def deployment(name: str) -> Object:
    template = asking("unused")
    template["metadata"] = {**template["metadata"], "labels": {"app": name}}
    for field in ("name", "namespace"):
        template["metadata"].pop(field, None)
    spec = {
        "selector": {"matchLabels": {"app": name}},
        "template": {key: template[key] for key in ("metadata", "spec")},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": SPACE}, "spec": spec}


def said(plane: ControlPlane, wanted: Object) -> str:
    """What jane is told when she tries to create it."""
    path = PODS if wanted["kind"] == "Pod" else DEPLOYMENTS
    return plane.api("user").send("POST", f"{path}?dryRun=All", wanted).message


def test_who_has_no_right_is_told_which_one_it_takes(own: ControlPlane) -> None:
    assert NO_RIGHT in said(own, asking("p"))


def test_a_workload_takes_the_same_right(own: ControlPlane) -> None:
    assert NO_RIGHT in said(own, deployment("w"))


def test_pods_that_a_controller_makes_take_none(own: ControlPlane) -> None:
    own.admin.create(deployment("made"))
    until(lambda: len(own.admin.get(f"{PODS}?labelSelector=app%3Dmade")["items"]) == 1, "the Deployment has its pod")


def test_an_owner_that_jane_made_up_does_not_help_her(own: ControlPlane) -> None:
    wanted = asking("p")
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "u", "controller": True}
    wanted["metadata"]["ownerReferences"] = [owner]
    assert NO_RIGHT in said(own, wanted)


def test_a_right_that_is_given_counts_soon(own: ControlPlane) -> None:
    rule = {
        "apiGroups": ["streams.ibm.com"],
        "resources": ["streamshostpools"],
        "resourceNames": ["p1"],
        "verbs": ["use"],
    }
    grant(own, "use-p1", rule)
    until(lambda: said(own, asking("p")) == "", "jane may use the pool", seconds=30)
