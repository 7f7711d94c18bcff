"""Random small Jobs: verdicts are those of the exhaustive search, conflicts are smallest, and fixes work.

``make whole-jobs`` judges many more of them. ``WHOLE_JOBS_FIRST`` is the seed to begin with.
"""

import itertools
import os
import re
from dataclasses import replace

import pytest

from tests.placement.planning.at_once import AtOnce, judged
from tests.placement.planning.exhaustive import can_be_placed
from tests.placement.planning.random_jobs import (
    ADDED,
    HELPED,
    Case,
    applied,
    grown,
    labelled,
    random_case,
    random_wishes,
    resized,
    uncounted,
)
from tests.suite.example_count import some_of
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.planning.refusal.conflict import smallest
from webhook.placement.planning.search.solver import finished
from webhook.placement.text.problem import MESSAGE_LIMIT

FIRST = int(os.environ.get("WHOLE_JOBS_FIRST", "0"))
CASES = some_of(300)
BATCH = 50
THOROUGH = 4
"""Of larger conflicts only smaller sets of fewer clauses are looked for by the program as well."""

LINE = 402
"""Characters of a line with an element or a HostPool, and its indent."""

pytestmark = pytest.mark.examples


@pytest.mark.parametrize("first", range(FIRST, FIRST + CASES, BATCH))
def test_verdicts_conflicts_and_fixes(first: int) -> None:
    for seed in range(first, min(first + BATCH, FIRST + CASES)):
        case = random_case(seed)
        try:
            check(case)
        except AssertionError as wrong:
            raise AssertionError(f"case {seed}: {case}") from wrong


@pytest.mark.parametrize("first", range(FIRST, FIRST + CASES, BATCH))
def test_a_preference_never_refuses(first: int) -> None:
    for seed in range(first, min(first + BATCH, FIRST + CASES)):
        case = random_wishes(seed)
        try:
            check(case)
            check_wishes(case)
        except AssertionError as wrong:
            raise AssertionError(f"case {seed}: {case}") from wrong


def check_wishes(case: Case) -> None:
    """A Job that can run without its wishes is admitted with them, unless one is a token that others keep away."""
    hard = replace(case, parts=tuple(replace(part, clauses=part.hard, soft=frozenset()) for part in case.parts))
    kept_away = {clause for part in case.parts for clause in part.hard if clause.startswith("hostExlocation")}
    wished = {clause for part in case.parts for clause in part.clauses if clause not in part.hard}
    if kept_away.isdisjoint(wished) and can_be_placed(hard.instance()):
        assert not judged(case.spec(), case.inventory()).refused


def check(case: Case) -> None:
    verdict = judged(case.spec(), case.inventory())
    assert not verdict.undecided
    assert verdict.refused is not can_be_placed(case.instance()), verdict.text
    if verdict.refused:
        assert len(verdict.text) <= MESSAGE_LIMIT or all(len(line) <= LINE for line in listed(verdict.text)), (
            verdict.text
        )
        assert verdict.text.isascii()
        if verdict.refusal is not None and verdict.group is not None:  # else of elements by themselves
            check_conflict(case, verdict)
            if verdict.refusal.fixes:  # of several refusals of HostPools each has its own
                check_fixes(case, verdict)


def listed(text: str) -> list[str]:
    """The lines of what cannot run by itself; all of a text that has no such lines."""
    first, *lines = text.splitlines()
    return lines if first.endswith(":") else [text]


def check_conflict(case: Case, verdict: JobVerdict) -> None:
    group, answer = verdict.group, verdict.answer
    assert group
    assert answer
    conflict = finished(smallest(group, answer.short))
    if conflict.pools:
        sizes = {pool.name: pool.spl_name for pool in group.pools}
        bare = replace(case, parts=())
        for found in conflict.pools:
            names = {sizes[name] for _, name in found}
            left = replace(bare, pools=tuple(pool for pool in case.pools if pool.name in names))
            assert not can_be_placed(left.instance())
            for name in names:
                less = replace(left, pools=tuple(pool for pool in left.pools if pool.name != name))
                assert can_be_placed(less.instance()), name
            bare = replace(bare, pools=tuple(pool for pool in bare.pools if pool.name not in names))
        assert can_be_placed(bare.instance())
        return
    pods = {name for count, member in zip(conflict.counts, group.members, strict=True) for name in member.names[:count]}
    clauses = {*map(str, conflict.clauses)}
    assert not can_be_placed(case.instance(pods, clauses)), (pods, clauses)
    for pod in pods:
        assert can_be_placed(case.instance(pods - {pod}, clauses)), (pod, pods)
    for clause in clauses:
        assert can_be_placed(case.instance(pods, clauses - {clause})), (clause, clauses)
    every = sorted({text for part in case.parts for text in case.said(part).values()})
    for size in range(min(len(clauses), THOROUGH)):
        for fewer in itertools.combinations(every, size):
            assert can_be_placed(case.instance(None, fewer)), (fewer, clauses)


def check_fixes(case: Case, verdict: JobVerdict) -> None:
    assert verdict.refusal
    for fix in verdict.refusal.fix.split(", or "):
        if found := re.fullmatch(r"run (\d+) of these (\d+)", fix):
            assert len(verdict.refusal.names) == int(found[2])
            assert runs(case, verdict.refusal.names, int(found[1])), fix
        else:
            ways = [*applied(case, fix)]
            assert not ways or any(accepted(way) for way in ways), fix
        check_number(case, fix)


def check_number(case: Case, fix: str) -> None:
    """A number in a fix is the nearest that works; of the nodes that would do it is that of all which do."""
    if fix.startswith("label one ") and not fix.endswith(("have its hosts)", "be eligible)")):
        one = HELPED.search(fix)
        ways = [accepted(way) for way in applied(case, fix) if way != case]
        assert len(ways) >= sum(ways) >= (int(one["help"]) if one else len(ways)), fix
        assert one is None or one["least"] or sum(ways) == int(one["help"]), fix
    fix = uncounted(fix)
    if (found := ADDED.fullmatch(fix)) and found["count"]:
        assert not accepted(grown(case, int(found["count"]) - 1, int(found["cpu"] or 0), found["labels"] or "")), fix
    elif found := re.fullmatch(r"lower the size of HostPool (\w) to (\d+)", fix):
        assert not accepted(resized(case, found[1], int(found[2]) + 1)), fix
    elif found := re.fullmatch(
        r"label (?:one|(\d+)) more nodes? (\S+)=(\w+) \(HostPool (\w) could then have its hosts\)", fix
    ):
        ways = labelled(case, int(found[1] or 1), found[2], found[3])
        own = [replace(way, parts=(), pools=tuple(one for one in way.pools if one.name == found[4])) for way in ways]
        assert any(can_be_placed(way.instance()) for way in own), fix
    elif found := re.fullmatch(r"give HostPool (\w) (\d+) hosts?", fix):
        assert not accepted(resized(case, found[1], int(found[2]) - 1)), fix


def runs(case: Case, names: tuple[str, ...], count: int) -> bool:
    """Whether so many of the elements run beside all others."""
    return any(
        accepted(replace(case, parts=tuple(part for part in case.parts if part.name not in out)))
        for out in itertools.combinations(names, len(names) - count)
    )


def accepted(case: Case) -> bool:
    """Whether the Job is admitted; the exhaustive search says the same."""
    verdict = judged(case.spec(), case.inventory(), AtOnce())
    assert verdict.refused is not can_be_placed(case.instance()), (case, verdict.text)
    return not verdict.refused
