"""Shared, literal and unsized pools, with the chart by default values."""

import contextlib
import json
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import MERGE, Api, Object, RefusedError
from tests.e2e.controller.conftest import TAG, TAGGED
from tests.e2e.controller.events import told
from tests.e2e.controller.pools import (
    condition,
    create_pool,
    hostpool,
    hosts,
    marks,
    members,
    pools,
    wait_for,
    wait_until_gone,
)  # fmt: skip
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "kinds"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"


@pytest.fixture(scope="module", autouse=True)
def _space(plane: ControlPlane, installed: Kubelet) -> Iterator[None]:
    del installed
    namespace(plane.admin, SPACE)
    yield
    plane.admin.delete(pools(SPACE))
    until(lambda: not plane.admin.get(pools(SPACE))["items"], "all of them are gone")


def test_a_literal_pool_has_its_hosts_where_they_were_listed(admin: Api) -> None:
    pool = wait_for(admin, create_pool(admin, hostpool("named", SPACE, hosts=["node-7", "node-1"])))
    assert hosts(pool) == members(admin, SPACE, "named") == ["node-7", "node-1"]


def test_the_name_that_pods_say_is_shown_even_if_the_spec_does_not_say_it(plane: ControlPlane, admin: Api) -> None:
    wait_for(admin, create_pool(admin, hostpool("plain", SPACE, tags=["ib"])))
    wait_for(admin, create_pool(admin, hostpool("other", SPACE, name="Named", tags=["ib"])))
    lines = plane.kubectl("get", "streamshostpools", "-n", SPACE, "plain", "other").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["NAME", "POOL"], ["plain", "plain"], ["other", "Named"]]


@contextlib.contextmanager
def everything_taken(admin: Api, name: str) -> Iterator[str]:
    """An exclusive pool of all nodes, for a while."""
    path = create_pool(admin, hostpool(name, SPACE, size=7, mode="Exclusive"))
    try:
        yield path
    finally:
        admin.delete(path)
        wait_until_gone(admin, path)


class TestALiteralPoolAndAnExclusiveOne:
    """In this order."""

    LISTED: Final = ("node-6", "node-7")
    TAKEN: Final = "it has 2 hosts, all of which are exclusive to another HostPool"

    def test_what_is_exclusive_to_another_is_not_promised(self, plane: ControlPlane, admin: Api) -> None:
        listing = json.dumps(hostpool("late", SPACE, hosts=list(self.LISTED)))
        command = ("create", "--dry-run=server", "-f", "-")
        with everything_taken(admin, "closed") as path:
            wait_for(admin, path)
            said = until(lambda: plane.kubectl(*command, stdin=listing).stderr, "it is known")
        assert said.endswith(
            "HostPool late cannot be completed: "
            "it lists 2 hosts and finds 0 nodes, as 2 hosts are exclusive to another HostPool.\n"
            '  hosts[0]: "node-6" is exclusive to another HostPool\n'
            '  hosts[1]: "node-7" is exclusive to another HostPool\n'
            "Nearest fix: list each host once, "
            "by the name or an address of a node that is exclusive to no other HostPool.\n"
        )

    def test_a_pool_whose_hosts_are_all_taken_does_not_say_that_it_is_ready(self, admin: Api) -> None:
        listed = until(lambda: self.created(admin), "the nodes are known to be free")
        wait_for(admin, listed)
        with everything_taken(admin, "taking"):
            pool = wait_for(admin, listed, "Failed")
        assert (pool["status"]["readyHosts"], hosts(pool), condition(pool)["reason"], condition(pool)["message"]) == (
            0,
            list(self.LISTED),
            "HostsTaken",
            self.TAKEN,
        )
        assert condition(pool, "Degraded")["message"] == (
            "host 0 (node-6) belongs to an exclusive HostPool; host 1 (node-7) belongs to an exclusive HostPool"
        )
        wait_for(admin, listed)
        until(lambda: condition(admin.get(listed))["message"] == "it has 2 hosts", "both hosts are free, one by one")
        assert admin.get(listed)["status"]["readyHosts"] == len(self.LISTED)

    def test_a_pod_that_names_it_meanwhile_is_told_so(self, admin: Api) -> None:
        asks = asking("pe-9", SPACE, "host(listed)", labels={"streams.ibm.com/job": "j"})

        def refused() -> str:
            answer = admin.send("POST", f"{PODS}?dryRun=All", asks)
            return answer.message if "failed" in answer.message else ""

        with everything_taken(admin, "again"):
            said = until(refused, "the webhook knows that it has failed")
        assert f"host(listed): HostPool listed failed: {self.TAKEN}" in said
        admin.delete(f"{pools(SPACE)}/listed")
        wait_until_gone(admin, f"{pools(SPACE)}/listed")

    def created(self, admin: Api) -> str:
        """The path of the pool, once it is let through."""
        with contextlib.suppress(RefusedError):
            return create_pool(admin, hostpool("listed", SPACE, hosts=list(self.LISTED)))
        return ""


def test_no_host_of_a_shared_pool_is_tainted(admin: Api) -> None:
    wait_for(admin, create_pool(admin, hostpool("shared", SPACE, size=2, tags=["ib"])))
    carried = [marks(admin.get(f"/api/v1/nodes/{name}")) for name in members(admin, SPACE, "shared")]
    assert [len(one) for one in carried] == [1, 1]


def test_a_node_may_be_a_host_of_several_shared_pools(admin: Api) -> None:
    wait_for(admin, create_pool(admin, hostpool("all-1", SPACE, size=5, tags=["ib"])))
    wait_for(admin, create_pool(admin, hostpool("all-2", SPACE, size=5, tags=["ib"])))
    assert set(members(admin, SPACE, "all-1")) == set(members(admin, SPACE, "all-2")) == set(TAGGED)


def test_an_unsized_pool_has_no_hosts_of_its_own(admin: Api) -> None:
    pool = wait_for(admin, create_pool(admin, hostpool("tagged", SPACE, tags=["ib"])))
    assert (hosts(pool), pool["status"]["eligible"]) == ([], len(TAGGED))
    assert "finalizers" not in pool["metadata"]
    said = condition(pool)
    assert (said["reason"], said["message"]) == ("Unsized", "its hosts are the nodes that carry its tags and labels")


class TestAPoolThatIsTooLarge:
    """In this order: nodes may come to it first, then no more, and then they do."""

    PATH: Final = f"{pools(SPACE)}/large"
    WHY: Final = "it needs 6 hosts and 5 nodes are eligible"

    @pytest.fixture(scope="class", autouse=True)
    @staticmethod
    def _created(plane: ControlPlane) -> Iterator[None]:
        create_pool(plane.admin, hostpool("large", SPACE, name="L", size=6, tags=["ib"], elastic=True))
        yield
        plane.admin.delete(f"{pools(SPACE)}/large")
        wait_until_gone(plane.admin, f"{pools(SPACE)}/large")
        delete_nodes(plane.admin, ["late"])

    def test_while_nodes_may_come_it_waits_for_them(self, admin: Api) -> None:
        pool = wait_for(admin, self.PATH, "Pending")
        assert (condition(pool)["reason"], condition(pool)["message"]) == ("WaitingForNodes", self.WHY)

    def test_if_none_will_come_it_has_failed(self, admin: Api) -> None:
        admin.patch(self.PATH, {"spec": {"elastic": False}}, content=MERGE)
        pool = wait_for(admin, self.PATH, "Failed")
        assert (condition(pool)["status"], condition(pool)["message"]) == ("False", self.WHY)
        assert members(admin, SPACE, "large") == []

    def test_an_event_warns_of_it(self, admin: Api) -> None:
        until(lambda: ("Warning", "NotEnoughNodes", self.WHY) in told(admin, SPACE, "large"), "the Event is there")

    def test_a_pod_that_names_it_is_refused_with_the_same_words(self, admin: Api) -> None:
        def refused() -> Object | None:
            answer = admin.send("POST", f"{PODS}?dryRun=All", asking("p", SPACE, "host(L)"))
            return answer.body if answer.code == 403 and "failed" in answer.message else None

        said = until(refused, "the webhook knows that it has failed")
        assert f"host(L): HostPool L failed: {self.WHY}" in said["message"]

    def test_it_is_ready_as_soon_as_a_node_comes_all_the_same(self, admin: Api) -> None:
        create_nodes(admin, [node("late", {TAG: "ib"})])
        assert set(hosts(wait_for(admin, self.PATH))) == {*TAGGED, "late"}
