"""Nobody but the controller says what state a HostPool, a Job or a ProcessingElement is in."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.tenant import by_policy
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.pools import create_pool, hostpool, hosts, pools, wait_for, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import emptied, namespace
from webhook.placement.text.keys import membership

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "forger"
GROUP: Final = "rbac.authorization.k8s.io"
MERGE: Final = "application/merge-patch+json"
VICTIM: Final = "node-6"
STATUS: Final = (
    "status: only the controller of streams-placement may write it; other users need the cluster-wide verb update on it"
)
FINALIZER: Final = (
    "metadata.finalizers: the controller removes streams.ibm.com/hosts once it has released the hosts; keep it, or "
    "delete the HostPool and wait"
)


@pytest.fixture(scope="module")
def forger(plane: ControlPlane, installed: object) -> Iterator[Api]:  # noqa: ARG001 -- after it
    """Somebody whose Role in the namespace says all resources, statuses included."""
    admin = plane.admin
    namespace(admin, SPACE)
    version, metadata = f"{GROUP}/v1", {"name": "all", "namespace": SPACE}
    rule = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    admin.create({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": [rule]})
    ref = {"apiGroup": GROUP, "kind": "Role", "name": "all"}
    subject = {"apiGroup": GROUP, "kind": "User", "name": plane.identities["user"].user}
    binding = {"apiVersion": version, "kind": "RoleBinding", "metadata": metadata}
    admin.create({**binding, "roleRef": ref, "subjects": [subject]})
    user = plane.api("user")
    until(lambda: user.send("GET", pools(SPACE)).code == 200, "the user may", 20)
    yield user
    for plural in ("streamsjobs", "streamspes"):
        admin.delete(f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/{plural}")
    emptied(admin, SPACE)


@pytest.fixture
def pool(forger: Api, admin: Api) -> Iterator[str]:
    """The path of a pool of the forger's, which has its host."""
    path = create_pool(forger, hostpool("mine", SPACE, size=1, tags=["ib"]))
    wait_for(admin, path)
    yield path
    admin.delete(path)
    wait_until_gone(admin, path)


def forged(admin: Api) -> Object:
    node = admin.get(f"/api/v1/nodes/{VICTIM}")["metadata"]
    return {"status": {"phase": "Ready", "hosts": [{"index": 0, "name": VICTIM, "uid": node["uid"]}]}}


def test_a_status_cannot_be_forged(forger: Api, admin: Api, pool: str) -> None:
    before = hosts(admin.get(pool))
    answer = forger.send("PATCH", f"{pool}/status", forged(admin), content=MERGE)
    said = by_policy('streamshostpools.streams.ibm.com "mine"', "statuses", STATUS)
    assert (answer.code, answer.message) == (403, said)
    assert hosts(admin.get(pool)) == before


@pytest.mark.parametrize("plural", ["streamsjobs", "streamspes"])
def test_nor_those_of_jobs_and_their_elements(forger: Api, admin: Api, plural: str) -> None:
    kind = "Job" if plural == "streamsjobs" else "ProcessingElement"
    path = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/{plural}"
    spec = {} if kind == "Job" else {"job": "absent"}
    job = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": {"name": "absent"}, "spec": {}}
    admin.send("POST", f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamsjobs", job)
    if kind != "Job":
        template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
        element = {"apiVersion": "streams.ibm.com/v1", "kind": kind, "metadata": {"name": "absent"}}
        admin.call("POST", path, {**element, "spec": {**spec, "template": template}})
    answer = forger.send("PATCH", f"{path}/absent/status", {"status": {"phase": "Running"}}, content=MERGE)
    assert (answer.code, answer.message) == (403, by_policy(f'{plural}.streams.ibm.com "absent"', "statuses", STATUS))


def test_the_finalizer_cannot_be_taken_off(forger: Api, pool: str) -> None:
    """With it gone the hosts would keep the marks of a pool that nobody knows."""
    answer = forger.send("PATCH", pool, {"metadata": {"finalizers": None}}, content=MERGE)
    said = by_policy('streamshostpools.streams.ibm.com "mine"', "statuses", FINALIZER)
    assert (answer.code, answer.message) == (403, said)


def test_what_is_forged_all_the_same_marks_no_node(admin: Api, pool: str) -> None:
    """An administrator may write a status; the controller looks at what it says."""
    (before,) = hosts(admin.get(pool))
    plane = {"node-role.kubernetes.io/control-plane": ""}
    admin.patch(f"/api/v1/nodes/{VICTIM}", {"metadata": {"labels": plane}})
    try:
        admin.patch(f"{pool}/status", forged(admin))
        until(lambda: hosts(admin.get(pool)) == [before], "the controller has restored it", 30)
        labels = admin.get(f"/api/v1/nodes/{VICTIM}")["metadata"]["labels"]
    finally:
        admin.patch(f"/api/v1/nodes/{VICTIM}", {"metadata": {"labels": dict.fromkeys(plane)}})
    assert membership(SPACE, "mine") not in labels


def test_a_pool_that_is_stuck_can_be_freed_by_an_administrator(admin: Api, forger: Api) -> None:
    path = create_pool(forger, hostpool("stuck", SPACE, size=1))
    wait_for(admin, path)
    admin.patch(path, {"metadata": {"finalizers": None}})
    forger.delete(path)
    wait_until_gone(admin, path)


def test_users_delete_their_pools_and_whole_namespaces_go(admin: Api, forger: Api) -> None:
    path = create_pool(forger, hostpool("going", SPACE, size=1))
    wait_for(admin, path)
    forger.delete(path, propagationPolicy="Foreground")
    wait_until_gone(admin, path)
    namespace(admin, "going")
    inside = create_pool(admin, hostpool("inside", "going", size=1))
    wait_for(admin, inside)
    admin.delete("/api/v1/namespaces/going")
    until(lambda: admin.find("/api/v1/namespaces/going") is None, "the namespace is gone", 60)
