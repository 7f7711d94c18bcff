"""Workloads of one job that could each run, and not together: the one that comes second is refused."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.counters import counted
from tests.e2e.chart.kubectl_apply import applied, of_kind, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, namespace, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "together"
APPS: Final = f"/apis/apps/v1/namespaces/{SPACE}"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
SECONDS: Final = 120

APART: Final = """\
The workloads of job pipeline together: hostExlocation("apart") cannot hold: 3 of 4 pods fit (Deployment source, \
{kind} sink).
Nearest fix: add a node, or drop hostExlocation("apart") (all 4 would fit), or run 3 of these 4.
"""

NO_ROOM: Final = """\
The workloads of job pipeline together, 2 of whose pods run already: requests cpu 5 cannot hold: 1 of 2 pods fits \
(Deployment sink).
  2 nodes have less than cpu 5 free
  1 node has room for only 1 of 2 pods that request cpu 5 or more
Nearest fix: add a node with cpu 5 free, or lower requests cpu 5 to cpu 3 (all 2 would fit), or run 1 of these 2.
"""


def part(name: str, count: int = 2, *, placement: str = "", cpu: str = "", **spec: Any) -> Object:
    """A Deployment of the job ``pipeline``."""
    container = pod_spec()["containers"][0] | ({"resources": {"requests": {"cpu": cpu}}} if cpu else {})
    annotations = {"streams.ibm.com/placement": placement} if placement else {}
    made = deployment(
        name,
        SPACE,
        count,
        spec=pod_spec(containers=[container], terminationGracePeriodSeconds=0),
        labels={"streams.ibm.com/job": "pipeline"},
        annotations=annotations,
    )
    made["spec"] |= spec
    return made


def apart_sink(count: int = 2, **spec: Any) -> Object:
    """The Deployment ``sink``, whose pods are apart from all of that token."""
    return part("sink", count, placement='hostExlocation("apart")', **spec)


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


@pytest.fixture(autouse=True)
def _emptied(plane: ControlPlane, _space: None) -> Iterator[None]:
    """Nothing is left on the nodes, which other tests use."""
    yield
    done = plane.kubectl("delete", "deployments,statefulsets,replicasets,jobs", "--all", "--namespace", SPACE)
    assert done.returncode == 0, done.stderr
    until(lambda: not plane.admin.get(PODS)["items"], "no pod is left", SECONDS)


@pytest.fixture
def source(plane: ControlPlane) -> Object:
    """Pods that are yet to come: nothing is made of a Deployment that is paused."""
    made = part("source", placement='hostExlocation("apart")', paused=True)
    applied(plane, made)
    return made


@pytest.mark.usefixtures("source")
def test_kubectl_says_what_cannot_hold_together(admin: Api, plane: ControlPlane) -> None:
    assert refusal(plane, apart_sink()) == APART.format(kind="Deployment")
    assert admin.find(f"{APPS}/deployments/sink") is None


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("kind", ["StatefulSet", "ReplicaSet", "Job"])
def test_so_is_it_with_every_other_kind(plane: ControlPlane, kind: str) -> None:
    at_a_time = {"completionMode": "Indexed", "completions": 2, "parallelism": 2} if kind == "Job" else {"replicas": 2}
    assert refusal(plane, of_kind(kind, apart_sink(), **at_a_time)) == APART.format(kind=kind)


@pytest.mark.usefixtures("source")
def test_one_less_is_admitted_as_the_text_says_and_runs(admin: Api, plane: ControlPlane) -> None:
    applied(plane, apart_sink(1))
    until(lambda: ready(admin, "sink") == 1, "the pod runs", SECONDS)


def test_one_more_later_is_refused(plane: ControlPlane, source: Object) -> None:
    applied(plane, apart_sink(1, paused=True))
    source["spec"]["replicas"] = 3
    assert "cannot hold: 3 of 4 pods fit (Deployment sink, Deployment source)." in refusal(plane, source)


def test_pods_that_run_keep_their_room(admin: Api, plane: ControlPlane) -> None:
    applied(plane, part("source", cpu="5"))
    until(lambda: ready(admin, "source") == 2, "the source runs", SECONDS)
    until(lambda: refused_anew(plane, part("sink", cpu="5")), "the webhook knows these pods", SECONDS)
    assert refusal(plane, part("sink", cpu="5")) == NO_ROOM
    applied(plane, part("sink", 1, cpu="5"))
    until(lambda: ready(admin, "sink") == 1, "the sink runs", SECONDS)


@pytest.mark.usefixtures("source")
def test_workloads_of_others_are_judged_without_it(plane: ControlPlane) -> None:
    other = part("other", placement='hostExlocation("apart")')
    other["spec"]["template"]["metadata"]["labels"]["streams.ibm.com/job"] = "another"
    applied(plane, other)
    plain = part("plain")
    del plain["spec"]["template"]["metadata"]["labels"]["streams.ibm.com/job"]
    applied(plane, plain)


@pytest.mark.usefixtures("source")
def test_the_webhook_may_list_what_it_asks_for(admin: Api, plane: ControlPlane) -> None:
    before = counted(admin, "unknown_workloads_total", "cause")
    refusal(plane, apart_sink())
    assert counted(admin, "unknown_workloads_total", "cause") == before


def refused_anew(plane: ControlPlane, found: Object) -> bool:
    """Whether the workload would be refused now."""
    done = plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(found))
    return done.returncode != 0


def ready(admin: Api, name: str) -> int:
    """How many pods of the workload are ready."""
    return sum(map(is_ready, admin.get(PODS, labelSelector=f"app={name}")["items"]))
