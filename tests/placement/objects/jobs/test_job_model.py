"""What a Job object says about all of its pods."""

import pytest

from tests.builders import job
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.jobs.job_model import Isolated, JobModel

AB, BC, DE = (f'hostColocation("{a}"), hostColocation("{b}")' for a, b in ("ab", "bc", "de"))


def test_isolated_operators_are_listed_with_their_element() -> None:
    model = JobModel(job({"p0": {"Sink": "hostIsolation", "Work": 'host("a")'}, "p1": "hostIsolation"}))
    assert model.isolated == (Isolated("p0", "Sink"), Isolated("p1", "p1"))


def test_an_operator_named_in_the_text_counts_more_than_the_fields() -> None:
    assert JobModel(job({"p0": {"Sink": "Main.Out: hostIsolation"}})).isolated == (Isolated("p0", "Main.Out"),)


def test_a_text_that_does_not_parse_says_nothing() -> None:
    assert JobModel(job({"p0": "hostIsolation(", "p1": 'host("a")'})).elements.keys() == {"p0", "p1"}
    assert JobModel(job({"p0": "hostIsolation("})).isolated == ()


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        pytest.param("a", "abc", id="through another token"),
        pytest.param("ac", "abc", id="both ends"),
        pytest.param("d", "de", id="the other group"),
        pytest.param("f", "f", id="alone in its element"),
        pytest.param("x", "x", id="unknown to the job"),
        pytest.param("ad", "abcde", id="of two groups"),
    ],
)
def test_a_token_belongs_to_all_it_is_joined_with(tokens: str, expected: str) -> None:
    model = JobModel(job({"p0": AB, "p1": BC, "p2": DE, "p3": 'hostColocation("f")'}))
    assert model.group(tokens) == frozenset(expected)


def test_groups_join_late_as_well() -> None:
    model = JobModel(job({"p0": AB, "p1": DE, "p2": 'hostColocation("b"), hostColocation("d")'}))
    assert model.group("a") == frozenset("abde")


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        pytest.param("ab", True, id="of one element"),
        pytest.param("ac", True, id="through another element"),
        pytest.param("ad", False, id="of two groups"),
        pytest.param("ax", False, id="one unknown"),
        pytest.param("x", True, id="one alone"),
    ],
)
def test_tokens_are_joined_only_as_the_model_joins_them(tokens: str, *, expected: bool) -> None:
    assert JobModel(job({"p0": AB, "p1": BC, "p2": DE})).joins(frozenset(tokens)) is expected


@pytest.mark.parametrize(
    ("pe", "expected"),
    [
        pytest.param("p0", {True, False}, id="an element's own word is not among the others'"),
        pytest.param("p1", {False}, id="nor where it is the only one"),
        pytest.param("", {True, False}, id="all are others to a pod of no element"),
        pytest.param("p9", {True, False}, id="and to an element that the model does not have"),
    ],
)
def test_it_is_known_whether_others_are_bound_to_cpus(pe: str, expected: set[bool]) -> None:
    elements = Element("p0"), Element("p1", cpu_bound=True), Element("p2")
    assert JobModel(StreamsJob("default", "j", elements)).binding(pe) == expected


def test_a_job_without_elements_binds_no_pod() -> None:
    assert JobModel(job({})).binding("p0") == frozenset()
