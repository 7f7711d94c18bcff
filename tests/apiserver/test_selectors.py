"""Which objects a list or a watch asks for."""

from typing import Any

import pytest

from tests.apiserver.selectors import Selector

POD = {
    "metadata": {"namespace": "team", "labels": {"app": "web", "empty": ""}},
    "spec": {"nodeName": "a"},
    "status": {"phase": "Running"},
}


def selected(item: Any = POD, namespace: str = "", **query: str) -> bool:
    return Selector(query, namespace)(item)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True), ("app", True), ("empty", True), ("other", False), ("app=web", True), ("app==web", True),
        ("app=db", False), ("app!=db", True), ("app!=web", False), ("other!=x", True), ("app=web,empty", True),
        ("app=web,other", False), ("empty=", True), ("other=", False), ("app in (db,web)", True),
        ("app in (db),empty", False), ("empty,app in (web),app=web", True), ("other in (web)", False),
    ],
)  # fmt: skip
def test_labels(text: str, *, expected: bool) -> None:
    assert selected(labelSelector=text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True), ("spec.nodeName=a", True), ("spec.nodeName=b", False), ("spec.nodeName!=", True),
        ("status.phase!=Succeeded,status.phase!=Failed", True), ("status.phase!=Running", False), ("spec.other=", True),
    ],
)  # fmt: skip
def test_fields(text: str, *, expected: bool) -> None:
    assert selected(fieldSelector=text) is expected


@pytest.mark.parametrize(("namespace", "expected"), [("", True), ("team", True), ("other", False)])
def test_namespaces(namespace: str, *, expected: bool) -> None:
    assert selected(namespace=namespace) is expected


@pytest.mark.parametrize("item", [{}, {"metadata": None}, {"metadata": {"labels": 5}, "status": []}])
def test_a_damaged_object_has_neither_labels_nor_fields(item: object) -> None:
    assert not selected(item, labelSelector="app")
    assert selected(item, fieldSelector="status.phase!=Failed")


def test_nothing_is_not_selected() -> None:
    assert not selected(None)


@pytest.mark.parametrize("text", ["app notin (web)", "!app"])
def test_other_sets_are_not_supported(text: str) -> None:
    with pytest.raises(NotImplementedError):
        selected(labelSelector=text)
