"""The largest sets of apps that fit into one cluster together."""

from collections.abc import Callable, Collection
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.planning.at_once import AtOnce
from webhook.placement.clusters import compatible_sets
from webhook.placement.clusters.compatible_sets import CompatibleSets, maximal_sets, rivals_of
from webhook.placement.planning.search.solver import finished

Conflicts = Collection[frozenset[int]]


def sets(count: int, fit: Callable[[frozenset[int]], bool | None], seconds: float = 20) -> CompatibleSets:
    async def asked(chosen: frozenset[int]) -> bool | None:
        return fit(chosen)

    return finished(maximal_sets(frozenset(range(count)), asked, AtOnce(seconds)))


def without(conflicts: Conflicts) -> Callable[[frozenset[int]], bool]:
    return lambda chosen: not any(one <= chosen for one in conflicts)


def test_without_apps_there_are_no_sets() -> None:
    assert sets(0, without([])) == CompatibleSets(())


@given(st.lists(st.frozensets(st.integers(0, 5), min_size=2, max_size=4), max_size=8))
def test_all_maximal_sets_are_found(conflicts: list[frozenset[int]]) -> None:
    fit = without(conflicts)
    every = [frozenset(one) for size in range(1, 7) for one in combinations(range(6), size) if fit(frozenset(one))]
    maximal = sorted(tuple(sorted(one)) for one in every if not any(one < other for other in every))
    assert sets(6, fit) == CompatibleSets(tuple(maximal))


def test_apps_of_which_each_excludes_all_others_are_one_by_one() -> None:
    found = sets(30, lambda chosen: len(chosen) < 2)
    assert found == CompatibleSets(tuple((at,) for at in range(30)), complete=False)


def test_steps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compatible_sets, "STEPS", 10)
    assert not sets(8, lambda chosen: len(chosen) < 2).complete


def test_a_set_within_one_that_fits_is_not_asked_about() -> None:
    found = sets(4, without([frozenset((0, 1)), frozenset((2, 3))]))
    assert found.maximal == ((0, 2), (0, 3), (1, 2), (1, 3))
    assert sets(3, without([frozenset((0, 1)), frozenset((1, 2))])).maximal == ((0, 2), (1,))


def test_questions_are_bounded() -> None:
    asked: list[frozenset[int]] = []

    def fit(chosen: frozenset[int]) -> bool:
        asked.append(chosen)
        return len(chosen) < 10

    found = sets(20, fit)
    assert not found.complete
    assert len(asked) <= compatible_sets.QUESTIONS
    assert {app for one in found.maximal for app in one} == set(range(20))


def test_a_question_without_an_answer_is_a_no_that_is_not_certain() -> None:
    answers = {frozenset((0, 1)): None}
    assert sets(2, lambda chosen: answers.get(chosen, True)) == CompatibleSets(((0,), (1,)), complete=False)


def test_without_time_every_app_is_by_itself() -> None:
    assert sets(2, without([]), seconds=0) == CompatibleSets(((0,), (1,)), complete=False)


def test_rivals_are_in_some_sets_and_not_in_all() -> None:
    assert rivals_of([]) == set()
    assert rivals_of([(0, 1)]) == set()
    assert rivals_of([(0, 1, 2), (0, 3)]) == {1, 2, 3}
