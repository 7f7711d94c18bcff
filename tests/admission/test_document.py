"""Parts of an object that may be of any type."""

import pytest

from webhook.admission.unstructured import group_and_kind, mapping, sequence

WHOLE = {"a": {"b": {"c": 1}}, "list": [{"x": 1}, "odd", None, {"y": 2}], "text": "t", "null": None}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(["a"], {"b": {"c": 1}}, id="a field"),
        pytest.param(["a", "b"], {"c": 1}, id="a field of a field"),
        pytest.param([], WHOLE, id="the object itself"),
        pytest.param(["gone"], {}, id="no field"),
        pytest.param(["gone", "b"], {}, id="a field of none"),
        pytest.param(["text"], {}, id="a text"),
        pytest.param(["null"], {}, id="null"),
        pytest.param(["list", "x"], {}, id="a list"),
        pytest.param(["a", "b", "c"], {}, id="a number"),
    ],
)
def test_what_is_not_an_object_is_empty(path: list[str], expected: dict[str, object]) -> None:
    assert mapping(WHOLE, *path) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("list", [{"x": 1}, {"y": 2}], id="its objects"),
        pytest.param("a", [], id="an object"),
        pytest.param("null", [], id="null"),
        pytest.param("gone", [], id="no field"),
    ],
)
def test_what_is_not_a_list_of_objects_is_empty(key: str, expected: list[object]) -> None:
    assert sequence(WHOLE, key) == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"apiVersion": "batch/v1", "kind": "Job"}, ("batch", "Job"), id="a group"),
        pytest.param({"apiVersion": "v1", "kind": "Pod"}, ("", "Pod"), id="the core group"),
        pytest.param({}, ("", ""), id="neither"),
        pytest.param({"apiVersion": None, "kind": None}, ("", ""), id="null"),
    ],
)
def test_the_group_is_the_api_version_without_its_version(
    document: dict[str, object], expected: tuple[str, str]
) -> None:
    assert group_and_kind(document) == expected
