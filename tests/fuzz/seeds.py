"""Inputs to begin with: examples, and the texts that tests are about."""

import ast
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.yaml_values import all_loaded

_ROOT: Final = Path(__file__).parents[2]

EXAMPLES: Final = _ROOT / "examples"

_LONGEST: Final = 2000
"""Characters of a literal that is a seed: longer ones are made to fill limits."""


def literals(*paths: str) -> Iterator[bytes]:
    """The texts and bytes that stand in the tests of these folders and files."""
    seen: set[bytes] = set()
    for path in sorted(each for name in paths for each in _sources(_ROOT / "tests" / name)):
        fresh = [written for written in _literals(path) if written not in seen]
        seen.update(fresh)
        yield from fresh


@functools.cache
def _literals(path: Path) -> tuple[bytes, ...]:
    """The texts and bytes in a file, each once; several targets begin with those of the same folders."""
    values = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    texts = (value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value for value in values)
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, bytes) and 0 < len(text) <= _LONGEST))


def _sources(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


@functools.cache
def example_objects() -> tuple[Any, ...]:
    """The objects of the example manifests."""
    paths = [path for path in sorted(EXAMPLES.glob("*.yaml")) if ".expected." not in path.name]
    texts = [path.read_text() for path in (*paths, *sorted((EXAMPLES / "cluster").glob("*.yaml")))]
    return tuple(each for text in texts for each in all_loaded(text) if each)


def annotations(key: str) -> Iterator[bytes]:
    """The values of an annotation or field in the examples."""
    return (value.encode() for value in _values(list(example_objects()), key))


def _values(value: object, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key and isinstance(inner, str):
                yield inner
            else:
                yield from _values(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, key)


def compact(value: object) -> bytes:
    """The value as JSON, as the API server writes it."""
    return json.dumps(value, separators=(",", ":"), default=str).encode()


def files(folder: Path, *endings: str) -> Iterator[bytes]:
    """The contents of the files with these endings in the folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name.endswith(endings):
            yield path.read_bytes()
