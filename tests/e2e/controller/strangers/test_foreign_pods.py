"""Pods without any relation to Streams: one setting decides whether they keep an exclusive pool off their node."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.pools import condition, create_pool, exclusive, hosts, wait_for, wait_until_gone
from tests.e2e.controller.request_points import RequestPoint
from tests.e2e.controller.rights import ACCOUNT, vacate
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod, pod_spec

SPACE: Final = "ordinary"
EXCLUDED: Final = "ordinary-excluded"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
SECONDS: Final = 60.0
"""For whatever is to come about: other tests may keep the machine busy."""

DAEMONS: Final = {"selector": {"matchLabels": {"app": "logs"}}}


def on(*names: str) -> Object:
    """A pool's selector of these nodes."""
    return {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(names)}]}


def daemon_set(node: str) -> Object:
    """A DaemonSet with a pod on that node alone."""
    spec = pod_spec(nodeSelector={"kubernetes.io/hostname": node})
    template = {"metadata": {"labels": {"app": "logs"}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "logs", "namespace": SPACE},
        "spec": {**DAEMONS, "template": template},
    }


def running(admin: Api, node: str) -> bool:
    """Whether a pod of the DaemonSet is bound to the node."""
    return any(one["spec"].get("nodeName") == node for one in admin.get(PODS, labelSelector="app=logs")["items"])


@pytest.fixture(scope="module", autouse=True)
def _pods(bare: ControlPlane) -> Iterator[None]:
    """An ordinary pod on node-0, one of a DaemonSet on node-1, one of an excluded namespace on node-2."""
    admin = bare.admin
    namespace(admin, SPACE)
    namespace(admin, EXCLUDED)
    admin.create(pod("web", SPACE, pod_spec(nodeName="node-0")))
    admin.create(daemon_set("node-1"))
    admin.create(pod("agent", EXCLUDED, pod_spec(nodeName="node-2")))
    until(lambda: running(admin, "node-1"), "the DaemonSet has its pod", SECONDS)
    yield
    admin.delete(f"/apis/apps/v1/namespaces/{SPACE}/daemonsets/logs")
    for space in (SPACE, EXCLUDED):
        path = f"/api/v1/namespaces/{space}/pods"
        admin.delete(path, gracePeriodSeconds="0")
        until(lambda path=path: not admin.get(path)["items"], "the pods are gone", SECONDS)


@pytest.fixture(scope="class")
def strict(
    bare: ControlPlane, stopping_proxy: StoppingProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControllerProcess]:
    """A controller to which every pod is a stranger."""
    folder = tmp_path_factory.mktemp("strict")
    kubeconfig = stopping_proxy.kubeconfig(bare.folder / folder.name, folder.name, ACCOUNT)
    chosen = {
        "STREAMS_PLACEMENT_EXCLUSIVE_STRANGERS": "all",
        "STREAMS_PLACEMENT_EXCLUDED_NAMESPACES": f"kube-system,{EXCLUDED}",
    }
    vacate(bare)
    with ControllerProcess(folder, folder.name, kubeconfig, **chosen) as candidate:
        candidate.wait_until_leading(SECONDS)
        yield candidate


@pytest.fixture
def made(bare: ControlPlane) -> Iterator[list[str]]:
    """The paths of pools that are to be gone after the test."""
    paths: list[str] = []
    yield paths
    for path in paths:
        bare.admin.delete(path)
        wait_until_gone(bare.admin, path, SECONDS)


def create(admin: Api, made: list[str], name: str, size: int, *nodes: str) -> str:
    made.append(create_pool(admin, exclusive(name, SPACE, size, selector=on(*nodes))))
    return made[-1]


@pytest.mark.usefixtures("strict")
class TestWhereAllPodsAreStrangers:
    """Those of DaemonSets and of excluded namespaces aside."""

    def test_a_pool_takes_the_nodes_without_them(self, bare: ControlPlane, made: list[str]) -> None:
        path = create(bare.admin, made, "apart", 3, "node-0", "node-1", "node-2", "node-3")
        assert hosts(wait_for(bare.admin, path, seconds=SECONDS)) == ["node-1", "node-2", "node-3"]

    def test_a_pool_waits_until_they_are_gone(self, bare: ControlPlane, made: list[str]) -> None:
        path = create(bare.admin, made, "patient", 1, "node-0")
        failed = wait_for(bare.admin, path, "Failed", SECONDS)
        bare.admin.delete(f"{PODS}/web", gracePeriodSeconds="0")
        ready = wait_for(bare.admin, path, seconds=SECONDS)
        made.remove(path)
        bare.admin.delete(path)
        wait_until_gone(bare.admin, path, SECONDS)
        bare.admin.create(pod("web", SPACE, pod_spec(nodeName="node-0")))
        assert (condition(failed)["message"], hosts(ready)) == ("it needs 1 host and 0 nodes are eligible", ["node-0"])

    def test_one_that_comes_to_a_host_is_reported_until_it_goes(self, bare: ControlPlane, made: list[str]) -> None:
        path = create(bare.admin, made, "watchful", 1, "node-4")
        wait_for(bare.admin, path, seconds=SECONDS)
        bare.admin.create(pod("late", SPACE, pod_spec(nodeName="node-4")))

        def degraded() -> Object:
            return condition(bare.admin.get(path), "Degraded")

        until(lambda: degraded().get("status") == "True", "it is reported", SECONDS)
        message = degraded()["message"]
        bare.admin.delete(f"{PODS}/late", gracePeriodSeconds="0")
        until(lambda: degraded()["status"] == "False", "and not any more", SECONDS)
        assert message == "host 0 (node-4) runs an unrelated pod"

    def test_a_node_is_let_go_where_one_slips_in(
        self, bare: ControlPlane, stopping_proxy: StoppingProxy, made: list[str]
    ) -> None:
        stop_point = stopping_proxy.spring(RequestPoint("after", "claim"), lambda _: None)
        path = create(bare.admin, made, "quick", 1, "node-5", "node-6")
        until(stop_point.sprung.is_set, "a node is claimed", SECONDS)
        bare.admin.create(pod("slipped", SPACE, pod_spec(nodeName="node-5")))
        stop_point.let_go()
        assert hosts(wait_for(bare.admin, path, seconds=SECONDS)) == ["node-6"]
        bare.admin.delete(f"{PODS}/slipped", gracePeriodSeconds="0")


class TestWhereOnlyThoseOfJobsAre:
    """As it is by default."""

    def test_a_pool_takes_their_nodes_as_well(
        self, bare: ControlPlane, controller: ControllerProcess, made: list[str]
    ) -> None:
        del controller
        path = create(bare.admin, made, "together", 2, "node-0", "node-1")
        assert hosts(wait_for(bare.admin, path, seconds=SECONDS)) == ["node-0", "node-1"]
