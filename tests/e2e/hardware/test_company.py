"""``run-with`` and ``run-apart-from``: pods run on the nodes of selected other pods, or apart from them."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import applied, asked, denied, nodes_of, printed, running, space
from tests.e2e.hardware.node_hardware import MACHINES
from tests.e2e.workloads import deployment, pod, pod_spec
from webhook.placement.text import keys

SPACE: Final = "company"
ALL: Final = sorted(one["metadata"]["name"] for one in MACHINES)


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    """A database on one node, and web servers on all others; none of them asks for anything."""
    with space(plane, SPACE):
        for name in ALL:
            app = "database" if name == "plain-2" else "web"
            spec = pod_spec(nodeSelector={"kubernetes.io/hostname": name})
            plane.admin.create(pod(f"{app}-{name}", SPACE, spec, labels={"app": app}))
        running(plane.admin, SPACE, "database")
        running(plane.admin, SPACE, "web", len(ALL) - 1)
        yield


def company(name: str, replicas: int, **words: str) -> Object:
    """Workers with such company."""
    return deployment(name, SPACE, replicas, annotations=words)


def test_workers_run_beside_the_pods_that_they_name(admin: Api, plane: ControlPlane) -> None:
    applied(plane, company("beside", 2, **{keys.RUN_WITH: "app=database"}))
    assert nodes_of(running(admin, SPACE, "beside", 2)) == ["plain-2", "plain-2"]


def test_workers_run_away_from_the_pods_that_they_name(admin: Api, plane: ControlPlane) -> None:
    applied(plane, company("away", 2, **{keys.RUN_APART_FROM: "app in (web, proxy)"}))
    assert nodes_of(running(admin, SPACE, "away", 2)) == ["plain-2", "plain-2"]


def test_workers_that_keep_apart_from_themselves_are_each_on_a_node_of_their_own(
    admin: Api, plane: ControlPlane
) -> None:
    applied(plane, company("spread", 5, **{keys.RUN_APART_FROM: "app=spread"}))
    assert nodes_of(running(admin, SPACE, "spread", 5)) == ALL


UNCHECKED: Final = (
    "run-apart-from app=too-many: the selected pods are not checked; "
    "this pod waits while one of them runs on every node that fits"
)

TOO_MANY: Final = """\
run-apart-from app=too-many and replicas 6 cannot both hold: 5 of 6 pods fit, one on each of 5 of 5 nodes.
Nearest fix: add a node with room for one more of them, or lower replicas to 5, or drop run-apart-from app=too-many \
(6 of 6 would fit).
"""


def test_kubectl_prints_that_there_are_more_of_those_than_nodes(plane: ControlPlane) -> None:
    found = company("too-many", 6, **{keys.RUN_APART_FROM: "app=too-many"})
    assert printed(plane, found) == f"Warning: {UNCHECKED}\n{denied('workloads', TOO_MANY)}"


def test_company_that_is_not_there_yet_is_waited_for_with_a_warning(admin: Api) -> None:
    answer = asked(admin, pod("p", SPACE, annotations={keys.RUN_WITH: "app=cache"}))
    said = "run-with app=cache: the selected pods are not checked; this pod waits until one of them runs where it fits"
    assert (answer.code, answer.warnings) == (201, (said,))
