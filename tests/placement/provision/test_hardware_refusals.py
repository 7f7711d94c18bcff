"""Hardware requirements and CPU binding that no node, or no kubelet, could meet."""

from typing import Any

import pytest

from tests.builders import OUTRIGHT, Json, cluster, decided, nodes, pod
from tests.placement.hardware_containers import (
    BOUND,
    FPGA,
    GPU,
    amount,
    container,
    equipped,
    guaranteed,
    label,
    required,
)
from tests.workload_templates import crowded

TWO = cluster(nodes(2))
APART = cluster([equipped("node-a", 1), equipped("node-b", 0, 1)])


def asking(*requirements: Json, placement: str | None = None, **tweaks: Any) -> Json:
    return pod(placement, annotations=required(*requirements) | tweaks.pop("annotations", {}), **tweaks)


ONE_NODE: dict[str, tuple[Json, str]] = {
    "two devices": (
        asking(amount(GPU, 1), amount(FPGA, 1)),
        (
            "hardware example.com/fpga 1 and hardware example.com/gpu 1 cannot both hold: "
            "0 of 2 nodes can run this pod.\n"
            "  1 node has less than example.com/fpga 1\n"
            "  1 node has less than example.com/gpu 1\n"
            "Nearest fix: add a node with example.com/fpga 1 to offer, "
            "or drop hardware example.com/fpga 1 (1 node would fit)."
        ),
    ),
    "a device and a label": (
        asking(amount(GPU, 1), label("kubernetes.io/hostname", "node-b")),
        (
            "hardware kubernetes.io/hostname=node-b and hardware example.com/gpu 1 cannot both hold: "
            "0 of 2 nodes can run this pod.\n"
            "  1 node does not match hardware kubernetes.io/hostname=node-b\n"
            "  1 node has less than example.com/gpu 1\n"
            "Nearest fix: drop hardware kubernetes.io/hostname=node-b (1 node would fit)."
        ),
    ),
    "a device and a clause": (
        asking(amount(GPU, 1), placement='host("node-b")', annotations=OUTRIGHT),
        (
            'host("node-b") and hardware example.com/gpu 1 cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-b\n"
            "  1 node has less than example.com/gpu 1 free\n"
            'Nearest fix: drop host("node-b") (1 node would fit).'
        ),
    ),
}


@pytest.mark.parametrize(("found", "expected"), ONE_NODE.values(), ids=ONE_NODE)
def test_all_requirements_must_be_met_by_one_node(found: Json, expected: str) -> None:
    assert decided(found, APART).message == expected


EVERY = "kubelets assign exclusive cores only if every container has cpu and memory limits equal to its requests"
SIDECARS: dict[str, tuple[list[Json], list[Json], str]] = {
    "beside it": ([guaranteed("pe"), container("mesh", {"cpu": "100m"})], [], 'container "mesh" has no cpu limit'),
    "a native one": (
        [guaranteed("pe")], [container("mesh", restartPolicy="Always")], 'init container "mesh" has no cpu limit'
    ),
    "with too large a limit": (
        [guaranteed("pe"), container("log", {"cpu": "1", "memory": "1"}, {"cpu": "2", "memory": "1"})],
        [],
        'container "log" has a cpu request that differs from its limit',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("containers", "init", "expected"), SIDECARS.values(), ids=SIDECARS)
def test_a_sidecar_that_keeps_cores_from_being_exclusive_is_named(
    containers: list[Json], init: list[Json], expected: str
) -> None:
    found = pod(containers=containers, initContainers=init, annotations=BOUND)
    field = "metadata.annotations[streams.ibm.com/kubernetes.bind.worker.to.cpu]"
    assert decided(found, TWO).message == f"{field}: {expected}; {EVERY}"


def test_a_sidecar_that_is_guaranteed_too_does_not_matter() -> None:
    found = pod(containers=[guaranteed("pe"), guaranteed("mesh", cpu="100m")], annotations=BOUND)
    assert not decided(found, TWO).refused


CROWDS: dict[str, tuple[dict[str, str], int, str]] = {
    "a device for each of three": (
        required(amount(GPU, 1)),
        3,
        (
            "hardware example.com/gpu 1 and replicas 3 cannot both hold: 2 of 3 pods fit on 2 of 2 nodes.\n"
            "Nearest fix: add a node with room for one more of them, or lower replicas to 2, "
            "or drop hardware example.com/gpu 1 (3 of 3 would fit)."
        ),
    ),
    "cores": (
        required(amount("cpu", 8)),
        3,
        (
            "hardware cpu 8 and replicas 3 cannot both hold: 2 of 3 pods fit on 2 of 2 nodes.\n"
            "Nearest fix: add a node with room for one more of them, or lower replicas to 2, "
            "or drop hardware cpu 8 (3 of 3 would fit)."
        ),
    ),
    "a device on a node of that label": (
        required(amount(GPU, 1), label("kubernetes.io/hostname", "node-a")),
        2,
        (
            "hardware kubernetes.io/hostname=node-a, hardware example.com/gpu 1 and replicas 2 cannot all hold: "
            "1 of 2 pods fits on 1 of 2 nodes.\n"
            "  1 node does not match hardware kubernetes.io/hostname=node-a\n"
            "Nearest fix: lower replicas to 1, or drop hardware kubernetes.io/hostname=node-a (2 of 2 would fit)."
        ),
    ),
}


@pytest.mark.parametrize(("annotations", "count", "expected"), CROWDS.values(), ids=CROWDS)
def test_replicas_share_what_the_nodes_have(annotations: dict[str, str], count: int, expected: str) -> None:
    inventory = cluster([equipped("node-a", 1), equipped("node-b", 1)])
    assert crowded(None, count, inventory, annotations=annotations).message == expected


def test_what_replicas_only_want_they_need_not_share() -> None:
    annotations = required(amount(GPU, 1, mandatory=False))
    assert not crowded(None, 3, cluster([equipped("node-a", 1)]), annotations=annotations).refused


def test_nor_does_a_wish_that_one_of_them_is_granted_close_nodes_to_the_others() -> None:
    inventory = cluster([equipped("node-a", 1), equipped("node-b")])
    found = crowded('hostExlocation("t")', 3, inventory, annotations=required(amount(GPU, 1, mandatory=False)))
    assert found.message == (
        'hostExlocation("t") and replicas 3 cannot both hold: 2 of 3 pods fit, one on each of 2 of 2 nodes.\n'
        "Nearest fix: add a node with room for one more of them, or lower replicas to 2, "
        'or drop hostExlocation("t") (3 of 3 would fit).'
    )


def test_other_containers_count_beside_what_is_given() -> None:
    tweaks: Json = {"containers": [container("a"), container("b", {GPU: 1}, {GPU: 1})]}
    found = crowded(None, 2, cluster([equipped("node-a", 3)]), annotations=required(amount(GPU, 1, of="a")), **tweaks)
    assert found.message == (
        "hardware example.com/gpu 1, requests example.com/gpu 1 and replicas 2 cannot all hold: "
        "1 of 2 pods fits on 1 of 1 node.\n"
        "Nearest fix: add a node with room for one more of them, or lower replicas to 1, "
        "or drop hardware example.com/gpu 1 (2 of 2 would fit)."
    )


def test_together_they_need_a_node_that_has_all_of_it() -> None:
    inventory = cluster([equipped("node-a", 3), equipped("node-b", 2)])
    found = crowded('hostColocation("t")', 4, inventory, annotations=required(amount(GPU, 1)))
    assert found.message.startswith(
        'hostColocation("t"), hardware example.com/gpu 1 and replicas 4 cannot all hold: '
        "3 of 4 pods fit, all on one of 2 of 2 nodes."
    )
