"""The text of a refusal of replicas by topology domains."""

import pytest

from tests.builders import cluster, node, nodes, pool
from tests.placement.spreading_pods import APP, HOST, OF_APP, ZONE, apart, spread, zones
from tests.workload_templates import crowded
from webhook.placement.decision.decision import Decision
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text.problem import Fault

TWO = cluster(nodes(2))
ZONES = cluster(zones("a", "a", "b"))
TRAP = cluster(zones("a", "b", closed="b"))
CORDONED = cluster([*nodes(2), node("node-c", taints=[Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")])])
BARE = cluster([*nodes(2, pods=2), node("node-c", hostname=None, pods=2)])
AWAY = "the pod's own anti-affinity on kubernetes.io/hostname"
BY_ZONE = "the pod's own anti-affinity on topology.kubernetes.io/zone"
EVEN = "topologySpread topology.kubernetes.io/zone (maxSkew 1)"
SHORT = "topologySpread topology.kubernetes.io/zone (minDomains 3,..."

TEXTS: dict[str, tuple[Decision, str]] = {
    "one a host": (
        crowded(None, 9, TWO, labels=APP, affinity=apart(HOST)),
        (
            f"{AWAY} and replicas 9 cannot both hold: 2 of 9 pods fit, one on each of 2 of 2 nodes.\n"
            "Nearest fix: add nodes with room for 7 more of them, or lower replicas to 2, or "
            f"drop {AWAY} (9 of 9 would fit)."
        ),
    ),
    "a cordoned host": (
        crowded(None, 3, CORDONED, labels=APP, affinity=apart(HOST)),
        (
            f"{AWAY} and replicas 3 cannot both hold: 2 of 3 pods fit, one on each of 2 of 3 nodes.\n"
            "  1 node is cordoned\n"
            f"Nearest fix: uncordon one node, or lower replicas to 2, or drop {AWAY} (3 of 3 would fit)."
        ),
    ),
    "one a host, and a node without a host name": (
        crowded(None, 5, BARE, labels=APP, affinity=apart(HOST)),
        (
            f"{AWAY} and replicas 5 cannot both hold: 4 of 5 pods fit on 3 of 3 nodes.\n"
            "Nearest fix: add a node with another kubernetes.io/hostname and room for one of them, or "
            f"lower replicas to 4, or drop {AWAY} (5 of 5 would fit)."
        ),
    ),
    "one a zone": (
        crowded(None, 4, ZONES, labels=APP, affinity=apart(ZONE)),
        (
            f"{BY_ZONE} and replicas 4 cannot both hold: "
            "2 of 4 pods fit on 3 of 3 nodes, one in each topology.kubernetes.io/zone.\n"
            "Nearest fix: add 2 nodes, each with another topology.kubernetes.io/zone and room for one of them, or "
            f"lower replicas to 2, or drop {BY_ZONE} (4 of 4 would fit)."
        ),
    ),
    "one a zone and a host": (
        crowded(None, 3, ZONES, labels=APP, affinity=apart(HOST, ZONE)),
        (
            f"{BY_ZONE} and replicas 3 cannot both hold: "
            "2 of 3 pods fit on 3 of 3 nodes, one in each topology.kubernetes.io/zone.\n"
            "Nearest fix: add a node with another topology.kubernetes.io/zone and room for one of them, or "
            f"lower replicas to 2, or drop {BY_ZONE} (3 of 3 would fit)."
        ),
    ),
    "one in each domain of two keys": (
        crowded(None, 3, ZONES, labels=APP, affinity=apart("rack", ZONE)),
        (
            f"{BY_ZONE} and replicas 3 cannot both hold: 2 of 3 pods fit on 3 of 3 nodes.\n"
            f"Nearest fix: lower replicas to 2, or drop {BY_ZONE} (3 of 3 would fit)."
        ),
    ),
    "a zone that the pod chooses": (
        crowded(None, 2, ZONES, labels=APP, affinity=apart(ZONE), nodeSelector={ZONE: "a"}),
        (
            f"nodeSelector topology.kubernetes.io/zone=a, {BY_ZONE} and replicas 2 cannot all hold: "
            "1 of 2 pods fits on 2 of 3 nodes, one in each topology.kubernetes.io/zone.\n"
            "  1 node does not have the label topology.kubernetes.io/zone=a\n"
            f"Nearest fix: lower replicas to 1, or drop nodeSelector topology.kubernetes.io/zone=a (2 of 2 would fit)."
        ),
    ),
    "a closed zone holds the other back": (
        crowded(None, 3, TRAP, topologySpreadConstraints=spread()),
        (
            f"{EVEN} and replicas 3 cannot both hold: 1 of 3 pods fits on 1 of 2 nodes.\n"
            "  1 node has the taint dedicated=x:NoSchedule\n"
            "Nearest fix: add 2 nodes, each with another topology.kubernetes.io/zone and room for one of them, or "
            f"lower replicas to 1, or drop {EVEN} (3 of 3 would fit)."
        ),
    ),
    "with more skew": (
        crowded(None, 4, TRAP, topologySpreadConstraints=spread(skew=2)),
        (
            "topologySpread topology.kubernetes.io/zone (maxSkew 2) and replicas 4 cannot both hold: "
            "2 of 4 pods fit on 1 of 2 nodes.\n"
            "  1 node has the taint dedicated=x:NoSchedule\n"
            "Nearest fix: add a node with another topology.kubernetes.io/zone and room for 2 of them, or "
            "lower replicas to 2, or drop topologySpread topology.kubernetes.io/zone (maxSkew 2) (4 of 4 would fit)."
        ),
    ),
    "too few domains, whatever runs": (
        crowded(None, 3, ZONES, labels=APP, topologySpreadConstraints=spread(ZONE, OF_APP, minDomains=3)),
        (
            f"{SHORT} and replicas 3 cannot both hold: "
            "2 of 3 pods fit on 3 of 3 nodes.\n"
            "Nearest fix: add a node with another topology.kubernetes.io/zone and room for one of them, or "
            f"lower replicas to 2, or drop {SHORT} (3 of 3 would fit)."
        ),
    ),
    "apart by another clause, too": (
        crowded('hostExlocation("x")', 3, TRAP, topologySpreadConstraints=spread()),
        (
            'hostExlocation("x") and replicas 3 cannot both hold: 1 of 3 pods fits on 1 of 2 nodes.\n'
            "  1 node has the taint dedicated=x:NoSchedule\n"
            "Nearest fix: lower replicas to 1."
        ),
    ),
    "evenly on the hosts of a pool": (
        crowded(
            "host(P)", 3, cluster(zones("a", "b", closed="b"), [pool("P", size=2, assigned=["node-a", "node-b"])]),
            topologySpreadConstraints=spread(),
        ),
        (
            f"{EVEN} and replicas 3 cannot both hold: 1 of 3 pods fits on 1 of 2 nodes.\n"
            "  1 node has the taint dedicated=x:NoSchedule\n"
            f"Nearest fix: lower replicas to 1, or drop {EVEN} (3 of 3 would fit)."
        ),
    ),
    "a group in one zone": (
        crowded('hostColocation("t")', 2, ZONES, topologySpreadConstraints=spread()),
        (
            f'hostColocation("t"), {EVEN} and replicas 2 cannot all hold: '
            "1 of 2 pods fits, all on one of 3 of 3 nodes.\n"
            'Nearest fix: lower replicas to 1, or drop hostColocation("t") (2 of 2 would fit).'
        ),
    ),
    "a group of pods that keep apart": (
        crowded('hostColocation("t")', 2, TWO, labels=APP, affinity=apart(HOST)),
        (
            f'hostColocation("t"), {AWAY} and replicas 2 cannot all hold: '
            "1 of 2 pods fits, all on one of 2 of 2 nodes.\n"
            'Nearest fix: lower replicas to 1, or drop hostColocation("t") (2 of 2 would fit).'
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("decision", "text"), TEXTS.values(), ids=TEXTS)
def test_a_refusal_says_how_many_fit_and_what_would_help(decision: Decision, text: str) -> None:
    assert decision.message == text


def test_pods_that_must_share_a_host_and_may_not_are_the_users_own_fault() -> None:
    assert TEXTS["a group of pods that keep apart"][0].fault is Fault.INVALID


def test_it_is_the_clusters_where_a_new_domain_would_help() -> None:
    assert TEXTS["a closed zone holds the other back"][0].fault is Fault.FORBIDDEN
