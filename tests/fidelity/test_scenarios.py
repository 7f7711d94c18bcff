"""Random scenarios: the same number is the same scenario, and what families it has something of."""

from collections import Counter
from typing import Any

import pytest

from tests.fidelity.play import renamed
from tests.fidelity.random_scenarios import random_scenario, scenarios
from tests.fidelity.scenario import MARK, FidelityScenario
from webhook.placement.text import keys

SEED = 11

NODE: dict[str, Any] = {"metadata": {"name": f"{MARK}-n0", "labels": {"case": MARK}}, "spec": {}}


def scenario(**spec: Any) -> FidelityScenario:
    metadata = {"name": f"{MARK}-j", "namespace": MARK}
    subject = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    return FidelityScenario(0, (NODE,), subject)


def test_a_number_is_a_scenario_and_survives_json() -> None:
    for one in scenarios(SEED, 0, 50):
        assert random_scenario(SEED, one.number) == one
        assert FidelityScenario.decoded(one.encoded()) == one
    assert random_scenario(SEED + 1, 0) != random_scenario(SEED, 0)


def test_most_are_jobs_and_clusters_have_two_to_twelve_nodes() -> None:
    some = list(scenarios(SEED, 0, 300))
    kinds = Counter(one.kind for one in some)
    assert kinds["job"] > 150
    assert min(kinds["pod"], kinds["workload"]) > 20
    sizes = {len(one.nodes) for one in some}
    assert sizes == {*range(2, 13)}
    assert {one.at_once for one in some} == {True, False}


def test_every_family_is_there() -> None:
    found = {family for one in scenarios(SEED, 0, 300) for family in one.families()}
    assert found >= {
        "host", "host pool", "hostColocation", "hostExlocation", "hostIsolation", "tokens", "sized pool",
        "unsized pool", "literal pool", "exclusive pool", "spread", "uniform", "mapping", "devices", "resources",
        "taints", "affinity", "ports", "preferred", "replicas", "company", "volumes", "everywhere",
        "labels of controllers", "limit ranges", "runtime classes", "priorities",
    }  # fmt: skip


FAMILIES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "nothing": ({}, {"none"}),
    "two tokens": (
        {"processingElements": [{"operators": [{"placement": 'hostColocation("a"), hostColocation("b")'}]}]},
        {"hostColocation", "tokens"},
    ),
    "a pool": (
        {"hostPools": [{"name": "P"}], "processingElements": [{"operators": [{"placement": "host(P[0])"}]}]},
        {"unsized pool", "host pool"},
    ),
    "a host": ({"processingElements": [{"operators": [{"placement": 'host("n")'}]}]}, {"host"}),
    "pools": (
        {"hostPools": [{"size": 1}, {"hosts": ["n"]}, {"size": 1, "mode": "Exclusive"}]},
        {"sized pool", "literal pool", "exclusive pool"},
    ),
    "a selector that is the scenario's": (
        {"processingElements": [{"template": {"spec": {"nodeSelector": {"case": "x"}}}}]},
        {"none"},
    ),
    "a selector": ({"processingElements": [{"template": {"spec": {"nodeSelector": {"disk": "x"}}}}]}, {"affinity"}),
    "amounts": ({"processingElements": [{"resources": {"requests": {"cpu": "1"}}}]}, {"resources"}),
}  # fmt: skip


@pytest.mark.parametrize("case", FAMILIES)
def test_families_of(case: str) -> None:
    spec, families = FAMILIES[case]
    assert scenario(**spec).families() == families


def test_a_renamed_scenario_has_the_marks_of_its_pools() -> None:
    first = next(one for one in scenarios(SEED, 0, 99) if any(pool["spec"].get("mode") for pool in one.pools))
    found = renamed(first, "s7")
    assert MARK not in found.encoded()
    assert found.mark == found.space == "s7"
    for pool in found.pools:
        for host in pool["status"]["hosts"]:
            node = found.cluster.by_name[host["name"]]
            assert node["metadata"]["labels"][keys.membership("s7", pool["metadata"]["name"])] == str(host["index"])
    exclusive = next(pool for pool in found.pools if pool["spec"].get("mode"))
    taints = found.cluster.by_name[exclusive["status"]["hosts"][0]["name"]]["spec"]["taints"]
    assert keys.exclusive("s7", exclusive["metadata"]["name"]) in [one.get("value") for one in taints]


def test_a_scenario_shows_itself_as_manifests() -> None:
    text = repr(scenario(processingElements=[]))
    assert text.startswith("scenario 0: ")
    assert "kind: Job" in text
    assert f"name: {MARK}-n0" in text
