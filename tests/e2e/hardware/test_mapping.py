"""Worker mapping by node labels: the real scheduler binds to the nodes that each operator selects."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import applied, denied, nodes_of, printed, running, space
from tests.e2e.workloads import deployment
from webhook.placement.text import keys

SPACE: Final = "mapping"


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    with space(plane, SPACE):
        yield


def mapped(name: str, replicas: int, expressions: str = "", uniform: str = "all-separate-nodes") -> Object:
    """A job of its own, whose workers are mapped so."""
    annotations = {keys.UNIFORM: uniform}
    if expressions:
        annotations |= {keys.MAPPED: "true", keys.MAPPING: expressions}
    return deployment(name, SPACE, replicas, labels={keys.JOB: name}, annotations=annotations)


OPERATORS: Final[dict[str, tuple[str, list[str]]]] = {
    "in": ("{key: disktype, operator: In, values: [ssd, tape]}", ["gpu-1", "gpu-2"]),
    "not-in": ("{key: disktype, operator: NotIn, values: [ssd]}", ["plain-1", "plain-2", "qat-1"]),
    "exists": ("{key: cores, operator: Exists}", ["gpu-1", "gpu-2", "plain-1", "qat-1"]),
    "does-not-exist": ("{key: cores, operator: DoesNotExist}", ["plain-2"]),
    "gt": ("{key: cores, operator: Gt, values: [4]}", ["gpu-1", "gpu-2", "qat-1"]),
    "lt": ("{key: cores, operator: Lt, values: [16]}", ["gpu-2", "plain-1", "qat-1"]),
    "gt-and-lt": (
        "{key: cores, operator: Gt, values: [4]}, {key: cores, operator: Lt, values: [16]}",
        ["gpu-2", "qat-1"],
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_workers_run_on_each_node_that_matches_and_on_no_other(admin: Api, plane: ControlPlane, name: str) -> None:
    """One on each, as many as there are; one more is one too many."""
    expressions, nodes = OPERATORS[name]
    applied(plane, mapped(name, len(nodes), f"[{expressions}]"))
    assert nodes_of(running(admin, SPACE, name, len(nodes))) == nodes
    too_many = mapped(f"{name}-more", len(nodes) + 1, f"[{expressions}]")
    assert "cannot all hold" in printed(plane, too_many)


def test_the_three_annotations_of_one_expression_say_the_same(admin: Api, plane: ControlPlane) -> None:
    expression = {keys.MAPPING_KEY: "disktype", keys.MAPPING_OPERATOR: "In", keys.MAPPING_VALUES: "['hdd']"}
    annotations = {keys.MAPPED: "true", keys.UNIFORM: "all-separate-nodes", **expression}
    applied(plane, deployment("one", SPACE, 2, labels={keys.JOB: "one"}, annotations=annotations))
    assert nodes_of(running(admin, SPACE, "one", 2)) == ["plain-1", "qat-1"]


NOWHERE: Final = """\
mapping disktype In [tape] cannot hold: 0 of 5 nodes can run this pod.
  5 nodes do not match mapping disktype In [tape]
Nearest fix: label one more node disktype=tape, or drop mapping disktype In [tape] (5 nodes would fit).
"""


def test_kubectl_prints_why_no_node_matches(plane: ControlPlane) -> None:
    found = mapped("nowhere", 1, "[{key: disktype, operator: In, values: [tape]}]", "none")
    assert printed(plane, found) == denied("workloads", NOWHERE)


def test_all_workers_are_on_one_node(admin: Api, plane: ControlPlane) -> None:
    applied(plane, mapped("together", 3, uniform="all-same-node"))
    (one, *others) = nodes_of(running(admin, SPACE, "together", 3))
    assert others == [one, one]


def test_each_worker_is_on_a_node_of_its_own(admin: Api, plane: ControlPlane) -> None:
    applied(plane, mapped("apart", 3))
    assert len(set(nodes_of(running(admin, SPACE, "apart", 3)))) == 3


TOO_MANY: Final = """\
uniform all-separate-nodes and replicas 6 cannot both hold: 5 of 6 pods fit, one on each of 5 of 5 nodes.
Nearest fix: add a node with room for one more of them, or lower replicas to 5, or drop uniform all-separate-nodes \
(6 of 6 would fit).
"""


def test_kubectl_prints_that_there_are_more_workers_than_nodes(plane: ControlPlane) -> None:
    assert printed(plane, mapped("too-many", 6)) == denied("workloads", TOO_MANY)
