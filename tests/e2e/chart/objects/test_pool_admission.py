"""The output of ``kubectl apply`` for HostPools: created, created with a warning, or refused with counts and a fix."""

import json
import subprocess
from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import RELEASE
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

pytestmark = pytest.mark.usefixtures("installed", "hosts")

SPACE: Final = "wanting"
TAG: Final = {"streams.ibm.com/hostpool": "wanted"}
INFRA: Final = {"key": "dedicated", "value": "infra", "effect": "NoSchedule"}
DENIED: Final = 'admission webhook "hostpools.placement.streams.ibm.com" denied the request: '


@pytest.fixture(scope="module")
def hosts(installed: object, plane: ControlPlane) -> Any:  # noqa: ARG001 -- after it
    """Two nodes with the tag that will do, one that is tainted, and that the webhook knows them."""
    namespace(plane.admin, SPACE)
    known = [
        *(node(f"wanted-{at}", TAG) for at in (1, 2)),
        node("wanted-3", TAG, taints=[INFRA]),
    ]
    names = create_nodes(plane.admin, known)
    until(lambda: "2 nodes are eligible" in apply(plane, size=9, tags=["wanted"]).stderr, "the nodes are known", 60)
    yield names
    delete_nodes(plane.admin, names)


def apply(plane: ControlPlane, **spec: Any) -> subprocess.CompletedProcess[str]:
    """``kubectl apply`` of a pool, which leaves nothing behind."""
    metadata = {"name": "asked", "namespace": SPACE}
    made = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HostPool",
        "metadata": metadata,
        "spec": {"name": "P1", **spec},
    }
    return plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(made))


def test_a_pool_that_can_have_its_hosts_is_created(plane: ControlPlane) -> None:
    done = apply(plane, size=2, tags=["wanted"])
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pool_that_cannot_is_refused_with_counts_and_a_fix(plane: ControlPlane) -> None:
    others = len(plane.admin.get("/api/v1/nodes")["items"]) - 3
    done = apply(plane, size=3, tags=["wanted"])
    assert done.returncode == 1
    assert done.stderr == (
        f'Error from server (Forbidden): error when creating "STDIN": {DENIED}'
        "HostPool P1 cannot be completed: it needs 3 hosts and 2 nodes are eligible.\n"
        f"  {others} nodes lack the tag wanted\n"
        "  1 node has the taint dedicated=infra:NoSchedule\n"
        f"Nearest fix: label one more node streams.ibm.com/hostpool=wanted, or lower size to 2.\n"
    )


def test_an_elastic_pool_is_created_with_a_warning(plane: ControlPlane) -> None:
    done = apply(plane, size=3, tags=["wanted"], elastic=True)
    assert (done.returncode, done.stderr) == (
        0,
        ("Warning: no hosts yet: HostPool P1 cannot be completed: it needs 3 hosts and 2 nodes are eligible.\n"),
    )


def test_an_unsized_pool_without_nodes_is_created_with_a_warning(plane: ControlPlane) -> None:
    done = apply(plane, tags=["nobodys"])
    assert (done.returncode, done.stderr) == (
        0,
        (
            "Warning: HostPool P1 has no host now: no node has the tag nobodys; "
            "label one node streams.ibm.com/hostpool=nobodys\n"
        ),
    )


def test_a_list_of_hosts_is_told_which_of_them_are_none(plane: ControlPlane) -> None:
    said = apply(plane, hosts=["wanted-1", "nowhere"]).stderr
    assert f"{DENIED}HostPool P1 cannot be completed: it lists 2 hosts and finds 1 node.\n" in said
    assert '\n  hosts[1]: "nowhere" is not a node\n' in said


def test_a_plain_user_learns_no_more_than_he_wrote(plane: ControlPlane) -> None:
    said = apply(plane, size=3, tags=["wanted"], mode="Exclusive").stderr
    assert not [word for word in ("wanted-1", "node-1", RELEASE) if word in said]
