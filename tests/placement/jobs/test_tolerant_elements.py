"""Elements that tolerate everything are refused with their Job where their pods would be."""

from typing import Any

import pytest

from tests.builders import cluster, node, nodes, pool
from tests.placement.planning.at_once import element, job_spec, judged
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

EVERYTHING: list[dict[str, Any]] = [{"operator": "Exists"}]
TEXT = (
    "processing element app-0: spec.tolerations[0]: "
    "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
)
OWN: dict[str, object] = {"name": "P", "size": 1, "mode": "Exclusive"}


def tolerant(placement: str = "", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "worker:1"}]
    return {**element(placement), "template": {"spec": {"containers": containers, "tolerations": EVERYTHING, **spec}}}


def text(stated: dict[str, Any], inventory: Inventory, *pools: dict[str, object]) -> str:
    verdict = judged(job_spec(stated, pools=pools), inventory)
    assert not verdict.text or verdict.fault is Fault.FORBIDDEN
    return verdict.text


def test_hosts_that_are_exclusive_already() -> None:
    there = cluster(nodes(2), [pool("X", size=1, mode="Exclusive", assigned=["node-a"])])
    assert text(tolerant(), there) == TEXT
    assert not text(tolerant('host("node-b")'), there)
    assert not text(element(), there)


@pytest.mark.parametrize(
    ("stated", "pools", "refused"),
    [
        pytest.param(tolerant(), (OWN,), True, id="a pool of its job"),
        pytest.param(tolerant("host(P)"), (OWN,), False, id="its own pool"),
        pytest.param(element(), (OWN,), False, id="it tolerates nothing"),
        pytest.param(tolerant(), ({**OWN, "mode": "Shared"},), False, id="a shared pool"),
        pytest.param(tolerant('host("node-b")'), (OWN,), False, id="the pool has other nodes"),
        pytest.param(tolerant('host("node-b")'), ({**OWN, "size": 2},), True, id="the pool needs its node"),
    ],
)
def test_hosts_that_pools_of_the_job_would_get(
    stated: dict[str, Any],
    pools: tuple[dict[str, object], ...],
    refused: bool,  # noqa: FBT001 -- of a table
) -> None:
    assert (text(stated, cluster(nodes(2)), *pools) == TEXT) is refused


def test_a_host_that_a_pool_has_counts() -> None:
    tainted = node("node-b", labels={keys.membership("default", "app-p"): "0"})
    there = pool("P", name="app-p", job="app", size=2, mode="Exclusive", assigned=["node-b"])
    found = cluster([node("node-a"), tainted, node("node-c")], [there])
    assert text(tolerant('host("node-b")'), found, {**OWN, "size": 2}) == TEXT
    assert not text(tolerant('host("node-c")'), found, {**OWN, "size": 2})
