"""From annotation to scheduled pod: the installed chart, the real scheduler, refusals as kubectl prints them."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

TEAM = "story"
PREFIX = "streams.ibm.com/"
PODS = f"/api/v1/namespaces/{TEAM}/pods"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A plane of its own: five nodes, two of which carry the tag "source", and the chart."""
    with ControlPlane(tmp_path_factory.mktemp("story")) as plane:
        tagged = [node(f"tagged-{number}", {f"{PREFIX}hostpool": "source"}) for number in (1, 2)]
        create_nodes(plane.admin, [*tagged, *(node(f"plain-{number}") for number in (1, 2, 3))])
        namespace(plane.admin, TEAM)
        with kubelet(plane) as running:
            install(plane, running, QUICK)
            pool = {
                "apiVersion": "streams.ibm.com/v1",
                "kind": "HostPool",
                "metadata": {"name": "mypool", "namespace": TEAM},
                "spec": {"name": "MyPool", "tags": ["source"]},
            }
            made = plane.kubectl("create", "-f", "-", stdin=json.dumps(pool))
            assert made.returncode == 0, made.stderr
            yield plane


def manifest(name: str, placement: str, *, pe: str = "", job: str = "parallel") -> dict[str, object]:
    labels = {f"{PREFIX}job": job, f"{PREFIX}pe": pe or name}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": TEAM,
            "labels": labels,
            "annotations": {f"{PREFIX}placement": placement} if placement else {},
        },
        "spec": {"containers": [{"name": "c", "image": "streams-runtime"}]},
    }


def bound(admin: Api, name: str) -> str:
    """The node on which the scheduler, or the webhook, put the pod."""

    def node_name() -> str:
        return str(admin.get(f"{PODS}/{name}")["spec"].get("nodeName", ""))

    until(node_name, f"pod {name} is bound", 30)
    return node_name()


def known(plane: ControlPlane, wanted: dict[str, object], message: str) -> None:
    """Wait until the webhook has heard of what was just created: its answer says so."""
    until(lambda: message in refusal(plane, wanted), f"the webhook says {message}", 20)


def refusal(plane: ControlPlane, wanted: dict[str, object]) -> str:
    """What kubectl prints when the pod is created, dry."""
    done = plane.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(wanted))
    return done.stderr


def test_a_pod_of_a_pool_lands_on_one_of_its_nodes(story: ControlPlane) -> None:
    until(lambda: "no HostPool" not in refusal(story, manifest("probe", "host(MyPool)")), "the pool is known", 20)
    story.admin.create(manifest("pooled", "host(MyPool)"))
    assert bound(story.admin, "pooled") in {"tagged-1", "tagged-2"}


def test_a_host_that_is_named_gets_the_pod(story: ControlPlane) -> None:
    story.admin.create(manifest("named", 'host("plain-2")'))
    assert bound(story.admin, "named") == "plain-2"


def test_an_unknown_host_is_refused_as_kubectl_prints_it(story: ControlPlane) -> None:
    assert refusal(story, manifest("nowhere", 'host("gone")')).partition(" denied the request: ")[2] == (
        'host("gone") cannot hold: 0 of 5 nodes can run this pod.\n'
        "  5 nodes are not named gone\n"
        'Nearest fix: add a node named gone, or drop host("gone") (5 nodes would fit).\n'
    )


def test_a_mistake_is_shown_with_a_caret(story: ControlPlane) -> None:
    assert refusal(story, manifest("typo", 'hostColocaton("t")')).endswith(
        'unknown clause "hostColocaton" (did you mean hostColocation?)\n  hostColocaton("t")\n  ^\n'
    )


def test_colocated_pods_share_a_host(story: ControlPlane) -> None:
    for name in ("near-1", "near-2", "near-3"):
        story.admin.create(manifest(name, 'hostColocation("together")', job="near"))
    assert len({bound(story.admin, name) for name in ("near-1", "near-2", "near-3")}) == 1


def test_exlocated_pods_share_none_and_the_one_too_many_is_refused(story: ControlPlane) -> None:
    names = [f"far-{number}" for number in range(5)]
    for name in names:
        story.admin.create(manifest(name, 'hostExlocation("apart")', job="far"))
    assert len({bound(story.admin, name) for name in names}) == 5
    wanted = manifest("far-5", 'hostExlocation("apart")', job="far")
    known(story, wanted, 'hostExlocation("apart") cannot hold: 0 of 5 nodes can run this pod.')
    assert "5 nodes already run a pod of hostExlocation" in refusal(story, wanted)


@pytest.mark.parametrize("first", ["alone", "others"])
def test_an_isolated_pod_is_alone_in_both_orders_of_arrival(story: ControlPlane, first: str) -> None:
    job = f"iso-{first}"
    others = [manifest(f"{job}-{number}", "", job=job) for number in (1, 2)]
    alone = manifest(f"{job}-0", "Sink: hostIsolation", job=job)
    for wanted in [alone, *others] if first == "alone" else [*others, alone]:
        story.admin.create(wanted)
    hosts = {name: bound(story.admin, f"{job}-{name}") for name in (0, 1, 2)}
    assert hosts[0] not in {hosts[1], hosts[2]}


def test_two_jobs_with_the_same_token_do_not_bind_each_other(story: ControlPlane) -> None:
    for number in range(2):
        story.admin.create(manifest(f"token-{number}", 'host("plain-1"), hostExlocation("apart")', job=f"job-{number}"))
    assert {bound(story.admin, f"token-{number}") for number in range(2)} == {"plain-1"}
