"""A template's own anti-affinity: how many of its pods fit."""

from typing import Any

import pytest

from tests.builders import cluster, node, nodes
from tests.placement.spreading_pods import APP, HOST, OF_APP, ZONE, apart, zones
from tests.workload_templates import crowded, replica
from webhook.placement.constraints.pods.own_anti_affinity import OwnAntiAffinity
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World
from webhook.placement.text import keys

HOSTS = cluster(nodes(3))
MIXED = cluster(zones("a", "a", "b", "", pods=5))
SHARED = cluster([node("node-a", hostname="h"), node("node-b", hostname="h"), node("node-c")])
BARE = cluster([node("node-a", pods=4), node("node-b", hostname=None, pods=4)])
ELSEWHERE = {"matchLabels": {"kubernetes.io/metadata.name": "elsewhere"}}
HERE = {"matchLabels": {"kubernetes.io/metadata.name": "default"}}

ROOMS: dict[str, tuple[int, Any, dict[str, Any]]] = {
    "one a host": (3, HOSTS, {"affinity": apart(HOST)}),
    "hosts of one name are one": (2, SHARED, {"affinity": apart(HOST)}),
    "a node without a host name takes all it can": (5, BARE, {"affinity": apart(HOST)}),
    "one a zone, and what fits where there is none": (7, MIXED, {"affinity": apart(ZONE)}),
    "the narrower of two keys": (3, MIXED, {"affinity": apart(ZONE, HOST)}),
    "a key that no node has": (20, MIXED, {"affinity": apart("rack")}),
    "no key at all, which the API server refuses": (20, MIXED, {"affinity": apart("")}),
    "beside an exlocation": (3, HOSTS, {"affinity": apart(HOST), "placement": 'hostExlocation("x")'}),
    "beside an exlocation, one a zone": (3, MIXED, {"affinity": apart(ZONE), "placement": 'hostExlocation("x")'}),
    "only preferred": (
        20, MIXED,
        {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": OF_APP}}
        ]}}},
    ),
    "others only": (20, MIXED, {"affinity": apart(ZONE, selector={"matchLabels": {"app": "db"}})}),
    "nobody": (20, MIXED, {"affinity": apart(ZONE, selector=None)}),
    "everybody": (7, MIXED, {"affinity": apart(ZONE, selector={})}),
    "other revisions only": (20, MIXED, {"affinity": apart(ZONE, mismatchLabelKeys=["app"])}),
    "the same revision": (
        7, MIXED, {"affinity": apart(ZONE, matchLabelKeys=["pod-template-hash"]), "owner": "Deployment"},
    ),
    "in its own namespace by name": (7, MIXED, {"affinity": apart(ZONE, namespaces=["default"])}),
    "in another namespace": (20, MIXED, {"affinity": apart(ZONE, namespaces=["other"])}),
    "in all namespaces": (7, MIXED, {"affinity": apart(ZONE, namespaceSelector={})}),
    "in namespaces that are named as its own": (7, MIXED, {"affinity": apart(ZONE, namespaceSelector=HERE)}),
    "in namespaces that are named otherwise": (20, MIXED, {"affinity": apart(ZONE, namespaceSelector=ELSEWHERE)}),
    "in namespaces whose labels nobody knows": (
        20, MIXED, {"affinity": apart(ZONE, namespaceSelector={"matchLabels": {"team": "x"}})},
    ),
    "a label that a clause of its own adds": (
        3, HOSTS,
        {
            "affinity": apart(HOST, selector={"matchLabels": {keys.WORKER: "true"}}),
            "annotations": {keys.UNIFORM: "all-separate-nodes"},
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "inventory", "said"), ROOMS.values(), ids=ROOMS)
def test_so_many_fit_and_no_more(expected: int, inventory: Any, said: dict[str, Any]) -> None:
    said = {"placement": None, "labels": APP, **said}
    placement = said.pop("placement")
    assert not crowded(placement, expected, inventory, **said).refused
    # The largest of these clusters holds 20, and none holds more than its nodes do.
    assert crowded(placement, expected + 1, inventory, **said).refused


def test_live_pods_of_the_workload_itself_make_room() -> None:
    held = cluster(nodes(2), pods=[replica("node-a"), replica("node-b")])
    assert not crowded(None, 2, held, labels=APP, affinity=apart(HOST), leaving="Deployment/w").refused


def test_one_pod_alone_goes_anywhere() -> None:
    decision = crowded(None, 1, HOSTS, labels=APP, affinity=apart(HOST))
    assert (decision.refused, decision.warnings) == (False, ())


def test_no_node_is_out_for_it() -> None:
    found = OwnAntiAffinity(HOST, World(HOSTS, Policy()), growing=True)
    assert (list(found.explain(found.world, 1)), found.fix(found.world, 1)) == ([], None)
    assert (found.filter(found.world), list(found.inject(found.world))) == (found.world.everything, [])
