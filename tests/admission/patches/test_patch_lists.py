"""Patch operations on lists: terms and tolerations are appended, whatever is there."""

import jsonpatch
import msgspec
import pytest

from tests.admission.patches.patch_samples import OTHER, OURS, POOLED, PREFERRED, REQUIRED, Json, after, terms
from tests.builders import cluster, nodes, pod, pool, typed
from webhook.admission.patch import encode, operations
from webhook.placement.decision.merge import merge
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.provision.effects import RequireNodes
from webhook.placement.text import keys


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="absent"),
        pytest.param({"affinity": {"nodeAffinity": {PREFERRED: None}}}, id="null"),
        pytest.param({"affinity": {"nodeAffinity": {PREFERRED: []}}}, id="empty"),
        pytest.param(
            {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [OTHER]}}]}}},
            id="one there",
        ),
    ],
)
def test_preferred_terms_are_appended(spec: Json) -> None:
    found = pod("host(MyPool)", annotations={keys.PREFERRED: "host"}, **spec)
    own = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(PREFERRED) or []
    made = after(found, POOLED)["spec"]["affinity"]["nodeAffinity"][PREFERRED]
    assert made == [*own, {"weight": 100, "preference": {"matchExpressions": [OURS]}}]


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("field", [REQUIRED, PREFERRED])
@pytest.mark.parametrize("shape", ["absent", "null", "empty", "null list", "empty list", "one there"])
def test_pod_terms_are_appended(kind: str, field: str, shape: str) -> None:
    workers = {"key": keys.WORKER, "operator": "Exists"}  # pods that this product itself would ask for
    own = {"labelSelector": {"matchExpressions": [workers]}, "topologyKey": "kubernetes.io/hostname"}
    one = own if field == REQUIRED else {"weight": 1, "podAffinityTerm": own}
    shapes: dict[str, Json] = {
        "absent": {},
        "null": {"affinity": {kind: None}},
        "empty": {"affinity": {kind: {}}},
        "null list": {"affinity": {kind: {field: None}}},
        "empty list": {"affinity": {kind: {field: []}}},
        "one there": {"affinity": {kind: {field: [one]}}},
    }
    clause = "hostColocation" if kind == "podAffinity" else "hostExlocation"
    soft = {keys.PREFERRED: clause} if field == PREFERRED else {}
    found = pod(f'{clause}("t")', annotations=soft, **shapes[shape])
    made = after(found, POOLED)["spec"]["affinity"][kind][field]
    assert made[:-1] == ([one] if shape == "one there" else [])
    assert len(made) == 1 + (shape == "one there")


@pytest.mark.parametrize(
    "own",
    [None, [], [{"key": "a", "operator": "Exists"}]],
    ids=["null", "empty", "one there"],
)
def test_tolerations_are_appended(own: list[Json] | None) -> None:
    inventory = cluster(nodes(1), pools=[pool(size=1, mode="Exclusive", assigned=["node-a"])])
    made = after(pod("host(MyPool)", tolerations=own), inventory)["spec"]["tolerations"]
    ours = {"key": keys.EXCLUSIVE, "operator": "Equal", "value": "default.mypool", "effect": "NoSchedule"}
    assert made == [*(own or []), ours]


def test_alternatives_are_terms_of_their_own() -> None:
    own = {"matchExpressions": [OTHER]}
    found = pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}, own]}}})
    either = tuple(NodeTerm((Requirement(key, "Exists"),)) for key in "ab")
    additions, _ = merge(typed(found), [RequireNodes("c", either)])
    made = jsonpatch.apply_patch(found, msgspec.json.decode(encode(operations(typed(found), additions))))
    assert terms(made) == [{"matchExpressions": [OTHER, {"key": key, "operator": "Exists"}]} for key in "ab"]


def test_a_term_of_the_pod_gets_what_it_lacks_of_fields() -> None:
    own = {"matchExpressions": [OTHER]}
    found = pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [own]}}})
    named = NodeTerm(match_fields=(Requirement("metadata.name", "In", ("node-a",)),))
    additions, _ = merge(typed(found), [RequireNodes("c", (named,))])
    made = jsonpatch.apply_patch(found, msgspec.json.decode(encode(operations(typed(found), additions))))
    field = {"key": "metadata.name", "operator": "In", "values": ["node-a"]}
    assert terms(made) == [{**own, "matchFields": [field]}]
