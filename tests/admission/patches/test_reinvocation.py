"""``/mutate`` more than once: a second pass is empty, and repairs what another webhook did."""

import json

import pytest

from tests.answers import patched, response, steps
from tests.builders import GATES, Json, cluster, job, node, nodes, pod, pool, review
from webhook.admission.answer import Answer
from webhook.admission.mutate import mutate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

TWO = cluster(nodes(2))

ON_A = 'host("node-a")'


def mutated(found: object, inventory: Inventory = TWO, policy: Policy | None = None, **fields: object) -> Answer:
    """The answer to a pod; ``fields`` are those of the request."""
    return mutate(review(found, **fields), inventory, policy or Policy())


PASSES: dict[str, tuple[Json, Inventory]] = {
    "host": (pod(ON_A), TWO),
    "host of a ReplicaSet": (pod(ON_A, owner="ReplicaSet"), TWO),
    "gated pod": (pod(ON_A, schedulingGates=GATES), TWO),
    "pool": (pod("host(MyPool)"), cluster([node(labels={keys.TAG: "a"})], pools=[pool(tags=["a"])])),
    "exclusive pool": (
        pod("host(MyPool)"),
        cluster(nodes(1), pools=[pool(size=1, mode="Exclusive", assigned=["node-a"])]),
    ),
    "group": (
        pod('hostColocation("a"), hostColocation("b")'),
        cluster(nodes(1), jobs=[job({"parallel-0": 'hostColocation("a"), hostColocation("b")'})]),
    ),
    "exlocation and isolation": (pod('hostExlocation("a"), hostIsolation'), TWO),
    "other element of an isolated one": (pod(), cluster(nodes(1), jobs=[job({"parallel-1": "hostIsolation"})])),
    "preferences": (
        pod(
            'host("node-a"), hostExlocation("b"), hostIsolation',
            annotations={keys.PREFERRED: "host, hostExlocation, hostIsolation"},
        ),
        TWO,
    ),
    "preferred group": (
        pod('hostColocation("a"), hostColocation("b")', annotations={keys.PREFERRED: "hostColocation"}),
        TWO,
    ),
    "nothing": (pod(), TWO),
}


@pytest.mark.parametrize(("found", "inventory"), PASSES.values(), ids=PASSES.keys())
def test_a_second_pass_is_empty(found: Json, inventory: Inventory) -> None:
    after = patched(found, mutated(found, inventory))
    assert steps(mutated(after, inventory)) == []


@pytest.mark.parametrize(("found", "inventory"), PASSES.values(), ids=PASSES.keys())
def test_what_another_webhook_removed_is_repaired(found: Json, inventory: Inventory) -> None:
    whole = patched(found, mutated(found, inventory))
    undone = json.loads(json.dumps(whole))
    for field in ("affinity", "tolerations", "nodeName"):
        undone["spec"].pop(field, None)
    undone["metadata"]["labels"] = found["metadata"]["labels"]
    undone["metadata"]["annotations"] = {
        key: value for key, value in whole["metadata"]["annotations"].items() if key != keys.INJECTED
    }
    assert patched(undone, mutated(undone, inventory)) == whole


def test_what_another_webhook_added_stays() -> None:
    whole = patched(pod('hostExlocation("a")'), mutated(pod('hostExlocation("a")')))
    whole["spec"]["containers"].append({"name": "sidecar"})
    whole["spec"]["tolerations"] = [{"key": "x", "operator": "Exists"}]
    assert steps(mutated(whole)) == []


@pytest.mark.parametrize("forged", ["", "{}", "true", "x" * 1000])
def test_a_forged_marker_changes_nothing(forged: str) -> None:
    after = patched(pod(ON_A), mutated(pod(ON_A)))
    marked = pod(ON_A, annotations={keys.INJECTED: forged})
    assert patched(marked, mutated(marked)) == after


@pytest.mark.parametrize(
    "key", ["kubernetes.io/metadata.name", "streams.ibm.com/exempt", "admission.streams.ibm.com/ignore", "exempt"]
)
def test_no_label_exempts_a_pod(key: str) -> None:
    assert not response(mutated(pod('host("gone")', labels={key: "true"})))["allowed"]
