"""The fields of a schema that have something in common, by their paths such as ``.spec.hosts[]``."""

from typing import Any


def undescribed(schema: dict[str, Any], path: str = "") -> list[str]:
    """The paths of properties without a description."""
    missing = []
    for name, inner in schema.get("properties", {}).items():
        here = f"{path}.{name}"
        missing += [here] * ("description" not in inner) + undescribed(inner, here)
        missing += undescribed(inner.get("items", {}), f"{here}[]")
    return missing


def open_paths(schema: dict[str, Any], path: str = "") -> list[str]:
    """The paths of objects that may have any field."""
    found = [path] * ("x-kubernetes-preserve-unknown-fields" in schema)
    for name, inner in schema.get("properties", {}).items():
        found += open_paths(inner, f"{path}.{name}") + open_paths(inner.get("items", {}), f"{path}.{name}[]")
    return found


def defaults(schema: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Every default, by the path of its field."""
    found = {path: schema["default"]} if "default" in schema else {}
    for name, inner in schema.get("properties", {}).items():
        found |= defaults(inner, f"{path}.{name}") | defaults(inner.get("items", {}), f"{path}.{name}[]")
    return found
