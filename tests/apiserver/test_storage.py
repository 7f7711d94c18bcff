"""Objects have versions, uids and generations; watches are told of changes, and lists come in pages."""

from typing import Any

import pytest

from tests.apiserver.paths import NODES, PODS, Json, api_path, node_path, pod_path
from tests.apiserver.storage import DELETED_AT, RefusedError, Storage, merged

A, B = node_path("a"), node_path("b")


@pytest.fixture
def storage() -> Storage:
    """One node."""
    storage = Storage()
    storage.create(A, metadata={"labels": {"zone": "x"}}, spec={"taints": []}, status={"phase": "up"})
    return storage


def stamp(item: Json) -> tuple[str, str, int]:
    metadata = item["metadata"]
    return metadata["uid"], metadata["resourceVersion"], metadata["generation"]


def told(storage: Storage, seen: int = 0, collection: str = NODES, **query: str) -> list[tuple[str, str]]:
    """Type of every event, and the version of its object."""
    where = api_path(collection)
    assert where is not None
    events = storage.events(seen, where, query)
    return [(event["type"], event["object"]["metadata"]["resourceVersion"]) for event in events]


def page(storage: Storage, collection: str = NODES, **query: Any) -> tuple[list[str], Json]:
    where = api_path(collection)
    assert where is not None
    found = storage.page(where, {name: str(value) for name, value in query.items()})
    return [item["metadata"]["name"] for item in found["items"] or ()], found["metadata"]


class TestVersions:
    def test_a_new_object_has_names_a_uid_a_version_and_the_first_generation(self, storage: Storage) -> None:
        found = storage.create(pod_path("p", "team"), spec={})
        assert found["metadata"] == {
            "name": "p", "namespace": "team", "uid": "uid-102", "resourceVersion": "102", "generation": 1,
        }  # fmt: skip

    def test_a_uid_that_is_stated_is_kept(self, storage: Storage) -> None:
        assert stamp(storage.create(B, metadata={"uid": "u"})) == ("u", "102", 1)

    def test_there_is_one_counter_for_everything(self, storage: Storage) -> None:
        storage.create(B)
        storage.change(A, {"metadata": {"labels": {"zone": "y"}}})
        storage.delete(B)
        assert ([change.version for change in storage.changes], storage.version) == ([101, 102, 103, 104], 104)

    @pytest.mark.parametrize(
        ("patch", "generation"),
        [
            ({"spec": {"unschedulable": True}}, 2),
            ({"webhooks": []}, 2),
            ({"status": {"phase": "down"}}, 1),
            ({"metadata": {"labels": {"zone": "y"}}}, 1),
        ],
    )
    def test_a_generation_is_about_what_is_desired(self, storage: Storage, patch: Json, generation: int) -> None:
        assert stamp(storage.change(A, patch)) == ("uid-101", "102", generation)

    def test_a_change_that_changes_nothing_takes_no_version(self, storage: Storage) -> None:
        before = storage.objects[A]
        assert storage.change(A, {"spec": {"taints": []}, "status": {"gone": None}}) is before
        assert (storage.version, len(storage.changes)) == (101, 1)

    def test_versions_and_generations_are_not_for_others_to_write(self, storage: Storage) -> None:
        storage.change(A, {"metadata": {"resourceVersion": "7", "generation": 9}, "spec": {"x": 1}})
        assert stamp(storage.objects[A]) == ("uid-101", "102", 2)

    def test_an_object_is_not_changed_in_place(self, storage: Storage) -> None:
        before = storage.objects[A]
        storage.change(A, {"metadata": {"labels": {"zone": None}}})
        assert (before["metadata"]["labels"], storage.objects[A]["metadata"]["labels"]) == ({"zone": "x"}, {})


class TestPut:
    def test_the_same_again_is_a_write(self, storage: Storage) -> None:
        assert stamp(storage.put(A, storage.objects[A])) == ("uid-101", "102", 1)

    def test_what_is_not_stated_is_gone_but_the_uid(self, storage: Storage) -> None:
        assert storage.put(A, {"spec": {}, "metadata": {}}) == {
            "spec": {}, "metadata": {"uid": "uid-101", "resourceVersion": "102", "generation": 2},
        }  # fmt: skip

    def test_another_uid_is_another_object(self, storage: Storage) -> None:
        storage.put(A, {"metadata": {"name": "a", "uid": "other"}})
        assert told(storage, 101) == [("DELETED", "102"), ("ADDED", "103")]
        assert stamp(storage.objects[A]) == ("other", "103", 1)

    @pytest.mark.parametrize("thing", [{"metadata": "x"}, {"metadata": None, "spec": 5}, {"metadata": [], "spec": []}])
    def test_a_damaged_object_is_kept_as_it_is(self, storage: Storage, thing: Json) -> None:
        assert storage.put(A, thing) == storage.objects[A] == thing
        assert storage.version == 102


class TestDeletion:
    def test_an_object_goes_at_once(self, storage: Storage) -> None:
        assert storage.delete(A)["metadata"]["resourceVersion"] == "102"
        assert storage.objects == {}

    def test_who_has_a_finalizer_goes_with_the_last_one(self, storage: Storage) -> None:
        storage.change(A, {"metadata": {"finalizers": ["x", "y"]}})
        assert storage.delete(A)["metadata"]["deletionTimestamp"] == DELETED_AT
        storage.change(A, {"metadata": {"finalizers": ["y"]}})
        assert A in storage.objects
        storage.change(A, {"metadata": {"finalizers": None}})
        assert (A in storage.objects, told(storage, 104)) == (False, [("DELETED", "105")])

    def test_a_second_deletion_changes_nothing(self, storage: Storage) -> None:
        storage.change(A, {"metadata": {"finalizers": ["x"], "deletionTimestamp": "2020-01-01T00:00:00Z"}})
        before = storage.objects[A]
        assert storage.delete(A) is before

    def test_who_never_had_a_finalizer_stays_while_it_ends(self, storage: Storage) -> None:
        """As a pod does for as long as it is given to stop."""
        storage.change(A, {"metadata": {"deletionTimestamp": DELETED_AT}})
        storage.change(A, {"status": {"phase": "down"}})
        assert A in storage.objects


class TestWatches:
    def test_tell_what_happened_since(self, storage: Storage) -> None:
        storage.change(A, {"spec": {"x": 1}})
        storage.create(pod_path("p"))
        storage.delete(A)
        assert told(storage) == [("ADDED", "101"), ("MODIFIED", "102"), ("DELETED", "104")]
        assert (told(storage, 102), told(storage, 104)) == ([("DELETED", "104")], [])

    def test_are_of_a_namespace_or_of_all(self, storage: Storage) -> None:
        storage.create(pod_path("p", "team"))
        storage.create(pod_path("p", "other"))
        assert told(storage, collection=PODS) == [("ADDED", "102"), ("ADDED", "103")]
        assert told(storage, collection="/api/v1/namespaces/team/pods") == [("ADDED", "102")]

    def test_turn_a_change_into_what_it_is_for_who_selects(self, storage: Storage) -> None:
        for zone in ("y", "y2", "x"):
            storage.change(A, {"metadata": {"labels": {"zone": zone}}})
        storage.delete(A)
        assert told(storage, labelSelector="zone=x") == [
            ("ADDED", "101"), ("DELETED", "102"), ("ADDED", "104"), ("DELETED", "105"),
        ]  # fmt: skip

    def test_tell_of_an_object_that_left_as_it_was_before(self, storage: Storage) -> None:
        storage.change(A, {"metadata": {"labels": {"zone": "y"}}})
        where = api_path(NODES)
        assert where is not None
        [event] = storage.events(101, where, {"labelSelector": "zone=x"})
        assert event["object"]["metadata"]["labels"] == {"zone": "x"}

    def test_of_versions_that_are_forgotten_are_too_old(self, storage: Storage) -> None:
        storage.create(B)
        storage.compact()
        storage.delete(B)
        assert told(storage, 102) == [("DELETED", "103")]
        with pytest.raises(RefusedError, match=r"^too old resource version: 101 \(102\)$") as refusal:
            told(storage, 101)
        assert (refusal.value.code, refusal.value.reason) == (410, "Expired")

    def test_listeners_hear_of_every_write_once_it_is_done(self, storage: Storage) -> None:
        heard: list[tuple[bool, bool, bool]] = []
        storage.listeners.append(
            lambda change: heard.append((change.before is None, change.after is None, B in storage.objects))
        )
        storage.create(B)
        storage.delete(B)
        assert heard == [(True, False, True), (False, True, False)]


class TestLists:
    def test_are_in_the_order_of_names(self, storage: Storage) -> None:
        for path in (pod_path("b", "x"), pod_path("a", "y"), pod_path("a", "x")):
            storage.create(path)
        assert page(storage, PODS) == (["a", "b", "a"], {"resourceVersion": "104"})
        assert page(storage, "/api/v1/namespaces/x/pods")[0] == ["a", "b"]

    def test_are_of_what_is_selected(self, storage: Storage) -> None:
        storage.create(B)
        assert page(storage, labelSelector="zone")[0] == ["a"]

    def test_that_are_empty_have_no_items(self, storage: Storage) -> None:
        assert page(storage, PODS, limit=3) == ([], {"resourceVersion": "101"})

    def test_come_in_pages_of_one_moment(self, storage: Storage) -> None:
        for name in "bcde":
            storage.create(node_path(name))
        first, at = page(storage, limit=2)
        storage.delete(node_path("c"))
        storage.create(node_path("f"))
        second, then = page(storage, limit=2, **{"continue": at["continue"]})
        third, last = page(storage, limit=2, **{"continue": then["continue"]})
        assert (first, second, third) == (["a", "b"], ["c", "d"], ["e"])
        assert [one["resourceVersion"] for one in (at, then, last)] == ["105"] * 3
        assert "continue" not in last

    def test_that_exactly_fill_a_page_have_no_other(self, storage: Storage) -> None:
        assert page(storage, limit=1) == (["a"], {"resourceVersion": "101"})

    def test_do_not_go_on_after_history_is_forgotten(self, storage: Storage) -> None:
        storage.create(B)
        _, at = page(storage, limit=1)
        storage.compact()
        with pytest.raises(RefusedError, match="too old") as refusal:
            page(storage, limit=1, **{"continue": at["continue"]})
        assert refusal.value.code == 410


@pytest.mark.parametrize(
    ("old", "change", "new"),
    [
        ({"a": 1}, {"b": {"c": None, "d": 2}}, {"a": 1, "b": {"d": 2}}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}),
        ({"a": 1}, {"b": None}, {"a": 1}),
        ({"a": 1}, [1], [1]),
    ],
)
def test_a_merge_patch_is_that_of_rfc_7396(old: Json, change: Any, new: Any) -> None:
    assert merged(old, change) == new
