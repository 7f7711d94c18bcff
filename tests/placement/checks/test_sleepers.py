"""Pods that wait and tolerate what keeps others off exclusive hosts: who counts, and when one may be let loose."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.builders import GATES, Json, asked, cluster, node, nodes, pod, pool, sleeper, typed
from webhook.placement.checks.unbound_pods import (
    LOOSE,
    NARROWED,
    opening,
    refuse_sleeper,
    sleeper_changed,
    sleepers,
    sleepers_text,
)
from webhook.placement.decision.verdict import constraints_of
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem

ALL: Final[Json] = {"operator": "Exists"}
OURS: Final[Json] = {"key": keys.EXCLUSIVE, "operator": "Exists"}
OTHERS: Final[Json] = {"key": "disk", "operator": "Exists"}
TAINT: Final = Taint(keys.EXCLUSIVE, "default.r", "NoSchedule")
RESERVED: Final = pool("R", size=1, mode="Exclusive", assigned=["node-a"])

ON_A: Final[Json] = {keys.HOSTNAME: "node-a"}
ON_B: Final[Json] = {keys.HOSTNAME: "node-b"}


def there(*pods: PodInfo, policy: Policy | None = None, pools: tuple[Pool, ...] = (RESERVED,)) -> World:
    """Two nodes, of which one is exclusive to the pool."""
    return World(cluster([node("node-a", taints=[TAINT]), node("node-b")], pools, pods), policy or Policy())


def wrong(found: Json, world: World | None = None) -> list[Problem]:
    """What is wrong with a pod whose gates have changed, or its nodes."""
    world = world or there()
    ask = asked(found, world.inventory, world.policy)
    return list(refuse_sleeper(ask, constraints_of(ask, world).constraints, world))


def plain(placement: str | None = None, **spec: Any) -> Json:
    """A pod of no job, unless it says where it wants to be."""
    return pod(placement, job="parallel" if placement else None, pe=None, **spec)


def because(text: str) -> list[Problem]:
    return [Problem("spec.tolerations[0]", text, fault=Fault.FORBIDDEN)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(plain(tolerations=[ALL]), because(LOOSE), id="let loose, with a toleration of everything"),
        pytest.param(plain(tolerations=[{**ALL, "effect": "NoSchedule"}]), because(LOOSE), id="of its effect"),
        pytest.param(plain(tolerations=[OURS]), because(LOOSE), id="with a toleration of exclusive hosts"),
        pytest.param(plain(tolerations=[ALL], nodeSelector=ON_A), because(LOOSE), id="onto an exclusive host alone"),
        pytest.param(plain(tolerations=[ALL], nodeSelector=ON_B), [], id="onto another node"),
        pytest.param(plain(tolerations=[{**ALL, "effect": "NoExecute"}]), [], id="with another effect"),
        pytest.param(plain(tolerations=[OTHERS]), [], id="with a toleration of something else"),
        pytest.param(plain(), [], id="without any toleration"),
        pytest.param(
            plain(tolerations=[{**OURS, "operator": "Equal", "value": "default.x"}]), [], id="of a pool without hosts"
        ),
        pytest.param(plain("host(R)", tolerations=[ALL]), [], id="onto a host of its own pool"),
        pytest.param(plain("host(R)", tolerations=[OURS]), [], id="which it tolerates by name"),
        pytest.param(plain(tolerations=[ALL], schedulingGates=GATES), [], id="gated, with a node left"),
        pytest.param(plain(tolerations=[ALL], schedulingGates=GATES, nodeSelector=ON_B), [], id="gated, elsewhere"),
        pytest.param(
            plain(tolerations=[ALL], schedulingGates=GATES, nodeSelector=ON_A), because(NARROWED), id="gated, with none"
        ),
        pytest.param(
            plain(tolerations=[OTHERS, ALL, ALL]),
            [Problem(f"spec.tolerations[{at}]", LOOSE, fault=Fault.FORBIDDEN) for at in (1, 2)],
            id="each of them",
        ),
    ],
)
def test_a_sleeper_is_not_let_loose_onto_an_exclusive_host(found: Json, expected: list[Problem]) -> None:
    assert wrong(found) == expected


def test_it_may_go_anywhere_where_nothing_is_exclusive() -> None:
    assert wrong(plain(tolerations=[ALL]), World(cluster(nodes(2)), Policy())) == []


GATED: Final = plain(tolerations=[ALL], schedulingGates=GATES)


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        pytest.param(plain(tolerations=[ALL]), GATED, True, id="its gate goes"),
        pytest.param({**GATED, "spec": {**GATED["spec"], "nodeSelector": ON_A}}, GATED, True, id="it selects nodes"),
        pytest.param({**GATED, "spec": {**GATED["spec"], "affinity": {"nodeAffinity": {}}}}, GATED, True, id="or so"),
        pytest.param({**GATED, "metadata": {"labels": {"a": "b"}}}, GATED, False, id="something else"),
        pytest.param(plain(), plain(schedulingGates=GATES), False, id="it tolerates nothing"),
        pytest.param(plain(tolerations=[ALL], nodeSelector=ON_A), plain(tolerations=[ALL]), False, id="it has no gate"),
        pytest.param({}, GATED, False, id="no spec now"),
        pytest.param(GATED, {}, False, id="no spec before"),
    ],
)
def test_when_a_sleeper_is_looked_at(new: Json, old: Json, *, expected: bool) -> None:
    assert sleeper_changed(typed(new), typed(old)) is expected


def test_tolerations_that_may_open_exclusive_hosts() -> None:
    every, ours = Toleration(operator="Exists"), Toleration(key=keys.EXCLUSIVE, value="x")
    assert opening((Toleration(key="disk", operator="Exists"), every, ours)) == (every, ours)
    assert (opening(None), opening(())) == ((), ())


HOSTS: Final = there().named("node-a")
IN_A, IN_B = (NodeTerm((Requirement(keys.HOSTNAME, "In", (name,)),)) for name in ("node-a", "node-b"))


def count(*pods: PodInfo, of: Pool = RESERVED, hosts: Bits = HOSTS) -> int:
    world = there(*pods)
    return sleepers(of, hosts, world.inventory, world.policy)


EQUAL: Final = Toleration(key=keys.EXCLUSIVE, operator="Equal", value="default.r", effect="NoSchedule")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(sleeper(), 1, id="tolerates everything"),
        pytest.param(sleeper(EQUAL), 1, id="tolerates the pool's taint"),
        pytest.param(sleeper(Toleration(key=keys.EXCLUSIVE, value="default.x")), 0, id="tolerates another pool's"),
        pytest.param(sleeper(Toleration(operator="Exists", effect="NoExecute")), 0, id="tolerates another effect"),
        pytest.param(sleeper(job="other"), 1, id="of a job"),
        pytest.param(sleeper(pools=["R"]), 0, id="of the pool itself"),
        pytest.param(sleeper(pools=["R"], namespace="other"), 1, id="of a pool of that name elsewhere"),
        pytest.param(sleeper(terms=[IN_A]), 1, id="selects a host"),
        pytest.param(sleeper(terms=[IN_B]), 0, id="selects others"),
        pytest.param(sleeper(terminating=True), 0, id="about to end"),
        pytest.param(sleeper(namespace="kube-system"), 0, id="of a namespace that is left alone"),
    ],
)
def test_who_counts(found: PodInfo, expected: int) -> None:
    assert count(found) == expected


def test_no_sleeper_counts_for_a_pool_that_is_shared_or_has_no_host() -> None:
    shared = pool("S", size=1, assigned=["node-a"])
    assert (count(sleeper(), of=shared), count(sleeper(), hosts=0)) == (0, 0)


def test_sleepers_are_known_until_they_have_a_node_or_are_gone() -> None:
    one, two = sleeper(name="one"), sleeper(name="two")
    inventory = cluster(nodes(1), pods=[one, two])
    assert sorted(inventory.sleepers) == ["uid-of-one", "uid-of-two"]
    assert inventory.concerns_pools(one)
    inventory.set_pod(replace(one, node="node-a", demand=None))
    inventory.remove_pod("uid-of-two")
    assert (inventory.sleepers, inventory.waiting) == ({}, {})


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "1 pending pod tolerates its taint and may be bound to its hosts"),
        (2, "2 pending pods tolerate its taint and may be bound to its hosts"),
    ],
)
def test_they_are_told_in_words(number: int, said: str) -> None:
    assert sleepers_text(number) == said
