"""Violations of a CustomResourceDefinition: for every line of a schema a value that breaks this line and no other."""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

Schema = dict[str, Any]

_TEXTS: Final = (
    "a", "1", "/a", "a.b", "https://h/a", "https://api.h/repos/u/r/contents/a.sab", "In", "2026-01-02T03:04:05Z",
    "a.b/c",
)  # fmt: skip


class Violation(NamedTuple):
    """A path below the object, the keyword of the schema that is broken there, a good value, and the broken one."""

    path: tuple[str | int, ...]
    keyword: str
    good: Any
    bad: Any

    def __str__(self) -> str:
        """The path and the keyword: ``spec.size minimum``."""
        return f"{'.'.join(map(str, self.path))} {self.keyword}"


class _Absent:
    """Stands for a property that is left out."""


ABSENT: Final = _Absent()

NAMED: Final = "x-named"
"""Key in the schema of a mapping under which a test states a name that its entries may have."""

SAMPLE: Final = "x-sample"
"""Key in a schema under which a test states a good value, where rules about several fields want more than a sample."""

BESIDE: Final = "x-beside"
"""Key in the schema of an object under which a test states, by paths below, what the object has besides then."""


def violations(schema: Schema, path: tuple[str | int, ...] = ()) -> Iterator[Violation]:
    """A violation of each line of the schema, and of the schemas of its properties and entries."""
    good = sample(schema)
    for keyword, bad in _broken(schema, good):
        yield Violation(path, keyword, good, bad)
    for name in schema.get("required", ()):
        yield Violation((*path, name), "required", sample(schema["properties"][name]), ABSENT)
    for name, one in schema.get("properties", {}).items():
        yield from violations(one, (*path, name))
    if "items" in schema:
        yield from violations(schema["items"], (*path, 0))
    if "additionalProperties" in schema:
        yield from violations(schema["additionalProperties"], (*path, schema.get(NAMED, "a")))


def _broken(schema: Schema, good: Any) -> Iterator[tuple[str, Any]]:
    """Each keyword of the schema with a value that breaks it."""
    for keyword, broken in _BREAKING.items():
        if schema.get(keyword):
            yield keyword, broken(schema, good)
    if "minimum" in schema:
        yield "minimum", schema["minimum"] - 1


def _misformed(schema: Schema, _good: Any) -> str:
    return next(text for text in (" ", "..", "-") if not re.search(schema["pattern"], text))


def _long(schema: Schema, good: Any) -> str:
    """A text that is too long and has the right form, where there is one of that form."""
    count = schema["maxLength"] + 1
    text = str(good)
    longer = text.replace("contents/", "contents/" + "a" * count)
    candidates = (text + "a" * (count - len(text)), longer, "1" * count, "a" * count)
    fits = (one for one in candidates if len(one) >= count and re.search(schema.get("pattern", ""), one))
    return next(fits, "a" * count)


def _other(schema: Schema, at: int) -> Any:
    """A sample that differs from those of other numbers, if it has something that can differ."""
    found = sample(schema)
    if isinstance(found, str) and "enum" not in schema:
        return f"a{at}"
    if isinstance(found, dict):
        found = dict(found)
        for name in ("name", "key"):
            if name in schema.get("properties", {}):
                found[name] = f"a{at}"
        if "index" in found:
            found["index"] = at
    return found


def sample(schema: Schema) -> Any:
    """A value that the schema allows: that of :data:`SAMPLE`, else of an object the required properties."""
    if SAMPLE in schema:
        return copy.deepcopy(schema[SAMPLE])
    if "enum" in schema:
        return schema["enum"][0]
    return _SAMPLES[schema.get("type", "integer")](schema)


def _text(schema: Schema) -> str:
    fits = (text for text in _TEXTS if re.search(schema.get("pattern", ""), text))
    return next(text for text in fits if schema.get("format") != "date-time" or "T" in text)


_SAMPLES: Final[dict[str, Callable[[Schema], Any]]] = {
    "object": lambda schema: {name: sample(schema["properties"][name]) for name in schema.get("required", ())},
    "array": lambda schema: [sample(schema["items"]) for _ in range(schema.get("minItems", 0))],
    "string": _text,
    "integer": lambda schema: max(schema.get("minimum", 1), 1),
    "boolean": lambda _: False,
}
"""What makes a value of each type; what has no type is a number or a text."""


def begun(schema: Schema, path: Sequence[str | int]) -> Any:
    """An object in which something is placed at the path."""
    beside = schema.get(BESIDE, {})
    fitting = [copy.deepcopy(beside[each]) for each in beside if tuple(path[: len(each)]) == each]
    return fitting[0] if fitting else sample(schema)


def placed(document: Any, path: tuple[str | int, ...], value: Any, schema: Schema) -> Any:
    """The document with the value at the path; objects and lists on the way are made with what they require."""
    if not path:
        return value
    first, *rest = path
    if isinstance(first, int):
        entries = list(document or [begun(schema["items"], rest)])
        entries[first] = placed(entries[first], tuple(rest), value, schema["items"])
        return entries
    inner = schema.get("properties", {}).get(first) or schema["additionalProperties"]
    found = dict(document if document is not None else sample(schema))
    below = found.get(first)
    if below is None and rest and inner.get("type") != "array":
        below = begun(inner, rest)
    made = placed(below, tuple(rest), value, inner)
    found.pop(first, None)
    if made is not ABSENT:
        found[first] = made
    return found


_BREAKING: Final[dict[str, Callable[[Schema, Any], Any]]] = {
    "type": lambda schema, _: {"object": 3, "array": {}, "string": {}}.get(schema["type"], "x"),
    "enum": lambda _schema, _good: "Other",
    "pattern": _misformed,
    "minLength": lambda _schema, _good: "",
    "maxLength": _long,
    "maximum": lambda schema, _: schema["maximum"] + 1,
    "minItems": lambda _schema, _good: [],
    "maxItems": lambda schema, _: [_other(schema["items"], at) for at in range(schema["maxItems"] + 1)],
    "maxProperties": lambda schema, _: {
        f"a{at}": sample(schema["additionalProperties"]) for at in range(schema["maxProperties"] + 1)
    },
}
"""For each keyword, but ``minimum``, which may be 0, what makes a value that breaks it."""
