"""Requests without a network, and the errors that a client raises of their refusals."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.direct import DirectClient
from tests.apiserver.paths import NODES, node_path
from tests.apiserver.storage import Change, Storage

NODE = node_path("a")
CHANGED = "409: the object has been modified: it has another resourceVersion"


@pytest.fixture
def storage() -> Storage:
    storage = Storage()
    for name in "ab":
        storage.create(node_path(name), spec={})
    return storage


def test_an_answer_is_the_stored_object(storage: Storage) -> None:
    assert json.loads(DirectClient(storage).merge_patch(NODE, {"spec": {"x": (1,)}})) == storage.objects[NODE]
    assert storage.objects[NODE]["spec"] == {"x": [1]}


def test_a_path_may_have_a_query(storage: Storage) -> None:
    client = DirectClient(storage)
    first = json.loads(client.read(f"{NODES}?limit=1"))
    second = json.loads(client.read(f"{NODES}?limit=1&continue={quote(first['metadata']['continue'])}"))
    assert [item["metadata"]["name"] for page in (first, second) for item in page["items"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("method", "path", "body", "cause", "text"),
    [
        ("GET", node_path("z"), None, Cause.MISSING, f"404: {node_path('z')} not found"),
        ("POST", NODES, {"metadata": {"name": "a"}}, Cause.EXISTS, f"409: {NODE} already exists"),
        ("PATCH", NODE, {"metadata": {"resourceVersion": "1"}}, Cause.CONFLICT, CHANGED),
        ("PATCH", NODE, {"metadata": {"uid": "other"}}, Cause.INVALID, "422: metadata.uid is immutable"),
        ("GET", f"{NODES}?continue=x", None, Cause.GONE, "410: The provided continue parameter is too old"),
    ],
)  # fmt: skip
def test_a_refusal_is_an_error(storage: Storage, method: str, path: str, body: Any, cause: Cause, text: str) -> None:
    with pytest.raises(ApiError) as failure:
        DirectClient(storage).ask(method, path, body)
    assert (failure.value.cause, str(failure.value)) == (cause, f"the API server answers {text}")


def test_a_writer_is_known_while_its_request_is_obeyed(storage: Storage) -> None:
    writers: list[object] = []

    def hear(_: Change) -> None:
        writers.append(storage.writer)

    storage.listeners.append(hear)
    DirectClient(storage, writer="me").merge_patch(NODE, {"spec": {"x": 1}})
    storage.change(NODE, {"spec": {"x": 2}})
    with pytest.raises(ApiError):
        DirectClient(storage, writer="me").merge_patch(node_path("z"), {})
    assert (writers, storage.writer) == (["me", None], None)
