"""Advice on refused Jobs, followed to its end, admits them after two rounds, or says by itself that more is needed."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.placement.planning.at_once import judged
from tests.placement.planning.random_jobs import Case, Part, applied, random_case, uncounted
from tests.placement.planning.test_pool_refusals import MANY, random_pools
from tests.suite.example_count import some_of

CASES = some_of(300)
BATCH = 50
ROUNDS = 2

OPEN_ENDED = re.compile(
    r"no single change helps.*|make more nodes eligible|run \d+ of these \d+|free .*|add \d+ nodes?"
    r"|.* \(HostPool \w could then have its hosts\)|.* would be eligible\)"
)
"""Advice that says by itself that it is not all, that nothing is known, or that asks for what these cases lack."""

SMALLER = re.compile(r"^(lower the size of HostPool \w to \d+) \(HostPool \w could then have its hosts\)$")
"""A size that is not known to be enough for the elements."""

CHANGED = re.compile(
    r"label |add (?:a|\d+) nodes?(?: with |$)|give |lower the size |(?:drop|lower) .* \((?:it|all \d+) would fit\)$"
)
"""Changes that these cases know how to make for the whole Job."""

pytestmark = pytest.mark.examples


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_two_rounds_are_enough(first: int) -> None:
    late = [seed for seed in range(first, min(first + BATCH, CASES)) if not ends(random_case(seed), ROUNDS)]
    assert not late


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_two_rounds_are_enough_for_pools(first: int) -> None:
    late = [seed for seed in range(first, min(first + BATCH, CASES)) if not ends(random_pools(seed), ROUNDS)]
    assert not late


def ends(case: Case, rounds: int) -> bool:
    """Whether some way to follow the advice ends within these rounds: admitted, or told that more is needed."""
    text = judged(case.spec(), case.inventory()).text
    if not text:
        return True
    ways = [*followed_in_every_way(case, text)]
    return not ways or (rounds > 0 and any(ends(way, rounds - 1) for way in ways))


def followed_in_every_way(case: Case, text: str) -> Iterator[Case]:
    """The cases after all that the refusal advises, in every way that a reader could do it."""
    cases = [case]
    for who, fixes in advice(text):
        cases = [after for one in cases for after in done(one, who, fixes)]
    yield from cases


def advice(text: str) -> Iterator[tuple[str, str]]:
    """The name of the element, empty for the whole Job, and the fixes for it."""
    lines = text.splitlines()
    if single := re.match(r"processing element ([\w-]+): ", lines[0]):
        yield single[1], lines[-1].partition("Nearest fix: ")[2]
    elif "cannot run even by" in lines[0] or lines[0].startswith(MANY):
        for line in lines[1:]:
            name = "" if line.startswith("  HostPool") else re.split(r"[,: ]", line.strip())[0]
            yield name, line.partition("Nearest fix: ")[2]
    else:
        yield "", lines[-1].partition("Nearest fix: ")[2]


def done(case: Case, name: str, fixes: str) -> Iterator[Case]:
    """The case after the first of the fixes that can be done and is not open-ended."""
    for each in fixes.removesuffix(".").split(", or "):
        fix = SMALLER.sub(r"\1", uncounted(each))
        if OPEN_ENDED.fullmatch(fix):
            continue
        ways = [*(_of_element(case, name, fix) if name else ())]
        if not ways and CHANGED.match(fix):
            ways = [way for way in applied(case, fix) if way != case]
        if ways:
            yield from ways
            return


def _of_element(case: Case, name: str, fix: str) -> Iterator[Case]:
    """The case without what the element, and those that are equal to it, are to drop or lower."""
    one = next(part for part in case.parts if part.name == name)
    if found := re.fullmatch(r"drop (.*?) and lower .* to cpu (\d+) \(\d+ nodes? would fit\)", fix):
        yield _changed(case, one, replace(_without(one, {found[1]}), cpu=int(found[2])))
    elif found := re.fullmatch(r"drop (.*?)(?: and (.*))? \(\d+ nodes? would fit\)", fix):
        gone = {found[1], found[2]}
        yield _changed(case, one, _without(one, gone))
    elif found := re.fullmatch(r"lower .* to cpu (\d+) \(\d+ nodes? would fit\)", fix):
        yield _changed(case, one, replace(one, cpu=int(found[1])))


def _without(part: Part, gone: set[str]) -> Part:
    kept = tuple(clause for clause in part.clauses if clause not in gone)
    return replace(part, clauses=kept, disk="" if f"nodeSelector disk={part.disk}" in gone else part.disk)


def _changed(case: Case, one: Part, new: Part) -> Case:
    parts = (
        replace(new, name=part.name) if replace(part, name="") == replace(one, name="") else part for part in case.parts
    )
    return replace(case, parts=tuple(parts))
