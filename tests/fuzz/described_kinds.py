"""What must hold of applications of other operators, and of definitions by which a cluster describes their kinds."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import msgspec
import yaml

from tests.fuzz.oracles import said, sayable, text_of
from tests.fuzz.seeds import EXAMPLES, compact, files, literals
from tests.placement.kinds.expansion import application_document
from tests.yaml_values import loaded
from webhook.app.application_kinds import application_kinds
from webhook.placement.jobs.whole_application import read_pods
from webhook.placement.kinds.application import INSTANCES, PODS, expanded
from webhook.placement.kinds.formula import LARGEST, FormulaError, parse
from webhook.placement.kinds.karta import COMPONENTS, LENGTH, NESTING, kind_described
from webhook.placement.kinds.kind import OperatorKind

_CASES: Final = EXAMPLES.parent / "tests" / "placement" / "kinds" / "cases"

_KINDS: Final = tuple(application_kinds().values())
"""The first byte of an input chooses one."""

_OPENINGS: Final = ("(", "if", "//")
"""What the parser of formulas goes deeper for."""

_BETWEEN: Final = b"\x1e"
"""Between a definition or a formula and the object that it is applied to."""

_OBJECT: Final = {
    "apiVersion": "example.com/v1",
    "kind": "Own",
    "metadata": {"name": "a", "namespace": "default", "annotations": {"streams.ibm.com/placement": "hostIsolation"}},
    "spec": {
        "replicas": 2,
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}},
        "groups": [{"name": "g", "replicas": "3", "template": {"spec": {"containers": [{"name": "c"}]}}}],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
        "conf": {"a.b": "1500m", "none": None, "yes": True, "half": 0.5},
    },
}


def applications(data: bytes) -> None:
    """An object of a kind of another operator is expanded within the bounds, or what is wrong with it is said."""
    kind = _KINDS[data[0] % len(_KINDS)] if data else _KINDS[0]
    first, _, other = data[1:].partition(_BETWEEN)
    document = _mapping(first)
    if document is not None:
        _expanded(kind, document, _mapping(other))


def definitions(data: bytes) -> None:
    """A definition describes a kind, within the bounds, or none; its objects are expanded as others are."""
    first, _, second = data.partition(_BETWEEN)
    definition = _mapping(first)
    kind = kind_described("a", definition) if definition is not None else None
    if kind is None:
        return
    assert len(kind.components) <= COMPONENTS
    assert all(kind.remarks)
    _expanded(kind, _mapping(second) or _OBJECT, None)


def formulas(data: bytes) -> None:
    """A formula is rejected with a message, or evaluates every document, to the same value each time."""
    first, _, second = data.partition(_BETWEEN)
    text, document = text_of(first), _mapping(second) or _OBJECT
    if len(text) > LENGTH or sum(map(text.count, _OPENINGS)) > NESTING:  # a definition with such a path is not read
        return
    try:
        formula = parse(text)
    except FormulaError as error:
        said(error)
        return
    for at in range(2):
        value = formula.of(document, at)
        assert formula.of(document, at) == value
        assert not isinstance(value, float)
        assert not isinstance(value, Fraction) or abs(value) <= LARGEST


def _expanded(kind: OperatorKind, document: dict[str, Any], referenced: dict[str, Any] | None) -> None:
    """The object is expanded, and it is itself not changed by that."""
    before = msgspec.json.encode(document)
    application = expanded(kind, document, referenced)
    assert msgspec.json.encode(document) == before
    assert len(application.components) <= INSTANCES * max(len(kind.components) + len(kind.embedded), 1)
    assert all(0 <= one.count <= one.most <= PODS for one in application.components)
    assert all(application.not_judged)
    sayable(application.problems)
    pods = read_pods(application)
    if isinstance(pods, tuple):
        sayable(pods)
    else:
        assert len(pods) == len(application.components)


def _mapping(text: bytes) -> dict[str, Any] | None:
    """The object as the webhook has it from the body of a review; ``None`` for what is no object."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def application_seeds() -> Iterator[bytes]:
    """Objects of each kind: those of the tests of kinds, and one that is none of its objects."""
    for at, kind in enumerate(_KINDS):
        head = {"apiVersion": f"{kind.kind.group}/{kind.kind.versions[0]}", "kind": kind.kind.kind}
        yield bytes([at]) + compact(_OBJECT | head)
        for content in files(_CASES, f"{kind.kind.kind}.yaml"):
            for case in loaded(content):
                yield bytes([at]) + compact(application_document(kind, case))


def definition_seeds() -> Iterator[bytes]:
    """The definitions of the tests, and all fields that a definition may have."""
    for part in literals("placement/kinds/test_karta.py"):
        structure = _structure(part)
        if structure is not None:
            yield compact({"spec": {"structureDefinition": structure}}) + _BETWEEN + compact(_OBJECT)
    every = {
        "fragmentedPodSpecDefinition": {
            name: f".spec.{name}"
            for name in (
                "labelsPath", "annotationsPath", "schedulerNamePath", "priorityClassNamePath", "resourceClaimsPath",
                "podAffinityPath", "nodeAffinityPath", "containersPath", "containerPath", "resourcesPath",
            )
        }
    }  # fmt: skip
    root = {"name": "own", "kind": {"group": "example.com", "version": "v1", "kind": "Own"}, "specDefinition": every}
    yield compact({"spec": {"structureDefinition": {"rootComponent": root}}})


def _structure(part: bytes) -> dict[str, Any] | None:
    try:
        found = yaml.safe_load(part)
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) and "rootComponent" in found else None


def formula_seeds() -> Iterator[bytes]:
    """The formulas of the tests and of the files of kinds."""
    yield from literals("placement/kinds/test_formula.py")
    for kind in _KINDS:
        for component in kind.components:
            scale = component.scale_definition
            yield from (each.text.encode() for each in (scale.replicas_path, scale.max_replicas_path) if each)
    yield b".spec.groups[].replicas" + _BETWEEN + json.dumps(_OBJECT).encode()
