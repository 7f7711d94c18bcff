"""JSON text is decoded as far as it can be; why it could not be decoded is said in words."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeapi.client.api_types import Identified
from kubeapi.client.decoding import ERRORS, decoded, inspect_types, reason, shallow


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(b"[]", "expected `object`, got `array`", id="the whole"),
        pytest.param(b'{"metadata": {"name": 1}}', "metadata.name: expected `str`, got `int`", id="a field"),
        pytest.param(b"<html>", "JSON is malformed: invalid character (byte 0)", id="no JSON"),
        pytest.param(b'{"metadata": {"name": "\xff"}}', "not UTF-8 text", id="no text"),
        pytest.param(b'{"a": ' + b"[" * 100_000, "nested too deeply", id="too deep"),
    ],
)
def test_why_a_text_cannot_be_decoded(text: bytes, words: str) -> None:
    with pytest.raises(ERRORS) as failed:
        msgspec.json.decode(text, type=Identified)
    assert reason(failed.value) == words


# What is nested too deeply


def nested(levels: int) -> bytes:
    return b'{"a":[' * (levels // 2) + b"1" + b"]}" * (levels // 2)


def test_one_value_that_is_nested_too_deeply_leaves_the_others_readable() -> None:
    text = b'{"items":[{"name":"a"},{"name":"b","deep":%s,"after":"\\"}]"},{"name":"c"}]}' % nested(10_000)
    found = decoded(text, dict[str, Any])["items"]
    assert [one["name"] for one in found] == ["a", "b", "c"]
    assert found[1]["after"] == '"}]'


def test_a_text_that_is_not_json_either_is_an_error() -> None:
    with pytest.raises(ERRORS):
        decoded(b'{"a":' + b"[" * 100_000, dict[str, Any])


VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.text('a"\\[]{}', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"[}', max_size=3), inner, max_size=3),
)


def cut(value: Any, levels: int) -> Any:
    if not isinstance(value, list | dict):
        return value
    if levels == 0:
        return None
    if isinstance(value, list):
        return [cut(one, levels - 1) for one in value]
    return {key: cut(one, levels - 1) for key, one in value.items()}


@given(VALUES, st.integers(0, 5))
def test_a_shallow_text_has_null_for_what_is_deeper(value: Any, levels: int) -> None:
    assert json.loads(shallow(json.dumps(value).encode(), levels)) == cut(value, levels)


# Types that several threads decode


def inspected_while(decode: Callable[[], object]) -> int:
    """How many types msgspec inspects meanwhile."""
    profiler, seen = sys.getprofile(), 0

    def note(frame: FrameType, event: str, _of: object) -> None:
        nonlocal seen
        seen += event == "call" and frame.f_code.co_name == "get_class_annotations"

    sys.setprofile(note)
    try:
        decode()
    finally:
        sys.setprofile(profiler)
    return seen


def test_a_type_is_inspected_before_it_is_decoded() -> None:
    class Inner(msgspec.Struct):
        value: int

    class Outer(msgspec.Struct):
        inner: Inner

    class Circle(msgspec.Struct):
        unreadable: Inner | Outer

    before = inspected_while(lambda: msgspec.json.decode(b'{"value": 1}', type=Inner))
    inspect_types()
    assert before == 1
    assert inspected_while(lambda: msgspec.json.decode(b'{"inner": {"value": 1}}', type=Outer)) == 0
    with pytest.raises(TypeError, match="must be tagged"):
        msgspec.json.Decoder(Circle)
    assert inspected_while(inspect_types) == 0


ROOT = Path(__file__).parents[3]

THREADS = {
    "clusters that are read": (
        "from webhook.app.clusters import ClusterReading, Readers",
        "Readers(print, ClusterReading()).run([])",
    ),
    "placement over clusters": (
        "from webhook.app.hpa_placement import HpaPlacement; from webhook.rest.rest_settings import RestSettings",
        "HpaPlacement(None, RestSettings(), None).close()",
    ),
    "searches": ("from webhook.cluster.queries.job_verdicts import ThreadSearches", "ThreadSearches()"),
    "a snapshot that is followed": (
        "from pathlib import Path; from webhook.cluster.snapshot.follow import SnapshotCluster",
        "SnapshotCluster(Path(), list)",
    ),
    "reviews of a snapshot": (
        "from pathlib import Path; from webhook.app.review_requests import SnapshotReviewer, Settings",
        "SnapshotReviewer(Path(), Settings())",
    ),
}


@pytest.mark.integration
@pytest.mark.parametrize("name", THREADS)
def test_types_are_inspected_before_there_are_threads(name: str) -> None:
    """Two threads that decode a type for the first time at the same time end the process by a segmentation fault."""
    imports, begin = THREADS[name]
    program = f"""
from msgspec import _utils, json
{imports}
from webhook.cluster.objects.wire import PodObject
{begin}
_utils.get_class_annotations.__code__ = (lambda obj: 1 / 0).__code__  # msgspec calls it for a type that it inspects
json.decode(b'{{"metadata": {{"name": "p"}}}}', type=PodObject)
"""
    subprocess.run((sys.executable, "-c", program), cwd=ROOT, check=True)  # noqa: S603 - ourselves


UNDECODED = {"webhook.cluster.watch.backoff.Pace"}
"""Types of such modules that are made in the program alone."""


def imported_late() -> set[str]:
    """The modules that functions import which the threads of ``clusters`` and ``hpa-placement`` may call."""
    folders = "kubeapi", "webhook/app", "webhook/cluster", "webhook/placement", "webhook/placementreview"
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    functions = [
        node
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    statements = [one for function in functions for one in ast.walk(function) if isinstance(one, ast.ImportFrom)]
    return {str(one.module) for one in statements if str(one.module).startswith(("kubeapi.", "webhook."))}


@pytest.mark.integration
def test_the_types_of_modules_that_threads_import_are_inspected_with_them() -> None:
    """``clusters`` ended by a segmentation fault while several threads read the kubeconfig of their clusters."""
    modules = imported_late()
    assert "kubeapi.client.kubeconfig_file" in modules
    program = f"""
import importlib
import webhook.app.clusters
from msgspec import Struct, _utils, json
from kubeapi.client.decoding import _subtypes, inspect_types
inspect_types()
before = {{*_subtypes(Struct)}}
for module in {sorted(modules)}:
    importlib.import_module(module)
_utils.get_class_annotations.__code__ = (lambda obj: 1 / 0).__code__  # msgspec calls it for a type that it inspects
for one in {{*_subtypes(Struct)}} - before:
    try:
        json.Decoder(one)
    except ZeroDivisionError:
        print(one.__module__ + "." + one.__qualname__)
"""
    found = subprocess.run(  # noqa: S603 - ourselves
        (sys.executable, "-c", program), cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert set(found.stdout.split()) == UNDECODED
