"""With ``strict`` no pod that does not name the pool is bound to its exclusive host, whatever the pod tolerates."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.exclusive import NODE, POOL, exclusive_pool
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import RELEASE
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.chart.tenant import tenant
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "strict-tenant"
OWNER: Final = "strict-owner"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
EVENTS: Final = f"/api/v1/namespaces/{SPACE}/events"
CONFIGURATION: Final = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/zz-{RELEASE}"
EVERYTHING: Final = {"operator": "Exists"}
SECONDS: Final = 60

SLEEPERS: Final = ("sleeper", "forged")

REFUSED: Final = (
    'admission webhook "bindings.placement.streams.ibm.com" denied the request: '
    f"pod {{}} cannot be bound: node {NODE} is exclusive to another HostPool"
)


def asleep(name: str, **metadata: Any) -> Object:
    """A pod that selects the host and waits until another pod, the alarm, runs anywhere."""
    alarm = {"labelSelector": {"matchLabels": {"app": "alarm"}}, "topologyKey": "kubernetes.io/os"}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alarm]}}
    spec = pod_spec(tolerations=[EVERYTHING], nodeSelector={"kubernetes.io/hostname": NODE}, affinity=near)
    return pod(name, SPACE, spec, **metadata)


FORGED: Final = {"apiVersion": "example.com/v1", "kind": "DaemonSet", "name": "x", "uid": "1-1", "controller": True}


@pytest.fixture(scope="module")
def user(installed: object, plane: ControlPlane) -> Api:  # noqa: ARG001 -- after it
    return tenant(plane, SPACE)


@pytest.fixture(scope="module", autouse=True)
def _awake(user: Api, upgraded: Upgraded, plane: ControlPlane) -> Iterator[None]:
    """The sleepers were there first; now the host is somebody's, and what they waited for runs."""
    admin = plane.admin
    namespace(admin, OWNER)
    user.create(asleep("sleeper"))
    user.create(asleep("forged", ownerReferences=[FORGED]))
    upgraded({"settings": {"strict": True}})
    with exclusive_pool(admin, OWNER):
        user.create(pod("alarm", SPACE, labels={"app": "alarm"}))
        until(lambda: is_ready(user.get(f"{PODS}/alarm")), "the alarm goes off", SECONDS)
        yield
        for space in (SPACE, OWNER):
            admin.delete(f"/api/v1/namespaces/{space}/pods", gracePeriodSeconds="0")
        admin.delete(f"/apis/apps/v1/namespaces/{SPACE}/daemonsets/agent")


@pytest.mark.parametrize("name", SLEEPERS)
def test_a_sleeper_is_not_bound_and_its_events_say_why(admin: Api, name: str) -> None:
    def told() -> bool:
        found = [one["message"] for one in admin.get(EVENTS)["items"] if one["involvedObject"]["name"] == name]
        return any(REFUSED.format(name) in message for message in found)

    def there() -> bool:
        return "nodeName" in admin.get(f"{PODS}/{name}")["spec"]

    until(lambda: told() or there(), "the scheduler has tried it", SECONDS)
    assert not there()


def test_an_agent_of_a_daemon_set_comes_there(admin: Api) -> None:
    spec = pod_spec(tolerations=[EVERYTHING])
    made = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec}}
    metadata = {"name": "agent", "namespace": SPACE}
    admin.create({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": made})

    def nodes() -> set[str]:
        return {one["spec"].get("nodeName", "") for one in admin.get(PODS, labelSelector="a=b")["items"]}

    until(lambda: nodes() == {"node-1", "node-2", NODE}, "it has an agent on every node", SECONDS)


def test_a_pod_of_the_pool_comes_there(admin: Api) -> None:
    admin.create(asking("pe-0", OWNER, f"host({POOL})", labels={"streams.ibm.com/job": "j"}))
    until(lambda: is_ready(admin.get(f"/api/v1/namespaces/{OWNER}/pods/pe-0")), "it runs", SECONDS)
    assert admin.get(f"/api/v1/namespaces/{OWNER}/pods/pe-0")["spec"]["nodeName"] == NODE


def test_without_a_running_webhook_bindings_pass_and_ways_round_do_not(admin: Api) -> None:
    """Without bindings nothing starts, the network of nodes neither; ``webhook.guardFailurePolicy`` asks for that."""
    entries = {one["name"].partition(".")[0]: one["failurePolicy"] for one in admin.get(CONFIGURATION)["webhooks"]}
    asked = ("bindings", "guard", "tolerations", "workload-guard")
    assert [entries[name] for name in asked] == ["Ignore", "Fail", "Fail", "Fail"]
