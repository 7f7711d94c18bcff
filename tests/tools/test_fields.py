"""The page of fields is what the definitions say, each field in a row."""

import pytest

from tools.fields import PAGE, Schema, fields, kind, page
from webhook.cluster.crds.definitions import DEFINITIONS


def test_the_page_is_what_the_definitions_say() -> None:
    assert PAGE.read_text() == page(), "run make crds"


def described(schema: Schema) -> int:
    """How many fields are in a schema, at any depth."""
    inner = [*schema.get("properties", {}).values()]
    deeper = [one for one in (schema.get("items"), schema.get("additionalProperties")) if isinstance(one, dict)]
    return len(inner) + sum(map(described, [*inner, *deeper]))


def test_every_field_of_every_kind_has_a_row() -> None:
    schemas = [definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for definition in DEFINITIONS]
    whole = sum(map(described, schemas)) - sum(
        1 for schema in schemas for name in schema["properties"] if name in {"apiVersion", "kind", "metadata"}
    )
    rows = [line for line in page().splitlines() if line.startswith(("| `", "| **"))]
    assert len(rows) == whole


TAG = {"type": "string", "pattern": "^a|b$"}
LISTED = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-map-keys": ["a"]}


def test_a_row_has_the_type_the_default_the_rules_and_the_meaning() -> None:
    schema = {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 5000, "description": "How many."},
            "mode": {"type": "string", "enum": ["Shared", "Exclusive"], "default": "Shared"},
            "tags": {"type": "array", "maxItems": 2, "x-kubernetes-list-type": "set", "items": TAG},
            "by": {"type": "object", "additionalProperties": {"properties": {"x": {"type": "boolean"}}}},
        },
    }  # fmt: skip
    assert list(fields(schema, "spec")) == [
        "| `spec` | object |  |  |  |\n",
        "| `spec.`**`size`** | integer (int32) |  | at least 1; at most 5,000 | How many. |\n",
        '| `spec.mode` | string | `"Shared"` | one of `"Shared"`, `"Exclusive"` |  |\n',
        "| `spec.tags` | list of string |  | at most 2 items; no item twice; each item: matches `^a\\|b$` |  |\n",
        "| `spec.by` | map of any value |  |  |  |\n",
        "| `spec.by{}.x` | boolean |  |  |  |\n",
    ]


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        ({"type": "string", "pattern": "a" * 61}, "matches the pattern of the definition"),
        (LISTED, "no two items with the same `a`"),
        ({"type": "object", "x-kubernetes-validations": [{"rule": "a == b", "message": "a must be b"}]}, "a must be b"),
        ({"x-kubernetes-validations": [{"rule": "a", "message": "is wrong", "fieldPath": ".b"}]}, "`b` is wrong"),
        ({"type": "string", "minLength": 1, "maxLength": 2}, "at least 1 character; at most 2 characters"),
        ({"type": "string", "pattern": "[a](b)"}, "matches the pattern of the definition"),
        ({"type": "object", "x-kubernetes-validations": [{"rule": "a == b || c"}]}, "`a == b \\|\\| c`"),
    ],
)  # fmt: skip
def test_rules_are_in_words(schema: Schema, rule: str) -> None:
    [row] = fields(schema, "x")
    assert row.split(" | ")[3].strip() == rule


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"x-kubernetes-int-or-string": True}, "integer or string"),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, "object as Kubernetes defines it"),
        ({"x-kubernetes-preserve-unknown-fields": True}, "any value"),
    ],
)
def test_types_of_values_that_may_be_several_are_in_words(schema: Schema, words: str) -> None:
    assert kind(schema) == words


def test_a_field_that_is_required_and_on_top_is_bold() -> None:
    assert next(fields({"type": "object"}, "spec", required=True)).startswith("| **`spec`** |")
