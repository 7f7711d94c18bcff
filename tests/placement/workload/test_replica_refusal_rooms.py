"""The text of a refusal of replicas that take too much room, or must lie together, or need room to spare."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.builders import cluster, nodes
from tests.placement.workload.replica_clusters import OPEN, POOLS, TAGGED, THREE
from tests.work import calls
from tests.workload_templates import crowded, replica
from webhook.placement.decision.decision import Decision
from webhook.placement.text.problem import Fault

GROUP = cluster(nodes(3), pods=[replica("node-a", "Deployment/other", together="t", requests={"cpu": 2000})])
CPU = {"cpu": "3"}

BOTH = 'hostColocation("t"), hostExlocation("a")'

TEXTS: dict[str, tuple[Callable[[], Decision], str]] = {
    "a sized pool and requests": (
        partial(crowded, "host(Sized)", 5, POOLS, requests=CPU),
        (
            "requests cpu 3 and replicas 5 cannot both hold: 4 of 5 pods fit on 2 of 3 nodes.\n"
            "  1 node is not among the hosts of HostPool Sized\n"
            "Nearest fix: use a larger HostPool than Sized, or "
            "lower replicas to 4, or lower requests cpu 3 to cpu 2 (5 of 5 would fit)."
        ),
    ),
    "one host of a pool": (
        partial(crowded, "host(Sized[1])", 3, POOLS, requests=CPU),
        (
            "host(Sized[1]), requests cpu 3 and replicas 3 cannot all hold: 2 of 3 pods fit on 1 of 3 nodes.\n"
            "  2 nodes are not host 1 of HostPool Sized\n"
            "Nearest fix: lower replicas to 2, or drop host(Sized[1]) (3 of 3 would fit)."
        ),
    ),
    "a host by its name": (
        partial(crowded, 'host("node-a")', 3, THREE, requests=CPU),
        (
            'host("node-a"), requests cpu 3 and replicas 3 cannot all hold: 2 of 3 pods fit on 1 of 3 nodes.\n'
            "  2 nodes are not named node-a\n"
            'Nearest fix: lower replicas to 2, or drop host("node-a") (3 of 3 would fit).'
        ),
    ),
    "the pod's own node name": (
        partial(crowded, None, 3, THREE, requests=CPU, nodeName="node-a"),
        (
            "spec.nodeName node-a, requests cpu 3 and replicas 3 cannot all hold: "
            "2 of 3 pods fit on 1 of 3 nodes.\n"
            "  2 nodes are not the pod's own spec.nodeName node-a\n"
            "Nearest fix: lower replicas to 2, or drop spec.nodeName node-a (3 of 3 would fit)."
        ),
    ),
    "requests": (
        partial(crowded, None, 10, THREE, requests=CPU),
        (
            "requests cpu 3 and replicas 10 cannot both hold: 6 of 10 pods fit on 3 of 3 nodes.\n"
            "Nearest fix: add nodes with room for 4 more of them, or "
            "lower replicas to 6, or lower requests cpu 3 to cpu 2 (10 of 10 would fit)."
        ),
    ),
    "places of pods": (
        partial(crowded, None, 10, cluster(nodes(2, pods=3))),
        (
            "replicas 10 cannot hold: 6 of 10 pods fit on 2 of 2 nodes.\n"
            "Nearest fix: add nodes with room for 4 more of them, or lower replicas to 6."
        ),
    ),
    "places of pods on a node of one's own choice": (
        partial(crowded, None, 4, cluster(nodes(2, pods=3)), nodeName="node-a"),
        (
            "spec.nodeName node-a and replicas 4 cannot both hold: 3 of 4 pods fit on 1 of 2 nodes.\n"
            "  1 node is not the pod's own spec.nodeName node-a\n"
            "Nearest fix: lower replicas to 3, or drop spec.nodeName node-a (4 of 4 would fit)."
        ),
    ),
    "together": (
        partial(crowded, 'hostColocation("t")', 5, THREE, requests=CPU),
        (
            'hostColocation("t"), requests cpu 3 and replicas 5 cannot all hold: '
            "2 of 5 pods fit, all on one of 3 of 3 nodes.\n"
            "Nearest fix: add a node with room for all of them, or "
            'lower replicas to 2, or drop hostColocation("t") (5 of 5 would fit).'
        ),
    ),
    "together with others": (
        partial(crowded, 'hostColocation("t")', 3, GROUP, requests=CPU),
        (
            'hostColocation("t"), requests cpu 3 and replicas 3 cannot all hold: 2 of 3 pods fit on 1 of 3 nodes.\n'
            '  2 nodes do not run the pods of hostColocation("t")\n'
            'Nearest fix: lower replicas to 2, or drop hostColocation("t") (3 of 3 would fit).'
        ),
    ),
    "together and apart": (
        partial(crowded, 'hostColocation("t"), hostExlocation("a")', 3, THREE),
        (
            'hostColocation("t"), hostExlocation("a") and replicas 3 cannot all hold: 1 of 3 pods fits.\n'
            'Nearest fix: lower replicas to 1, or drop hostColocation("t") (3 of 3 would fit).'
        ),
    ),
    "together in a sized pool": (
        partial(crowded, 'host(Sized), hostColocation("t")', 5, POOLS, requests=CPU),
        (
            "requests cpu 3 and replicas 5 cannot both hold: 2 of 5 pods fit, all on one of 2 of 3 nodes.\n"
            "  1 node is not among the hosts of HostPool Sized\n"
            "Nearest fix: lower replicas to 2, or lower requests cpu 3 to cpu 1 (5 of 5 would fit)."
        ),
    ),
    "a rollout that lacks one node": (
        partial(crowded, 'hostExlocation("a")', 4, THREE, spare=True),
        (
            'hostExlocation("a") and replicas 4 cannot both hold: 3 of 4 pods fit, one on each of 3 of 3 nodes.\n'
            "Nearest fix: add a node with room for one more of them, or "
            "set maxUnavailable to 1, so that a rollout needs no room to spare, or "
            'drop hostExlocation("a") (4 of 4 would fit).'
        ),
    ),
    "a rollout that lacks more": (
        partial(crowded, 'hostExlocation("a")', 6, THREE, spare=True),
        (
            'hostExlocation("a") and replicas 6 cannot both hold: 3 of 6 pods fit, one on each of 3 of 3 nodes.\n'
            "Nearest fix: add nodes with room for 3 more of them, or "
            'lower replicas to 2, or drop hostExlocation("a") (6 of 6 would fit).'
        ),
    ),
    "a rollout where there is but one node": (
        partial(crowded, 'hostExlocation("a")', 4, cluster(nodes(1)), spare=True),
        (
            'hostExlocation("a") and replicas 4 cannot both hold: 1 of 4 pods fits on 1 of 1 node.\n'
            "Nearest fix: add nodes with room for 3 more of them, or "
            'set maxUnavailable to 1 and lower replicas to 1, or drop hostExlocation("a") (4 of 4 would fit).'
        ),
    ),
    "more clauses than a line holds": (
        partial(
            crowded,
            'host(MyPool), hostColocation("t"), hostExlocation("a")',
            3,
            OPEN,
            requests=CPU,
            nodeSelector=TAGGED,
        ),
        (
            'hostColocation("t"), hostExlocation("a") and replicas 3 cannot all hold: 1 of 3 pods fits.\n'
            "  1 node is not in HostPool MyPool (tag x)\n"
            'Nearest fix: lower replicas to 1, or drop hostColocation("t") (2 of 3 would fit).'
        ),
    ),
}


@pytest.mark.parametrize(("decide", "text"), TEXTS.values(), ids=TEXTS)
def test_a_refusal_says_how_many_fit_and_what_would_help(decide: Callable[[], Decision], text: str) -> None:
    assert decide().message == text


NEVER = {"together and apart", "more clauses than a line holds"}
"""Those that no cluster could run, however large."""


@pytest.mark.parametrize(("name", "decide"), [(name, decide) for name, (decide, _) in TEXTS.items()], ids=TEXTS)
def test_it_is_the_requests_own_fault_where_no_cluster_could_hold_two_such_pods(
    name: str, decide: Callable[[], Decision]
) -> None:
    assert decide().fault is (Fault.INVALID if name in NEVER else Fault.FORBIDDEN)


def test_a_refusal_of_pods_that_share_a_node_takes_few_calls() -> None:
    """The room of each node is counted once, whatever the number of pods."""

    def refused() -> Decision:
        return crowded('hostColocation("t")', 9, THREE, requests={"cpu": "1"})

    assert refused().refused
    assert calls(refused) < 1200
