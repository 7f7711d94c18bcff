"""One of the chart's two controllers leads; when it ends, in whatever way, the other one takes over."""

import signal
import time
from typing import Final

import pytest

from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api
from tests.e2e.controller.pools import create_pool, hostpool, pools, wait_for, wait_until_gone
from tests.e2e.controller.rights import holder
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.workloads import is_ready, namespace
from webhook.controller.program import TIMING

SPACE: Final = "failover"
PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
COMPONENT: Final = "app.kubernetes.io/component=controller"

AFTER_A_CRASH: Final = TIMING.lease + 5.0
AT_ONCE: Final = 2 * TIMING.retry + 1.0
"""Seconds: two looks at the Lease, and a pool."""


@pytest.fixture(scope="module", autouse=True)
def _space(plane: ControlPlane, installed: Kubelet) -> None:
    del installed
    namespace(plane.admin, SPACE)


def controllers(admin: Api) -> list[str]:
    """The pods of controllers that are ready."""
    listed = admin.get(PODS, labelSelector=COMPONENT)["items"]
    return [one["metadata"]["name"] for one in listed if is_ready(one) and "deletionTimestamp" not in one["metadata"]]


def leader(plane: ControlPlane, installed: Kubelet) -> str:
    """The pod that leads, as its log says."""
    until(lambda: len(controllers(plane.admin)) == 2, "two controllers are ready")
    identity = until(lambda: holder(plane), "one of them leads")
    (name,) = [
        name
        for name in controllers(plane.admin)
        if (process := installed.worker(name).process) is not None and identity in process.log.read_text()
    ]
    return name


def acted(admin: Api, name: str) -> float:
    """Seconds until a new pool has its host."""
    began = time.monotonic()
    path = create_pool(admin, hostpool(name, SPACE, size=1))
    wait_for(admin, path, seconds=60)
    took = time.monotonic() - began
    admin.delete(path)
    wait_until_gone(admin, path)
    return took


def test_both_are_ready_and_one_leads(plane: ControlPlane, installed: Kubelet) -> None:
    assert leader(plane, installed) in controllers(plane.admin)


def test_another_one_acts_within_the_lease_and_five_seconds_of_a_crash(
    plane: ControlPlane, admin: Api, installed: Kubelet
) -> None:
    before, name = holder(plane), leader(plane, installed)
    process = installed.worker(name).process
    assert process is not None
    process.signal(signal.SIGKILL)
    took = acted(admin, "crashed")
    say(f"a pool had its host {took:.1f} s after the controller that led was killed")
    assert took < AFTER_A_CRASH
    assert holder(plane) not in {"", before}


def test_another_one_acts_at_once_when_its_pod_is_deleted(plane: ControlPlane, admin: Api, installed: Kubelet) -> None:
    name = leader(plane, installed)
    admin.delete(f"{PODS}/{name}")
    took = acted(admin, "stopped")
    say(f"a pool had its host {took:.1f} s after the controller that led was asked to stop")
    assert took < AT_ONCE


def test_a_rolling_update_ends_with_two_and_one_leads(plane: ControlPlane, installed: Kubelet) -> None:
    deployment = (f"deployment/{RELEASE}-controller", "--namespace", NAMESPACE)
    assert plane.kubectl("rollout", "restart", *deployment).returncode == 0
    assert plane.kubectl("rollout", "status", *deployment, "--timeout", "240s").returncode == 0
    assert acted(plane.admin, "rolled") < AFTER_A_CRASH
    assert leader(plane, installed) in controllers(plane.admin)
    assert plane.admin.get(pools(SPACE))["items"] == []
