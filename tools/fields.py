"""``python -m tools.fields``: write ``docs/fields.md``, every field of the chart's kinds, from their definitions."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from webhook.cluster.crds.definitions import DEFINITIONS

Schema: TypeAlias = Mapping[str, Any]

PAGE: Final = Path(__file__).parents[1] / "docs" / "fields.md"

_HEAD: Final = """\
# Fields

<!-- Made by make crds from webhook/cluster/crds. -->

Every field of the chart's kinds, in API version `streams.ibm.com/v1`, as the API server checks it. What the fields mean
together is on the pages of the kinds: [HostPool](hostpool.md), [HPAIntent](hpaintent.md),
[Job and ProcessingElement](jobs.md). A name in bold is required within the object that has it; `[]` stands for each
item of a list, `{}` for each value of a map.
"""

_TABLE: Final = "| field | type | default | rules | meaning |\n|---|---|---|---|---|\n"

_LONGEST: Final = 60
"""Characters of the longest pattern that says something to people."""

_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} entries",
}


def page() -> str:
    """The whole page."""
    return _HEAD + "".join(_kind(definition()) for definition in DEFINITIONS)


def _kind(definition: Schema) -> str:
    """The section of one kind: its names, and a table for each of its parts."""
    names, version = definition["spec"]["names"], definition["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    short = ", ".join(f"`{name}`" for name in names["shortNames"])
    text = f"\n## {names['kind']}\n\n{_cell(schema['description'])}\n\n"
    text += f"`kubectl get {names['plural']}`, or {short}; {definition['spec']['scope'].lower()}.\n"
    if rules := list(_validations(schema)):
        text += "\n" + "\n".join(f"- {rule}" for rule in rules) + "\n"
    for name, part in schema["properties"].items():
        if name in {"apiVersion", "kind", "metadata"}:
            continue
        rows = fields(part, name, required=name in schema.get("required", ()))
        text += f"\n### {names['kind']}: {name}\n\n{_TABLE}" + "".join(rows)
    return text


def fields(schema: Schema, path: str, *, required: bool = False) -> Iterator[str]:
    """The row of a field, and those of all fields below it."""
    head, _, last = path.rpartition(".")
    name = f"`{path}`" if not required else f"`{head}.`**`{last}`**" if head else f"**`{last}`**"
    default = f"`{json.dumps(schema['default'])}`" if "default" in schema else ""
    rules = "; ".join(_rules(schema))
    yield f"| {name} | {kind(schema)} | {default} | {rules} | {_cell(schema.get('description', ''))} |\n"
    for mark, below in _inner(schema, path):
        for key, field in below.get("properties", {}).items():
            yield from fields(field, f"{mark}.{key}", required=key in below.get("required", ()))


def kind(schema: Schema) -> str:
    """The type in words."""
    if schema.get("x-kubernetes-int-or-string"):
        return "integer or string"
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"map of {kind(schema['additionalProperties'])}"
    if schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get("properties"):
        return "object as Kubernetes defines it" if schema.get("type") == "object" else "any value"
    words = [schema.get("type", "any value"), f"({schema['format']})" if "format" in schema else ""]
    return " ".join(filter(None, words))


def _inner(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """The objects of which the fields below are, each with its path."""
    while True:
        if "items" in schema:
            schema, path = schema["items"], f"{path}[]"
        elif isinstance(schema.get("additionalProperties"), dict):
            schema, path = schema["additionalProperties"], f"{path}{{}}"
        else:
            break
    yield path, schema


def _rules(schema: Schema) -> Iterator[str]:
    """What a value must be, in words, and what items and values of maps must be."""
    if "enum" in schema:
        yield "one of " + ", ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    for name, words in _LIMITS.items():
        if name in schema:
            yield words.format(f"{schema[name]:,}").removesuffix("s" if schema[name] == 1 else " ")
    if "pattern" in schema:
        yield _pattern(schema["pattern"])
    if keys := schema.get("x-kubernetes-list-map-keys"):
        yield f"no two items with the same {' and '.join(f'`{key}`' for key in keys)}"
    elif schema.get("x-kubernetes-list-type") == "set":
        yield "no item twice"
    yield from _validations(schema)
    for name, whose in (("items", "each item"), ("additionalProperties", "each value")):
        inner = schema.get(name)
        if isinstance(inner, dict) and (rules := "; ".join(_rules(inner))):
            yield f"{whose}: {rules}"


def _pattern(pattern: str) -> str:
    """A pattern that people can read; ``](`` would be read as a link by some programs."""
    if len(pattern) > _LONGEST or "](" in pattern:
        return "matches the pattern of the definition"
    return f"matches `{_cell(pattern, code=True)}`"


def _validations(schema: Schema) -> Iterator[str]:
    """The rules in CEL, in the words of their messages."""
    for rule in schema.get("x-kubernetes-validations", ()):
        said = _cell(rule["message"]) if "message" in rule else f"`{_cell(rule['rule'], code=True)}`"
        yield f"`{rule['fieldPath'].removeprefix('.')}` {said}" if "fieldPath" in rule else said


def _cell(text: str, *, code: bool = False) -> str:
    """A text that neither ends a cell nor is read as markup."""
    one_line = " ".join(text.split()).replace("|", "\\|")
    return one_line if code else re.sub(r"([*<_])", r"\\\1", one_line)


if __name__ == "__main__":
    PAGE.write_text(page())
