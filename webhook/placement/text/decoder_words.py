"""Errors of the decoder about values of a wrong type, in the words of refusals: path, value, and what should be there.

The decoder of msgspec writes ``Expected `str`, got `int` - at `$.spec.values[...]```. It leaves out the key of a
mapping, which is found again in the object.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from webhook.placement.text.problem import Problem, quote

_TEXT: Final = re.compile(r"(?P<message>.*?)(?: - at `(?P<key>key` in `)?\$(?P<path>[^`]*)`)?", re.DOTALL)
_TYPES: Final = re.compile(r"Expected `(?P<expected>[^`]*)`, got `(?P<found>[^`]*)`")
_FIELD: Final = re.compile(r"Object (?P<what>contains unknown|missing required) field `(?P<name>[^`]*)`")
_STEP: Final = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")

_WORDS: Final = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}
_FOUND: Final = {**_WORDS, "bool": "a truth value"}
_QUOTED: Final = frozenset({"int", "float", "bool"})
"""What YAML reads a text without quotes as."""


def decoder_problem(error: msgspec.ValidationError, document: object, prefix: str = "") -> Problem:
    """The problem of an object that was not decoded. ``prefix`` is the path of the document, with a dot at the end."""
    parts = _TEXT.fullmatch(str(error))
    message, written = (parts["message"], parts["path"] or "") if parts else (str(error), "")
    of_key = bool(parts and parts["key"])
    actual = _actual_type(message)
    path, value = _located(document, list(_STEP.finditer(written)), "object" if of_key else actual)
    field = prefix + path.removeprefix(".") if path else prefix.removesuffix(".")
    if about := _FIELD.fullmatch(message):
        name = f"{field}.{about['name']}".removeprefix(".")
        return Problem(name, "there is no such field" if about["what"] == "contains unknown" else "missing")
    types = _TYPES.fullmatch(message)
    if types is None:
        return Problem(field, message.replace("`", ""))
    if of_key:
        keys = value if isinstance(value, dict) else ()
        key = next((one for one in keys if _type(one) == actual), None)
        return Problem(field, f"of the keys, {_wrong(types['expected'], actual, key)}")
    return Problem(field, _wrong(types["expected"], types["found"], value))


def decoder_text(error: msgspec.ValidationError, document: object) -> str:
    """The problem in one line: the path of the value, unless that is the whole document, and what is wrong with it."""
    problem = decoder_problem(error, document)
    return f"{problem.field}: {problem.message}".removeprefix(": ")


def unreadable(file: str, document: Mapping[str, Any], error: msgspec.ValidationError) -> str:
    """The sentence about an object of a file that was not decoded."""
    return f"{file}: {not_decoded(document, error)}"


def not_decoded(document: Mapping[str, Any], error: msgspec.ValidationError) -> str:
    """Why an object was not decoded."""
    return f"{document['kind']} is not readable: {decoder_text(error, document)}"


def _actual_type(message: str) -> str:
    types = _TYPES.fullmatch(message)
    return types["found"] if types else ""


def _wrong(expected: str, actual: str, value: object) -> str:
    """The sentence about a value of a wrong type."""
    wanted = [one for one in expected.split(" | ") if one != "null"]
    words = " or ".join(_WORDS.get(one, one) for one in wanted)
    shown = _FOUND.get(actual, actual)
    if isinstance(value, bool | int | float):
        written = msgspec.json.encode(value).decode()
        hint = f': write it in quotes, "{written}"' if wanted == ["str"] and actual in _QUOTED else ""
        return f"{written} is {shown}, expected {words}{hint}"
    text = f"{quote(value)} is {shown}" if isinstance(value, str) else f"found {shown}"
    return f"{text}, expected {words}"


def _located(document: object, steps: list[re.Match[str]], actual: str) -> tuple[str, object]:
    """The path of the value with the keys that the decoder left out, and the value; ``None`` where it is not found."""
    paths = [("", document)]
    for step in steps:
        paths = [inner for path, value in paths for inner in _inside(path, value, step)]
    right = [(path, value) for path, value in paths if _type(value) == actual]
    return next(iter([*right, *paths]), ("".join(step.group() for step in steps), None))


def _inside(path: str, value: object, step: re.Match[str]) -> Iterator[tuple[str, object]]:
    """The values that a step leads to: one, or with ``[...]`` all of a mapping or list."""
    name, index = step["name"], step["index"]
    if isinstance(value, dict):
        yield from ((f"{path}.{key}", one) for key, one in value.items() if index == "..." or key == name)
    elif isinstance(value, list | tuple):
        yield from ((f"{path}[{at}]", one) for at, one in enumerate(value) if index in {"...", str(at)})


def _type(value: object) -> str:
    """The decoder's name of the type of a JSON value."""
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    return "null" if value is None else type(value).__name__
