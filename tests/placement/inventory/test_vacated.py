"""The inventory as if no pods ran, no claim held a device, and all nodes were back."""

from tests.builders import JOB, NAMESPACE, bound_pod, cluster, job, node, pool
from webhook.placement.devices.published.claims import ClaimAllocation, ClaimSpec, DeviceName, HeldDevice, ResourceClaim
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import CORDONED, Taint
from webhook.placement.request.world import World

DEVICE = DeviceName("gpu.example.com", "node-a", "gpu-0")
HELD = HeldDevice(DEVICE)
KEPT = Taint("dedicated", "infra", "NoSchedule")


def test_room_labels_and_devices_are_free() -> None:
    pods = [bound_pod(requests={"cpu": 1500}), bound_pod(uid="other", job="", requests={"cpu": 100})]
    inventory = cluster([node()], [pool()], pods, [job({})])
    inventory.devices.put_claim(ResourceClaim(NAMESPACE, "c", ClaimSpec(), ClaimAllocation(devices=(HELD,))))
    vacated = inventory.vacated()
    capacity = vacated.nodes.capacity
    assert (capacity.used("cpu", 0), capacity.allocatable("cpu", 0)) == (
        0,
        inventory.nodes.capacity.allocatable("cpu", 0),
    )
    assert list(vacated.jobs_with_pods()) == []
    assert vacated.devices.holders(DEVICE) == ()
    assert vacated.devices.claim((NAMESPACE, "c")) is inventory.devices.claim((NAMESPACE, "c"))
    assert (vacated.jobs, vacated.pools) == (inventory.jobs, inventory.pools)
    assert inventory.nodes.capacity.used("cpu", 0) == 1600
    assert inventory.devices.holders(DEVICE) == (HELD,)
    assert not inventory.job_pods(NAMESPACE, JOB).everyone.empty


def test_nodes_come_back_but_for_those_that_people_keep_others_from() -> None:
    taints = [Taint(CORDONED, effect="NoSchedule"), Taint("node.kubernetes.io/not-ready", effect="NoExecute")]
    inventory = cluster([node("node-a", taints=taints), node("node-b", taints=[KEPT])])
    assert set(inventory.vacated().nodes.taints) == {KEPT.key}
    assert set(inventory.nodes.taints) == {KEPT.key, *(one.key for one in taints)}
    assert World(inventory.vacated(), Policy()).everything == inventory.nodes.everything
