"""Hosts of exclusive pools are closed to everybody else."""

import pytest

from tests.builders import Json, cluster, decided, node, nodes, pod, pool
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase
from webhook.placement.text import keys

EXCLUSIVE = pool("Closed", size=1, mode="Exclusive", assigned=["node-a"])
BOTH = pool("Closed", size=2, mode="Exclusive", assigned=["node-a", "node-b"])
TAINTED = node("node-a", taints=[Taint(keys.EXCLUSIVE, "default.closed", "NoSchedule")])


def candidates(found: Json, inventory: Inventory) -> int:
    """The nodes left to the pod."""
    verdict = decided(found, inventory).verdict
    assert verdict
    return verdict.candidates


@pytest.mark.parametrize("phase", [Phase.FAILED, Phase.RELEASING])
@pytest.mark.parametrize("effect", ["NoSchedule", "PreferNoSchedule"])
def test_a_pod_that_prefers_a_pool_may_tolerate_its_taint_after_the_pool_is_closed(phase: Phase, effect: str) -> None:
    """It was admitted when the pool was open, and another webhook has it reviewed again."""
    closed = pool("Closed", size=1, mode="Exclusive", assigned=["node-a"], phase=phase)
    toleration = {"key": keys.EXCLUSIVE, "operator": "Equal", "value": "default.closed", "effect": effect}
    wish = pod("host(Closed)", annotations={keys.PREFERRED: "host"}, tolerations=[toleration])
    assert candidates(wish, cluster(nodes(2), pools=[closed])) == 0b10
    assert decided(pod(tolerations=[toleration]), cluster(nodes(2), pools=[closed])).refused


@pytest.mark.parametrize("clause", ["host(Nope)", "host(Closed[1])"])
def test_a_pod_that_names_no_host_of_a_pool_does_not_tolerate_its_taint(clause: str) -> None:
    toleration = {"key": keys.EXCLUSIVE, "operator": "Equal", "value": "default.closed"}
    wish = pod(clause, annotations={keys.PREFERRED: "host"}, tolerations=[toleration])
    assert decided(wish, cluster(nodes(2), pools=[EXCLUSIVE])).message.startswith("spec.tolerations[0]: only the web")


@pytest.mark.parametrize(
    ("placement", "inventory", "expected"),
    [
        pytest.param(None, cluster(nodes(2), pools=[EXCLUSIVE]), 0b10, id="given by the status"),
        pytest.param(None, cluster([TAINTED, node("node-b")]), 0b10, id="tainted, though the pool is unknown"),
        pytest.param("host(Closed)", cluster([TAINTED, node("node-b")], pools=[EXCLUSIVE]), 0b01, id="its own pods"),
        pytest.param(
            None, cluster(nodes(2), pools=[pool("Open", size=1, assigned=["node-a"])]), 0b11, id="shared with everybody"
        ),
    ],
)
def test_a_host_is_open_to_its_own_pool_alone(placement: str | None, inventory: Inventory, expected: int) -> None:
    assert candidates(pod(placement), inventory) == expected


REFUSALS: dict[str, tuple[str | None, Inventory, str]] = {
    "one": (
        None,
        cluster(nodes(1), pools=[EXCLUSIVE]),
        (
            "No node is open to this pod: 0 of 1 node can run this pod.\n"
            "  1 node is exclusive to another HostPool\n"
            "Nearest fix: delete the exclusive HostPool that holds such a node."
        ),
    ),
    "several": (
        None,
        cluster(nodes(2), pools=[BOTH]),
        (
            "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
            "  2 nodes are exclusive to another HostPool\n"
            "Nearest fix: delete the exclusive HostPool that holds such a node."
        ),
    ),
    "by name": (
        'host("node-a")',
        cluster(nodes(2), pools=[EXCLUSIVE]),
        (
            'host("node-a") cannot hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-a\n"
            "  1 node is exclusive to another HostPool\n"
            "Nearest fix: delete the exclusive HostPool that holds such a node, "
            'or drop host("node-a") (1 node would fit).'
        ),
    ),
}


@pytest.mark.parametrize(("placement", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_stranger_is_refused(placement: str | None, inventory: Inventory, expected: str) -> None:
    assert decided(pod(placement), inventory).message == expected


ONLY = "only the webhook tolerates streams.ibm.com/exclusive: name the exclusive HostPool with host(...) instead"


@pytest.mark.parametrize(
    "toleration",
    [
        pytest.param({"key": keys.EXCLUSIVE, "operator": "Exists"}, id="every pool's"),
        pytest.param({"key": keys.EXCLUSIVE, "operator": "Equal", "value": "default.closed"}, id="one pool's"),
        pytest.param({"key": keys.EXCLUSIVE, "value": "default.closed"}, id="one pool's, by default"),
        pytest.param({"key": keys.EXCLUSIVE}, id="nobody's"),
        pytest.param({"key": keys.EXCLUSIVE, "operator": "Exists", "effect": "NoExecute"}, id="of another effect"),
    ],
)
def test_a_pod_that_brings_the_toleration_itself_is_refused(toleration: Json) -> None:
    tolerations = [{"operator": "Exists", "key": "other"}, toleration]
    assert decided(pod(tolerations=tolerations), cluster(nodes(1))).message == f"spec.tolerations[1]: {ONLY}"


@pytest.mark.parametrize(
    ("toleration", "refused"),
    [
        pytest.param({"operator": "Equal", "value": "default.closed"}, False, id="exactly its own"),
        pytest.param({"operator": "Equal", "value": "default.other"}, True, id="another's"),
        pytest.param({"operator": "Exists"}, True, id="every pool's"),
    ],
)
def test_a_pod_of_the_pool_may_tolerate_it_already(toleration: Json, *, refused: bool) -> None:
    found = pod("host(Closed)", tolerations=[{"key": keys.EXCLUSIVE, **toleration}])
    assert decided(found, cluster([TAINTED], pools=[EXCLUSIVE])).refused is refused


def test_hosts_that_a_pending_pool_would_get_are_still_open() -> None:
    pending = pool("Closed", size=1, mode="Exclusive", phase=Phase.PENDING)
    assert candidates(pod(), cluster(nodes(2), pools=[pending])) == 0b11


@pytest.mark.parametrize("toleration", [{"operator": "Exists"}, {"operator": "Exists", "key": ""}])
def test_tolerating_everything_opens_no_exclusive_host(toleration: Json) -> None:
    found = pod(tolerations=[toleration])
    assert candidates(found, cluster([TAINTED, node("node-b")], pools=[EXCLUSIVE])) == 0b10
