"""Ways round an exclusive host."""

import pytest

from tests.builders import (
    Json,
    cluster,
    node,
    nodes,
    pod,
    pool,
)  # fmt: skip
from tests.placement.final_pods import EXCLUSIVE, finished, problems
from tests.placement.spreading_pods import spread
from webhook.placement.decision.tolerated_hosts import refuse_tolerations
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem

CLOSED = cluster(
    [node("node-a", taints=[Taint(keys.EXCLUSIVE, "default.closed", "NoSchedule")]), node("node-b")],
    pools=[EXCLUSIVE, pool("Open", size=1, assigned=["node-b"])],
)

UNKNOWN = cluster([node("node-a", taints=[Taint(keys.EXCLUSIVE, "default.gone", "NoSchedule")]), node("node-b")])

OVER = cluster(
    [node("node-a", taints=[Taint(keys.EXCLUSIVE, "default.open", "NoSchedule")]), node("node-b")],
    pools=[pool("Open", size=1, assigned=["node-b"])],
)
"""A cluster with a host of a pool that was exclusive once."""

BY_NAME = Problem("spec.nodeName", "the node is exclusive to another HostPool", fault=Fault.FORBIDDEN)

BY_TOLERATION = Problem(
    "spec.tolerations[0]",
    "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool",
    fault=Fault.FORBIDDEN,
)

ALL = [{"operator": "Exists"}]


@pytest.mark.parametrize(
    ("found", "inventory", "expected"),
    [
        pytest.param(pod(nodeName="node-a"), CLOSED, [BY_NAME], id="by name"),
        pytest.param(pod(nodeName="node-a"), UNKNOWN, [BY_NAME], id="by name, of a pool that nobody knows"),
        pytest.param(pod(tolerations=ALL), CLOSED, [BY_TOLERATION], id="by tolerating everything"),
        pytest.param(
            pod(tolerations=[{"key": "", "operator": "Exists"}]), CLOSED, [BY_TOLERATION], id="with an empty key"
        ),
        pytest.param(
            pod(tolerations=[{"operator": "Exists", "effect": "NoSchedule"}]),
            CLOSED,
            [BY_TOLERATION],
            id="by tolerating everything of the effect",
        ),
        pytest.param(
            pod(tolerations=ALL, nodeName="node-a"), CLOSED, [BY_NAME, BY_TOLERATION], id="by both"
        ),
        pytest.param(
            pod(tolerations=[{"operator": "Exists", "effect": "NoExecute"}]),
            CLOSED,
            [],
            id="not by tolerating everything of another effect",
        ),
        pytest.param(
            pod(tolerations=ALL, topologySpreadConstraints=spread("rack")), CLOSED, [BY_TOLERATION],
            id="though it is spread elsewhere now",
        ),
        pytest.param(pod(nodeName="node-b"), CLOSED, [], id="not by another name"),
        pytest.param(pod(nodeName="node-a"), cluster(nodes(1)), [], id="not where nothing is exclusive"),
        pytest.param(pod("host(Open)", tolerations=ALL), CLOSED, [], id="not where its clauses keep it away"),
        pytest.param(
            pod(nodeSelector={keys.HOSTNAME: "node-b"}, tolerations=ALL), CLOSED, [], id="nor where its selector does"
        ),
        pytest.param(pod("host(Closed)", tolerations=ALL), CLOSED, [], id="not on hosts of its own pool"),
        pytest.param(
            pod("host(Open)", tolerations=ALL, annotations={keys.PREFERRED: "host"}),
            OVER,
            [BY_TOLERATION],
            id="of a pool of its own that is exclusive no more",
        ),
        pytest.param(
            pod(owner="DaemonSet", nodeName="node-a", tolerations=ALL), CLOSED, [], id="not if it is a daemon"
        ),
        pytest.param(pod("host(Closed)", nodeName="node-a"), CLOSED, [], id="nor by their name"),
        pytest.param(pod(tolerations=[{"key": "x", "operator": "Exists"}]), CLOSED, [], id="not by another key"),
        pytest.param(pod(tolerations=[{"operator": "Equal"}]), CLOSED, [], id="not by a toleration of nothing"),
        pytest.param(pod(), CLOSED, [], id="not by saying nothing"),
    ],
)  # fmt: skip
def test_a_way_round_an_exclusive_host_is_named(found: Json, inventory: Inventory, expected: list[Problem]) -> None:
    assert problems(refuse_tolerations, found, inventory, Policy()) == expected


def test_the_finished_pod_of_an_exclusive_pool_gets_round_nothing() -> None:
    made = finished(pod("host(Closed)"), CLOSED, Policy())
    assert problems(refuse_tolerations, made, CLOSED, Policy()) == []
