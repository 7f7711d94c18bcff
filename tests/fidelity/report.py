"""The page about a run: how often verdict and scheduler agree, by constraint family, and every disagreement."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bench.machine import describe
from tests.fidelity.comparison import AGREED, CORNERED, FALSE_REFUSAL, HEDGED, INVALID, MISPLACED, MISSED_REFUSAL
from tests.fidelity.journal import Journal, JournalEntry

_SHOWN: Final = 40
"""Disagreements that are listed one by one."""

_WORDS: Final = 300
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
            *_outcomes(entries),
            "",
            *_families(entries),
            "",
            *_disagreements(journal.wrong),
            "",
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


def _row(name: str, entries: Sequence[JournalEntry]) -> str:
    counts = Counter(one.kind for one in entries)
    return f"| {name} | {counts['job']} | {counts['workload']} | {counts['pod']} | {len(entries)} |"


def _families(entries: Iterable[JournalEntry]) -> Iterator[str]:
    yield "## By constraint family"
    yield ""
    yield "A scenario counts for every family that it has something of."
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


def _disagreements(wrong: Sequence[JournalEntry]) -> Iterator[str]:
    yield "## Disagreements"
    yield ""
    if not wrong:
        yield "None."
    for one in wrong[:_SHOWN]:
        file = f" ({one.manifest})" if one.manifest else ""
        words = " ".join(one.why.split())
        yield f"- {one.outcome}, {one.kind} {one.number}{file}: {words[:_WORDS]}{' ...' * (len(words) > _WORDS)}"
    if len(wrong) > _SHOWN:
        yield f"- and {len(wrong) - _SHOWN} more"
