"""The text of a refusal of replicas that have to lie apart."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.builders import cluster, node, nodes, pool
from tests.placement.workload.replica_clusters import OPEN, POOLS, TAGGED, THREE
from tests.work import calls
from tests.workload_templates import crowded, replica
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.policy import CONTROL_PLANE
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

TAINTED = cluster([*nodes(2), node("node-c", taints=[Taint("dedicated", "ml", "NoSchedule")])])
CORDONED = cluster([*nodes(2), node("node-c", taints=[Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")])])
HELD = cluster(nodes(3), pods=[replica("node-a", "Deployment/other", apart="a")])
BOTH = {f"{keys.TAGS}x": "", f"{keys.TAGS}y": ""}
TWO_TAGS = cluster(
    [node("node-a", labels=BOTH | TAGGED), node("node-b", labels=TAGGED)],
    [pool("P", tags=["x"]), pool("Q", tags=["y"])],
)

ADDRESSED = cluster([node(addresses=["10.0.0.1"]), node("node-b")])

TEXTS: dict[str, tuple[Callable[[], Decision], str]] = {
    "apart on too few nodes": (
        partial(crowded, 'hostExlocation("a")', 5, THREE),
        (
            'hostExlocation("a") and replicas 5 cannot both hold: 3 of 5 pods fit, one on each of 3 of 3 nodes.\n'
            "Nearest fix: add nodes with room for 2 more of them, or "
            'lower replicas to 3, or drop hostExlocation("a") (5 of 5 would fit).'
        ),
    ),
    "one node is missing": (
        partial(crowded, 'hostExlocation("a")', 4, THREE),
        (
            'hostExlocation("a") and replicas 4 cannot both hold: 3 of 4 pods fit, one on each of 3 of 3 nodes.\n'
            "Nearest fix: add a node with room for one more of them, or "
            'lower replicas to 3, or drop hostExlocation("a") (4 of 4 would fit).'
        ),
    ),
    "nodes that others hold": (
        partial(crowded, 'hostExlocation("a")', 3, HELD),
        (
            'hostExlocation("a") and replicas 3 cannot both hold: 2 of 3 pods fit, one on each of 2 of 3 nodes.\n'
            '  1 node already runs a pod of hostExlocation("a")\n'
            "Nearest fix: add a node with room for one more of them, or "
            'lower replicas to 2, or drop hostExlocation("a") (3 of 3 would fit).'
        ),
    ),
    "isolation without an element": (
        partial(crowded, "Sink: hostIsolation", 4, THREE, pe=None),
        (
            "hostIsolation and replicas 4 cannot both hold: 3 of 4 pods fit, one on each of 3 of 3 nodes.\n"
            "Nearest fix: add a node with room for one more of them, or "
            "lower replicas to 3, or drop hostIsolation (4 of 4 would fit)."
        ),
    ),
    "a taint in the way": (
        partial(crowded, 'hostExlocation("a")', 3, TAINTED),
        (
            'hostExlocation("a") and replicas 3 cannot both hold: 2 of 3 pods fit, one on each of 2 of 3 nodes.\n'
            "  1 node has the taint dedicated=ml:NoSchedule\n"
            "Nearest fix: tolerate dedicated=ml:NoSchedule, or "
            'lower replicas to 2, or drop hostExlocation("a") (3 of 3 would fit).'
        ),
    ),
    "a cordoned node in the way": (
        partial(crowded, 'hostExlocation("a")', 4, CORDONED),
        (
            'hostExlocation("a") and replicas 4 cannot both hold: 2 of 4 pods fit, one on each of 2 of 3 nodes.\n'
            "  1 node is cordoned\n"
            "Nearest fix: uncordon one node (2 more nodes are needed in all), or "
            'lower replicas to 2, or drop hostExlocation("a") (4 of 4 would fit).'
        ),
    ),
    "a pool with tags": (
        partial(crowded, 'host(MyPool), hostExlocation("a")', 3, OPEN),
        (
            'host(MyPool), hostExlocation("a") and replicas 3 cannot all hold: '
            "2 of 3 pods fit, one on each of 2 of 3 nodes.\n"
            "  1 node is not in HostPool MyPool (tag x)\n"
            "Nearest fix: label one more node streams.ibm.com/hostpool=x, or "
            "lower replicas to 2, or drop host(MyPool) (3 of 3 would fit)."
        ),
    ),
    "a pool with tags, and too few nodes in all": (
        partial(crowded, 'host(MyPool), hostExlocation("a")', 5, OPEN),
        (
            'hostExlocation("a") and replicas 5 cannot both hold: 2 of 5 pods fit, one on each of 2 of 3 nodes.\n'
            "  1 node is not in HostPool MyPool (tag x)\n"
            "Nearest fix: label one more node streams.ibm.com/hostpool=x (3 more nodes are needed in all), or "
            'lower replicas to 2, or drop hostExlocation("a") (5 of 5 would fit).'
        ),
    ),
    "a sized pool": (
        partial(
            crowded,
            'host(Sized), hostExlocation("a")',
            3,
            cluster(nodes(3), [pool("Sized", size=2, assigned=["node-a", "node-b"])]),
        ),
        (
            'host(Sized), hostExlocation("a") and replicas 3 cannot all hold: '
            "2 of 3 pods fit, one on each of 2 of 3 nodes.\n"
            "  1 node is not among the hosts of HostPool Sized\n"
            "Nearest fix: use a larger HostPool than Sized, or "
            "lower replicas to 2, or drop host(Sized) (3 of 3 would fit)."
        ),
    ),
    "a pool that would lose a host that is no longer eligible": (
        partial(
            crowded,
            'host(Sized), hostExlocation("a")',
            3,
            cluster(
                [node("node-a", labels={CONTROL_PLANE: ""}), *(node(f"node-{at}") for at in "bc")],
                [pool("Sized", size=2, assigned=["node-a", "node-b"])],
            ),
        ),
        (
            'host(Sized), hostExlocation("a") and replicas 3 cannot all hold: '
            "2 of 3 pods fit, one on each of 2 of 3 nodes.\n"
            "  1 node is not among the hosts of HostPool Sized\n"
            "Nearest fix: lower replicas to 2, or drop host(Sized) (3 of 3 would fit)."
        ),
    ),
    "an exclusive pool": (
        partial(crowded, 'host(Closed), hostExlocation("a")', 2, POOLS),
        (
            'host(Closed), hostExlocation("a") and replicas 2 cannot all hold: 1 of 2 pods fits on 1 of 3 nodes.\n'
            "  2 nodes are not among the hosts of HostPool Closed\n"
            "Nearest fix: use a larger HostPool than Closed, or "
            "lower replicas to 1, or drop host(Closed) (2 of 2 would fit)."
        ),
    ),
    "one host of a pool, apart": (
        partial(crowded, 'host(Sized[1]), hostExlocation("a")', 2, POOLS),
        (
            'host(Sized[1]), hostExlocation("a") and replicas 2 cannot all hold: '
            "1 of 2 pods fits on 1 of 3 nodes.\n"
            "  2 nodes are not host 1 of HostPool Sized\n"
            "Nearest fix: lower replicas to 1, or drop host(Sized[1]) (2 of 2 would fit)."
        ),
    ),
    "a host by its name, apart": (
        partial(crowded, 'host("node-a"), hostExlocation("a")', 2, THREE),
        (
            'host("node-a"), hostExlocation("a") and replicas 2 cannot all hold: '
            "1 of 2 pods fits on 1 of 3 nodes.\n"
            "  2 nodes are not named node-a\n"
            'Nearest fix: lower replicas to 1, or drop host("node-a") (2 of 2 would fit).'
        ),
    ),
    "a host by its address, apart": (
        partial(
            crowded, 'host("10.0.0.1"), hostExlocation("a")', 2, cluster([node(addresses=["10.0.0.1"]), node("node-b")])
        ),
        (
            'host("10.0.0.1"), hostExlocation("a") and replicas 2 cannot all hold: '
            "1 of 2 pods fits on 1 of 2 nodes.\n"
            "  1 node does not have the address 10.0.0.1\n"
            'Nearest fix: lower replicas to 1, or drop host("10.0.0.1") (2 of 2 would fit).'
        ),
    ),
    "the pod's own selector, apart": (
        partial(crowded, 'hostExlocation("a")', 3, OPEN, nodeSelector=TAGGED),
        (
            'hostExlocation("a"), nodeSelector streams.ibm.com/hostpool=x and replicas 3 cannot all hold: '
            "2 of 3 pods fit, one on each of 2 of 3 nodes.\n"
            "  1 node does not have the label streams.ibm.com/hostpool=x\n"
            "Nearest fix: label one more node streams.ibm.com/hostpool=x, or "
            'lower replicas to 2, or drop hostExlocation("a") (3 of 3 would fit).'
        ),
    ),
    "a clause that changes what another means": (
        partial(crowded, 'A: host(P); B: host(Q), hostExlocation("a")', 2, TWO_TAGS),
        (
            'host(Q), hostExlocation("a") and replicas 2 cannot all hold: 1 of 2 pods fits on 1 of 2 nodes.\n'
            "  1 node is in HostPool P, but lacks the label hostpool.streams.ibm.com/x: "
            "several tags count, each is a label of its own\n"
            "Nearest fix: add a node with room for one more of them, or "
            "lower replicas to 1, or drop host(Q) (2 of 2 would fit)."
        ),
    ),
}


@pytest.mark.parametrize(("decide", "text"), TEXTS.values(), ids=TEXTS)
def test_a_refusal_says_how_many_fit_and_what_would_help(decide: Callable[[], Decision], text: str) -> None:
    assert decide().message == text


NEVER = {"one host of a pool, apart", "a host by its name, apart", "a host by its address, apart"}
"""Those that no cluster could run, however large."""


@pytest.mark.parametrize(("name", "decide"), [(name, decide) for name, (decide, _) in TEXTS.items()], ids=TEXTS)
def test_it_is_the_requests_own_fault_where_no_cluster_could_hold_two_such_pods(
    name: str, decide: Callable[[], Decision]
) -> None:
    assert decide().fault is (Fault.INVALID if name in NEVER else Fault.FORBIDDEN)


def test_the_clauses_are_those_of_the_first_line_and_the_number() -> None:
    refusal = TEXTS["a pool with tags"][0]().refusal
    assert refusal is not None
    assert refusal.clauses == ("host(MyPool)", 'hostExlocation("a")', "replicas 3")


def test_a_refusal_of_replicas_takes_few_calls() -> None:
    """What of the pods is left without a clause is collected once."""
    crowded('hostExlocation("a")', 4, THREE)
    assert calls(lambda: crowded('hostExlocation("a")', 4, THREE)) < 1000
