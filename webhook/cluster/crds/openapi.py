"""The words of a structural OpenAPI schema, as CustomResourceDefinitions have it."""

from typing import Any

Schema = dict[str, Any]


def obj(about: str, properties: Schema, **rules: object) -> Schema:
    """An object with these properties."""
    return {"type": "object", "description": about, **rules, "properties": properties}


def text(about: str, **rules: object) -> Schema:
    """A string."""
    return {"type": "string", "description": about, **rules}


def number(about: str, *, at_least: int, **rules: object) -> Schema:
    """A whole number of 32 bits."""
    return {"type": "integer", "format": "int32", "description": about, "minimum": at_least, **rules}


def listed(about: str, entry: Schema, *, kind: str, limit: int, **rules: object) -> Schema:
    """A list of at most ``limit`` entries; ``kind`` is atomic, set or map (Kubernetes, merge strategy)."""
    return {
        "type": "array",
        "description": about,
        "x-kubernetes-list-type": kind,
        "maxItems": limit,
        **rules,
        "items": entry,
    }


def rule(expression: str, message: str, **more: object) -> Schema:
    """A rule in CEL over ``self``, and ``oldSelf`` if it is about changes."""
    return {"rule": expression, "message": message, **more}
