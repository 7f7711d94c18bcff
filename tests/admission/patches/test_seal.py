"""The seal is a checksum of the pod as it is stored, so that the API server can compute the same."""

from typing import Any

import jsonpatch
import msgspec
import pytest
from hypothesis import given

from tests.admission.patches.patch_samples import after
from tests.answers import patched
from tests.builders import cluster, node, nodes, pod, pool, review, typed
from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.random_choices import examples
from tests.placement.properties.strategies import clusters
from webhook.admission.mutate import mutate
from webhook.admission.patch import encode, operations
from webhook.admission.seal import BROKEN, WEIGHTS, Operation, seal
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

MARKS = {"example.com/mark": "abc", keys.PE: "x", keys.INJECTED: "x", keys.WAITS: "x"}


def sealed(found: Json) -> str:
    """The seal of a pod as it is."""
    return seal(typed(found), {}, ())


def label(found: Json) -> str:
    said: str = found["metadata"]["labels"][keys.SEAL]
    return said


@given(clusters(), requested())
@examples(300)
def test_it_is_that_of_the_pod_with_its_patch(cluster: Cluster, found: Json) -> None:
    additions = decision_core.decided(found, cluster).additions
    if additions is None:
        return
    whole = jsonpatch.apply_patch(found, msgspec.json.decode(encode(operations(typed(found), additions))))
    assert label(whole) in {sealed(whole), BROKEN}


def spec(**fields: Any) -> Json:
    found = pod('host(MyPool), hostColocation("x")', requests={"cpu": "1"})
    found["spec"] |= fields
    return found


CHANGES: dict[str, Json] = {
    "node": {"nodeName": "node-b"},
    "selector": {"nodeSelector": {"disk": "ssd"}},
    "affinity": {"affinity": {"nodeAffinity": {"x": {}}}},
    "toleration": {"tolerations": [{"operator": "Exists"}]},
    "gate": {"schedulingGates": [{"name": "wait"}]},
    "spread": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "x"}]},
    "overhead": {"overhead": {"cpu": "1"}},
    "a claim": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]},
    "a claim of a container": {"containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}]},
    "resources of the pod": {"resources": {"requests": {"cpu": "3"}}},
    "another container": {"containers": [{"name": "main"}, {"name": "mesh"}]},
    "an init container": {"initContainers": [{"name": "mesh", "restartPolicy": "Always"}]},
    "a port of the host": {"containers": [{"name": "main", "ports": [{"hostPort": 80, "containerPort": 80}]}]},
    "another amount": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]},
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_pod_has_another_seal(change: Json) -> None:
    found = spec(containers=[{"name": "main", "resources": {"requests": {"cpu": "1"}}}])
    assert sealed({**found, "spec": {**found["spec"], **change}}) != sealed(found)


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_what_is_said_under_our_prefix_is_sealed(field: str) -> None:
    found = pod()
    found["metadata"].setdefault(field, {})["streams.ibm.com/hostisolation.X"] = "y"
    assert sealed(found) != sealed(pod())


def test_names_and_what_only_the_webhook_writes_are_not() -> None:
    found = pod(annotations=MARKS)
    found["metadata"]["name"] = "other"
    assert sealed(found) == sealed(pod())


def test_containers_without_a_port_of_the_host_may_have_others() -> None:
    ports = [{"name": "main", "ports": [{"containerPort": 80}]}]
    assert sealed(spec(containers=ports)) == sealed(spec(containers=[{"name": "main"}]))


def test_the_order_of_things_does_not_matter() -> None:
    """CEL and the webhook write maps in different orders."""
    keys_of_node = [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]
    assert sealed(spec(tolerations=keys_of_node)) == sealed(spec(tolerations=keys_of_node[::-1]))


def test_line_breaks_in_annotations_are_no_letters() -> None:
    assert sealed(pod("host(MyPool)\n")) == sealed(pod("host(MyPool)"))


def test_it_fits_into_a_label_whatever_the_pod() -> None:
    longest = typed(spec(nodeName="F" * 100_000))
    assert int(seal(longest, {}, ())) < 2**63
    assert len({*WEIGHTS.values()}) == len(WEIGHTS)


def test_a_pod_in_which_a_value_was_replaced_is_reviewed_again() -> None:
    replaced = [Operation("replace", "/spec/containers/0/resources/requests/cpu", "2")]
    assert seal(typed(pod()), {}, replaced) == BROKEN


def test_a_pod_that_is_reviewed_again_keeps_it() -> None:
    """Then somebody has changed the pod in between, and the API server sees that the seal does not fit."""
    inventory = cluster([node(labels={keys.TAG: "ib"})], pools=[pool(tags=["ib"])])
    once = after(pod("host(MyPool)"), inventory)
    once["spec"]["containers"].append({"name": "mesh"})
    assert patched(once, mutate(review(once), inventory, Policy())) == once
    assert label(once) != sealed(once)


def test_one_that_was_forged_is_replaced() -> None:
    found = pod('host("node-a")', labels={keys.SEAL: "1"})
    whole = patched(found, mutate(review(found), cluster(nodes(2)), Policy()))
    assert label(whole) == sealed(whole) != "1"
