"""Conditions of nodes that pass by themselves: nobody is refused for them, and whoever waits is told."""

import pytest

from tests.builders import OUTRIGHT, bound_pod, cluster, decided, node, nodes, pod, pool
from tests.workload_templates import crowded
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.wait import WaitCause
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import PASSING, Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Phase
from webhook.placement.request.world import World
from webhook.placement.text import keys

UNREADY = (
    Taint("node.kubernetes.io/not-ready", "", "NoSchedule"),
    Taint("node.kubernetes.io/not-ready", "", "NoExecute"),
)
UNREACHABLE = Taint("node.kubernetes.io/unreachable", "", "NoSchedule")
CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
INFRA = Taint("dedicated", "infra", "NoSchedule")
TAGGED = {keys.TAG: "ib"}
APART = 'hostExlocation("t")'


def waits(decision: Decision) -> str:
    """What an admitted pod waits for."""
    assert decision.additions is not None, decision.message
    assert decision.wait is not None
    assert (decision.wait.cause, decision.recovered) == (WaitCause.CONDITION, True)
    assert decision.additions.waits == decision.wait.text
    assert decision.warnings[-1] == decision.wait.headline
    return decision.wait.text


@pytest.mark.parametrize(("key", "words"), PASSING.items(), ids=PASSING)
def test_a_pod_waits_for_it_to_pass(key: str, words: tuple[str, str]) -> None:
    taint = Taint(key, "", "NoSchedule")
    one, many = (decided(pod(), cluster(nodes(count, taints=[taint]))) for count in (1, 3))
    assert waits(one) == f"no node now: 1 node {words[0]}; the pod waits until they recover"
    assert waits(many) == f"no node now: 3 nodes {words[1]}; the pod waits until they recover"


def test_all_of_them_are_told_each_node_once() -> None:
    inventory = cluster([*nodes(2, taints=UNREADY), node("node-x", taints=[UNREACHABLE, *UNREADY])])
    assert waits(decided(pod(), inventory)) == ("no node now: 3 nodes are not ready; the pod waits until they recover")


def test_only_nodes_that_could_run_the_pod_are_told() -> None:
    inventory = cluster([node("node-a", labels=TAGGED, taints=UNREADY), *nodes(3)[1:]], [pool(tags=["ib"])])
    assert waits(decided(pod("host(MyPool)"), inventory)) == (
        "no node now: 1 node is not ready; the pod waits until they recover"
    )


def test_a_pod_that_some_node_can_run_now_does_not_wait() -> None:
    decision = decided(pod(), cluster([node("node-a", taints=UNREADY), node("node-b")]))
    assert (decision.wait, decision.recovered, decision.warnings) == (None, False, ())
    assert decision.verdict is not None
    assert decision.verdict.candidates == 0b10


def test_a_pod_that_tolerates_it_does_not_wait() -> None:
    tolerant = pod(tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}])
    assert decided(tolerant, cluster(nodes(1, taints=UNREADY))).wait is None


def test_it_says_what_it_would_say_if_the_node_were_in_order() -> None:
    placed = pod("host(MyPool)")
    there = decided(placed, cluster(nodes(1, labels=TAGGED), [pool(tags=["ib"])])).additions
    then = decided(placed, cluster(nodes(1, labels=TAGGED, taints=UNREADY), [pool(tags=["ib"])])).additions
    assert there is not None
    assert then is not None
    assert (then.terms, then.tolerations, then.injected) == (there.terms, there.tolerations, there.injected)


@pytest.mark.parametrize("annotations", [{}, OUTRIGHT], ids=["auto", "outright"])
def test_a_pod_that_waits_is_not_bound(annotations: dict[str, str]) -> None:
    named = pod('host("node-a")', job=None, pe=None, annotations=annotations)
    ready = decided(named, cluster(nodes(1))).additions
    waiting = decided(named, cluster(nodes(1, taints=UNREADY))).additions
    assert ready is not None
    assert waiting is not None
    assert (ready.node_name, waiting.node_name) == ("node-a", "")
    assert waiting.terms[0].match_fields is not None


def test_a_pod_that_is_to_be_bound_is_refused_for_room_that_recovery_does_not_bring() -> None:
    named = pod('host("node-a")', job=None, pe=None, annotations=OUTRIGHT, requests={"cpu": "4"})
    inventory = cluster([node("node-a"), node("node-x", taints=UNREADY)], pods=[bound_pod(requests={"cpu": 6000})])
    assert decided(named, inventory).message.partition("\n")[0] == (
        'host("node-a") and requests cpu 4 cannot both hold: 0 of 2 nodes can run this pod.'
    )


REFUSED = {
    "a cordon": (
        nodes(1, taints=[CORDONED, *UNREADY]),
        ["  1 node is cordoned", "Nearest fix: uncordon one node."],
    ),
    "a taint that people write": (
        nodes(1, taints=[INFRA, *UNREADY]),
        ["  1 node has the taint dedicated=infra:NoSchedule", "Nearest fix: tolerate dedicated=infra:NoSchedule."],
    ),
    "a lack of room": (
        [node("node-a", cpu=500, taints=UNREADY), node("node-b", taints=[CORDONED])],
        [
            "  1 node is cordoned",
            "  1 node has less than cpu 1",
            "Nearest fix: uncordon one node, or lower requests cpu 1 to cpu 500m (1 node would fit).",
        ],
    ),
}


@pytest.mark.parametrize(("given", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_pass_by_itself_refuses_as_ever(given: list[Node], expected: list[str]) -> None:
    decision = decided(pod(requests={"cpu": "1"}), cluster(given))
    assert decision.message.split("\n")[1:] == expected
    assert (decision.wait, decision.recovered) == (None, True)


def test_nodes_that_recover_do_not_make_an_elastic_cluster_say_that_none_is_there() -> None:
    decision = decided(pod(), cluster(nodes(1, taints=UNREADY)), Policy(elastic=True))
    assert waits(decision).startswith("no node now: ")


def test_in_an_elastic_cluster_a_pod_waits_for_nodes_that_not_even_recovery_brings() -> None:
    decision = decided(
        pod("host(MyPool)"), cluster(nodes(1, taints=UNREADY), [pool(tags=["ib"])]), Policy(elastic=True)
    )
    assert decision.wait is not None
    assert decision.wait.cause is WaitCause.ELASTIC
    assert decision.warnings == ("no node yet: host(MyPool) cannot hold: 0 of 1 node can run this pod.",)


def test_a_pool_gets_its_hosts_when_they_have_recovered_and_its_pods_wait_for_that() -> None:
    pending = pool(size=2, phase=Phase.PENDING)
    inventory = cluster([node("node-a"), node("node-b", taints=UNREADY)], [pending])
    assert waits(decided(pod("host(MyPool)"), inventory)).startswith("no node now: 1 node is not ready; ")
    assert waits(decided(pod("host(MyPool[0])"), inventory)) == (
        "no node now: nodes that it depends on have not recovered yet; the pod waits until they recover"
    )


class TestAWorkload:
    def test_waits_as_its_pods_do(self) -> None:
        decision = crowded(APART, 2, cluster(nodes(2, taints=UNREADY)))
        assert waits(decision) == "no node now: 2 nodes are not ready; the pod waits until they recover"

    def test_whose_pods_do_not_all_fit_now_is_told_so(self) -> None:
        decision = crowded(APART, 3, cluster([*nodes(2), node("node-x", taints=UNREADY)]))
        assert not decision.refused
        assert decision.warnings == ("no room now: 2 of 3 pods fit; the others wait as long as 1 node is not ready",)

    def test_of_which_one_fits(self) -> None:
        decision = crowded(APART, 2, cluster([node("node-a"), node("node-x", taints=[UNREACHABLE])]))
        assert decision.warnings == (
            "no room now: 1 of 2 pods fits; the others wait as long as 1 node is not reachable",
        )

    def test_whose_pods_do_not_all_fit_even_then_is_refused_with_a_number_that_can_be_had(self) -> None:
        inventory = cluster([*nodes(2), node("node-x", taints=UNREADY)])
        decision = crowded(APART, 4, inventory)
        assert decision.message.partition("\n")[0] == (
            'hostExlocation("t") and replicas 4 cannot both hold: 3 of 4 pods fit, one on each of 3 of 3 nodes.'
        )
        assert "lower replicas to 3" in decision.message
        assert not crowded(APART, 3, inventory).refused

    def test_that_no_node_can_run_now_and_not_all_then_is_refused(self) -> None:
        decision = crowded(APART, 3, cluster(nodes(2, taints=UNREADY)))
        assert decision.message.startswith('hostExlocation("t") and replicas 3 cannot both hold: 2 of 3 pods fit')

    def test_whose_pods_share_a_node_waits_for_one_that_holds_all(self) -> None:
        small, large = node("node-a", cpu=1000), node("node-b", cpu=8000, taints=UNREADY)
        decision = crowded('hostColocation("t")', 3, cluster([small, large]), requests={"cpu": "1"})
        assert decision.warnings == ("no room now: 1 of 3 pods fits; the others wait as long as 1 node is not ready",)

    def test_whose_group_waits_as_a_whole_is_told_what_for(self) -> None:
        small, large = (node(name, cpu=cpu, taints=UNREADY) for name, cpu in (("node-a", 1000), ("node-b", 8000)))
        decision = crowded('hostColocation("t")', 3, cluster([small, large]), requests={"cpu": "1"})
        assert waits(decision).startswith("no node now: ")


def test_a_world_without_such_conditions_does_not_recover() -> None:
    assert World(cluster(nodes(1, taints=[CORDONED, INFRA])), Policy()).recovered() is None


def test_a_world_that_has_recovered_is_the_same_but_for_them() -> None:
    inventory = cluster(nodes(2, taints=[*UNREADY, CORDONED]), [pool(tags=["ib"])], [bound_pod()])
    now = World(inventory, Policy())
    later = now.recovered()
    assert later is not None
    assert later.recovered() is None
    assert later.inventory.nodes.taints.keys() == {CORDONED.key}
    assert inventory.nodes.taints.keys() == {CORDONED.key, UNREADY[0].key}
    assert later.inventory.pools is inventory.pools


def test_recovery_is_of_the_moment() -> None:
    inventory = cluster(nodes(1, taints=UNREADY))
    assert inventory.recovered() is not None
    inventory.set_node(node("node-a"))
    assert _none(inventory)


def _none(inventory: Inventory) -> bool:
    return inventory.recovered() is None
