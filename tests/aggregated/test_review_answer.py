"""The work of the process: what is read for a review, which names an answer tells, and what cannot be answered."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from tests.apiserver.kubeconfig import Given
from tests.apiserver.server import ApiServer, Seen, status
from webhook.admission.review import User
from webhook.aggregated import review_rights
from webhook.aggregated.review_answer import ReviewAnswering
from webhook.aggregated.review_creation import ReviewQuestion
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.node import Node

NAMES = ("mercury-1", "venus-2")


class Cluster:
    """An API server that knows rights and pods, and the inventory of two nodes."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.may: set[str] = set()
        self.failing = ""
        self.unreadable = False
        api.before = self.before

    async def before(self, seen: Seen) -> web.StreamResponse | None:
        if self.failing and self.failing in seen.path:
            return status(500)
        if seen.path.endswith("subjectaccessreviews"):
            of = seen.json["spec"]["resourceAttributes"]
            right = f"{of['verb']} {of['resource']} {of.get('namespace', '')}".strip()
            return web.json_response({"status": {"allowed": right in self.may}}, status=201)
        if self.unreadable:
            return web.json_response([])
        if "fieldSelector" in seen.query:
            node = seen.query["fieldSelector"].removeprefix("spec.nodeName=")
            return web.json_response({"items": [pod("ours", "team-a", node), pod("theirs", "team-b", node)]})
        return None

    async def answer(self, **spec: Any) -> tuple[int, Any]:
        """Code, and status or message, of the answer to jane in team-a."""
        answering = ReviewAnswering(self.api.configuration(), inventory, Policy(), lambda _connection: ReviewQueries())
        said = await answering.answered(ReviewQuestion("team-a", json.dumps(spec).encode(), User("jane")))
        return said.code, json.loads(bytes(said.status)) if said.code == 201 else said.message

    def asked(self) -> list[str]:
        """The pods that were asked for."""
        paths = [(seen.path, seen.query.get("fieldSelector", "")) for seen in self.api.seen]
        return sorted(f"{path} {selector}".strip() for path, selector in paths if "/pods" in path)


def inventory() -> Inventory:
    made = Inventory()
    for name in NAMES:
        made.set_node(Node(name, labels={"kubernetes.io/hostname": name}, allocatable={"cpu": 4, "pods": 110}))
    return made


def pod(name: str, namespace: str, node: str) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": "r", "controller": True}
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "ownerReferences": [owner]}
    containers = [{"name": "main", "image": "main"}]
    return {"metadata": metadata, "spec": {"nodeName": node, "containers": containers}, "status": {"phase": "Running"}}


def manifest(placement: str) -> dict[str, Any]:
    metadata = {"name": "mine", "annotations": {"streams.ibm.com/placement": placement}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "main", "image": "m"}]},
    }


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with ApiServer().running() as server:
        yield Cluster(server)


async def test_the_answer_is_admissions_and_tells_names_by_rights(cluster: Cluster) -> None:
    code, said = await cluster.answer(manifests=[manifest('host("mercury-1")'), manifest('host("pluto")')])
    assert (code, [one["verdict"] for one in said["results"]]) == (201, ["Admitted", "Refused"])
    assert said["results"][0]["candidates"] == {"count": 1}
    cluster.may.add("list nodes")
    code, said = await cluster.answer(manifests=[manifest('host("mercury-1")')])
    assert said["results"][0]["candidates"] == {"count": 1, "nodes": ["mercury-1"]}
    assert cluster.asked() == []


async def test_pods_of_drained_nodes_are_named_in_namespaces_whose_pods_the_user_may_list(cluster: Cluster) -> None:
    cluster.may |= {"list nodes", "list pods team-a"}
    code, said = await cluster.answer(whatIf={"drain": ["mercury-1"]})
    assert code == 201
    assert [(one["namespace"], one["name"]) for one in said["evicted"]] == [("team-a", "ours")]
    assert said["evictedElsewhere"]["count"] == 1
    assert cluster.asked() == ["/api/v1/pods spec.nodeName=mercury-1"]
    cluster.may |= {"list pods team-b"}
    _, said = await cluster.answer(whatIf={"drain": ["mercury-1"]})
    assert [one["name"] for one in said["evicted"]] == ["ours", "theirs"]


async def test_rights_are_asked_for_a_bounded_number_of_namespaces(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_rights, "NAMESPACES", 1)
    cluster.may |= {"list nodes", "list pods team-a", "list pods team-b"}
    _, said = await cluster.answer(whatIf={"drain": ["mercury-1"]})
    assert ([one["name"] for one in said["evicted"]], said["evictedElsewhere"]["count"]) == (["ours"], 1)


async def test_nothing_is_read_that_the_user_may_not_know_of(cluster: Cluster) -> None:
    code, said = await cluster.answer(whatIf={"drain": ["mercury-1"], "removePods": [{"name": "a"}]})
    assert code == 422
    assert "spec.whatIf.drain" in said
    assert cluster.asked() == []


async def test_nothing_is_read_for_a_spec_beyond_its_bounds(cluster: Cluster) -> None:
    cluster.may |= {"list nodes", "list pods"}
    for what_if, said in (
        ({"drain": ["mercury-1"] * 101}, "spec.whatIf.drain: has 101 nodes, at most 100 are allowed"),
        (
            {"removePods": [{"name": f"p-{at}"} for at in range(1001)]},
            "spec.whatIf.removePods: has 1,001 pods, at most 1,000 are allowed",
        ),
        ({"drain": ["pluto"]}, 'spec.whatIf.drain[0]: there is no node "pluto"'),
    ):
        assert await cluster.answer(whatIf=what_if) == (422, said)
    assert cluster.asked() == []


async def test_a_node_that_is_named_twice_is_drained_once(cluster: Cluster) -> None:
    cluster.may |= {"list nodes", "list pods"}
    _, said = await cluster.answer(whatIf={"drain": ["mercury-1", "mercury-1"]})
    assert cluster.asked() == ["/api/v1/pods spec.nodeName=mercury-1"]
    assert [one["name"] for one in said["evicted"]] == ["ours", "theirs"]


async def test_the_namespaces_that_a_review_names_come_first(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_rights, "NAMESPACES", 2)
    cluster.may |= {"list nodes", "list pods z", "list pods team-a", "list pods team-b"}
    cluster.api.put("/api/v1/namespaces/z/pods/a", pod("a", "z", "venus-2"))
    what_if = {"drain": ["mercury-1"], "removePods": [{"name": "a", "namespace": "z"}]}
    code, said = await cluster.answer(whatIf=what_if)
    assert (code, [one["name"] for one in said["evicted"]]) == (201, ["ours"])


async def test_pods_that_are_removed_are_read_by_name(cluster: Cluster) -> None:
    cluster.may.add("list pods")
    cluster.api.put("/api/v1/namespaces/team-b/pods/a", pod("a", "team-b", "mercury-1"))
    code, said = await cluster.answer(whatIf={"removePods": [{"name": "a", "namespace": "team-b"}, {"name": "b"}]})
    assert cluster.asked() == ["/api/v1/namespaces/team-a/pods/b", "/api/v1/namespaces/team-b/pods/a"]
    assert code == 422
    assert "spec.whatIf.removePods[1]" in said


async def test_a_spec_that_says_something_else_is_refused(cluster: Cluster) -> None:
    assert await cluster.answer(explode=True) == (400, "spec: Object contains unknown field `explode`")
    said = (400, "spec: Object contains unknown field `\\x1b[2J`")
    assert await cluster.answer(**{"\x1b[2J": 1}) == said


@pytest.mark.parametrize("failing", ["subjectaccessreviews", "/pods"])
async def test_where_the_api_server_does_not_say_there_is_no_answer(cluster: Cluster, failing: str) -> None:
    cluster.may |= {"list nodes", "list pods"}
    cluster.failing = failing
    code, said = await cluster.answer(whatIf={"removePods": [{"name": "a"}]})
    assert code == 503
    assert said.startswith("the API server does not say what the answer depends on: ")


async def test_pods_that_cannot_be_read_are_no_answer(cluster: Cluster) -> None:
    cluster.may |= {"list nodes", "list pods"}
    cluster.unreadable = True
    code, said = await cluster.answer(whatIf={"drain": ["mercury-1"]})
    assert code == 503
    assert "the API server's answer about pods is unreadable" in said


def test_the_process_has_an_event_loop_of_its_own() -> None:
    nowhere = Configuration(Given(Access(server="http://127.0.0.1:1")))
    answering = ReviewAnswering(nowhere, inventory, Policy(), lambda _connection: ReviewQueries())
    assert answering(ReviewQuestion("team-a", b"{}", User("jane"))).code == 503
