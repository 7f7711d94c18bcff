"""Host ports keep the pods of one template apart."""

import pytest

from tests.builders import Json, asked, cluster, decided, nodes, pod
from tests.workload_templates import crowded
from webhook.placement.constraints.pods.host_ports import TakenPorts, parse
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World

TWO = cluster(nodes(2))


def taking(*ports: Json, **spec: object) -> Json:
    """The fields of a pod whose container has these ports."""
    return {"containers": [{"name": "c", "ports": list(ports)}], **spec}


@pytest.mark.parametrize(
    ("spec", "clause"),
    [
        pytest.param(taking({"containerPort": 80, "hostPort": 8080}), "hostPort 8080", id="a host port"),
        pytest.param(
            taking({"hostPort": 90}, {"hostPort": 80}, {"hostPort": 90}), "hostPort 80, 90", id="each once, sorted"
        ),
        pytest.param(taking({"containerPort": 80}, hostNetwork=True), "hostPort 80", id="the host's network"),
        pytest.param(
            taking(initContainers=[{"name": "i", "restartPolicy": "Always", "ports": [{"hostPort": 70}]}]),
            "hostPort 70",
            id="a sidecar",
        ),
    ],
)
def test_no_two_pods_of_a_template_share_a_node(spec: Json, clause: str) -> None:
    assert crowded(None, 3, TWO, **spec).message == (
        f"{clause} and replicas 3 cannot both hold: 2 of 3 pods fit, one on each of 2 of 2 nodes.\n"
        "Nearest fix: add a node with room for one more of them, or lower replicas to 2, "
        f"or drop {clause} (3 of 3 would fit)."
    )


def test_as_many_as_there_are_nodes_are_admitted() -> None:
    assert not crowded(None, 2, TWO, **taking({"hostPort": 80})).refused


def test_pods_that_must_share_a_node_cannot_have_one() -> None:
    found = crowded('hostColocation("t")', 2, TWO, **taking({"hostPort": 80}))
    assert found.headline == ('hostColocation("t"), hostPort 80 and replicas 2 cannot all hold: 1 of 2 pods fits.')


def test_the_port_of_an_init_container_that_ends_does_not_count() -> None:
    assert not crowded(None, 9, TWO, **taking(initContainers=[{"name": "i", "ports": [{"hostPort": 70}]}])).refused


def test_container_ports_without_a_host_port_do_not_count() -> None:
    assert not crowded(None, 9, TWO, **taking({"containerPort": 80})).refused


def test_no_node_is_out_for_them() -> None:
    world = World(TWO, Policy())
    (found,) = parse(asked(pod(**taking({"hostPort": 80})), TWO), world)
    assert isinstance(found, TakenPorts)
    assert (found.filter(world), [*found.inject(world)], [*found.explain(world, 0)], found.fix(world, 0)) == (
        world.everything, [], [], None,
    )  # fmt: skip


def test_one_pod_may_have_them() -> None:
    assert not decided(pod(**taking({"hostPort": 80})), TWO).refused
