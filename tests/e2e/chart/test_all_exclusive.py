"""An exclusive pool has every node: the product's own pods start on them, run, and give the hosts back."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import NAMESPACE, RELEASE, Values
from tests.e2e.chart.tenant import by_policy, tenant
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.pools import create_pool, exclusive, marks, wait_for, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, pod, pod_spec
from webhook.placement.text.keys import EXCLUSIVE

NODES: Final = 3
SPACE: Final = "greedy"
PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
OWN: Final = {"certificates": 1, "controller": 2, "webhook": 2}
"""Pods of the chart, by component."""

EFFECTS: Final = ("NoSchedule", "NoExecute")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own, as all nodes are taken."""
    with ControlPlane(tmp_path_factory.mktemp("greedy")) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in range(NODES)])
        tenant(running, SPACE)
        yield running


@pytest.fixture(scope="module")
def running(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart as it is by default, but for pods that end at once."""
    with kubelet(plane) as found:
        install(plane, found, QUICK)
        yield found


@pytest.fixture
def admin(plane: ControlPlane, running: Kubelet) -> Api:  # noqa: ARG001 -- after it
    return plane.admin


@pytest.fixture
def user(plane: ControlPlane, running: Kubelet) -> Api:  # noqa: ARG001 -- after it
    """Somebody with every right on the pods of another namespace."""
    return plane.api("user")


def lasting(admin: Api) -> list[Object]:
    """Pods of the chart that are not about to end."""
    return [one for one in admin.get(PODS)["items"] if "deletionTimestamp" not in one["metadata"]]


def ready(admin: Api) -> dict[str, int]:
    """Those that are ready, by component."""
    components = [one["metadata"]["labels"]["app.kubernetes.io/component"] for one in lasting(admin) if is_ready(one)]
    return {name: components.count(name) for name in sorted(set(components))}


def taints(admin: Api) -> list[str]:
    """Effects of the exclusive taint, of all nodes that have it."""
    listed = [taint for one in admin.get("/api/v1/nodes")["items"] for taint in one["spec"].get("taints", ())]
    return [taint["effect"] for taint in listed if taint["key"] == EXCLUSIVE]


def restart(admin: Api) -> None:
    """Every pod of the chart is made anew, and all of them come up."""
    before = {one["metadata"]["uid"] for one in admin.get(PODS)["items"]}
    admin.delete(PODS)
    until(lambda: not before & {one["metadata"]["uid"] for one in admin.get(PODS)["items"]}, "the old pods end", 60)
    until(lambda: ready(admin) == OWN, f"all pods of the chart run again: {ready(admin)} do", 60)


@pytest.mark.parametrize("effect", EFFECTS)
def test_everything_restarts_and_the_pool_can_be_given_back(
    admin: Api, plane: ControlPlane, running: Kubelet, effect: str
) -> None:
    values: Values = {"settings": {**QUICK["settings"], "exclusiveEffect": effect}}
    install(plane, running, values)
    until(lambda: ready(admin) == OWN, "all pods of the chart run", 60)
    path = create_pool(admin, exclusive(effect.lower(), SPACE, NODES))
    wait_for(admin, path)
    assert taints(admin) == [effect] * NODES
    restart(admin)
    wanted = asking("pe", SPACE, f"host({effect.lower()})", labels={"streams.ibm.com/job": "j"})
    until(lambda: admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods", wanted).code == 201, "it is admitted")
    until(lambda: is_ready(admin.get(f"/api/v1/namespaces/{SPACE}/pods/pe")), "a pod of the pool runs")
    admin.delete(f"/api/v1/namespaces/{SPACE}/pods/pe")
    admin.delete(path)
    wait_until_gone(admin, path, 60)
    assert not [one for one in admin.get("/api/v1/nodes")["items"] if marks(one)]


def test_an_upgrade_rolls_out_while_all_hosts_are_exclusive(admin: Api, plane: ControlPlane, running: Kubelet) -> None:
    path = create_pool(admin, exclusive("rolled", SPACE, NODES))
    wait_for(admin, path)
    before = {one["metadata"]["uid"] for one in admin.get(PODS)["items"]}
    install(plane, running, {"settings": {**QUICK["settings"], "logLevel": "debug"}, "podAnnotations": {"note": "y"}})
    until(lambda: ready(admin) == OWN, "all pods of the chart run", 60)
    assert not before & {one["metadata"]["uid"] for one in lasting(admin)}
    admin.delete(path)
    wait_until_gone(admin, path, 60)


# What is ours is nobody else's

EVERY: Final[Object] = {"key": EXCLUSIVE, "operator": "Exists"}
ONLY: Final = (
    f"spec.tolerations: only the webhook tolerates {EXCLUSIVE}: name the exclusive HostPool with host(...) instead"
)

OR_THE_RIGHT: Final = ", or have the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster"


def tolerating(**spec: object) -> Object:
    return pod_spec(tolerations=[EVERY], **spec)


@pytest.mark.parametrize("account", ["default", f"{RELEASE}-controller"])
def test_another_pod_cannot_tolerate_exclusive_hosts(user: Api, account: str) -> None:
    """Not even one that has the name of our account, which is another one in another namespace."""
    wanted = pod("stranger", SPACE, tolerating(serviceAccountName=account))
    answer = user.send("POST", f"/api/v1/namespaces/{SPACE}/pods", wanted)
    assert (answer.code, answer.message) == (403, by_policy('pods "stranger"', "created", ONLY + OR_THE_RIGHT))


def test_another_workload_cannot_either(admin: Api) -> None:
    wanted = deployment("stranger", SPACE, spec=tolerating())
    answer = admin.send("POST", f"/apis/apps/v1/namespaces/{SPACE}/deployments", wanted)
    assert (answer.code, answer.message) == (403, by_policy('deployments.apps "stranger"', "templates", ONLY))


def test_an_additional_toleration_of_our_own_pods_is_kept(admin: Api, plane: ControlPlane, running: Kubelet) -> None:
    """The obvious value, which used to be refused, changes nothing; others are added."""
    more = {"key": "dedicated", "operator": "Equal", "value": "infra", "effect": "NoSchedule"}
    install(plane, running, {**QUICK, "tolerations": [EVERY, more]})
    until(lambda: ready(admin) == OWN, "all pods of the chart run", 60)
    for one in lasting(admin):
        own = [each for each in one["spec"]["tolerations"] if not each["key"].startswith("node.kubernetes.io/")]
        assert own == [EVERY, more]


def test_the_chart_can_be_uninstalled_with_all_hosts_exclusive(admin: Api, plane: ControlPlane) -> None:
    path = create_pool(admin, exclusive("last", SPACE, NODES))
    wait_for(admin, path)
    assert taints(admin) == ["NoSchedule"] * NODES
    done = plane.helm("uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", "--timeout", "240s")
    assert (done.returncode, taints(admin)) == (0, []), done.stderr
    admin.delete(path)
    wait_until_gone(admin, path)
