"""Random applications of other operators, and what their refusals advise."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import msgspec

from tests.placement.kinds.application_verdict import verdict_on
from tests.placement.kinds.random_applications import MEMORY, Case, Machine, Part, random_application
from tests.placement.planning.exhaustive import can_be_placed
from tests.refused.census import Tried
from webhook.app.application_kinds import application_kinds
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.kinds.application import ComponentPods, expanded
from webhook.placement.kube.amounts import amount
from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.requests import pod_requests
from webhook.placement.planning.refusal.conflict import smallest
from webhook.placement.planning.search.solver import finished

ADDED: Final = re.compile(
    r"add (?:a|(?P<count>\d+)) nodes?(?: with (?P<amounts>cpu \w+(?:, memory \w+)?) (?:free|to offer))?"
    r"(?: (?:and|with) the label disk=(?P<disk>\w+))?"
)
LABELLED: Final = re.compile(
    r"label (?:one more node|(?P<more>\d+) more nodes|node (?P<name>\S+)) disk=(?P<disk>\w+)"
    r"(?: \((?:(?P<least>at least)|only) (?P<help>\d+) of (?P<without>\d+) nodes helps?\))?"
)
GIVEN_UP: Final = re.compile(r"(?P<steps>(?:drop|lower) .*) \((?:(?P<nodes>\d+) nodes?|it|all \d+) would fit\)")
FEWER: Final = re.compile(r"run (\d+) of these (\d+)")
NOTHING: Final = "no single change helps"
SINGLE: Final = re.compile(r"component (.+?): ")
ALONE: Final = re.compile(r"\d+ of \d+ components? cannot run even by (?:itself|themselves) \(.*\):")
STAGES: Final = re.compile(r"\d+ stages of the application cannot run, each by itself:")
COUNTED: Final = re.compile(r"(?:.*: )?(\d+) of (\d+) pods? fits?(?: \((.*)\))?\..*")


@dataclass(frozen=True)
class Advised:
    """What a refusal says of the components of these names: all in one line, and the fixes of it.

    It says so of each ``alone``, or of all that run at the same time.
    """

    names: tuple[str, ...]
    line: str
    alone: bool

    @property
    def fixes(self) -> tuple[str, ...]:
        """What is advised, the nearest first."""
        return tuple(self.line.partition("Nearest fix: ")[2].removesuffix(".").split(", or "))


def advice(text: str) -> list[Advised]:
    """What a refusal advises, for each line that has fixes."""
    first, *lines = text.splitlines()
    if single := SINGLE.match(first):
        return [Advised((single[1],), lines[-1], alone=True)]
    if ALONE.fullmatch(first) or STAGES.fullmatch(first):
        parted = [line.strip().partition(": ") for line in lines]
        alone = ALONE.fullmatch(first) is not None
        return [
            Advised(tuple(names.split(", ")), said, alone or not COUNTED.fullmatch(said)) for names, _, said in parted
        ]
    counted = COUNTED.fullmatch(first)
    assert counted, text
    return [Advised(tuple(counted[3].split(", ")), f"{first} {lines[-1]}", alone=False)]


@dataclass(frozen=True)
class TriedApplication:
    """An object of another operator in a cluster."""

    case: Case

    @cached_property
    def verdict(self) -> JobVerdict:
        """The verdict on it, which is that of the exhaustive search."""
        verdict = verdict_on(self.case)
        assert verdict.refused is not all(map(can_be_placed, self.case.instances())), (self.case, verdict.text)
        return verdict

    def refused(self) -> bool:
        """Whether it cannot run."""
        return self.verdict.refused

    def check_fixes(self) -> bool:
        """Each fix helps what it is advised for, and a smaller change of the kind would not."""
        checked = False
        for said in advice(self.verdict.text):
            chosen: list[_Alone | _Stage] = [*_stages(self.case, said)]
            if said.alone:
                chosen = [_Alone(self.case, at) for at in places(self.case, said.names)]
            for fix in said.fixes:
                for each in chosen if fix != NOTHING else ():
                    each.check(fix)
                    checked = True
        return checked

    def check_smallest(self) -> bool:
        """The set of pods and clauses is a smallest conflict, and the number of pods that fit is the largest."""
        for said in advice(self.verdict.text):
            for each in () if said.alone else _stages(self.case, said):
                each.check_count()
        group, answer = self.verdict.group, self.verdict.answer
        if group is None or answer is None:
            return False  # of components by themselves the conflict is that of a pod
        conflict = finished(smallest(group, answer.short))
        chosen = places(self.case, [member.names[0] for member in group.members])
        counts = {at: count for at, count in zip(chosen, conflict.counts, strict=True) if count}
        clauses, own = {*map(str, conflict.clauses)}, texts(self.case)

        def placed(counts: dict[int, int], clauses: set[str]) -> bool:
            return can_be_placed(self.case.instance(counts, {at: clauses & own[at] for at in counts}))

        assert not placed(counts, clauses), self.verdict.text
        assert all(placed({**counts, at: counts[at] - 1}, clauses) for at in counts), self.verdict.text
        assert all(placed(counts, clauses - {clause}) for clause in clauses), self.verdict.text
        return True

    def followed(self) -> list[Tried]:
        """The application after all that is advised, in every way to do it."""
        cases = [self.case]
        for each in advice(self.verdict.text):
            for fix in each.fixes:
                concerned = places(self.case, each.names)
                if not each.alone:
                    concerned = [at for one in _stages(self.case, each) for at in one.counts]
                ways = [after for case in cases for after in done(case, concerned, fix)]
                if ways:
                    cases = ways
                    break
            else:
                return []
        return [TriedApplication(case) for case in cases]


def places(case: Case, names: Sequence[str]) -> list[int]:
    """The places of the parts that the components of these names are written from."""
    known = [component.name for component in _components(case)]
    return [known.index(name) for name in names]


def _components(case: Case) -> Sequence[ComponentPods]:
    return expanded(application_kinds()[case.kind], case.document, case.runtime).components


def texts(case: Case) -> list[set[str]]:
    """What refusals may say of each part; of its requests with what the operator adds."""
    found = []
    for part, component in zip(case.parts, _components(case), strict=False):
        requests, _ = pod_requests(msgspec.convert(component.pod["spec"], PodSpec))
        amounts = [f"{one} {amount(one, requests[one])}" for one in ("cpu", "memory") if requests.get(one)]
        found.append({*part.clauses, f"nodeSelector disk={part.disk}", f"requests {', '.join(amounts)}"})
    return found


@dataclass(frozen=True)
class _Stage:
    """All that runs at the same time, ``counts`` pods of each part, of which a ``line`` says something of ``named``."""

    case: Case
    counts: dict[int, int]
    named: dict[int, int]
    line: str

    def check_count(self) -> None:
        """``AssertionError`` unless so many pods fit as is said, and no more."""
        counted = COUNTED.fullmatch(self.line)
        assert counted, self.line
        have, total = int(counted[1]), int(counted[2])
        assert sum(self.named.values()) == total, self.line
        assert self._fits(have, {}), self.line
        assert not self._fits(have + 1, {}), self.line

    def check(self, fix: str) -> None:
        """``AssertionError`` unless everything can run after the fix, and cannot after a smaller one of the kind."""
        if fewer := FEWER.fullmatch(fix):
            others = {at: count for at, count in self.counts.items() if at not in self.named}
            assert sum(self.named.values()) == int(fewer[2]), fix
            assert self._fits(int(fewer[1]), others), fix
            assert not self._fits(int(fewer[1]) + 1, others), fix
            return
        concerned = [*self.counts]
        ways = [*done(self.case, concerned, fix)]
        helping = sum(map(self._helped, ways))
        assert helping, fix
        if (found := LABELLED.fullmatch(fix)) and not found["more"]:
            least = int(found["help"] or len(ways))
            assert helping == least or (found["least"] and helping > least), (fix, helping, len(ways))
            assert len(ways) == int(found["without"] or len(ways)), fix
        for less in smaller_steps(fix):
            assert not any(self._helped(way) for way in done(self.case, concerned, less)), (fix, less)

    def _helped(self, way: Case) -> bool:
        """Whether the stage can run in that case; of memory, which the search does not know, the product tells."""
        if not can_be_placed(way.instance(self.counts)):
            return False
        return not all(map(can_be_placed, way.instances())) or not TriedApplication(way).refused()

    def _fits(self, count: int, others: dict[int, int]) -> bool:
        """Whether so many of the pods that the line names fit, beside these others."""
        choices = itertools.product(*(range(most + 1) for most in self.named.values()))
        ways = (dict(zip(self.named, choice, strict=True)) for choice in choices if sum(choice) == count)
        return any(can_be_placed(self.case.instance({**others, **way})) for way in ways)


def _stages(case: Case, said: Advised) -> Iterator[_Stage]:
    """The stages of which something is said: of several the same."""
    named = places(case, said.names)
    together = {at: part.count for at, part in enumerate(case.parts) if not part.apart}
    if own := {at: together[at] for at in named if at in together}:
        yield _Stage(case, together, own, said.line)
    for at in named:
        if at not in together:
            own = {at: case.parts[at].count}
            yield _Stage(case, own, own, said.line)


@dataclass(frozen=True)
class _Alone:
    """One pod of a part by itself, in a cluster where nothing else runs."""

    case: Case
    at: int

    def check(self, fix: str) -> None:
        """``AssertionError`` unless it can run after the fix, on as many nodes as it says."""
        ways = [*done(self.case, [self.at], fix)]
        helping = sum(bool(self._nodes(way)) for way in ways)
        assert helping, fix
        if (given_up := GIVEN_UP.fullmatch(fix)) and given_up["nodes"]:
            assert [len(self._nodes(way)) for way in ways] == [int(given_up["nodes"])], fix
        if found := LABELLED.fullmatch(fix):
            assert helping == int(found["help"] or len(ways)), (fix, helping, len(ways))
        for less in smaller_steps(fix):
            assert not any(self._nodes(after) for after in done(self.case, [self.at], less)), (fix, less)

    def _nodes(self, case: Case) -> list[str]:
        """The nodes that it can run on."""
        own = case.instance({self.at: 1})
        return [node.name for node in own.nodes if can_be_placed(replace(own, nodes=(node,)))]


# The changes that a fix names


def done(case: Case, concerned: Sequence[int], fix: str) -> Iterator[Case]:
    """The cases after the fix for these parts, in every way to do it; none if it is open-ended."""
    if fix == NOTHING or FEWER.fullmatch(fix):
        return
    if found := ADDED.fullmatch(fix):
        amounts = dict(each.split(" ") for each in (found["amounts"] or "cpu 0").split(", "))
        new = Machine("", cores(amounts["cpu"]), found["disk"] or "", memory(amounts.get("memory", "")))
        first = len(case.machines)  # a node that is added later has a name of its own
        more = [replace(new, name=f"new-{first + at}") for at in range(int(found["count"] or 1))]
        yield replace(case, machines=(*case.machines, *more))
    elif found := LABELLED.fullmatch(fix):
        without = [one for one in case.machines if one.disk != found["disk"] and found["name"] in (None, one.name)]
        for chosen in itertools.combinations(without, int(found["more"] or 1)):
            machines = (replace(one, disk=found["disk"]) if one in chosen else one for one in case.machines)
            yield replace(case, machines=tuple(machines))
    else:
        given_up = GIVEN_UP.fullmatch(fix)
        assert given_up, fix
        steps, known = [*steps_of(given_up["steps"])], texts(case)
        assert all(any(clause in known[at] for at in concerned) for _, clause, _ in steps), fix
        parts = (_without(part, known[at] if at in concerned else set(), steps) for at, part in enumerate(case.parts))
        yield case.with_parts(tuple(parts))


def steps_of(text: str) -> Iterator[tuple[str, str, str]]:
    """Each verb with its clause, and the amounts that are to be left of it."""
    verb = ""
    for step in text.split(" and "):
        first, _, more = step.partition(" ")
        verb, clause = (first, more) if first in ("drop", "lower") else (verb, step)
        clause, _, left = clause.partition(" to ")
        yield verb, clause, left


def _without(part: Part, said: set[str], steps: Sequence[tuple[str, str, str]]) -> Part:
    for _, clause, left in steps:
        if clause not in said:
            continue
        if clause.startswith("requests "):
            part = replace(part, cpu=cores(left.removeprefix("cpu ")) if left else 0)
        elif clause.startswith("nodeSelector "):
            part = replace(part, disk="")
        else:
            part = replace(part, clauses=tuple(one for one in part.clauses if one != clause))
    return part


def smaller_steps(fix: str) -> Iterator[str]:
    """The next smaller changes of that kind, which must not be enough: a node fewer, cores that are lowered less."""
    if (found := ADDED.fullmatch(fix)) and found["count"]:
        fewer = int(found["count"]) - 1
        yield fix.replace(f"add {found['count']} nodes", "add a node" if fewer == 1 else f"add {fewer} nodes")
    elif found := re.fullmatch(r"(lower requests cpu (\w+).* to cpu )(\w+)( .*)", fix):
        most, left = cores(found[2]), cores(found[3])
        unit = 1000 if most == int(most) and left >= 1 else 10
        more = round(1000 * left) + unit
        if more < 1000 * most:
            yield f"{found[1]}{more}m{found[4]}"


def cores(text: str) -> float:
    """Cores as messages write them."""
    return int(text.removesuffix("m")) / 1000 if text.endswith("m") else int(text)


def memory(text: str) -> int:
    """Bytes as messages write them; of a node of which no memory is named there is enough."""
    units = {"Mi": 20, "Gi": 30}
    return int(text[:-2]) << units[text[-2:]] if text else MEMORY


def random_refused(seed: int) -> TriedApplication:
    """The application of that number."""
    return TriedApplication(random_application(seed))
