"""Host ports among the pods of a Job, and those that pods that run have taken."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import bound_pod, cluster, node, nodes
from tests.placement.planning.at_once import element, job_spec, judged
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.planned_nodes import planned_nodes, stand_ins
from webhook.placement.kube.containers import HostPort

ALL = HostPort("TCP", 80)
ONE = HostPort("TCP", 80, "10.0.0.1")
OTHER = HostPort("TCP", 80, "10.0.0.2")
UDP = HostPort("UDP", 80)
EVERY = "0.0.0.0"  # noqa: S104  # an address in the spec of a pod
NEXT = HostPort("TCP", 81)


def taking(*ports: HostPort, name: str = "") -> dict[str, Any]:
    """An element whose container takes these ports of its node."""
    stated = [{"containerPort": 1, "hostPort": at.number, "protocol": at.protocol, "hostIP": at.ip} for at in ports]
    spec = {"containers": [{"name": "worker", "image": "worker:1", "ports": stated}]}
    return {**element(name=name), "template": {"spec": spec}}


def holding(*ports: HostPort, on: str = "node-a", uid: str = "holder", job: str = "") -> Any:
    return replace(bound_pod(on, job=job, pe="", uid=uid), ports=ports)


CASES = pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (ALL, ALL, True),
        (ALL, ONE, True),
        (ONE, ALL, True),
        (ONE, ONE, True),
        (ONE, OTHER, False),
        (ALL, UDP, False),
        (ALL, NEXT, False),
        (HostPort("TCP", 80, EVERY), ONE, True),
    ],
    ids=["alike", "all and one", "one and all", "one address", "two addresses", "protocols", "numbers", "spelled out"],
)


@CASES
def test_elements_that_want_one_port_are_on_two_nodes(first: HostPort, second: HostPort, *, apart: bool) -> None:
    spec = job_spec(taking(first), taking(second))
    assert not judged(spec, cluster(nodes(2))).text
    assert bool(judged(spec, cluster(nodes(1))).text) is apart


@CASES
def test_a_port_that_a_pod_has_taken_closes_its_node(first: HostPort, second: HostPort, *, apart: bool) -> None:
    held = holding(HostPort(first.protocol, first.number, first.ip.replace(EVERY, "")))
    assert bool(judged(job_spec(taking(second)), cluster(nodes(1), (), [held])).text) is apart
    assert not judged(job_spec(taking(second)), cluster(nodes(2), (), [held])).text


def test_equal_elements_take_a_node_each() -> None:
    found = judged(job_spec(*[taking(ALL)] * 3), cluster(nodes(2)))
    assert found.text == (
        "hostPort 80 cannot hold: 2 of 3 processing elements fit (app-0, app-1, app-2).\n"
        "Nearest fix: add a node, or drop hostPort 80 (all 3 would fit), or run 2 of these 3."
    )


def test_the_refusal_says_that_the_port_is_taken() -> None:
    found = judged(job_spec(taking(ALL)), cluster(nodes(2), (), [holding(ALL), holding(ALL, on="node-b", uid="b")]))
    assert found.text == (
        "hostPort 80 cannot hold: 0 of 1 processing element fits (app-0).\n"
        "  2 nodes have hostPort 80 taken\n"
        "Nearest fix: add a node, or drop hostPort 80 (it would fit)."
    )


def test_a_port_is_free_again_when_its_pod_is_gone() -> None:
    inventory = cluster(nodes(1), (), [holding(ALL, NEXT), holding(ALL, uid="terminating")])
    inventory.remove_pod("holder")
    assert inventory.without_ports([NEXT]) == 0
    assert inventory.without_ports([ALL]) == inventory.nodes.named("node-a")
    inventory.remove_pod("terminating")
    assert inventory.without_ports([ALL]) == 0
    inventory.set_pod(bound_pod("node-a", uid="plain"))
    inventory.remove_pod("plain")
    assert inventory.without_ports([ALL]) == 0


def test_pods_of_the_job_that_is_judged_again_count_as_gone() -> None:
    inventory = cluster(nodes(1), (), [holding(ALL, job="app")])
    assert not judged(job_spec(taking(ALL)), inventory).text
    assert judged(job_spec(taking(ALL)), inventory, name="another").text


def test_what_another_job_was_promised_is_taken() -> None:
    inventory = cluster([node("node-a")])
    assert not judged(job_spec(taking(ALL)), inventory, name="second").text
    promise(inventory, "first", taking(ALL))
    assert judged(job_spec(taking(ALL)), inventory, name="second").text


def promise(inventory: Inventory, name: str, *elements: dict[str, Any]) -> None:
    found = judged(job_spec(*elements), inventory, name=name)
    assert found.group is not None
    assert found.answer is not None
    assert found.answer.placed is not None
    plan = planned_nodes(found.group, found.answer.placed)
    for pod in stand_ins(("default", name), tuple(found.group.members), plan):
        inventory.set_pod(pod)
