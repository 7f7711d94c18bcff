"""``Unstructured``: any object as decoded JSON (client-go); fields of an unexpected type count as absent."""

from typing import Any

Unstructured = dict[str, Any]
"""An object as JSON has it."""


def mapping(document: Unstructured, *path: str) -> Unstructured:
    """The object at the end of the path of fields; empty where there is none."""
    for key in path:
        value = document.get(key)
        if not isinstance(value, dict):
            return {}
        document = value
    return document


def sequence(document: Unstructured, key: str) -> list[Unstructured]:
    """The objects in the list of that name."""
    value = document.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
