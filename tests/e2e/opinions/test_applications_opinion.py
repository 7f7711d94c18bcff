"""The API server's own packages send exactly the applications that ask, whatever the types of their fields are."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.e2e.chart.rendering import of_kind, render
from tests.fuzz.second_opinion import opinion
from tests.suite.example_count import some_of
from tools.kinds import chart_name
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.kind import OperatorKind

pytestmark = pytest.mark.usefixtures("kubernetes")

KINDS = tuple(application_kinds().values())
MAPS: tuple[object, ...] = ({}, {"app": "a"}, {"app": "a", "team": "t"})
OURS: tuple[object, ...] = ({"streams.ibm.com/placement": "x"}, {"app": "a", "streams.ibm.com/pe": "1"})
ODD: tuple[object, ...] = (
    None, "", "streams.ibm.com/", 0, 1.5, True, [], ["streams.ibm.com/"], [None], [[]], [{}], {"annotations": None},
    {"labels": []}, {"annotations": {"streams.ibm.com/placement": "x"}},
)  # fmt: skip


@pytest.fixture(scope="module")
def condition() -> str:
    """The condition of the chart with all kinds."""
    rendered = render({"workloads": {"kinds": [chart_name(kind) for kind in KINDS]}})
    [entry] = [
        entry
        for configuration in of_kind(rendered, "ValidatingWebhookConfiguration")
        for entry in configuration["webhooks"]
        if entry["name"].startswith("applications.")
    ]
    [condition] = entry["matchConditions"]
    return str(condition["expression"])


def value(choice: random.Random, paths: Sequence[Sequence[str]]) -> object:
    """A value with some of these paths to metadata, or something else in place of it."""
    if choice.random() < 0.1:
        return choice.choice(ODD)
    steps = {path[0] for path in paths if path}
    if steps == {"[]"}:
        return [value(choice, [path[1:] for path in paths if path]) for _ in range(choice.randrange(3))]
    made = {step: value(choice, [path[1:] for path in paths if path[:1] == [step]]) for step in steps - {"[]"}}
    if [] in paths:
        values = (*MAPS * 4, *OURS, *ODD)
        made |= {field: choice.choice(values) for field in ("annotations", "labels") if choice.random() < 0.5}
    return {step: of for step, of in made.items() if choice.random() < 0.8}


def application(choice: random.Random, kind: OperatorKind) -> dict[str, Any]:
    """An application of the kind, as the API server decodes one: its own metadata are well-formed."""
    made = value(choice, [steps(path) for path in kind.metadata_paths if path != "metadata"])
    own = {field: choice.choice((*MAPS * 4, *OURS[:1])) for field in ("annotations", "labels") if choice.random() < 0.5}
    return {
        "apiVersion": f"{kind.kind.group}/{kind.kind.versions[0]}",
        "kind": kind.kind.kind,
        "metadata": {"name": "app", **own},
        **(made if isinstance(made, dict) else {}),
    }


def steps(path: str) -> list[str]:
    return path.replace("[]", ".[]").split(".")


def asks(found: object, path: Sequence[str]) -> bool:
    """Whether metadata at the end of the path have a key of the product."""
    if path and path[0] == "[]":
        return isinstance(found, list) and any(asks(one, path[1:]) for one in found)
    if not isinstance(found, dict):
        return False
    if path:
        return asks(found.get(path[0]), path[1:])
    fields = [found.get(field) for field in ("annotations", "labels")]
    return any(key.startswith("streams.ibm.com/") for field in fields if isinstance(field, dict) for key in field)


@pytest.mark.parametrize("kind", KINDS, ids=chart_name)
def test_exactly_the_applications_that_ask_are_sent(kind: OperatorKind, condition: str) -> None:
    choice = random.Random(chart_name(kind))  # noqa: S311 -- no secret
    objects = [application(choice, kind) for _ in range(some_of(3000, every_day=300))]
    expected = [any(asks(one, steps(path)) for path in kind.metadata_paths) for one in objects]
    assert 0.02 < sum(expected) / len(expected) < 0.95
    answers: list[object] = []
    for at in range(0, len(objects), 100):
        sent, *more = opinion("condition", condition, *map(json.dumps, objects[at : at + 100])) or [False]
        assert sent
        answers += more
    assert [
        (one, answer) for one, answer, asking in zip(objects, answers, expected, strict=True) if answer is not asking
    ] == []
