"""What a pod's annotations, and the HPAIntents of its namespace, give to its containers."""

from typing import Any

import pytest

from tests.builders import NAMESPACE, Json, asked, cluster, nodes, pod, typed
from tests.placement.hardware_containers import FIELD, GPU, amount, container, label, required
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.intent import read_intent
from webhook.placement.provision.provision import BARE
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import render

CONSUMER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "o"}


def with_intent(*requirements: Json, enabled: bool = False, name: str = "fwall", **consumer: str) -> Inventory:
    """A node, and the namespace's HPAIntent for replicas of a ReplicaSet."""
    inventory = cluster(nodes(1))
    consumers = [{"name": "c", "consumer": CONSUMER | consumer, "requirements": list(requirements)}]
    inventory.intents.put(read_intent(NAMESPACE, name, {"consumers": consumers}, f"HPAIntent {name} "))
    if enabled:
        inventory.intents.enable(NAMESPACE)
    return inventory


def replica(**annotations: Any) -> Json:
    found = pod(owner="ReplicaSet", annotations=annotations)
    found["metadata"]["ownerReferences"][0]["apiVersion"] = "apps/v1"
    return found


def given(ask: Ask) -> list[str]:
    """The clauses of what containers are given, of labels, and of what is wanted."""
    provision = ask.provision
    return [
        *(grant.cause for grant in (*provision.grants, *provision.wanted)),
        *(found.text for found in provision.labels),
    ]


def wrong(found: Json, inventory: Inventory) -> str:
    _, problems = read(typed(found), NAMESPACE, World(inventory, Policy()))
    return render(problems) if problems else ""


def test_a_pod_that_says_nothing_of_it_is_given_nothing() -> None:
    assert asked(pod(), with_intent(amount(GPU, 1))).provision is BARE


def test_the_annotation_says_what_is_required() -> None:
    ask = asked(pod(annotations=required(amount("cpu", 2), label("disk", "ssd"))), cluster(nodes(1)))
    assert given(ask) == ["hardware cpu 2", "hardware disk=ssd"]


def test_requests_are_those_with_all_that_is_given() -> None:
    ask = asked(pod(annotations=required(amount("cpu", 2)), requests={"memory": "1Ki"}), cluster(nodes(1)))
    assert ask.requests == {"memory": 1024, "cpu": 2000, "pods": 1}


def test_an_intent_says_it_for_who_names_it() -> None:
    assert given(asked(replica(**{keys.INTENT: "fwall"}), with_intent(amount(GPU, 1)))) == [
        "hardware example.com/gpu 1"
    ]


def test_where_intents_hold_for_all_no_pod_needs_to_name_them() -> None:
    assert given(asked(replica(), with_intent(amount(GPU, 1), enabled=True))) == ["hardware example.com/gpu 1"]


def test_elsewhere_they_give_nothing() -> None:
    assert given(asked(replica(), with_intent(amount(GPU, 1)))) == []


def test_where_they_hold_another_workload_is_given_nothing() -> None:
    ask = asked(replica(), with_intent(amount(GPU, 1), enabled=True, name="other", kind="StatefulSet"))
    assert (given(ask), ask.warnings) == ([], ())


def test_the_annotation_comes_before_intents() -> None:
    found = replica(**required(amount("cpu", 2)), **{keys.INTENT: "fwall"})
    assert given(asked(found, with_intent(amount(GPU, 1)))) == ["hardware cpu 2", "hardware example.com/gpu 1"]


def test_both_may_say_the_same() -> None:
    found = replica(**required(amount(GPU, 1)), **{keys.INTENT: "fwall"})
    assert given(asked(found, with_intent(amount(GPU, 1)))) == ["hardware example.com/gpu 1"]


def test_they_must_not_contradict_each_other() -> None:
    found = replica(**required(amount(GPU, 1)), **{keys.INTENT: "fwall"})
    both = f"hardware example.com/gpu 2 and hardware example.com/gpu 1 ({FIELD}[0])"
    expected = f"HPAIntent fwall spec.consumers[0].requirements[0]: {both} are for the same container: remove one"
    assert wrong(found, with_intent(amount(GPU, 2))) == expected


PROBLEMS: dict[str, tuple[Json, Inventory, str]] = {
    "an annotation that is none": (
        pod(annotations={keys.HARDWARE: "[]"}),
        cluster(nodes(1)),
        f"{FIELD}: must be a list of requirements, such as [{{name: nvidia.com/gpu, limits: 1}}]",
    ),
    "an intent that is not there": (
        replica(**{keys.INTENT: "fwal"}),
        with_intent(amount(GPU, 1)),
        (
            "metadata.annotations[streams.ibm.com/hpa-intent]: "
            'this namespace has no HPAIntent "fwal", did you mean fwall? known HPAIntents: fwall'
        ),
    ),
    "what is wrong in an intent": (
        replica(),
        with_intent(amount(GPU, "many"), enabled=True),
        'HPAIntent fwall spec.consumers[0].requirements[0].limits: "many" is not a Kubernetes quantity',
    ),
    "a container that is not there": (
        pod(annotations=required(amount("cpu", 1, of="nginx")), containers=[container("a"), container("b")]),
        cluster(nodes(1)),
        f'{FIELD}[0]: there is no container "nginx"; the containers: "a", "b"',
    ),
    "everything at once, what was written first": (
        replica(**required(amount("cpu", "x")), **{keys.INTENT: "x", keys.BIND: "x"}),
        cluster(nodes(1)),
        (
            f'{FIELD}[0].limits: "x" is not a Kubernetes quantity\n'
            'metadata.annotations[streams.ibm.com/hpa-intent]: this namespace has no HPAIntent "x"; there are none\n'
            'metadata.annotations[streams.ibm.com/kubernetes.bind.worker.to.cpu]: "x" is neither true nor false'
        ),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_is_wrong_is_a_problem_of_the_pod(found: Json, inventory: Inventory, expected: str) -> None:
    assert wrong(found, inventory) == expected


def test_warnings_are_those_of_the_pod() -> None:
    ask = asked(pod(annotations=required(amount("cpu", 2)), requests={"cpu": "1"}), cluster(nodes(1)))
    assert ask.warnings == ('requests cpu 1 of container "runtime" become 2: hardware cpu 2 asks for it',)


def test_a_pod_without_containers_is_given_nothing() -> None:
    bare = {"metadata": {"annotations": required(amount("cpu", 2))}}
    assert wrong(bare, cluster(nodes(1))) == f"{FIELD}[0]: hardware cpu 2 needs a container-name, one of none"


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(63, "", id="as many as are allowed"),
        pytest.param(64, f"{FIELD}: 65 requirements are for this pod, at most 64 are allowed", id="one more"),
    ],
)
def test_requirements_of_all_sources_are_limited(count: int, expected: str) -> None:
    labels = [label(f"label-{at}", "x") for at in range(count)]
    assert wrong(replica(**required(*labels), **{keys.INTENT: "fwall"}), with_intent(amount(GPU, 1))) == expected
