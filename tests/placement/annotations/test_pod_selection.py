"""``run-with`` and ``run-apart-from``: selectors over pods."""

import pytest

from tests.placement.mapping_annotations import path
from webhook.placement.annotations.pod_selection import PodSelection, read_pod_selection, unchecked
from webhook.placement.text import keys

WITH, APART = path(keys.RUN_WITH), path(keys.RUN_APART_FROM)
NO_VALUE = "is not a label value: at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
FORMS = '"key", "!key", "key=value", "key!=value", "key in (a, b)" and "key notin (a, b)"'


def read(near: str | None = None, away: str | None = None) -> tuple[PodSelection, ...]:
    found, problems = read_pod_selection(near, away)
    assert not problems
    return found


def test_what_is_not_there_is_not_company() -> None:
    assert read() == ()


def test_one_is_near_and_the_other_is_away() -> None:
    assert [(found.clause.text, found.near) for found in read("app=db", "tier =\n web")] == [
        ("run-with app=db", True),
        ("run-apart-from tier = web", False),
    ]


REFUSED = {
    "empty": (" ", f"{WITH}: selects every pod: name the labels of those that are meant, such as app=database"),
    "no selector": (
        "app db",
        f'{WITH}: "app db" is not a label selector such as "key", "!key", "key=value" or "key in (a, b)"',
    ),
    "compared by size": ("cores > 8", f'{WITH}: "cores" is compared by size, but pods are selected by {FORMS} only'),
    "no key": ("a/b/c", f'{WITH}: "a/b/c" is not a label key such as kubernetes.io/hostname or disktype'),
    "no value": ("app in (a, -b)", f'{WITH}: "-b" {NO_VALUE}'),
    "too long": (f"a={'b' * 1023}", f"{WITH}: has 1025 characters, at most 1024 are allowed"),
    "too many": (",".join("a" * 65), f"{WITH}: has 65 requirements, at most 64 are allowed"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_what_selects_no_pods_is_refused(text: str, expected: str) -> None:
    found, problems = read_pod_selection(text, None)
    assert (found, [f"{problem.field}: {problem.message}" for problem in problems]) == ((), [expected])


def test_all_problems_are_shown_at_once() -> None:
    _, problems = read_pod_selection("a > 1, b=-", "!")
    assert [problem.field for problem in problems] == [WITH, WITH, APART]


@pytest.mark.parametrize(
    ("near", "away"),
    [("app=db", "app in (db)"), ("a,b in (x,y)", "b in (y, x), a")],
    ids=["in other words", "in another order"],
)
def test_the_same_pods_cannot_be_near_and_away(near: str, away: str) -> None:
    _, problems = read_pod_selection(near, away)
    message = f"run-with {near} and run-apart-from {away} contradict each other"
    assert [(problem.field, problem.message) for problem in problems] == [(APART, message)]


MATCHES = {
    "equal": ("app=db", {"app": "db"}, True),
    "another value": ("app=db", {"app": "web"}, False),
    "absent": ("app=db", {}, False),
    "not equal": ("app!=db", {"app": "web"}, True),
    "not equal, though it is": ("app!=db", {"app": "db"}, False),
    "not equal as it is absent": ("app!=db", {}, True),
    "there": ("app", {"app": ""}, True),
    "not there": ("app", {}, False),
    "must not be there": ("!app", {}, True),
    "must not be there, but is": ("!app", {"app": "db"}, False),
    "only one of two": ("app=db,tier=x", {"app": "db"}, False),
}


@pytest.mark.parametrize(("text", "labels", "expected"), MATCHES.values(), ids=MATCHES.keys())
def test_a_selector_matches_labels_as_kubernetes_has_it(text: str, labels: dict[str, str], expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert read(text)[0].matches(labels) == expected


def test_a_warning_says_that_the_others_are_not_looked_for() -> None:
    assert list(map(unchecked, read("app=db", "app=web"))) == [
        "run-with app=db: the selected pods are not checked; this pod waits until one of them runs where it fits",
        (
            "run-apart-from app=web: the selected pods are not checked; "
            "this pod waits while one of them runs on every node that fits"
        ),
    ]


def test_a_warning_about_a_long_selector_is_not_cut_by_others() -> None:
    assert len(unchecked(read(f"app in ({', '.join(['database'] * 60)})")[0])) <= 250
