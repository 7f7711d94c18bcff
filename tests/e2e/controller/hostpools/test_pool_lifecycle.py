"""An exclusive pool from ``kubectl apply`` to its deletion, with the chart by default values."""

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.conftest import TAGGED
from tests.e2e.controller.crashes.object_watcher import ObjectWatcher, PoolWatcher
from tests.e2e.controller.pools import condition, exclusive, hosts, marks, members, phase, pools, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, namespace, pod
from webhook.placement.text.keys import EXCLUSIVE, JOB, membership
from webhook.placement.text.keys import exclusive as exclusive_value

SPACE: Final = "story"
POOL: Final = exclusive("ib", SPACE, 3, name="P", tags=["ib"])
PATH: Final = f"{pools(SPACE)}/ib"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
NAMING: Final = ("any-0", "any-1", "any-2", "any-3")


class Story(NamedTuple):
    """The pool as it is when it is ready, and everything that was seen until then."""

    pool: Object
    applied: str
    """What kubectl said."""
    history: list[Object]
    nodes: list[Object]


@pytest.fixture(scope="module")
def story(plane: ControlPlane, installed: Kubelet) -> Iterator[Story]:
    del installed
    admin = plane.admin
    namespace(admin, SPACE)
    with PoolWatcher(admin) as seen, ObjectWatcher(admin, "/api/v1/nodes") as nodes:
        applied = plane.kubectl("apply", "-f", "-", stdin=json.dumps(POOL))
        waited = plane.kubectl("wait", "--for=condition=Ready", "sthp/ib", "--namespace", SPACE, "--timeout=30s")
        assert waited.returncode == 0, f"{applied.stderr}{waited.stderr}"
        pool = admin.get(PATH)
        until(lambda: seen.of("ib")[-1] == pool, "the witness has seen it")
        yield Story(pool, applied.stdout, seen.of("ib"), list(nodes.history))
    admin.delete(PODS, gracePeriodSeconds="0")
    admin.delete(PATH)
    wait_until_gone(admin, PATH)


@pytest.fixture(scope="module")
def running(plane: ControlPlane, story: Story) -> dict[str, str]:
    """The nodes of pods that name the pool, of two that name one host of it, and of one that names nothing."""
    del story
    admin, mine = plane.admin, {JOB: "j"}
    wanted = [asking(name, SPACE, "host(P)", labels=mine) for name in NAMING]
    wanted += [asking(f"second-{number}", SPACE, "host(P[1])", labels=mine) for number in range(2)]
    wanted += [pod(f"other-{number}", SPACE) for number in range(6)]
    for one in wanted:
        admin.create(one)
    names = [one["metadata"]["name"] for one in wanted]
    until(lambda: all(is_ready(admin.get(f"{PODS}/{name}")) for name in names), "all of them run", 60)
    return {name: admin.get(f"{PODS}/{name}")["spec"]["nodeName"] for name in names}


def test_kubectl_says_that_it_is_created(story: Story) -> None:
    assert story.applied == "hostpool.streams.ibm.com/ib created\n"


def test_it_goes_from_nothing_by_pending_to_ready(story: Story) -> None:
    seen = [phase(pool) for pool in story.history]
    assert sorted(set(seen), key=seen.index) == ["", "Pending", "Ready"]


def test_while_it_is_pending_it_says_that_its_hosts_are_being_settled(story: Story) -> None:
    (said,) = {condition(pool)["message"] for pool in story.history if phase(pool) == "Pending"}
    assert said == "3 hosts marked; assigned next, unless another pod is found there"


def test_no_host_is_published_before_it_is_ready(story: Story) -> None:
    assert {phase(pool) for pool in story.history if hosts(pool)} == {"Ready"}


def test_it_gets_as_many_hosts_as_it_wants_and_all_of_them_have_its_tag(story: Story) -> None:
    assert len(set(hosts(story.pool)) & set(TAGGED)) == len(hosts(story.pool)) == 3


def test_label_and_taint_are_written_at_once(story: Story) -> None:
    whole = {membership(SPACE, "ib"), EXCLUSIVE}
    assert {frozenset(marks(node)) & whole for node in story.nodes} <= {frozenset(), frozenset(whole)}
    assert {node["metadata"]["name"] for node in story.nodes if EXCLUSIVE in marks(node)} == set(hosts(story.pool))


def test_the_taint_names_the_pool(story: Story) -> None:
    assert {marks(node)[EXCLUSIVE] for node in story.nodes if marks(node)} == {exclusive_value(SPACE, "ib")}


def test_kubectl_shows_it(plane: ControlPlane, story: Story) -> None:
    del story
    head, row = plane.kubectl("get", "sthp", "--namespace", SPACE).stdout.splitlines()
    assert head.split() == ["NAME", "POOL", "MODE", "SIZE", "READY", "HOSTS", "STATUS", "AGE"]
    assert row.split()[:6] == ["ib", "P", "Exclusive", "3", "3", "Ready"]


def test_kubectl_describes_why(plane: ControlPlane, story: Story) -> None:
    told = f"3 hosts: {', '.join(hosts(story.pool))}"

    def described() -> str:
        text = plane.kubectl("describe", "sthp", "ib", "--namespace", SPACE).stdout
        return text if told in text else ""

    words = " ".join(until(described, "the Event is shown").split())
    assert "Message: it has 3 hosts" in words
    assert "Reason: HostsAssigned Status: True Type: Ready" in words
    assert "Reason: HostsServe Status: False Type: Degraded" in words
    assert "Normal HostsAssigned" in words
    assert f"streams.ibm.com/hostpools {told}" in words


def test_pods_that_name_it_run_on_its_hosts(story: Story, running: dict[str, str]) -> None:
    assert {running[name] for name in NAMING} <= set(hosts(story.pool))


def test_the_same_index_is_the_same_host(story: Story, running: dict[str, str]) -> None:
    assert {running["second-0"], running["second-1"]} == {hosts(story.pool)[1]}


def test_pods_that_do_not_name_it_run_elsewhere(story: Story, running: dict[str, str]) -> None:
    others = {running[name] for name in running if name.startswith("other")}
    assert not others & set(hosts(story.pool))


def test_another_pool_that_wants_too_many_is_refused(admin: Api, story: Story) -> None:
    del story
    told = "it needs 3 hosts and 2 nodes are eligible"

    def refused() -> bool:
        answer = admin.send("POST", pools(SPACE), exclusive("more", SPACE, 3, tags=["ib"]))
        assert answer.code == 403
        return told in answer.message

    until(refused, f"it is refused since {told}")  # pods of other tests may still be ending on a node


class TestItsEnd:
    """In this order."""

    @pytest.fixture(scope="class", autouse=True)
    @staticmethod
    def _deleted(plane: ControlPlane, running: dict[str, str]) -> None:
        del running
        plane.admin.delete(PATH)

    def test_while_its_pods_run_it_says_so(self, admin: Api, running: dict[str, str]) -> None:
        used = {running[name] for name in running if not name.startswith("other")}  # the scheduler chooses among three
        said = until(lambda: condition(admin.get(PATH)).get("reason") == "PodsLeft" and admin.get(PATH), "it waits")
        assert (phase(said), condition(said)["message"]) == (
            "Releasing",
            f"pods of the pool still run on {len(used)} hosts",
        )

    def test_it_keeps_its_hosts(self, admin: Api, story: Story) -> None:
        assert hosts(admin.get(PATH)) == members(admin, SPACE, "ib") == hosts(story.pool)

    def test_a_pod_that_names_it_is_refused(self, admin: Api) -> None:
        wanted = asking("late", SPACE, "host(P)", labels={JOB: "j"})

        def refused() -> str:
            answer = admin.send("POST", f"{PODS}?dryRun=All", wanted)
            return answer.message if answer.code == 403 else ""

        assert "host(P): HostPool P is being deleted" in until(refused, "it is refused")

    def test_its_hosts_are_free_as_soon_as_its_pods_are_gone(self, admin: Api) -> None:
        admin.delete(PODS, gracePeriodSeconds="0")
        wait_until_gone(admin, PATH)
        assert members(admin, SPACE, "ib") == []
        nodes = admin.get("/api/v1/nodes")["items"]
        assert not [node["metadata"]["name"] for node in nodes if marks(node)]

    def test_an_event_says_so(self, plane: ControlPlane) -> None:
        def told() -> bool:
            return "its hosts are free again" in plane.kubectl("get", "events", "--namespace", SPACE).stdout

        until(told, "the Event is there")
