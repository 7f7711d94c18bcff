"""Parser of worker mapping's node expressions: a single one from three annotations, or a YAML list from one.

The annotations are ``mapping.key``, ``mapping.operator`` and ``mapping.values`` for the single expression, and
``mapping`` for the list (``docs/mapping.md``).
"""

import itertools
from collections.abc import Sequence
from typing import Final

from webhook.placement.annotations.expressions import Paths, problems_of_expression
from webhook.placement.annotations.placement_text import SHOWN, annotation
from webhook.placement.annotations.yaml_text import Value, parse_yaml
from webhook.placement.kube.pod import Requirement
from webhook.placement.text import keys
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem

EXPRESSION_LIMIT: Final = 64
"""Expressions of one list: as many as a placement text may have clauses."""

_PARTS: Final = ("key", "operator", "values")
_SINGLE: Final = Paths(*map(annotation, (keys.MAPPING_KEY, keys.MAPPING_OPERATOR, keys.MAPPING_VALUES)))
_SAMPLE: Final = "{key: disktype, operator: In, values: [ssd]}"

Needs = tuple[tuple[Requirement, ...], list[Problem]]
"""The valid expressions, and the problems of the others."""

_Words = tuple[Sequence[str] | None, list[Problem]]
"""The values of an expression; ``None`` and the problem if the values cannot be read."""


def read_one(key: str | None, operator: str | None, values: str | None) -> Needs:
    """The expression in the three annotations of a single expression; ``None`` is an absent annotation."""
    return _expression(key, operator, _listed(values or "", _SINGLE.values), _SINGLE)


def read_list(text: str) -> Needs:
    """The expressions in a YAML or JSON list of ``{key, operator, values}``."""
    field = annotation(keys.MAPPING)
    value, problem = parse_yaml(text, field)
    if problem:
        return (), [problem]
    if not isinstance(value, list) or not value:
        return (), [Problem(field, f"must be a list of expressions, such as [{_SAMPLE}]")]
    if len(value) > EXPRESSION_LIMIT:
        return (), [Problem(field, f"has {len(value)} expressions, at most {EXPRESSION_LIMIT} are allowed")]
    needs: tuple[Requirement, ...] = ()
    problems: list[Problem] = []
    for at, item in enumerate(value):
        expression, wrong = _item(item, f"{field}[{at}]")
        needs, problems = needs + expression, problems + wrong
        if len(problems) >= SHOWN:
            break
    return needs, problems[:SHOWN]


def _item(item: Value, path: str) -> Needs:
    if not isinstance(item, dict):
        return (), [Problem(path, f"must be an expression, such as {_SAMPLE}")]
    foreign = itertools.islice((name for name in item if name not in _PARTS), SHOWN)
    problems = [Problem(path, unknown("field", name, _PARTS)) for name in foreign]
    key, operator = item.get("key"), item.get("operator")
    if isinstance(key, list | dict):
        problems.append(Problem(f"{path}.key", "must be one word"))
    elif isinstance(operator, list | dict):
        problems.append(Problem(f"{path}.operator", "must be one word"))
    elif not problems:
        paths = Paths(*(f"{path}.{name}" for name in _PARTS))
        return _expression(key, operator, _words(item.get("values"), paths.values), paths)
    return (), problems


def _expression(key: str | None, operator: str | None, words: _Words, paths: Paths) -> Needs:
    values, unreadable = words
    problems = [*problems_of_expression(key, operator, values, paths), *unreadable]
    return (() if problems else (Requirement(key or "", operator or "", tuple(values or ()) or None),)), problems


def _listed(text: str, field: str) -> _Words:
    """The values in a text: separated by commas, or as a YAML list."""
    stripped = text.strip()
    if stripped.startswith(("[", "{", "- ", "-\n")):
        value, problem = parse_yaml(text, field)
        return (None, [problem]) if problem else _words(value, field)
    values = [value.strip() for value in stripped.split(",")] if stripped else []
    if not all(values):
        return None, [Problem(field, 'an item is missing before or after a comma; write an empty value as [""]')]
    return values, []


def _words(value: Value, field: str) -> _Words:
    """The values in a YAML list of words; ``None`` is an empty list."""
    items = [] if value is None else value
    if isinstance(items, list):
        words = [item for item in items if isinstance(item, str)]
        if len(words) == len(items):
            return words, []
    return None, [Problem(field, "must be a list of words, such as [ssd, nvme]")]
