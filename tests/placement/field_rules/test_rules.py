"""Rules of fields: what each says of a value that breaks it, and which line of a schema it is."""

from typing import Annotated

import pytest
from msgspec import Struct

from webhook.placement.field_rules.rules import (
    FieldRule,
    NumberRule,
    SwitchRule,
    TextListRule,
    TextMapRule,
    TextRule,
    broken,
    object_name,
)

NAME = object_name("A name.", 5, needed="the name")
WORD = TextRule(about="A word.", words=("a", "b"), default="a")
FREE = TextRule(most=3)
COUNT = NumberRule("A number.", 1, 3, 2)
MANY = NumberRule("A number.", 0, form="is none")
LIST = TextListRule(about="A list.", entry=FREE, kind="set", most=2, nouns="hosts", least=1)
MAP = TextMapRule("A mapping.", FREE, 1)


@pytest.mark.parametrize(
    ("rule", "value", "said"),
    [
        (NAME, "a-b", []),
        (NAME, "", ["x: missing: the name"]),
        (NAME, "A", ['x: "A" is not an object name']),
        (NAME, "abcdef", ["x: 6 characters, at most 5 are allowed"]),
        (object_name("A name."), "", ['x: "" is not an object name']),
        (TextRule(least=1), "", ["x: must not be empty"]),
        (WORD, "b", []),
        (WORD, "c", ['x: "c" is not one of a, b']),
        (COUNT, 3, []),
        (COUNT, 0, ["x: 0 is less than 1"]),
        (COUNT, 4, ["x: 4 is more than 3"]),
        (MANY, -1, ["x: -1 is none"]),
        (SwitchRule("A switch."), False, []),
        (LIST, (), ["x: must name at least one host"]),
        (LIST, ("abcd", "b"), ["x[0]: 4 characters, at most 3 are allowed"]),
        (LIST, ("a", "b", "c"), ["x: 3 hosts, at most 2 are allowed"]),
        (MAP, {"k": "abcd"}, ["x[k]: 4 characters, at most 3 are allowed"]),
        (MAP, {"k": "a", "l": "b"}, ["x: 2 of them, at most 1 are allowed"]),
    ],
)
def test_what_is_said_of_a_value(rule: FieldRule, value: object, said: list[str]) -> None:
    assert [f"{one.field}: {one.message}" for one in rule.problems("x", value)] == said  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "schema"),
    [
        (FREE, {"type": "string", "maxLength": 3}),
        (WORD, {"type": "string", "description": "A word.", "enum": ["a", "b"], "default": "a"}),
        (
            COUNT,
            {
                "type": "integer",
                "format": "int32",
                "description": "A number.",
                "minimum": 1,
                "maximum": 3,
                "default": 2,
            },
        ),
        (SwitchRule("A switch."), {"type": "boolean", "description": "A switch."}),
        (SwitchRule("A switch.", default=False), {"type": "boolean", "description": "A switch.", "default": False}),
        (
            LIST,
            {
                "type": "array",
                "description": "A list.",
                "x-kubernetes-list-type": "set",
                "maxItems": 2,
                "minItems": 1,
                "items": {"type": "string", "maxLength": 3},
            },
        ),
        (
            MAP,
            {
                "type": "object",
                "description": "A mapping.",
                "maxProperties": 1,
                "additionalProperties": {"type": "string", "maxLength": 3},
            },
        ),
    ],
)
def test_the_line_of_a_schema(rule: FieldRule, schema: dict[str, object]) -> None:
    assert rule.schema() == schema


class Inner(Struct):
    count: Annotated[int | None, COUNT] = None


class Outer(Struct, rename="camel"):
    own_name: Annotated[str | None, NAME] = None
    inner: Inner | None = None
    free: str = ""


def test_the_rules_of_a_struct_and_of_those_in_it() -> None:
    found = [(one.field, one.message) for one in broken(Outer("A", Inner(4)), "spec")]
    assert found == [("spec.ownName", '"A" is not an object name'), ("spec.inner.count", "4 is more than 3")]
    assert list(broken(Outer(), "spec")) == []
    assert [one.field for one in broken(Outer("A", Inner(4)), "spec", "inner")] == ["spec.inner.count"]
