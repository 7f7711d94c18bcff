"""What the decoder says about a value of a wrong type, in the words of refusals."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from webhook.placement.text.decoder_words import decoder_problem, decoder_text, unreadable


class Inner(Struct, forbid_unknown_fields=True):
    """A part of a document."""

    count: int | None = None
    names: list[str] = []
    on: bool = False
    share: float = 0.0


class Whole(Struct):
    """A document."""

    inner: Inner
    values: dict[str, str] = {}
    either: int | str = 0
    listed: list[dict[str, int]] = []
    small: dict[str, Inner] = {}


def said(document: object) -> str:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(document, Whole)
    return decoder_text(caught.value, document)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"inner": {"count": "1"}}, 'inner.count: "1" is a text, expected a whole number'),
        ({"inner": {"count": True}}, "inner.count: true is a truth value, expected a whole number"),
        ({"inner": {"count": 1.5}}, "inner.count: 1.5 is a number, expected a whole number"),
        ({"inner": {"count": [1]}}, "inner.count: found a list, expected a whole number"),
        ({"inner": {"on": 1}}, "inner.on: 1 is a whole number, expected true or false"),
        ({"inner": {"on": None}}, "inner.on: found nothing, expected true or false"),
        ({"inner": {"names": ["a", 2]}},
         'inner.names[1]: 2 is a whole number, expected a text: write it in quotes, "2"'),
        ({"inner": {"titles": []}}, "inner.titles: there is no such field"),
        ({}, "inner: missing"),
        ({"inner": 1}, "inner: 1 is a whole number, expected a mapping"),
        ([], "found a list, expected a mapping"),
        ({"inner": {}, "values": {"a": "b", "width1": 2}},
         'values.width1: 2 is a whole number, expected a text: write it in quotes, "2"'),
        ({"inner": {}, "values": {"a": "b", "on": True}},
         'values.on: true is a truth value, expected a text: write it in quotes, "true"'),
        ({"inner": {}, "values": {"a": {}}}, "values.a: found a mapping, expected a text"),
        ({"inner": {}, "either": []}, "either: found a list, expected a whole number or a text"),
        ({"inner": {}, "listed": [{}, {"a": 1, "b": "c"}]}, 'listed[1].b: "c" is a text, expected a whole number'),
        ({"inner": {}, "values": {"a": "b", 5: "c"}},
         'values: of the keys, 5 is a whole number, expected a text: write it in quotes, "5"'),
        ({"inner": {}, "values": {True: "c"}},
         'values: of the keys, true is a truth value, expected a text: write it in quotes, "true"'),
        ({"inner": {}, "listed": [{}, {None: 1}]}, "listed[1]: of the keys, found nothing, expected a text"),
        ({"inner": {}, "small": {"a": {"on": True}, "b": {"on": "yes"}}},
         'small.b.on: "yes" is a text, expected true or false'),
    ],
)  # fmt: skip
def test_the_value_its_path_and_what_should_be_there_are_said(document: Any, text: str) -> None:
    assert said(document) == text


def test_a_value_that_is_not_in_the_document_is_said_without_it() -> None:
    error = msgspec.ValidationError("Expected `str`, got `int` - at `$.spec.values[...]`")
    problem = decoder_problem(error, {"kind": "Job"}, "spec.")
    assert (problem.field, problem.message) == ("spec.spec.values[...]", "found a whole number, expected a text")
    problem = decoder_problem(error, {"spec": {"values": "x"}})
    assert (problem.field, problem.message) == ("spec.values[...]", "found a whole number, expected a text")


def test_an_error_that_is_not_about_types_is_shown_as_it_is() -> None:
    error = msgspec.ValidationError("Integer value out of range - at `$.a`")
    assert decoder_text(error, {"a": 2**70}) == "a: Integer value out of range"


def test_a_file_and_a_kind_may_be_named() -> None:
    error = msgspec.ValidationError("Expected `object`, got `int` - at `$.spec`")
    assert unreadable("a.yaml", {"kind": "Pod", "spec": 7}, error) == (
        "a.yaml: Pod is not readable: spec: 7 is a whole number, expected a mapping"
    )
