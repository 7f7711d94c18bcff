"""Nodes that required podAntiAffinity of pods that run closes to other pods."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, bound_pod, cluster, node, pod, typed
from tests.placement.planning.at_once import element, job_spec, judged
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import union
from webhook.placement.kube.pod import Requirement
from webhook.placement.objects.repelling import RepellingTerm
from webhook.placement.planning.members import Member, member_of
from webhook.placement.request.world import World

WEB = (Requirement("app", "In", ("web",)),)
HERE = frozenset({NAMESPACE})
BY_NODE = RepellingTerm("kubernetes.io/hostname", WEB, HERE)
BY_ZONE = RepellingTerm("zone", WEB, None)

ZONES = [node("node-a", labels={"zone": "one"}), node("node-b", labels={"zone": "one"}), node("node-c")]


def shy(*terms: RepellingTerm, on: str = "node-a", job: str = "", uid: str = "") -> Any:
    return replace(bound_pod(on, job=job, pe="", uid=uid or f"shy-{on}"), shuns=terms)


def names(inventory: Inventory, labels: dict[str, str] | None = None, namespace: str = NAMESPACE) -> list[str]:
    closed = inventory.repelled(namespace, {"app": "web"} if labels is None else labels)
    found = union(closed.values())
    return [name for name in ("node-a", "node-b", "node-c") if found & inventory.nodes.named(name)]


def test_the_node_and_the_zone_of_a_term_are_closed_to_what_it_matches() -> None:
    assert names(cluster(ZONES, (), [shy(BY_NODE)])) == ["node-a"]
    assert names(cluster(ZONES, (), [shy(BY_ZONE)])) == ["node-a", "node-b"]
    assert names(cluster(ZONES, (), [shy(BY_NODE), shy(BY_NODE, on="node-b")])) == ["node-a", "node-b"]
    assert names(cluster(ZONES, (), [shy(BY_ZONE, on="node-c")])) == []
    assert names(cluster(ZONES, (), [shy(BY_NODE)]), {"app": "db"}) == []
    assert names(cluster(ZONES, (), [shy(BY_NODE)]), {}) == []


def test_namespaces_of_a_term_count() -> None:
    assert names(cluster(ZONES, (), [shy(BY_NODE)]), namespace="elsewhere") == []
    assert names(cluster(ZONES, (), [shy(BY_ZONE)]), namespace="elsewhere") == ["node-a", "node-b"]


@pytest.mark.parametrize(
    ("operator", "values", "labels", "closed"),
    [
        ("Exists", (), {"app": "x"}, True),
        ("Exists", (), {}, False),
        ("DoesNotExist", (), {}, True),
        ("NotIn", ("web",), {}, True),
        ("NotIn", ("web",), {"app": "web"}, False),
    ],
)
def test_every_operator_counts(operator: str, values: tuple[str, ...], labels: dict[str, str], *, closed: bool) -> None:
    term = RepellingTerm("kubernetes.io/hostname", (Requirement("app", operator, values),), HERE)
    assert bool(names(cluster(ZONES, (), [shy(term)]), labels)) is closed


def test_what_is_gone_closes_nothing() -> None:
    inventory = cluster(ZONES, (), [shy(BY_NODE, BY_NODE, BY_ZONE), shy(BY_NODE, uid="second")])
    inventory.remove_pod("shy-node-a")
    assert names(inventory) == ["node-a"]
    inventory.remove_pod("second")
    assert names(inventory) == []
    inventory.set_pod(shy(BY_ZONE, on="node-z"))
    assert names(inventory) == []


def member(inventory: Inventory, *elements: str, leaving: tuple[tuple[str, str], ...] = ()) -> Member:
    world = World(inventory, Policy(), leaving=leaving)
    found = member_of(elements, len(elements), typed(pod(labels={"app": "web"})), NAMESPACE, world, ())
    assert isinstance(found, Member)
    return found


def test_an_element_is_kept_away() -> None:
    inventory = cluster(ZONES, (), [shy(BY_NODE)])
    assert member(inventory, "parallel-0").open() == inventory.nodes.everything & ~inventory.nodes.named("node-a")


def test_pods_of_a_job_that_restarts_repel_no_pod() -> None:
    own = shy(BY_NODE, job="parallel")
    assert member(cluster(ZONES, (), [own]), "a", leaving=((NAMESPACE, "parallel"),)).open().bit_count() == 3
    other = shy(BY_NODE, job="other", uid="other")
    found = member(cluster(ZONES, (), [own, other]), "a", leaving=((NAMESPACE, "parallel"),))
    assert found.open().bit_count() == 2


def test_equal_elements_are_not_known_by_their_name() -> None:
    term = RepellingTerm("kubernetes.io/hostname", (Requirement("streams.ibm.com/pe", "In", ("parallel-0",)),), HERE)
    inventory = cluster(ZONES, (), [shy(term)])
    assert member(inventory, "parallel-0").open().bit_count() == 2
    assert member(inventory, "parallel-0", "parallel-1").open().bit_count() == 3


def test_a_refusal_says_so() -> None:
    inventory = cluster(ZONES[:1], (), [shy(BY_NODE)])
    web = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "pe"}]}}
    verdict = judged(job_spec({**element(), "template": web}), inventory)
    assert verdict.text == (
        "The processing elements cannot all run: 0 of 1 processing element fits (app-0).\n"
        "  1 node runs a pod whose podAntiAffinity excludes this pod\n"
        "Nearest fix: add a node."
    )


def test_a_new_node_of_a_zone_that_is_closed_is_not_a_fix() -> None:
    inventory = cluster(ZONES[:1], (), [shy(BY_ZONE)])
    web = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "pe"}]}}
    verdict = judged(job_spec({**element(), "template": web}), inventory)
    assert verdict.text == (
        "The processing elements cannot all run: 0 of 1 processing element fits (app-0).\n"
        "  1 node is in the zone of a pod whose podAntiAffinity excludes this pod\n"
        "Nearest fix: no single change helps."
    )
