"""Decisions about workloads and Jobs whose pods the API server completes: texts, fixes and what is refused."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, cluster, decided, job, node, nodes, pod, pool, typed
from tests.placement.planning.at_once import job_spec, judged
from tests.placement.pod_defaults.completing import having, limits
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Toleration
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.pod_defaults.runtime_class import RuntimeClass
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault
from webhook.placement.workload.workload import decide_replicas, guard_replicas

APART = 'hostExlocation("a")'
ONE = Replicas()
EVERYTHING = Toleration(operator="Exists")
VM = Taint("vm", "yes", "NoSchedule")


def workload(inventory: Inventory, replicas: Replicas = ONE, placement: str = APART, **tweaks: Any) -> Decision:
    return decide_replicas(typed(pod(placement, **tweaks)), NAMESPACE, inventory, Policy(), replicas)


def test_the_limit_range_whose_default_is_too_much_is_named() -> None:
    found = workload(having(cluster(nodes(2)), limits("large", defaultRequest={"cpu": "9"})))
    assert found.message == (
        "requests cpu 9 (LimitRange large) cannot hold: 0 of 2 nodes can run this pod.\n"
        "  2 nodes have less than cpu 9\n"
        "Nearest fix: add a node with cpu 9 to offer, or lower requests cpu 9 (LimitRange large) to cpu 8 "
        "(2 nodes would fit)."
    )


def test_a_pod_that_has_arrived_is_taken_as_it_is() -> None:
    inventory = having(cluster(nodes(2)), limits("large", defaultRequest={"cpu": "9"}))
    assert not decided(pod(APART), inventory).refused


def test_a_default_that_the_pod_states_itself_is_not_named() -> None:
    inventory = having(cluster(nodes(2)), limits("large", defaultRequest={"cpu": "1"}))
    assert workload(inventory, requests={"cpu": "9"}).message.startswith("requests cpu 9 cannot hold")


def test_overhead_is_named_and_not_lowered() -> None:
    inventory = having(cluster(nodes(2)), RuntimeClass("kata", {"cpu": "9"}))
    found = workload(inventory, requests={"cpu": "1"}, runtimeClassName="kata")
    assert found.message == (
        "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
        "  2 nodes have less than cpu 10\n"
        "Nearest fix: add a node with cpu 10 to offer."
    )


def test_a_label_of_a_runtime_class_is_dropped_with_the_class() -> None:
    tainted = node("node-b", taints=[VM])
    inventory = having(cluster([node(), tainted]), RuntimeClass("vm", {}, {"a": "b"}, (Toleration("vm", "Exists"),)))
    found = workload(inventory, runtimeClassName="vm")
    assert found.message == (
        "runtimeClassName vm (nodeSelector a=b) cannot hold: 0 of 2 nodes can run this pod.\n"
        "  2 nodes do not have the label a=b\n"
        "Nearest fix: label one more node a=b, or drop runtimeClassName vm (nodeSelector a=b) (1 node would fit)."
    )


def test_tolerations_of_a_runtime_class_open_nodes() -> None:
    inventory = having(cluster(nodes(2, taints=[VM])), RuntimeClass("vm", tolerations=(Toleration("vm", "Exists"),)))
    assert workload(inventory).refused
    assert not workload(inventory, runtimeClassName="vm").refused


def test_bounds_are_about_what_the_webhook_adds_as_well() -> None:
    inventory = having(cluster(nodes(2)), limits("small", max={"cpu": "50m"}, defaultRequest={"cpu": "50m"}))
    stated = replace(job({"parallel-0": APART}), resources=typed(pod()).spec.containers[0].resources)  # type: ignore[union-attr,index]
    inventory.set_job(stated)
    found = workload(inventory, annotations={keys.HARDWARE: '[{"resource": {"cpu": {"requests": 1, "limits": 1}}}]'})
    assert found.refused


def test_a_broken_bound_is_a_fault_of_the_cluster() -> None:
    found = workload(having(cluster(nodes(1)), limits(max={"cpu": "1"})), requests={"cpu": "2"})
    assert found.fault is Fault.FORBIDDEN
    assert found.message.splitlines()[-1] == (
        "spec.containers[0].resources.requests[cpu]: 2 is more than 1 (container bounds of LimitRange l)"
    )


def test_a_toleration_of_everything_is_the_runtime_class_s() -> None:
    exclusive = pool(mode="Exclusive", size=1, assigned=["node-a"])
    inventory = having(
        cluster(nodes(2), [exclusive]), RuntimeClass("any", tolerations=(Toleration(operator="Exists"),))
    )
    told = (
        "spec.runtimeClassName: a toleration of everything would let the pod onto hosts that are exclusive to another "
        "HostPool"
    )
    assert workload(inventory, runtimeClassName="any").message == told
    bare = typed(pod(runtimeClassName="any"))
    assert guard_replicas(bare, NAMESPACE, World(inventory, Policy()), Replicas()).message == told


def test_a_daemon_set_is_completed() -> None:
    inventory = having(cluster(nodes(2)), limits("large", defaultRequest={"cpu": "9"}))
    assert "LimitRange large" in workload(inventory, Replicas(everywhere=True), placement="hostIsolation").message


@pytest.mark.parametrize("count", [1, 2])
def test_the_same_counts_for_elements_of_a_job(count: int) -> None:
    inventory = having(
        cluster(nodes(2)), limits("large", defaultRequest={"cpu": "9"}), RuntimeClass("kata", {"cpu": "9"})
    )
    plain = {"template": {"spec": {"containers": [{"name": "main", "image": "i"}]}}}
    assert "requests cpu 9 (LimitRange large) cannot hold" in judged(job_spec(*[plain] * count), inventory).text
    heavy = {"template": {"spec": {**plain["template"]["spec"], "runtimeClassName": "kata"}}}
    heavy["template"]["spec"]["containers"] = [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
    text = judged(job_spec(*[heavy] * count), inventory).text
    assert "have less than cpu 10" in text
    assert "lower" not in text
