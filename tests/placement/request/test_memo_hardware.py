"""How long an answer holds for a pod whose containers are given something, and for those beside it."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, Json, asked, bound_pod, cluster, job, nodes, pod, typed
from tests.placement.hardware_containers import BOUND, GPU, amount, container, equipped, guaranteed, required, wanted
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.intent import read_intent
from webhook.placement.request.memo import Key, Memo, key_of
from webhook.placement.request.world import World
from webhook.placement.text import keys

WISHING = pod(annotations=required(wanted(GPU)), job=None)
FIRM = pod(annotations=required(amount(GPU, 1)), job=None)
WORKER = pod(containers=[guaranteed()], annotations=BOUND)
FREE = pod(containers=[guaranteed()])


def key(found: Json, inventory: Inventory) -> Key:
    made = key_of(typed(found), NAMESPACE, inventory)
    assert made is not None
    return made


def holds(found: Json, inventory: Inventory, change: Callable[[Inventory], None]) -> bool:
    """Whether the answer to the pod is still there after the change."""
    memo = Memo[str]()
    memo.keep(World(inventory, Policy()), key(found, inventory), asked(found, inventory), "answer")
    assert memo.find(inventory, key(found, inventory)) == "answer"
    change(inventory)
    return memo.find(inventory, key(found, inventory)) == "answer"


def takes(**requests: int) -> Callable[[Inventory], None]:
    """A pod of nobody comes and takes so much."""
    return lambda inventory: inventory.set_pod(bound_pod(job="", requests={GPU: 1} if "gpu" in requests else requests))


def intent(inventory: Inventory) -> None:
    inventory.intents.put(read_intent(NAMESPACE, "i", {"consumers": []}))


def worker(*, bound: bool) -> Callable[[Inventory], None]:
    """Another pod of the job comes."""
    return lambda inventory: inventory.set_pod(replace(bound_pod(), cpu_bound=bound))


KEPT: dict[str, tuple[Json, Callable[[Inventory], None], bool]] = {
    "a wish, while nobody takes the device": (WISHING, takes(cpu=1), True),
    "a wish, until somebody does": (WISHING, takes(gpu=1), False),
    "a requirement, whoever takes the device": (FIRM, takes(gpu=1), True),
    "a requirement, until an intent changes": (FIRM, intent, False),
    "anything, until an intent changes": (FREE, intent, False),
    "a bound pod, until any other of its job comes": (WORKER, worker(bound=False), False),
    "a free pod, until a bound one of its job comes": (FREE, worker(bound=True), False),
    "a free pod, whichever free ones come": (FREE, worker(bound=False), True),
    "a bound pod, until its Job changes": (
        WORKER, lambda inventory: inventory.set_job(job({"parallel-0": "hostIsolation"})), False
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "change", "expected"), KEPT.values(), ids=KEPT)
def test_an_answer_is_kept_for(found: Json, change: Callable[[Inventory], None], *, expected: bool) -> None:
    assert holds(found, cluster([equipped("node-a", 1)]), change) is expected


def test_a_device_that_is_given_back_can_be_wished_for_again() -> None:
    inventory = cluster([equipped("node-a", 1)], pods=[bound_pod(job="", uid="1", requests={GPU: 1})])
    assert not holds(WISHING, inventory, lambda found: found.remove_pod("1"))


def test_a_bound_pod_that_goes_leaves_others_free_to_be_otherwise() -> None:
    inventory = cluster(nodes(1), pods=[replace(bound_pod(uid="1"), cpu_bound=True), bound_pod(uid="2")])
    assert not holds(FREE, inventory, lambda found: found.remove_pod("1"))


DIFFERENT: dict[str, tuple[Json, Json]] = {
    "what it requires": (FIRM, WISHING),
    "who gets it": (
        pod(annotations=required(amount(GPU, 1, of="a")), containers=[container("a"), container("b")]),
        pod(annotations=required(amount(GPU, 1, of="b")), containers=[container("a"), container("b")]),
    ),
    "whether it is bound": (WORKER, pod(containers=[guaranteed()], annotations={keys.BIND: "false"})),
    "its limits": (
        pod(annotations=BOUND, containers=[container("a", {"cpu": "1"}, {"cpu": "1"})]),
        pod(annotations=BOUND, containers=[container("a", {"cpu": "1"})]),
    ),
    "a limit of an init container": (
        pod(annotations=BOUND, containers=[guaranteed()], initContainers=[container("i")]),
        pod(annotations=BOUND, containers=[guaranteed()], initContainers=[container("i", limits={})]),
    ),
    "resources of the pod as a whole": (
        pod(annotations=BOUND, containers=[guaranteed()]),
        pod(annotations=BOUND, containers=[guaranteed()], resources={}),
    ),
    "the workload that it is a replica of": (
        pod(annotations={keys.INTENT: "i"}, owner="ReplicaSet"),
        pod(annotations={keys.INTENT: "i"}, owner="StatefulSet"),
    ),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_pods_are_told_apart_by(one: Json, other: Json) -> None:
    inventory = cluster(nodes(1))
    assert key(one, inventory) != key(other, inventory)


def test_replicas_of_one_workload_ask_the_same() -> None:
    inventory = cluster(nodes(1))
    one, other = (pod(annotations={keys.INTENT: "i"}, owner="ReplicaSet") for _ in range(2))
    other["metadata"]["uid"] = "another"
    assert key(one, inventory) == key(other, inventory)


def test_where_intents_hold_for_all_every_pod_may_be_given_something() -> None:
    inventory = cluster(nodes(1))
    inventory.intents.enable(NAMESPACE)
    one, other = (pod(containers=[container("a", {"cpu": "1"}, limits)]) for limits in (None, {"cpu": "1"}))
    assert key(one, inventory) != key(other, inventory)
