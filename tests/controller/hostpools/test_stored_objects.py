"""HostPools and nodes as they are stored and watched, however broken."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from kubeapi.client.errors import ApiError, Cause
from tests.builders import cluster
from webhook.cluster.watch.store import Store
from webhook.controller.hostpools.node_cache import LATE, NodeCache
from webhook.controller.hostpools.pool_object import OWN_POOLS, StoredPool, path_of, read_pool, unreadable
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.pool import Phase, PoolHost

Json = dict[str, Any]


def body(spec: Any = None, status: Any = None, **metadata: Any) -> bytes:
    named = {"name": "p", "namespace": "team", "uid": "u", "resourceVersion": "7", **metadata}
    return msgspec.json.encode({"metadata": named, "spec": {"size": 1} if spec is None else spec, "status": status})


ANEW = "rewriting its status"
TWICE = {"phase": "Ready", "hosts": [{"index": 0, "name": "x"}, {"index": 0, "name": "x"}]}


class TestAStoredPool:
    def test_says_where_it_is(self) -> None:
        found = read_pool(body())
        assert (found.name, found.path, path_of("team", "p")) == (
            ("team", "p"),
            "/apis/streams.ibm.com/v1/namespaces/team/streamshostpools/p",
            found.path,
        )

    def test_describes_a_pool(self) -> None:
        found = read_pool(body(status={"phase": "Ready", "hosts": [{"index": 0, "name": "a", "uid": "u"}]})).pool
        assert found
        assert (found.size, found.phase, found.assigned) == (1, Phase.READY, (PoolHost(0, "a", "u"),))

    @pytest.mark.parametrize("status", [TWICE, {"hosts": 7}, 7, [], {"phase": "Bogus"}], ids=str)
    def test_is_not_believed_what_its_status_says_against_the_rules(self, status: Any) -> None:
        found = read_pool(body(status=status))
        assert found.pool
        assert (found.pool.size, found.pool.phase, found.pool.assigned, found.fault) == (1, Phase.PENDING, (), "")

    @pytest.mark.parametrize(
        ("spec", "fault"),
        [
            ({"size": -1}, "spec.size: -1 is not between 1 and 5000"),
            ({"size": "x"}, "spec.size: expected `int | null`, got `str`"),
        ],
    )
    def test_is_none_if_its_spec_breaks_rules(self, spec: Any, fault: str) -> None:
        found = read_pool(body(spec))
        assert (found.pool, found.fault) == (None, fault)

    @pytest.mark.parametrize("text", [b"{", b'{"metadata": {"name": 7}}', b"\xff"])
    def test_that_is_none_is_a_failure(self, text: bytes) -> None:
        with pytest.raises(ApiError, match="^the HostPool cannot be read: ") as failure:
            read_pool(text)
        assert failure.value.cause is Cause.UNREADABLE

    @pytest.mark.parametrize(
        ("metadata", "leaving", "held"),
        [
            ({}, False, False),
            ({"finalizers": ["x"]}, False, False),
            ({"finalizers": ["x", "streams.ibm.com/hosts"]}, False, True),
            ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, True, False),
        ],
    )
    def test_knows_whether_it_goes_and_is_held(self, metadata: Json, *, leaving: bool, held: bool) -> None:
        found = read_pool(body(**metadata))
        assert (found.leaving, found.held) == (leaving, held)

    @pytest.mark.parametrize(
        ("finalizers", "held", "freed"),
        [
            (None, ["streams.ibm.com/hosts"], None),
            (["x"], ["x", "streams.ibm.com/hosts"], ["x"]),
            (["streams.ibm.com/hosts", "x"], ["streams.ibm.com/hosts", "x", "streams.ibm.com/hosts"], ["x"]),
        ],
    )
    def test_is_held_and_freed_at_its_version(self, finalizers: Any, held: Any, freed: Any) -> None:
        found: StoredPool = read_pool(body(finalizers=finalizers))
        assert (found.holding(), found.free()) == (
            {"metadata": {"resourceVersion": "7", "finalizers": held}},
            {"metadata": {"resourceVersion": "7", "finalizers": freed}},
        )


class TestAWatchedPool:
    def store(self) -> tuple[Store, Inventory, list[str]]:
        told: list[str] = []
        inventory = cluster()
        return Store(OWN_POOLS, inventory, lambda finding: told.append(str(finding))), inventory, told

    def test_is_known_although_its_status_breaks_rules(self) -> None:
        store, inventory, told = self.store()
        store.put(Raw(body(status={"phase": "Bogus"})))
        assert inventory.pools["team", "p"].size == 1
        assert told == [
            'HostPool team/p: status.phase: "Bogus" is not one of Pending, Ready, Failed, Releasing; ' + ANEW
        ]

    def test_is_known_by_its_name_alone_if_nothing_else_can_be_read(self) -> None:
        store, inventory, told = self.store()
        store.put(Raw(body({"size": -1})))
        found = inventory.pools["team", "p"]
        assert (unreadable(found), found.phase, found.sized) == (True, Phase.FAILED, False)
        assert told == ["HostPool team/p: spec.size: -1 is not between 1 and 5000"]

    def test_belongs_to_the_namespace_default_if_it_names_none(self) -> None:
        store, inventory, _ = self.store()
        store.put(Raw(body({"size": -1}, namespace="")))
        assert set(inventory.pools) == {("default", "p")}

    @pytest.mark.parametrize("name", ["", 7])
    def test_without_a_name_is_left_out(self, name: Any) -> None:
        store, inventory, _ = self.store()
        store.put(Raw(body({"size": -1}, name=name)))
        assert not inventory.pools

    def test_is_forgotten_when_it_is_gone(self) -> None:
        store, inventory, _ = self.store()
        store.put(Raw(body({"size": -1})))
        store.remove("team/p")
        assert not inventory.pools


def node(version: object, zone: str = "a", name: str = "node-a", uid: str = "u-1") -> bytes:
    metadata = {"name": name, "uid": uid, "resourceVersion": version, "labels": {"zone": zone}}
    return msgspec.json.encode({"metadata": metadata})


class TestLearnedNodes:
    def known(self, version: object = "10") -> tuple[Store, NodeCache, Inventory]:
        inventory = cluster()
        self.passed = 0.0
        nodes = NodeCache(inventory, lambda: self.passed)
        store = Store(nodes.kind, inventory, lambda _: None)
        store.put(Raw(node(version)))
        return store, nodes, inventory

    def zone(self, inventory: Inventory) -> str | None:
        found = inventory.nodes.get("node-a")
        return found.labels["zone"] if found else None

    @pytest.mark.parametrize(("version", "zone"), [("11", "b"), ("10", "a"), ("9", "a"), ("x", "a"), (None, "a")])
    def test_what_is_newer_is_learned(self, version: object, zone: str) -> None:
        _, nodes, inventory = self.known()
        nodes.learn(node(version, "b"))
        assert self.zone(inventory) == zone

    def test_what_the_watch_tells_counts_in_its_order(self) -> None:
        """After the API server was restored from a backup its versions are lower."""
        store, _, inventory = self.known()
        store.put(Raw(node("5", "b")))
        assert self.zone(inventory) == "b"

    def test_what_the_watch_tells_late_does_not_undo_an_answer(self) -> None:
        store, nodes, inventory = self.known()
        nodes.learn(node("13", "d"))
        for version, zone in (("11", "b"), ("12", "c")):
            store.put(Raw(node(version, zone)))
            assert self.zone(inventory) == "d"
        store.put(Raw(node("13", "d")))
        store.put(Raw(node("5", "e")))
        assert self.zone(inventory) == "e", "once the watch has brought the answer, its order counts"

    def test_a_minute_after_an_answer_the_order_of_the_watch_counts_again(self) -> None:
        store, nodes, inventory = self.known()
        nodes.learn(node("13", "d"))
        self.passed = LATE - 1
        store.put(Raw(node("5", "b")))
        assert self.zone(inventory) == "d"
        self.passed = LATE
        store.put(Raw(node("6", "b")))
        assert self.zone(inventory) == "b"

    def test_another_node_of_the_name_counts_whatever_its_version(self) -> None:
        store, nodes, inventory = self.known()
        nodes.learn(node("13", "d"))
        store.put(Raw(node("12", "b", uid="u-2")))
        assert self.zone(inventory) == "b"

    def test_what_was_answered_about_a_node_that_is_gone_is_forgotten(self) -> None:
        store, nodes, inventory = self.known()
        nodes.learn(node("13", "d"))
        store.remove("node-a")
        store.put(Raw(node("12", "b")))
        assert self.zone(inventory) == "b"

    def test_a_node_that_is_gone_does_not_come_back(self) -> None:
        store, nodes, inventory = self.known()
        store.remove("node-a")
        nodes.learn(node("11", "b"))
        assert self.zone(inventory) is None

    def test_what_is_not_a_node_is_not_learned(self) -> None:
        _, nodes, inventory = self.known()
        for text in (b"{", b"{}", b"\xff"):
            nodes.learn(text)
        assert self.zone(inventory) == "a"

    def test_versions_that_are_no_numbers_teach_nothing(self) -> None:
        _, nodes, inventory = self.known("x")
        nodes.learn(node("y", "b"))
        assert self.zone(inventory) == "a"
