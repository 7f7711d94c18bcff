"""Dry runs are answered like real requests, and leave nothing behind."""

import json
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import RELEASE
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.workloads import namespace

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "tried"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"

REGISTRATIONS: Final = "/apis/admissionregistration.k8s.io/v1"
WEBHOOKS: Final = tuple(
    f"{REGISTRATIONS}/{kind}webhookconfigurations/zz-{RELEASE}" for kind in ("mutating", "validating")
)

REFUSAL: Final = """\
admission webhook "pods.placement.streams.ibm.com" denied the request: \
host("nowhere") cannot hold: 0 of 3 nodes can run this pod.
  3 nodes are not named nowhere
Nearest fix: add a node named nowhere, or drop host("nowhere") (3 nodes would fit)."""


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


def left(admin: Api) -> tuple[set[str], list[str]]:
    """What there is to be changed: the pods, and the versions of our registrations."""
    pods = {one["metadata"]["name"] for one in admin.get(PODS)["items"]}
    return pods, [admin.get(path)["metadata"]["resourceVersion"] for path in WEBHOOKS]


def decided(one: Object) -> Object:
    """The spec and our annotations: all but what the API server makes up for each object."""
    return {"annotations": one["metadata"]["annotations"], "spec": one["spec"]}


def test_every_entry_says_that_it_writes_nothing(admin: Api) -> None:
    entries = [entry for path in WEBHOOKS for entry in admin.get(path)["webhooks"]]
    assert {entry["sideEffects"] for entry in entries} == {"None"}


def test_a_pod_is_placed_as_it_would_be(admin: Api) -> None:
    tried = admin.create(asking("p", SPACE), dryRun="All")
    assert decided(admin.create(asking("p", SPACE))) == decided(tried)


def test_a_pod_is_refused_as_it_would_be(admin: Api) -> None:
    wanted = asking("q", SPACE, 'host("nowhere")')
    tried, done = admin.send("POST", f"{PODS}?dryRun=All", wanted), admin.send("POST", PODS, wanted)
    assert (tried.code, tried.message) == (done.code, done.message) == (403, REFUSAL)


def test_kubectl_prints_the_refusal(plane: ControlPlane) -> None:
    wanted = json.dumps(asking("q", SPACE, 'host("nowhere")'))
    done = plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=wanted)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f'Error from server (Forbidden): error when creating "STDIN": {REFUSAL}\n'


def test_kubectl_says_that_it_was_only_tried(plane: ControlPlane) -> None:
    done = plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(asking("q", SPACE)))
    assert (done.returncode, done.stdout) == (0, "pod/q created (server dry run)\n")


def test_nothing_is_left_of_it(admin: Api, plane: ControlPlane) -> None:
    before = left(admin)
    for placement in ('host("node-1")', 'host("nowhere")'):
        plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(asking("q", SPACE, placement)))
    assert left(admin) == before
