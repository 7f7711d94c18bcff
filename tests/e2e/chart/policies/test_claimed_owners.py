"""A forged owner reference to a DaemonSet does not help a pod: the account that creates the pod counts."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.exclusive import NODE, exclusive_pool
from tests.e2e.chart.kubectl_apply import denied, of_kind
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.tenant import by_policy, tenant
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, pod, pod_spec

SPACE: Final = "claims"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
UID: Final = "11111111-1111-1111-1111-111111111111"
OURS: Final = {"key": "streams.ibm.com/exclusive", "operator": "Exists"}
EVERYTHING: Final = {"operator": "Exists"}

BY_NAME: Final = "spec.nodeName: the node is exclusive to another HostPool"
BY_ALL: Final = (
    "spec.tolerations[0]: a toleration of everything would let the pod onto hosts that are exclusive to another "
    "HostPool"
)
BY_TAINT: Final = (
    "spec.tolerations: only the webhook tolerates streams.ibm.com/exclusive: name the exclusive HostPool with "
    "host(...) instead, or have the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster"
)


@pytest.fixture(scope="module")
def user(installed: object, plane: ControlPlane) -> Iterator[Api]:  # noqa: ARG001 -- after it
    """Somebody with every right on the pods of the namespace, while there is an exclusive host of another pool."""
    jane = tenant(plane, SPACE)
    with exclusive_pool(plane.admin, SPACE):
        yield jane
    plane.admin.delete(f"/apis/apps/v1/namespaces/{SPACE}/daemonsets")


def owner(version: str, uid: str = UID, kind: str = "DaemonSet", name: str = "x") -> Object:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


OWNERS: Final = {
    "of a group that nobody serves": owner("example.com/v1"),
    "of Kubernetes that is not there": owner("apps/v1"),
}
WAYS: Final = {
    "by name": (pod_spec(nodeName=NODE), f"{denied('guard')}{BY_NAME}"),
    "by tolerating everything": (pod_spec(tolerations=[EVERYTHING]), f"{denied('guard')}{BY_ALL}"),
    "by tolerating the taint": (
        pod_spec(tolerations=[OURS], nodeSelector={"kubernetes.io/hostname": NODE}),
        by_policy('pods "p"', "created", BY_TAINT),
    ),
}  # fmt: skip


@pytest.mark.parametrize("claimed", OWNERS.values(), ids=OWNERS)
@pytest.mark.parametrize(("spec", "said"), WAYS.values(), ids=WAYS)
def test_a_pod_that_says_a_daemon_set_made_it_is_refused(user: Api, claimed: Object, spec: Object, said: str) -> None:
    answer = user.send("POST", f"{PODS}?dryRun=All", pod("p", SPACE, spec, ownerReferences=[claimed]))
    assert (answer.code, answer.message) == (403, said)


@pytest.mark.parametrize("claimed", OWNERS.values(), ids=OWNERS)
def test_so_is_one_that_asks_for_a_placement(user: Api, claimed: Object) -> None:
    spec = pod_spec(tolerations=[EVERYTHING])
    made = asking("p", SPACE, "host($default)", spec, labels={"streams.ibm.com/job": "j"}, ownerReferences=[claimed])
    answer = user.send("POST", f"{PODS}?dryRun=All", made)
    assert (answer.code, answer.message) == (403, f"{denied('pods')}{BY_ALL}")


def test_so_is_one_that_names_a_daemon_set_that_is_there(user: Api, admin: Api) -> None:
    """One with no pod at all would do, and whoever may create DaemonSets has one."""
    idle = of_kind("DaemonSet", deployment("idle", SPACE, spec=pod_spec(nodeSelector={"no": "where"})))
    uid = admin.create(idle)["metadata"]["uid"]
    claimed = owner("apps/v1", uid, name="idle")
    made = pod("p", SPACE, pod_spec(nodeName=NODE), labels={"app": "idle"}, ownerReferences=[claimed])
    answer = user.send("POST", f"{PODS}?dryRun=All", made)
    assert (answer.code, answer.message) == (403, f"{denied('guard')}{BY_NAME}")


def test_a_workload_that_says_a_deployment_made_it_is_looked_at(user: Api, admin: Api) -> None:
    del user
    claimed = owner("apps/v1", kind="Deployment")
    made = of_kind("ReplicaSet", deployment("r", SPACE, spec=pod_spec(nodeName=NODE)))
    made["metadata"] = {**made["metadata"], "ownerReferences": [claimed]}
    answer = admin.send("POST", f"/apis/apps/v1/namespaces/{SPACE}/replicasets?dryRun=All", made)
    assert (answer.code, answer.message) == (403, f"{denied('workload-guard')}{BY_NAME}")


@pytest.mark.parametrize("toleration", [OURS, EVERYTHING], ids=["the taint", "everything"])
def test_what_the_daemon_set_controller_makes_runs_on_exclusive_hosts(
    user: Api, admin: Api, toleration: Object
) -> None:
    del user
    name = "ours" if toleration is OURS else "everything"
    admin.create(of_kind("DaemonSet", deployment(name, SPACE, spec=pod_spec(tolerations=[toleration]))))

    def there() -> bool:
        found = admin.get(PODS, labelSelector=f"app={name}")["items"]
        return any(one["spec"].get("nodeName") == NODE for one in found)

    until(there, "its pod is on the exclusive host")
