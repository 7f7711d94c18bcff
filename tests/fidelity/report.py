"""The page about a run: how often verdict and scheduler agree, by constraint family, and every disagreement."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from bench.machine import describe
from tests.fidelity.comparison import AGREED, CORNERED, FALSE_REFUSAL, HEDGED, INVALID, MISPLACED, MISSED_REFUSAL
from tests.fidelity.journal import Journal, JournalEntry

_MEANING: Final = (
    "A scenario is a cluster of 2 to 12 nodes, and a Job of Streams, a workload or a pod that is created in it. The",
    "product's verdict is compared with what the scheduler does with the pods as the product patches them. What is",
    "refused is tried all the same.",
    "",
    "- false refusal: it was refused, and all pods run where their clauses hold.",
    "- misplaced: a pod runs where one of its clauses does not hold.",
    "- missed refusal: it was admitted without a warning, and there is no way for all pods to run.",
    "- cornered: it was admitted, and all pods could run as in the verdict's own plan, which was checked; but the",
    "  scheduler bound pods, or HostPools got hosts, in another way, and some pod waits.",
)

_OF_DEVICES: Final = (
    "A scenario is a cluster of 1 to 3 nodes with ResourceSlices, classes, claims and templates, and a pod or a",
    "Deployment that wants devices. The outcomes have the same names. Misplaced is a pod on a node that the product",
    "would have ruled out for it. A pod may wait without a word for devices that others hold.",
)

_OF_DEVICE_GROUPS: Final = (
    "A scenario is a cluster of 1 to 3 nodes with devices, and a Job of two or three elements that want some, or a",
    "HostPool by devices. The pods of an admitted Job are created by its plan, and have to be bound with allocated",
    "claims. What is refused is played in each way: with the pods on any nodes, kept on each combination of nodes, and",
    "in several orders. Of a HostPool each node is tried with a pod for each entry. The outcomes have the same names.",
)

_OF_APPLICATIONS: Final = (
    "A scenario is a cluster of 1 to 4 nodes and an object of another operator's kind. The product's verdict on it is",
    "compared with what the scheduler does with the pods that the object was written from, with their patches.",
    "The outcomes have the same names. What is admitted and waits is played again with each pod kept on the node that",
    "an exhaustive search has for it: if all run then, it was cornered, else the refusal was missed.",
)

_PLAN: Final = re.compile(r"^by the verdict's own plan \S+ cannot be on \S+: ([^;,]*)")

_SHOWN: Final = 40
"""Disagreements that are listed one by one."""

_WORDS: Final = 160
"""Characters of what is said about one."""


def page(journal: Journal, seed: int) -> str:
    """The page, in Markdown."""
    entries = list(journal.entries.values())
    seconds = sum(one.seconds for one in entries)
    return "\n".join(
        [
            "# Fidelity: verdicts against the real scheduler",
            "",
            f"Written by `make fidelity`. {len(entries)} scenarios of seed {seed}, {seconds:.0f} seconds of playing.",
            "",
            *(f"- {name}: {value}" for name, value in describe()),
            "",
            *_MEANING,
            "",
            *_outcomes(entries),
            "",
            *_families(entries),
            "",
            *_causes(journal.wrong),
            "",
            *_disagreements(journal.wrong),
            "",
            *_passing(journal.passing),
        ]
    )


def device_page(journal: Journal) -> str:
    """What the page says of scenarios of devices."""
    return _section(journal, "devices", _OF_DEVICES, _outcomes)


def device_group_page(journal: Journal) -> str:
    """What the page says of Jobs whose elements want devices, and of HostPools by devices."""
    return _section(journal, "Jobs and HostPools with devices", _OF_DEVICE_GROUPS, _kinds)


def application_page(journal: Journal) -> str:
    """What the page says of scenarios of applications."""
    return _section(journal, "applications", _OF_APPLICATIONS, _kinds)


def _section(
    journal: Journal,
    subject: str,
    meaning: Sequence[str],
    counted: Callable[[Sequence[JournalEntry]], Iterator[str]],
) -> str:
    """What the page says of scenarios of one subject: what they are, how they ended, and what went wrong."""
    entries = list(journal.entries.values())
    seconds = sum(one.seconds for one in entries)
    return "\n".join(
        [
            f"# Fidelity of {subject}",
            "",
            f"{len(entries)} scenarios of {subject}, {seconds:.0f} seconds of playing.",
            "",
            *meaning,
            "",
            *counted(entries),
            "",
            *_families(entries),
            "",
            *_disagreements(journal.wrong),
            "",
            *_passing(journal.passing),
        ]
    )


def summary(entries: Sequence[JournalEntry]) -> str:
    """The counts in one line."""
    counts = Counter(one.outcome for one in entries)
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())


def _outcomes(entries: Sequence[JournalEntry]) -> Iterator[str]:
    yield "## Outcomes"
    yield ""
    yield "| | Jobs | workloads | pods | all |"
    yield "|---|---:|---:|---:|---:|"
    admitted = [one for one in entries if one.outcome == AGREED and one.admitted]
    refused = [one for one in entries if one.outcome == AGREED and not one.admitted]
    yield _row("admitted, and all pods run", admitted)
    yield _row("refused, and not all pods run when they are tried", refused)
    for outcome in (HEDGED, INVALID, FALSE_REFUSAL, MISPLACED, MISSED_REFUSAL, CORNERED):
        yield _row(outcome, [one for one in entries if one.outcome == outcome])
    cornered = [one for one in entries if one.outcome == CORNERED]
    yield _row("... by hosts of pools", [one for one in cornered if one.why.startswith("HostPool")])


def _kinds(entries: Sequence[JournalEntry]) -> Iterator[str]:
    yield "## By kind"
    yield ""
    columns = (HEDGED, FALSE_REFUSAL, MISPLACED, MISSED_REFUSAL, CORNERED)
    yield f"| kind | admitted, and all pods run | refused, and not all pods run | {' | '.join(columns)} |"
    yield f"|---|{'---:|' * (len(columns) + 2)}"
    for kind in (*sorted({one.kind for one in entries}), ""):
        own = [one for one in entries if kind in {"", one.kind}]
        agreed = [one.admitted for one in own if one.outcome == AGREED]
        counts = [agreed.count(True), agreed.count(False)]
        counts += [sum(one.outcome == outcome for one in own) for outcome in columns]
        yield f"| {kind or 'all'} | {' | '.join(map(str, counts))} |"


def _row(name: str, entries: Sequence[JournalEntry]) -> str:
    counts = Counter(one.kind for one in entries)
    return f"| {name} | {counts['job']} | {counts['workload']} | {counts['pod']} | {len(entries)} |"


def _families(entries: Iterable[JournalEntry]) -> Iterator[str]:
    yield "## By constraint family"
    yield ""
    yield "A scenario counts for each family that it uses."
    yield ""
    columns = (AGREED, HEDGED, FALSE_REFUSAL, MISPLACED, MISSED_REFUSAL, CORNERED)
    yield f"| family | {' | '.join(columns)} |"
    yield f"|---|{'---:|' * len(columns)}"
    counts: dict[str, Counter[str]] = {}
    for one in entries:
        for family in one.families:
            counts.setdefault(family, Counter())[one.outcome] += 1
    for family, found in sorted(counts.items()):
        yield f"| {family} | {' | '.join(str(found[column]) for column in columns)} |"


def _causes(wrong: Sequence[JournalEntry]) -> Iterator[str]:
    yield "## Missed refusals, by what the verdict's own plan does not keep"
    yield ""
    found = [_PLAN.search(one.why) for one in wrong if one.outcome == MISSED_REFUSAL]
    counts = Counter(cause[1] if cause else "something else" for cause in found)
    yield from (f"- {count}: {cause}" for cause, count in counts.most_common())
    if not counts:
        yield "None."


def _disagreements(wrong: Sequence[JournalEntry]) -> Iterator[str]:
    yield "## Disagreements"
    yield ""
    if not wrong:
        yield "None."
    for one in wrong[:_SHOWN]:
        file = f" ({one.manifest})" if one.manifest else ""
        yield f"- {one.outcome}, {one.kind} {one.number}{file}: {_short(' '.join(one.why.split()))}"
    if len(wrong) > _SHOWN:
        yield f"- and {len(wrong) - _SHOWN} more"


def _passing(passing: Sequence[JournalEntry]) -> Iterator[str]:
    """The section about those; nothing without any."""
    if passing:
        yield "## Not seen again"
        yield ""
        yield "These disagreed when they were played beside 99 others, and agreed when they were played again by"
        yield "themselves: a busy machine makes the scheduler later than a play waits."
        yield ""
    for one in passing:
        yield f"- {one.kind} {one.number}, {_short(' '.join(one.why.split()))}"
    if passing:
        yield ""


def _short(text: str) -> str:
    """The text, or as many words of it as there is room for."""
    return text if len(text) <= _WORDS else f"{text[:_WORDS].rpartition(' ')[0]} ..."
