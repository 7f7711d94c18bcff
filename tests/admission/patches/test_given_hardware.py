"""Pods that are given hardware, from ``/mutate`` to ``/validate``."""

import copy
import json
from collections.abc import Callable

import pytest

from tests.answers import patched, refused, response, steps, warnings
from tests.builders import NAMESPACE, UID, Json, cluster, nodes, pod, review
from tests.placement.hardware_containers import (
    BOUND,
    GPU,
    amount,
    container,
    equipped,
    guaranteed,
    label,
    required,
    wanted,
)
from webhook.admission.mutate import mutate
from webhook.admission.opt_in import concerned
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata, Pod
from webhook.placement.objects.intent import read_intent

POLICY = Policy()
OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "core", "uid": "u", "controller": True}


def devices(*, intent: bool = False, enabled: bool = False) -> Inventory:
    """A node with a GPU, and an HPAIntent that wants one for each pod of a StatefulSet."""
    inventory = cluster([equipped("node-a", 1)])
    if intent:
        consumer = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "core"}
        consumers = [{"consumer": consumer, "requirements": [amount(GPU, 1)]}]
        inventory.intents.put(read_intent(NAMESPACE, "fwall", {"consumers": consumers}))
    if enabled:
        inventory.intents.enable(NAMESPACE)
    return inventory


def replica() -> Json:
    """A pod of that StatefulSet that says nothing."""
    found = pod(job=None, pe=None)
    found["metadata"]["ownerReferences"] = [OWNER]
    return found


def gpus(found: Json) -> object:
    return found["spec"]["containers"][0]["resources"].get("limits", {}).get(GPU)


def mutated(found: Json, inventory: Inventory) -> Json:
    return patched(found, mutate(review(found), inventory, POLICY))


# Whom the webhook looks at


@pytest.mark.parametrize(
    ("inventory", "expected"),
    [
        pytest.param(devices(intent=True, enabled=True), "1", id="an intent for its workload"),
        pytest.param(devices(intent=True), None, id="where intents hold for nobody"),
        pytest.param(devices(enabled=True), None, id="no intent"),
    ],
)
def test_a_pod_that_says_nothing_is_given_hardware_by(inventory: Inventory, expected: str | None) -> None:
    assert gpus(mutated(replica(), inventory)) == expected


def test_a_pod_of_another_workload_is_left_alone() -> None:
    found = replica()
    found["metadata"]["ownerReferences"] = [OWNER | {"name": "other"}]
    answer = mutate(review(found), devices(intent=True, enabled=True), POLICY)
    assert response(answer) == {"uid": UID, "allowed": True}


def test_a_pod_without_metadata_has_no_intent() -> None:
    assert not concerned(Pod(), NAMESPACE, devices(intent=True, enabled=True))


def test_a_pod_that_asks_itself_concerns_us_without_any_intent() -> None:
    assert concerned(Pod(Metadata(annotations=dict(BOUND))), NAMESPACE, devices())


def test_audited_pods_are_told_what_they_would_be_given() -> None:
    answer = mutate(review(pod(annotations=required(amount(GPU, 1)))), devices(), Policy(audit=True))
    assert (warnings(answer), steps(answer)) == (
        ["audit: this pod would get: annotations, containers, labels"],
        [],
    )


# What a later webhook may and may not undo

FIRM = pod(annotations=required(amount("cpu", 2), amount("memory", 100)))
WORKER = pod(containers=[container("pe", {"cpu": "2", "memory": "1Gi"})], annotations=BOUND)
WISHING = pod(annotations=required(wanted(GPU)))
LABELLED = pod(annotations=required(label("kubernetes.io/hostname", "node-a")))
LACKS = "that its clauses require: something removed what the placement webhook had added"

FIELD = "metadata.annotations[streams.ibm.com/{}]"
BINDING, REQUIREMENTS = "kubernetes.bind.worker.to.cpu", FIELD.format("hpa-requirements")
CONTAINER = "spec.containers[0].resources"
NAMELESS = 'needs a container-name, one of "runtime", "mesh"'
EVERY = "kubelets assign exclusive cores only if every container has cpu and memory limits equal to its requests"

Undo = Callable[[Json], object]


def at(found: Json) -> Json:
    """The resources of the first container."""
    made: Json = found["spec"]["containers"][0]["resources"]
    return made


def add_sidecar(made: Json) -> None:
    """What a service mesh does."""
    made["spec"]["containers"].append(container("mesh"))


@pytest.mark.parametrize("found", [FIRM, WORKER, WISHING, LABELLED], ids=["required", "bound", "wanted", "label"])
def test_what_mutate_gave_is_valid(found: Json) -> None:
    made = mutated(found, devices())
    assert response(validate(review(made), devices(), POLICY)) == {"uid": UID, "allowed": True}


UNDONE: dict[str, tuple[Json, Undo, tuple[int, str]]] = {
    "a limit": (FIRM, lambda made: at(made)["limits"].pop("cpu"), (403, f"spec: lacks resources {LACKS}")),
    "all of it": (FIRM, lambda made: at(made).clear(), (403, f"spec: lacks resources {LACKS}")),
    "the amount": (FIRM, lambda made: at(made)["requests"].update(cpu="1"), (403, f"spec: lacks resources {LACKS}")),
    "a limit of a worker": (WORKER, lambda made: at(made).pop("limits"), (403, f"spec: lacks resources {LACKS}")),
    "the label of the node": (
        LABELLED, lambda made: made["spec"].pop("affinity"), (403, f"spec: lacks nodeAffinity {LACKS}")
    ),
    "the requests of a worker": (
        WORKER,
        lambda made: at(made)["requests"].update(cpu="1"),
        (422, f'{CONTAINER}: requests 1 and limits 2 of cpu must be equal in container "pe": {BINDING}'),
    ),
    "a sidecar, beside a worker": (
        WORKER, add_sidecar, (422, f'{FIELD.format(BINDING)}: container "mesh" has no cpu limit; {EVERY}')
    ),
    "who a requirement is for": (
        FIRM,
        lambda made: made["spec"].update(containers=[container("runtime"), container("mesh")]),
        (422, f"{REQUIREMENTS}[0]: hardware cpu 2 {NAMELESS}\n{REQUIREMENTS}[1]: hardware memory 100M {NAMELESS}"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "undo", "expected"), UNDONE.values(), ids=UNDONE)
def test_a_later_webhook_must_not_undo(found: Json, undo: Undo, expected: tuple[int, str]) -> None:
    made = mutated(found, devices())
    undo(made)
    assert refused(validate(review(made), devices(), POLICY)) == expected


SPARED: dict[str, tuple[Json, Undo]] = {
    "what was only wanted": (WISHING, lambda made: at(made).clear()),
    "resources that nobody required": (FIRM, lambda made: at(made)["requests"].update({GPU: "1"})),
    "a sidecar, beside whom a requirement gave something": (FIRM, add_sidecar),
    "a sidecar that is guaranteed too": (WORKER, lambda made: made["spec"]["containers"].append(guaranteed("mesh"))),
}


@pytest.mark.parametrize(("found", "change"), SPARED.values(), ids=SPARED)
def test_a_later_webhook_may_change(found: Json, change: Undo) -> None:
    made = mutated(found, devices())
    change(made)
    assert response(validate(review(made), devices(), POLICY))["allowed"]


def test_a_pod_that_an_intent_concerns_is_checked_too() -> None:
    inventory = devices(intent=True, enabled=True)
    assert refused(validate(review(replica()), inventory, POLICY)) == (403, f"spec: lacks resources {LACKS}")


def test_a_device_that_was_given_and_is_gone_no_longer_matters() -> None:
    made = mutated(WISHING, devices())
    assert response(validate(review(made), cluster(nodes(1)), POLICY))["allowed"]


# Devices by ResourceClaims

DEVICES = required({"device": {"template": "two-gpus"}}, {"device": {"claim": "shared"}}, amount("cpu", 1))
UNJUDGED = "spec.resourceClaims: ResourceClaims are not judged; the pod waits until devices that meet them are free"


def claimed(found: Json) -> list[Json]:
    """The sources of the claims of the pod, all of which its container uses."""
    stated = found["spec"]["resourceClaims"]
    (one,) = found["spec"]["containers"]
    assert [claim["name"] for claim in stated] == [claim["name"] for claim in one["resources"]["claims"]]
    return [{key: claim[key] for key in claim if key != "name"} for claim in stated]


@pytest.mark.parametrize("own", [{}, {"resources": {"limits": {"memory": "1Gi"}}}], ids=["bare", "with resources"])
def test_a_pod_is_given_claims_once(own: Json) -> None:
    found = pod(annotations=DEVICES)
    found["spec"]["containers"] = [{"name": "main", **own}]
    answer = mutate(review(found), devices(), POLICY)
    assert warnings(answer) == [UNJUDGED]
    once = patched(found, answer)
    assert claimed(once) == [{"resourceClaimTemplateName": "two-gpus"}, {"resourceClaimName": "shared"}]
    assert mutated(once, devices()) == once
    injected = json.loads(once["metadata"]["annotations"]["streams.ibm.com/injected"])
    assert injected["resourceClaims"] == ["hardware ResourceClaim shared", "hardware ResourceClaimTemplate two-gpus"]


def test_claims_of_the_user_stay_beside_those_that_are_given() -> None:
    found = pod(annotations=DEVICES)
    found["spec"]["resourceClaims"] = [{"name": "nic", "resourceClaimName": "nics"}]
    found["spec"]["containers"] = [{"name": "main", "resources": {"claims": [{"name": "nic", "request": "first"}]}}]
    once = mutated(found, devices())
    assert claimed(once)[0] == {"resourceClaimName": "nics"}
    assert once["spec"]["containers"][0]["resources"]["claims"][0] == {"name": "nic", "request": "first"}


def test_an_intent_gives_claims_to_the_pods_of_its_consumer() -> None:
    inventory = devices(enabled=True)
    consumer = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "core"}
    requirements = [{"name": "gpus", "spec": {"device": {"template": "two-gpus"}}}]
    inventory.intents.put(
        read_intent(NAMESPACE, "fwall", {"consumers": [{"consumer": consumer, "requirements": requirements}]})
    )
    assert claimed(mutated(replica(), inventory)) == [{"resourceClaimTemplateName": "two-gpus"}]


def test_a_pod_whose_claims_were_removed_is_refused() -> None:
    found = mutated(pod(annotations=DEVICES), devices())
    assert response(validate(review(found), devices(), POLICY))["allowed"]
    without = copy.deepcopy(found)
    del without["spec"]["resourceClaims"]
    del without["spec"]["containers"][0]["resources"]["claims"]
    lacks = "that its clauses require: something removed what the placement webhook had added"
    code, said = refused(validate(review(without), devices(), POLICY))
    assert (code, f"lacks resources {lacks}" in said, f"lacks resourceClaims {lacks}" in said) == (403, True, True)
