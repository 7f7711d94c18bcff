"""Unusable hosts are replaced if settings say so, but not while a pod of the pool runs on them."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.conftest import TAG
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.pools import create_pool, exclusive, hosts, members, wait_for, wait_until_gone
from tests.e2e.controller.rights import ACCOUNT, vacate
from tests.e2e.controller.short_lease_controller import REPLACING
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod_spec
from webhook.placement.text.keys import JOB, membership

SPACE: Final = "replacing"
TAGGED: Final = ("node-0", "node-1", "node-2", "node-3")


@pytest.fixture(scope="module")
def admin(bare: ControlPlane, stopping_proxy: StoppingProxy) -> Iterator[Api]:
    """Of a cluster with a controller that replaces hosts which have been of no use for a second."""
    namespace(bare.admin, SPACE)
    kubeconfig = stopping_proxy.kubeconfig(bare.folder / SPACE, SPACE, ACCOUNT)
    vacate(bare)
    with ControllerProcess(bare.folder, SPACE, kubeconfig, **{REPLACING: "1"}) as controller:
        controller.wait_until_leading()
        yield bare.admin


@pytest.fixture
def pool(admin: Api) -> Iterator[str]:
    """The path of a pool of two, while two more nodes would do."""
    for name in TAGGED:
        admin.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {TAG: "r"}}, "spec": {"unschedulable": None}})
    untainted(admin)
    path = create_pool(admin, exclusive("two", SPACE, 2, name="P", tags=["r"]))
    wait_for(admin, path)
    yield path
    admin.delete(f"/api/v1/namespaces/{SPACE}/pods", gracePeriodSeconds="0")
    admin.delete(path)
    wait_until_gone(admin, path)
    for name in TAGGED:
        admin.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {TAG: None}}, "spec": {"unschedulable": None}})
    untainted(admin)


def untainted(admin: Api) -> None:
    """Wait until the controller-manager has taken its own taints off again."""
    nodes = (f"/api/v1/nodes/{name}" for name in TAGGED)
    until(lambda: not any(admin.get(path)["spec"].get("taints") for path in nodes), "the nodes are as they were")


USELESS: Final[dict[str, Object]] = {
    "cordoned": {"spec": {"unschedulable": True}},
    "without its tag": {"metadata": {"labels": {TAG: None}}},
}


@pytest.mark.parametrize("change", USELESS.values(), ids=USELESS.keys())
def test_a_host_is_replaced_and_let_go_when_it_is(admin: Api, pool: str, change: Object) -> None:
    before = hosts(admin.get(pool))
    admin.patch(f"/api/v1/nodes/{before[0]}", change)
    until(lambda: hosts(admin.get(pool))[0] != before[0], "it is replaced")
    after = hosts(admin.get(pool))
    assert (after[1], after[0] in TAGGED) == (before[1], True)
    until(lambda: members(admin, SPACE, "two") == after, "it is let go")


def test_a_host_is_kept_while_a_pod_of_the_pool_runs_on_it(admin: Api, pool: str) -> None:
    before = hosts(admin.get(pool))
    mine = pod_spec(nodeName=before[0])
    admin.create(asking("user", SPACE, "host(P)", mine, labels={JOB: "j"}))
    until(lambda: admin.get(f"/api/v1/namespaces/{SPACE}/pods/user")["status"].get("phase") == "Running", "it runs")
    for name in before:
        admin.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {TAG: None}}})
    until(lambda: hosts(admin.get(pool))[1] != before[1], "the other one is replaced")
    assert hosts(admin.get(pool))[0] == before[0]
    admin.delete(f"/api/v1/namespaces/{SPACE}/pods/user", gracePeriodSeconds="0")
    until(lambda: hosts(admin.get(pool))[0] != before[0], "it is replaced when the pod is gone")
    label, node = membership(SPACE, "two"), f"/api/v1/nodes/{before[0]}"
    until(lambda: label not in admin.get(node)["metadata"]["labels"], "the host that is replaced has no label any more")
