"""``Unstructured``: an object of any kind as decoded JSON (the word is client-go's).

For objects that are decoded whole: workloads, their pod templates and replicas, and the manifests of ``explain`` and
``tour``. Fields of an unexpected type count as absent.
"""

from typing import Any

Unstructured = dict[str, Any]
"""A JSON object."""


def mapping(document: Unstructured, *path: str) -> Unstructured:
    """The object at the end of the path of fields; empty if it is absent."""
    for key in path:
        value = document.get(key)
        if not isinstance(value, dict):
            return {}
        document = value
    return document


def group_and_kind(document: Unstructured) -> tuple[str, str]:
    """API group and kind of the object, each empty if the object does not state it; the core group is empty as well."""
    return str(document.get("apiVersion") or "").rpartition("/")[0], str(document.get("kind") or "")


def sequence(document: Unstructured, key: str) -> list[Unstructured]:
    """The objects in the list in the field ``key``; other entries are left out. Empty if the field has no list."""
    value = document.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
