"""What requests do, and with which status they are refused."""

from typing import Any

import pytest

from tests.apiserver.paths import NODES, Json, node_path, pool_path
from tests.apiserver.requests import obey
from tests.apiserver.storage import DELETED_AT, RefusedError, Storage

NODE = node_path("a")
POOL = pool_path("p", "team")
SECRETS = "/api/v1/namespaces/ns/secrets"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m"


@pytest.fixture
def storage() -> Storage:
    """A node at version 101, a pool at 102."""
    storage = Storage()
    storage.create(NODE, metadata={"labels": {"zone": "x"}}, spec={"taints": []}, status={"phase": "up"})
    storage.create(POOL, spec={"size": 1}, status={"phase": "Ready"})
    return storage


def refusal(storage: Storage, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """Status and reason of a request that changes nothing."""
    before = dict(storage.objects), storage.version
    with pytest.raises(RefusedError) as refused:
        obey(storage, method, path, body)
    assert (dict(storage.objects), storage.version) == before
    return refused.value.code, refused.value.reason


def changed(storage: Storage, method: str, path: str, body: Any = None) -> Json:
    code, answer = obey(storage, method, path, body)
    assert code == 200
    return answer


class TestGet:
    def test_an_object_is_answered_as_it_is_stored(self, storage: Storage) -> None:
        assert obey(storage, "GET", NODE) == (200, storage.objects[NODE])

    def test_a_collection_is_a_list(self, storage: Storage) -> None:
        code, found = obey(storage, "GET", NODES, query={"limit": "5"})
        assert (code, found["kind"], found["items"]) == (200, "List", [storage.objects[NODE]])


class TestPost:
    def test_an_object_is_made_in_the_namespace_of_the_path(self, storage: Storage) -> None:
        code, made = obey(storage, "POST", SECRETS, {"metadata": {"name": "s"}, "data": {}})
        assert (code, made["metadata"]["namespace"]) == (201, "ns")
        assert storage.objects[f"{SECRETS}/s"] == made

    def test_a_name_is_taken_once(self, storage: Storage) -> None:
        assert refusal(storage, "POST", NODES, {"metadata": {"name": "a"}}) == (409, "AlreadyExists")


class TestPut:
    def test_of_the_version_that_is_there_replaces(self, storage: Storage) -> None:
        metadata = storage.objects[NODE]["metadata"]
        assert changed(storage, "PUT", NODE, {"metadata": metadata, "spec": {}})["spec"] == {}

    @pytest.mark.parametrize(("field", "value"), [("resourceVersion", "100"), ("uid", "other")])
    def test_of_another_object_or_version_is_a_conflict(self, storage: Storage, field: str, value: str) -> None:
        metadata = {**storage.objects[NODE]["metadata"], field: value}
        assert refusal(storage, "PUT", NODE, {"metadata": metadata, "spec": {}}) == (409, "Conflict")

    def test_of_no_version_replaces_what_may_be_replaced_unseen(self, storage: Storage) -> None:
        assert changed(storage, "PUT", NODE, {"metadata": {"name": "a"}})["metadata"]["uid"] == "uid-101"

    @pytest.mark.parametrize("path", [POOL, LEASE, WEBHOOKS])
    def test_of_no_version_is_invalid_for_other_kinds(self, storage: Storage, path: str) -> None:
        storage.put(path, {"metadata": {}, "spec": {}})
        assert refusal(storage, "PUT", path, {"metadata": {}, "spec": {"x": 1}}) == (422, "Invalid")

    def test_of_the_same_again_takes_no_version(self, storage: Storage) -> None:
        changed(storage, "PUT", POOL, storage.objects[POOL])
        assert storage.version == 102


class TestPatch:
    def test_a_dictionary_is_merged(self, storage: Storage) -> None:
        found = changed(storage, "PATCH", NODE, {"metadata": {"labels": {"zone": None, "rack": "1"}}})
        assert found["metadata"]["labels"] == {"rack": "1"}

    def test_a_list_is_operations(self, storage: Storage) -> None:
        patch = [{"op": "add", "path": "/spec/taints/0", "value": {"key": "k", "effect": "NoSchedule"}}]
        assert changed(storage, "PATCH", NODE, patch)["spec"]["taints"] == [{"key": "k", "effect": "NoSchedule"}]

    @pytest.mark.parametrize("path", ["/spec/absent/0", "/metadata/labels/zone"])
    def test_an_operation_that_cannot_be_done_is_invalid(self, storage: Storage, path: str) -> None:
        assert refusal(storage, "PATCH", NODE, [{"op": "test", "path": path, "value": 7}]) == (422, "Invalid")

    @pytest.mark.parametrize(
        "patch",
        [
            pytest.param({"metadata": {"resourceVersion": "1"}}, id="merge"),
            pytest.param([{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}], id="operations"),
        ],
    )
    @pytest.mark.parametrize("path", [POOL, f"{POOL}/status"])
    def test_of_another_version_is_a_conflict(self, storage: Storage, path: str, patch: Any) -> None:
        assert refusal(storage, "PATCH", path, patch) == (409, "Conflict")

    def test_of_another_uid_is_invalid(self, storage: Storage) -> None:
        """No precondition as it is of a PUT: a patch tries to change the uid, which cannot be changed."""
        assert refusal(storage, "PATCH", NODE, {"metadata": {"uid": "other"}}) == (422, "Invalid")

    def test_that_changes_nothing_takes_no_version(self, storage: Storage) -> None:
        patch = {"metadata": {"resourceVersion": "101", "labels": {"zone": "x", "rack": None}}}
        assert changed(storage, "PATCH", NODE, patch) is storage.objects[NODE]
        assert storage.version == 102

    def test_the_status_is_changed_at_a_path_of_its_own(self, storage: Storage) -> None:
        both = {"spec": {"size": 2}, "status": {"phase": "Failed"}}
        assert changed(storage, "PATCH", f"{POOL}/status", both)["spec"] == {"size": 1}
        assert storage.objects[POOL]["status"] == {"phase": "Failed"}
        assert changed(storage, "PATCH", POOL, {**both, "status": None})["spec"] == {"size": 2}
        assert storage.objects[POOL]["status"] == {"phase": "Failed"}

    def test_a_node_has_a_taint_once(self, storage: Storage) -> None:
        taint = {"key": "k", "effect": "NoSchedule"}
        patch = {"spec": {"taints": [{**taint, "value": "1"}, {**taint, "value": "2"}]}}
        assert refusal(storage, "PATCH", NODE, patch) == (422, "Invalid")


class TestDelete:
    def test_an_object_goes(self, storage: Storage) -> None:
        changed(storage, "DELETE", NODE)
        assert NODE not in storage.objects

    @pytest.mark.parametrize("stated", [{"uid": "other"}, {"resourceVersion": "1"}])
    def test_preconditions_are_about_the_object_that_is_there(self, storage: Storage, stated: Json) -> None:
        assert refusal(storage, "DELETE", NODE, {"preconditions": stated}) == (409, "Conflict")
        metadata = storage.objects[NODE]["metadata"]
        changed(storage, "DELETE", NODE, {"preconditions": {name: metadata[name] for name in stated}})

    def test_an_object_that_is_held_goes_with_its_last_finalizer(self, storage: Storage) -> None:
        changed(storage, "PATCH", POOL, {"metadata": {"finalizers": ["x"]}})
        assert changed(storage, "DELETE", POOL)["metadata"]["deletionTimestamp"] == DELETED_AT
        changed(storage, "PATCH", POOL, {"metadata": {"finalizers": [], "deletionTimestamp": None}})
        assert POOL not in storage.objects

    def test_an_object_that_is_going_cannot_be_held(self, storage: Storage) -> None:
        storage.change(POOL, {"metadata": {"finalizers": ["x"]}})
        storage.delete(POOL)
        assert refusal(storage, "PATCH", POOL, {"metadata": {"finalizers": ["x", "y"]}}) == (422, "Invalid")

    def test_only_a_deletion_sets_the_time_of_deletion(self, storage: Storage) -> None:
        found = changed(storage, "PATCH", POOL, {"metadata": {"deletionTimestamp": DELETED_AT, "finalizers": ["x"]}})
        assert "deletionTimestamp" not in found["metadata"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *((method, node_path("z")) for method in ("GET", "PUT", "PATCH", "DELETE")),
        ("GET", "/healthz"),
        ("POST", "/api/v1/namespaces/team/pods/p/binding"),
    ],
)
def test_what_is_not_there_is_not_found(storage: Storage, method: str, path: str) -> None:
    assert refusal(storage, method, path, {"metadata": {"name": "z"}}) == (404, "NotFound")
