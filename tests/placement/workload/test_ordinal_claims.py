"""StatefulSets whose pods have claims of their own: each pod is tied to the nodes of its volumes."""

from collections.abc import Mapping

import pytest

from tests.builders import NAMESPACE, Json, cluster, nodes, pod, typed
from tests.placement.constraints.hosts.test_volumes import having
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import ClaimTemplates, Replicas
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.volumes import Claim, PersistentVolume, StorageClass
from webhook.placement.text import keys
from webhook.placement.text.rule import Rule
from webhook.placement.workload.ordinal_claims import MOST, claims_of_set
from webhook.placement.workload.workload import decide_replicas

SET = ClaimTemplates("db", (("data", "fast"),))
LOCAL = StorageClass("fast", waits=True, by_hand=True)
APART, TOGETHER = 'hostExlocation("a")', 'hostColocation("a")'
ADVICE = "delete claims that can be recreated elsewhere."


def stored(bound: Mapping[int, str], *classes: StorageClass) -> Inventory:
    """Three nodes, and the volumes of those pods of the set that have one already, each on that node."""
    inventory = cluster(nodes(3))
    for at, where in bound.items():
        inventory.volumes.put_claim(Claim(NAMESPACE, f"data-db-{at}", f"v{at}", "fast"))
        inventory.volumes.put_volume(PersistentVolume(f"v{at}", (having(keys.HOSTNAME, where),)))
    for found in classes or (StorageClass("fast", waits=True),):
        inventory.volumes.put_class(found)
    return inventory


def decision(
    found: Json, inventory: Inventory, count: int = 2, claims: ClaimTemplates = SET, policy: Policy | None = None
) -> Decision:
    replicas = Replicas(count, f"replicas {count}", claims=claims)
    return decide_replicas(typed(found), NAMESPACE, inventory, policy or Policy(), replicas)


@pytest.mark.parametrize(
    ("placement", "bound"),
    [
        pytest.param(APART, {}, id="new"),
        pytest.param(APART, {0: "node-a", 1: "node-b"}, id="on different nodes"),
        pytest.param(APART, {0: "node-a"}, id="one of them bound"),
        pytest.param(TOGETHER, {0: "node-a", 1: "node-a"}, id="on one node"),
        pytest.param(TOGETHER, {1: "node-a"}, id="together with the bound one"),
        pytest.param(None, {0: "node-a", 1: "node-a"}, id="no clause"),
    ],
)
def test_a_set_that_can_run_where_its_volumes_are_is_admitted(placement: str | None, bound: dict[int, str]) -> None:
    found = decision(pod(placement, pe=None), stored(bound))
    assert (found.refused, found.warnings) == (False, ())


def test_a_pod_whose_volume_is_elsewhere_refuses_the_set() -> None:
    found = decision(pod(pe=None, nodeSelector={keys.HOSTNAME: "node-c"}), stored({1: "node-b"}))
    assert found.message == (
        "nodeSelector kubernetes.io/hostname=node-c and PersistentVolumeClaim data-db-1 cannot both hold: "
        "0 of 3 nodes can run this pod.\n"
        "  2 nodes do not have the label kubernetes.io/hostname=node-c\n"
        "  1 node cannot use PersistentVolumeClaim data-db-1\n"
        "Nearest fix: drop nodeSelector kubernetes.io/hostname=node-c (1 node would fit)."
    )


def test_pods_to_be_apart_with_volumes_of_one_node_are_refused() -> None:
    found = decision(pod(APART, pe=None), stored({0: "node-a", 1: "node-a", 2: "node-b"}), 3)
    assert (found.rules, found.message) == (
        (Rule.VOLUMES, Rule.EXLOCATION),
        (
            f"volumes of db-0, db-1 and {APART} cannot both hold: "
            "the nodes of these volumes have room for 1 of 2 pods.\n"
            f"Nearest fix: drop {APART}, or {ADVICE}"
        ),
    )


def test_all_clauses_that_keep_the_pods_apart_are_to_be_dropped() -> None:
    """Without the first one the others would refuse the set, one after another."""
    several = f'{APART}, hostExlocation("b"), hostExlocation("c")'
    found = decision(pod(several, pe=None), stored({0: "node-a", 1: "node-a"}))
    assert found.headline == (
        f"volumes of db-0, db-1 and {APART} cannot both hold: the nodes of these volumes have room for 1 of 2 pods."
    )
    assert found.message.endswith(
        f'\nNearest fix: drop {APART} and hostExlocation("b") and hostExlocation("c"), or {ADVICE}'
    )
    assert not decision(pod(pe=None), stored({0: "node-a", 1: "node-a"})).refused


def test_pods_to_be_together_with_volumes_of_two_nodes_are_refused() -> None:
    found = decision(pod(TOGETHER, pe=None), stored({0: "node-a", 2: "node-b"}), 3)
    assert found.message == (
        f"volumes of db-0, db-2 and {TOGETHER} cannot both hold: no node can use the volumes of all of them.\n"
        f"Nearest fix: drop {TOGETHER}, or {ADVICE}"
    )


def test_a_node_holds_only_so_many_pods_whose_volumes_it_has() -> None:
    found = decision(pod(pe=None, requests={"cpu": "5"}), stored({0: "node-a", 1: "node-a"}))
    assert found.headline == (
        "volumes of db-0, db-1 and requests cpu 5 cannot both hold: "
        "the nodes of these volumes have room for 1 of 2 pods."
    )


def test_the_room_for_pods_is_room_for_volumes_as_well() -> None:
    inventory = stored(dict.fromkeys(range(12), "node-a"))
    inventory.set_node(nodes(1, pods=10)[0])
    assert decision(pod(pe=None), inventory, 12).headline == (
        "volumes of db-0, db-1, db-2 and 9 more cannot hold: the nodes of these volumes have room for 10 of 12 pods."
    )


def test_nodes_that_are_added_may_be_waited_for() -> None:
    found = decision(pod(APART, pe=None), stored({0: "node-a", 1: "node-a"}), policy=Policy(elastic=True))
    assert not found.refused


def test_what_one_pod_is_refused_for_is_said_as_for_a_pod() -> None:
    found = decision(pod('host("gone")', pe=None), stored({0: "node-a"}))
    assert found.headline == 'host("gone") cannot hold: 0 of 3 nodes can run this pod.'


def test_a_set_of_no_pods_needs_no_volumes() -> None:
    assert not decision(pod(APART, pe=None), stored({0: "node-a", 1: "node-a"}), 0).refused


def test_new_volumes_of_a_set_are_made_where_its_class_makes_any() -> None:
    gone = StorageClass("fast", waits=True, terms=(having(keys.HOSTNAME, "gone"),))
    found = decision(pod(pe=None), stored({}, gone))
    assert found.headline == "volume of StorageClass fast cannot hold: 0 of 3 nodes can run this pod."


def test_what_is_not_known_of_new_volumes_is_warned_of() -> None:
    assert decision(pod(pe=None), stored({}, LOCAL)).warnings == (
        (
            "volume of StorageClass fast: it is not bound yet; which nodes have a volume for it is not judged, and "
            "the pod waits for one"
        ),
    )


def test_claims_are_named_by_template_set_and_ordinal() -> None:
    templates = ClaimTemplates("db", (("data", None), ("log", None)), start=5)
    assert claims_of_set(templates, "apps", 2) == (
        ("apps", "data-db-5"),
        ("apps", "log-db-5"),
        ("apps", "data-db-6"),
        ("apps", "log-db-6"),
    )


def test_only_so_many_pods_are_looked_at() -> None:
    assert len(claims_of_set(SET, NAMESPACE, 2**31 - 1)) == MOST
