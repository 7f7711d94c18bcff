"""CPU binding: the worker's limits, and all workers of a job or none."""

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import JOB, Json, bound_pod, cluster, decided, nodes, pod
from tests.placement.hardware_containers import BOUND, FIRST, container, guaranteed
from webhook.placement.constraints.constraint import Spread
from webhook.placement.constraints.hardware.cpu_binding import CpuBinding
from webhook.placement.decision.merge import ContainerAmounts
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.pod import PodInfo
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault

FIELD = "metadata.annotations[streams.ibm.com/kubernetes.bind.worker.to.cpu]"
BOTH = {"cpu": "2", "memory": "1Gi"}
WORKER = pod(containers=[guaranteed()], annotations=BOUND)
OTHER = pod(containers=[guaranteed()])
NOT_BOUND = (
    f"{FIELD}: this pod asks for CPU binding and other workers of its job do not: bind all workers of a job, or none"
)
NOT_FREE = (
    f"{FIELD}: other workers of its job have CPU binding and this pod does not ask for it: bind all workers of "
    "a job, or none"
)


def live(*, bound: bool, **tweaks: Any) -> PodInfo:
    return replace(bound_pod(**tweaks), cpu_bound=bound)


def one(pods: Iterable[PodInfo] = (), **elements: bool) -> Inventory:
    """A node, live pods, and the Job object that says of each element whether it is bound."""
    model = StreamsJob(
        "default", JOB, tuple(Element(name.replace("_", "-"), cpu_bound=on) for name, on in elements.items())
    )
    return cluster(nodes(1), pods=pods, jobs=[model] if elements else ())


def test_the_limits_are_filled_in() -> None:
    found = decided(pod(containers=[container("a", BOTH)], annotations=BOUND), one())
    assert found.additions
    assert found.additions.resources == (ContainerAmounts(FIRST, {}, BOTH),)
    assert found.additions.injected == '{"resources":["kubernetes.bind.worker.to.cpu"]}'


def test_who_has_them_needs_nothing() -> None:
    found = decided(WORKER, one())
    assert found.additions
    assert (found.additions.missing, found.warnings) == ((), ())


def test_who_is_not_bound_is_given_nothing() -> None:
    found = decided(OTHER, one())
    assert found.additions
    assert found.additions.injected == "{}"


def test_any_node_will_do() -> None:
    """How a kubelet hands out cores is not written on its node."""
    verdict = decided(WORKER, cluster(nodes(3))).verdict
    assert verdict
    assert verdict.candidates == 0b111


def replica(*, bound: bool) -> Json:
    """A pod of a Deployment."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "w-5d4f8c7b9", "controller": True}
    found = pod(
        containers=[guaranteed()], annotations=BOUND if bound else {}, labels={"pod-template-hash": "5d4f8c7b9"}
    )
    found["metadata"]["ownerReferences"] = [owner]
    return found


ALIKE: dict[str, tuple[Json, Inventory]] = {
    "bound, beside bound ones": (WORKER, one([live(bound=True)])),
    "free, beside free ones": (OTHER, one([live(bound=False)])),
    "bound, as the model says of others": (WORKER, one(parallel_1=True)),
    "free, as the model says of others": (OTHER, one(parallel_1=False)),
    "bound, whatever the model says of itself": (WORKER, one(parallel_0=False, parallel_1=True)),
    "bound, beside pods of other jobs": (WORKER, one([live(bound=False, job="other")])),
    "bound, beside pods of other namespaces": (WORKER, one([live(bound=False, namespace="other")])),
    "bound, beside pods that are on their way out": (WORKER, one([replace(live(bound=False), terminating=True)])),
    "bound, in the place of a free one of its workload": (
        replica(bound=True), one([live(bound=False, owner="Deployment/w")])
    ),
    "free, in the place of a bound one of its workload": (
        replica(bound=False), one([live(bound=True, owner="Deployment/w")])
    ),
    "of no job, beside others of none": (
        pod(containers=[guaranteed()], annotations=BOUND, job=None), one([live(bound=False, job="")])
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "inventory"), ALIKE.values(), ids=ALIKE)
def test_a_pod_is_admitted(found: Json, inventory: Inventory) -> None:
    assert decided(found, inventory).message == ""


DIFFERENT: dict[str, tuple[Json, Inventory, str]] = {
    "bound, beside a free one": (WORKER, one([live(bound=False)]), NOT_BOUND),
    "bound, beside one of each": (WORKER, one([live(bound=False), live(bound=True, uid="2")]), NOT_BOUND),
    "free, beside a bound one": (OTHER, one([live(bound=True)]), NOT_FREE),
    "bound, beside a free one of its own element": (WORKER, one([live(bound=False, pe="parallel-0")]), NOT_BOUND),
    "bound, beside a free one of another workload": (
        replica(bound=True), one([live(bound=False, owner="Deployment/other")]), NOT_BOUND
    ),
    "free, beside a bound one of another workload": (
        replica(bound=False), one([live(bound=True, owner="Deployment/other")]), NOT_FREE
    ),
    "bound, against the model": (WORKER, one(parallel_1=False), NOT_BOUND),
    "free, against the model": (OTHER, one(parallel_1=True), NOT_FREE),
    "bound, against a part of the model": (WORKER, one(parallel_1=True, parallel_2=False), NOT_BOUND),
    "without an element, against its element": (
        pod(containers=[guaranteed()], annotations=BOUND, pe=None), one(parallel_0=False), NOT_BOUND
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "inventory", "expected"), DIFFERENT.values(), ids=DIFFERENT)
def test_a_pod_that_differs_from_its_job_is_refused(found: Json, inventory: Inventory, expected: str) -> None:
    decision = decided(found, inventory)
    assert (decision.message, decision.fault) == (expected, Fault.FORBIDDEN)


def test_binding_closes_no_node_and_has_nothing_to_explain() -> None:
    world, found = World(one(), Policy()), CpuBinding(())
    assert (found.filter(world), [*found.explain(world, 0b1)], found.fix(world, 0b1)) == (0b1, [], None)
    assert (found.spread, found.soft, found.verb, found.node) == (Spread.FREE, False, "drop", "")
