"""Sleepers are counted when an exclusive pool gets hosts, until they are gone."""

from typing import Final

from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.events import told
from tests.e2e.controller.pools import condition, create_pool, exclusive, wait_for, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod, pod_spec

SPACE: Final = "asleep"
TENANT: Final = "asleep-tenant"
PODS: Final = f"/api/v1/namespaces/{TENANT}/pods"
HOST: Final = {"kubernetes.io/hostname": "node-7"}
SECONDS: Final = 60.0
"""For whatever is to come about: other tests may keep the machine busy."""


def test_sleepers_are_counted_until_they_are_gone(bare: ControlPlane, controller: ControllerProcess) -> None:
    del controller
    admin = bare.admin
    namespace(admin, SPACE)
    namespace(admin, TENANT)
    gated = {"schedulingGates": [{"name": "example.com/wait"}]}
    everything = {"tolerations": [{"operator": "Exists"}]}
    admin.create(pod("sleeper", TENANT, pod_spec(**gated, **everything)))
    admin.create(
        pod("elsewhere", TENANT, pod_spec(**gated, **everything, nodeSelector={"kubernetes.io/hostname": "x"}))
    )
    admin.create(pod("harmless", TENANT, pod_spec(**gated)))
    path = create_pool(admin, exclusive("p", SPACE, 1, selector={"matchLabels": HOST}))
    try:
        said = condition(wait_for(admin, path, seconds=SECONDS))["message"]
        assert said == "it has 1 host; 1 pending pod tolerates its taint and may be bound to its hosts"
        wanted = (
            "Warning",
            "SleepersWait",
            "1 pending pod tolerates its taint and may be bound to its hosts: only the setting strict keeps them off",
        )
        until(lambda: wanted in told(admin, SPACE, "p"), "an Event says so", SECONDS)
        admin.delete(f"{PODS}/sleeper", gracePeriodSeconds="0")
        until(lambda: condition(admin.get(path))["message"] == "it has 1 host", "none is left", SECONDS)
    finally:
        admin.delete(PODS, gracePeriodSeconds="0")
        admin.delete(path)
        wait_until_gone(admin, path, SECONDS)
