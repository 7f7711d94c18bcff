"""Pods of others on exclusive hosts: the status of the pool names them, and which of them are not real agents."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.events import told
from tests.e2e.controller.pools import condition, create_pool, exclusive, hosts, wait_for, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod, pod_spec

SPACE: Final = "guests"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
DAEMONS: Final = f"/apis/apps/v1/namespaces/{SPACE}/daemonsets"
SECONDS: Final = 60.0
"""For whatever is to come about: other tests may keep the machine busy."""

UID: Final = "11111111-1111-1111-1111-111111111111"
EVERYTHING: Final = {"operator": "Exists"}
OURS: Final = {"key": "streams.ibm.com/exclusive", "operator": "Exists"}
LIE: Final = "whose owner reference names a DaemonSet that is not of apps/v1"


def owner(version: str) -> Object:
    return {"apiVersion": version, "kind": "DaemonSet", "name": "x", "uid": UID, "controller": True}


def agent(name: str, node: str, toleration: Object) -> Object:
    """A DaemonSet with a pod on that node alone."""
    spec = pod_spec(nodeSelector={"kubernetes.io/hostname": node}, tolerations=[toleration])
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    wanted = {"selector": {"matchLabels": {"app": name}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": wanted,
    }


@pytest.fixture(scope="module")
def path(bare: ControlPlane, controller: ControllerProcess) -> Iterator[str]:
    """A pool with one exclusive host, on a cluster that refuses nothing."""
    del controller
    namespace(bare.admin, SPACE)
    path = create_pool(bare.admin, exclusive("own", SPACE, 1))
    wait_for(bare.admin, path, seconds=SECONDS)
    yield path
    bare.admin.delete(DAEMONS)
    bare.admin.delete(PODS, gracePeriodSeconds="0")
    bare.admin.delete(path)
    wait_until_gone(bare.admin, path, SECONDS)


def says(admin: Api, path: str, kind: str, status: str) -> Object:
    """The condition, once it has that status."""

    def found() -> Object | None:
        one = condition(admin.get(path), kind)
        return one if one.get("status") == status else None

    return until(found, f"{kind} is {status}", SECONDS)


def test_a_pool_is_alone_on_its_hosts(bare: ControlPlane, path: str) -> None:
    assert says(bare.admin, path, "Exclusive", "True")["reason"] == "NobodyElse"


@pytest.mark.parametrize("toleration", [EVERYTHING, OURS], ids=["everything", "the taint"])
def test_a_daemon_set_that_tolerates_its_hosts_is_named_while_it_is_there(
    bare: ControlPlane, path: str, toleration: Object
) -> None:
    [host] = hosts(bare.admin.get(path))
    bare.admin.create(agent("agent", host, toleration))
    named = says(bare.admin, path, "Exclusive", "False")
    degraded = condition(bare.admin.get(path), "Degraded")["status"]
    bare.admin.delete(f"{DAEMONS}/agent")
    says(bare.admin, path, "Exclusive", "True")
    assert (named["reason"], named["message"], degraded) == (
        "OthersTolerate",
        f"these tolerate its taint and run on its hosts: DaemonSet {SPACE}/agent",
        "False",
    )


@pytest.mark.parametrize("tolerations", [[], [OURS]], ids=["by name", "by our toleration"])
def test_a_squatter_that_says_a_daemon_set_made_it_is_reported(
    bare: ControlPlane, path: str, tolerations: list[Object]
) -> None:
    [host] = hosts(bare.admin.get(path))
    spec = pod_spec(nodeName=host, tolerations=tolerations)
    bare.admin.create(pod("squatter", SPACE, spec, ownerReferences=[owner("example.com/v1")]))
    message = says(bare.admin, path, "Degraded", "True")["message"]
    said = f"host 0 ({host}) runs Pod {SPACE}/squatter, {LIE}"
    until(lambda: ("Warning", "Degraded", said) in told(bare.admin, SPACE, "own"), "an Event says so", SECONDS)
    bare.admin.delete(f"{PODS}/squatter", gracePeriodSeconds="0")
    says(bare.admin, path, "Degraded", "False")
    assert message == said


def test_kubernetes_itself_ends_a_pod_of_a_daemon_set_that_is_not_there(bare: ControlPlane, path: str) -> None:
    """So that the reference to one of Kubernetes' own needs no look at it."""
    [host] = hosts(bare.admin.get(path))
    bare.admin.create(pod("orphan", SPACE, pod_spec(nodeName=host), ownerReferences=[owner("apps/v1")]))
    until(lambda: bare.admin.find(f"{PODS}/orphan") is None, "it is gone", SECONDS)
