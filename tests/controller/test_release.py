"""Hosts given back because a person says so, by a cluster in memory."""

from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from kubeapi.leaderelection.lease_hold import LostError
from tests.apiserver.paths import node_path, pool_path
from tests.controller.controlled_cluster import LABEL, TAINT, ControlledCluster
from tests.controller.controller_process import FaultyApi
from webhook.controller.release import TRIES, Freed, Release, Scope, parse_scope
from webhook.placement.text import keys

ALL = Scope()
ONE = Scope("default", "p")
FOREIGN = {"key": "dedicated", "effect": "NoSchedule"}


@pytest.fixture
async def controlled(controlled: ControlledCluster) -> ControlledCluster:
    """A controller has given the pool two hosts, and ended."""
    controlled.pool("p", size=2, mode="Exclusive")
    await controlled.lead()
    await controlled.end()
    controlled.forget()
    assert controlled.hosts() == ["0:node-a", "1:node-b"]
    return controlled


async def released(
    controlled: ControlledCluster, *scopes: Scope, line: FaultyApi | None = None, **more: Any
) -> list[Freed]:
    release = Release(line or FaultyApi(controlled.kube), now=lambda: 1767225600.0, **more)
    return [freed async for freed in release.run(scopes)]


def marks(controlled: ControlledCluster) -> list[str]:
    """Nodes with a label of membership, or an exclusive taint."""
    found = controlled.kube.all("/api/v1/nodes")
    labelled = {each["metadata"]["name"] for each in found for key in _labels(each) if key.startswith(keys.MEMBERSHIP)}
    tainted = {each["metadata"]["name"] for each in found for taint in _taints(each) if taint["key"] == keys.EXCLUSIVE}
    return sorted(labelled | tainted)


def _labels(node: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = node["metadata"].get("labels", {})
    return found


def _taints(node: dict[str, Any]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = node["spec"].get("taints", [])
    return found


WHOLE = Freed(what="HostPool default/p", hosts=("node-a", "node-b"), finalizer=True, stays=True)


@pytest.mark.parametrize("scope", [ALL, Scope("default"), ONE], ids=["all", "namespace", "pool"])
async def test_a_pool_gives_back_its_hosts_and_its_finalizer(controlled: ControlledCluster, scope: Scope) -> None:
    assert await released(controlled, scope) == [WHOLE]
    pool = controlled.kube.pool("p")
    assert (marks(controlled), pool["metadata"].get("finalizers")) == ([], None)
    assert (controlled.status()["phase"], controlled.hosts()) == ("Pending", [])
    assert controlled.condition() == (
        "False", "HostsReturned", "its hosts were released; a running controller assigns others",
    )  # fmt: skip


async def test_done_again_it_changes_nothing(controlled: ControlledCluster) -> None:
    await released(controlled, ALL)
    before = len(controlled.kube.changes)
    assert await released(controlled, ALL, ONE) == [
        Freed(what="HostPool default/p", stays=True),
        Freed(what="HostPool default/p", stays=True),
    ]
    assert len(controlled.kube.changes) == before


async def test_a_dry_run_says_the_same_and_changes_nothing(controlled: ControlledCluster) -> None:
    before = len(controlled.kube.changes)
    assert await released(controlled, ALL, dry_run=True) == [WHOLE]
    assert len(controlled.kube.changes) == before


async def test_a_controller_gives_hosts_again(controlled: ControlledCluster) -> None:
    await released(controlled, ALL)
    await controlled.lead()
    assert controlled.hosts() == ["0:node-a", "1:node-b"]


async def test_what_others_have_put_on_nodes_and_pools_stays(controlled: ControlledCluster) -> None:
    controlled.retaint("node-a", FOREIGN, TAINT)
    controlled.relabel("node-a", team="x")
    controlled.kube.change(pool_path("p"), {"metadata": {"finalizers": ["example.com/x", "streams.ibm.com/hosts"]}})
    await released(controlled, ALL)
    assert (controlled.taints("node-a"), controlled.kube.node("node-a")["metadata"]["labels"]["team"]) == (
        [FOREIGN],
        "x",
    )
    assert controlled.kube.pool("p")["metadata"]["finalizers"] == ["example.com/x"]


async def test_a_pool_that_is_deleted_goes_whatever_runs_on_its_hosts(controlled: ControlledCluster) -> None:
    controlled.pod("pe", "node-a", placement="host(p)")
    controlled.kube.delete(pool_path("p"))
    assert await released(controlled, ONE) == [Freed(what="HostPool default/p", hosts=WHOLE.hosts, finalizer=True)]
    assert (pool_path("p") in controlled.kube.objects, marks(controlled)) == (False, [])


async def test_other_pools_keep_their_hosts(controlled: ControlledCluster) -> None:
    controlled.kube.create(pool_path("q", "team"), spec={"size": 1})
    await controlled.lead()
    await controlled.end()
    controlled.forget()
    assert [freed.what for freed in await released(controlled, Scope("team"))] == ["HostPool team/q"]
    assert (marks(controlled), controlled.hosts()) == (["node-a", "node-b"], ["0:node-a", "1:node-b"])


# Marks without a pool


async def test_marks_of_a_pool_that_is_gone_are_found_by_its_name(controlled: ControlledCluster) -> None:
    controlled.kube.change(pool_path("p"), {"metadata": {"finalizers": None}})
    controlled.kube.delete(pool_path("p"))
    assert await released(controlled, Scope("default")) == [Freed(what="HostPools of namespace default")]
    assert await released(controlled, ONE) == [Freed(what="HostPool default/p", hosts=WHOLE.hosts)]
    assert marks(controlled) == []
    assert await released(controlled, ONE) == [Freed(what="HostPool default/p")]


async def test_with_all_marks_without_a_pool_are_taken_off(controlled: ControlledCluster) -> None:
    label = keys.membership("team", "gone")
    controlled.relabel("node-c", **{label: "0"})
    controlled.retaint("node-c", FOREIGN, {"key": keys.EXCLUSIVE, "value": "team.gone", "effect": "NoExecute"})
    controlled.retaint("node-b", TAINT, {"key": keys.EXCLUSIVE, "effect": "NoSchedule"})
    strays = [Freed(what="marks of no HostPool", hosts=(name,)) for name in ("node-b", "node-c")]
    assert await released(controlled, ALL, dry_run=True) == [WHOLE, *strays]
    assert await released(controlled, ALL) == [WHOLE, *strays]
    assert (marks(controlled), controlled.taints("node-c"), controlled.taints("node-b")) == ([], [FOREIGN], [])


async def test_where_there_are_no_pools_at_all_marks_go(controlled: ControlledCluster) -> None:
    """As when their definition was deleted by force."""
    controlled.kube.change(pool_path("p"), {"metadata": {"finalizers": None}})
    controlled.kube.delete(pool_path("p"))

    class Undefined(FaultyApi):
        async def read(self, path: str) -> bytes:
            if "streamshostpools" in path:
                raise ApiError(Cause.MISSING, "the API server answers 404: Not Found")
            return await super().read(path)

    found = await released(controlled, ALL, line=Undefined(controlled.kube))
    assert [freed.hosts for freed in found] == [("node-a",), ("node-b",)]
    assert marks(controlled) == []


# What goes wrong


async def test_a_pool_that_cannot_be_released_does_not_keep_others_from_it(controlled: ControlledCluster) -> None:
    controlled.kube.create(pool_path("q"), spec={"size": 1}, metadata={"finalizers": ["streams.ibm.com/hosts"]})
    line = FaultyApi(controlled.kube)

    def refuse(path: str) -> None:
        if path == node_path("node-b"):
            raise ApiError(Cause.FORBIDDEN, "the API server answers 403: no")

    line.before = refuse
    first, second = await released(controlled, ALL, line=line)
    assert (first.failure, second) == (
        "the API server answers 403: no", Freed(what="HostPool default/q", finalizer=True, stays=True),
    )  # fmt: skip
    assert controlled.kube.pool("p")["metadata"]["finalizers"] == ["streams.ibm.com/hosts"]
    assert [freed.failure for freed in await released(controlled, ALL)] == ["", ""]
    assert marks(controlled) == []


async def test_a_finalizer_that_may_not_be_removed_is_told_of(controlled: ControlledCluster) -> None:
    line = FaultyApi(controlled.kube)

    def refuse(path: str) -> None:
        if path == pool_path("p"):
            raise ApiError(Cause.FORBIDDEN, "the API server answers 403: no")

    line.before = refuse
    (freed,) = await released(controlled, ONE, line=line)
    assert (freed.failure, marks(controlled)) == ("the API server answers 403: no", [])


@pytest.mark.parametrize("times", [1, TRIES - 1])
async def test_whoever_comes_in_between_is_waited_for(controlled: ControlledCluster, times: int) -> None:
    assert await released(controlled, ONE, line=contested(controlled, times)) == [WHOLE]
    assert controlled.kube.pool("p")["metadata"].get("finalizers") is None


async def test_but_not_for_ever(controlled: ControlledCluster) -> None:
    (freed,) = await released(controlled, ONE, line=contested(controlled, 10**6))
    assert freed.failure == "it keeps being changed by other clients"


def contested(controlled: ControlledCluster, times: int) -> FaultyApi:
    """A line on which somebody else changes the pool right before each of that many writes."""
    line, left = FaultyApi(controlled.kube), [times]

    def meddle(path: str) -> None:
        if path == pool_path("p") and left[0]:
            left[0] -= 1
            controlled.kube.change(path, {"metadata": {"labels": {"n": str(left[0])}}})

    line.before = meddle
    return line


async def test_a_pool_that_goes_meanwhile_is_nothing_to_complain_of(controlled: ControlledCluster) -> None:
    line = FaultyApi(controlled.kube)

    def gone(path: str) -> None:
        if path.startswith("/api/v1/nodes") and pool_path("p") in controlled.kube.objects:
            controlled.kube.change(pool_path("p"), {"metadata": {"finalizers": None}})
            controlled.kube.delete(pool_path("p"))

    line.before = gone
    assert await released(controlled, ALL, line=line) == [WHOLE]
    assert marks(controlled) == []


@pytest.mark.parametrize("scope", [ALL, ONE], ids=["all", "pool"])
async def test_what_cannot_be_listed_is_a_failure(controlled: ControlledCluster, scope: Scope) -> None:
    class Silent(FaultyApi):
        async def read(self, path: str) -> bytes:
            if "streamshostpools" in path:
                raise ApiError(Cause.FORBIDDEN, "the API server answers 403: no")
            return await super().read(path)

    with pytest.raises(ApiError, match="^the API server answers 403: no$"):
        await released(controlled, scope, line=Silent(controlled.kube))


async def test_who_leads_no_more_changes_nothing(controlled: ControlledCluster) -> None:
    line = FaultyApi(controlled.kube)
    line.deposed = True
    with pytest.raises(LostError):
        await released(controlled, ALL, line=line)
    assert (marks(controlled), controlled.hosts()) == (["node-a", "node-b"], ["0:node-a", "1:node-b"])


async def test_the_label_goes_with_the_taint(controlled: ControlledCluster) -> None:
    await released(controlled, ONE)
    labels = controlled.kube.node("node-b")["metadata"]["labels"]
    assert (controlled.label("node-a"), controlled.taints("node-a"), LABEL in labels) == (None, [], False)


# What is asked for


@pytest.mark.parametrize(
    ("text", "scope"),
    [("team", Scope("team")), ("team/p", Scope("team", "p")), ("t-1/a.b-c", Scope("t-1", "a.b-c"))],
)
def test_a_scope_is(text: str, scope: Scope) -> None:
    assert parse_scope(text) == scope


@pytest.mark.parametrize(
    "text", ["", "Team", "team/", "/p", "a/b/c", "a b", "team/P", "team/a..b", "a.b", "-a", "team/p\n", "é"]
)
def test_no_scope_is(text: str) -> None:
    with pytest.raises(ValueError, match="^it should be NAMESPACE/POOL, or NAMESPACE for all HostPools there$"):
        parse_scope(text)
