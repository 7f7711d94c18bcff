"""What is kept between reviews is small, whatever pods hold: the API server checks most of a pod after its webhooks."""

from collections.abc import Callable

import pytest

from tests.builders import Json, cluster, node, nodes, pod, review
from tests.work import kept
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.request.memo import Memo
from webhook.placement.text import keys

LENGTH = 100_000
"""Characters of each pod, about: with fewer than ``mutate`` looks for kept answers."""

PODS = 24
KEPT = 16 * LENGTH
"""Bytes that are left of all of these pods, at most: a few may be kept until others come."""

CLAUSE = 'hostColocation("t")'
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def text(at: int) -> str:
    return f"a{at}" + "x" * LENGTH


def exact(**amounts: str) -> Json:
    return {"requests": amounts, "limits": amounts}


def spread(topology_key: str) -> list[Json]:
    selector = {"matchLabels": {"app": "web"}}
    return [
        {"maxSkew": 1, "topologyKey": topology_key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    ]


def owned(kind: str) -> Json:
    """A pod whose controller says that it is of that kind."""
    return pod(CLAUSE, owner=kind)


def requesting(at: int) -> Json:
    return pod(CLAUSE, requests={f"example.com/{at}-{each}-{'x' * 40}": "1" for each in range(LENGTH // 50)})


def keyed(key: str) -> Json:
    terms = [{"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]}]
    return pod(CLAUSE, affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}})


def aligned(at: int) -> Json:
    container = {"name": text(at), "resources": exact(cpu="1", memory="1Gi")}
    return pod(CLAUSE, containers=[container])


CASES: dict[str, Callable[[int], Json]] = {
    "many requests": requesting,
    "a request with a long name": lambda at: pod(CLAUSE, requests={text(at): "1"}),
    "a job": lambda at: pod(CLAUSE, job=text(at)),
    "a processing element": lambda at: pod("hostIsolation", pe=text(at)),
    "an annotation": lambda at: pod(CLAUSE, annotations={keys.HARDWARE: text(at)}),
    "an owner": lambda at: owned(text(at)),
    "labels that spread constraints read": lambda at: pod(
        CLAUSE, labels={"x": text(at)}, topologySpreadConstraints=spread("zone")
    ),
    "a topology key": lambda at: pod(CLAUSE, topologySpreadConstraints=spread(text(at))),
    "a key of an expression": lambda at: keyed(text(at)),
    "a container that is aligned": aligned,
}


@pytest.mark.untraced
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_little_is_kept_of_what_pods_hold(case: Callable[[int], Json]) -> None:
    inventory = cluster([*nodes(2, labels={"zone": "a"}), node("node-z")])
    amounts = (("cpu", 8 * NANO), ("memory", NANO << 34))
    zones = (NumaZone(amounts, amounts),) * 2
    inventory.topologies.put("node-a", NodeTopology(TopologyPolicy.SINGLE, TopologyScope.CONTAINER, zones))
    known = Known(Memo[Ruling]())

    def reviewed(at: int) -> None:
        mutate(review(case(at)), inventory, Policy(), known)

    def all_reviewed() -> None:
        for at in range(1, PODS + 1):
            reviewed(at)

    reviewed(0)
    assert kept(all_reviewed) < KEPT
