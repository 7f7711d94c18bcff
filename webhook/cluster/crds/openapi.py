"""Functions that write parts of a structural OpenAPI schema (CustomResourceDefinitions), one for each type of field."""

from typing import Any

from msgspec import Struct

from webhook.placement.field_rules.rules import rules_of

Schema = dict[str, Any]
"""A schema, or a part of one, as JSON."""


def obj(about: str, properties: Schema, **rules: object) -> Schema:
    """The schema of an object with these properties; ``about`` is its description, ``rules`` are further keywords."""
    return {"type": "object", "description": about, **rules, "properties": properties}


def root(about: str, spec: Schema, status: Schema | None = None, **rules: object) -> Schema:
    """The schema of a whole object of the API with this spec, and with this status if its kind has one."""
    properties: Schema = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": spec,
    }
    return obj(about, properties | ({"status": status} if status else {}), **rules)


def text(about: str, **rules: object) -> Schema:
    """The schema of a string."""
    return {"type": "string", "description": about, **rules}


def number(about: str, *, at_least: int, **rules: object) -> Schema:
    """The schema of an integer of 32 bits."""
    return {"type": "integer", "format": "int32", "description": about, "minimum": at_least, **rules}


def listed(about: str, entry: Schema, *, kind: str, limit: int, **rules: object) -> Schema:
    """The schema of a list of at most ``limit`` entries; ``kind``: atomic, set or map (Kubernetes, merge strategy)."""
    return {
        "type": "array",
        "description": about,
        "x-kubernetes-list-type": kind,
        "maxItems": limit,
        **rules,
        "items": entry,
    }


def rule(expression: str, message: str, **more: object) -> Schema:
    """A validation rule: a CEL expression over ``self`` and, for changes, ``oldSelf``; and what its refusal says."""
    return {"rule": expression, "message": message, **more}


def switch(about: str, **rules: object) -> Schema:
    """The schema of a Boolean field."""
    return {"type": "boolean", "description": about, **rules}


def mapped(about: str, value: Schema, *, limit: int) -> Schema:
    """The schema of an object with at most ``limit`` properties of any name, all of the schema ``value``."""
    return {"type": "object", "description": about, "maxProperties": limit, "additionalProperties": value}


def open_object(about: str, properties: Schema) -> Schema:
    """The schema of an object that may have other fields than these properties; other fields are kept unchecked."""
    return obj(about, properties) | {"x-kubernetes-preserve-unknown-fields": True}


def properties(struct: type[Struct], **others: Schema) -> Schema:
    """The fields of a Struct by the rules that stand on them; ``others`` are the schemas of fields without a rule."""
    return {
        encoded: others[name] if field_rule is None else field_rule.schema()
        for name, encoded, field_rule in rules_of(struct)
    }
