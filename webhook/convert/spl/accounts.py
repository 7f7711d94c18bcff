"""Accounts for every host clause of an SPL text: an operator has it, or a remark or a problem is about it.

The count is one of tokens, and so does not depend on how sections, composites and invocations are read: a clause that
this reading misses is refused, and never dropped in silence.
"""

import bisect
from collections.abc import Collection, Iterator
from typing import Final

from webhook.convert.findings import Remark
from webhook.convert.spl.library import SplText
from webhook.convert.spl.program import SplConfig
from webhook.convert.spl.scanner import SplScanner
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text.problem import Problem

_PLACEMENT: Final = "placement"
_CALLS: Final = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION})
"""Clauses that are distinguished from names of variables and functions in any position."""
_CLAUSES: Final = _CALLS | {ClauseName.HOST, ClauseName.ISOLATION}
_ENDS: Final = frozenset({";", "{", "}"})


def clause_places(scanner: SplScanner) -> Iterator[int]:
    """The places of the words of host clauses: those after ``placement :``, and calls of the longer words."""
    placed = False
    for place in range(*scanner.whole()):
        if not scanner.named(place):
            placed = placed and scanner.word(place) not in _ENDS
            continue
        word, following = scanner.word(place), scanner.word(place + 1)
        if word == _PLACEMENT and following == ":":
            placed = True
        elif word in _CLAUSES and (placed or (word in _CALLS and following == "(")):
            yield place


def unseen(text: SplText) -> Iterator[Problem]:
    """A problem for each host clause that is in no config of the text as it was read."""
    read = sorted(
        (config.value.start, config.value.end) for config in text.program.configs() if config.name == _PLACEMENT
    )
    starts = [start for start, _ in read]
    for place in clause_places(text.scanner):
        at = bisect.bisect_right(starts, place) - 1
        if at < 0 or place >= read[at][1]:
            message = "this clause is in the config of no operator and of no composite"
            yield text.scanner.problem(place, message)


def unheld(text: SplText, reached: Collection[int]) -> Iterator[Remark]:
    """A remark for each placement with host clauses that no operator has.

    ``reached`` are the identities of the composites that were expanded, and so have operators.
    """
    for composite in (*text.program.composites, text.program.loose):
        configs = [*composite.configs, *(one for each in composite.invocations for one in each.configs)]
        for config in configs:
            clauses = _unanswered(text, config)
            if not clauses:
                continue
            what = f"{', '.join(clauses)} holds for no operator"
            if id(composite) in reached:
                why, instead = "inner placements replace it, or nothing runs inside", "check that this is intended"
            else:
                why = f"no main composite of the input invokes {composite.name}"
                instead = "convert it together with the program that does"
            yield Remark(text.findings.line(config.place), what, why, instead)


def _unanswered(text: SplText, config: SplConfig) -> list[str]:
    """The host clauses of a placement that no operator has, and that nothing was said about."""
    if config.name != _PLACEMENT:
        return []
    return [
        " ".join(text.scanner.text(part).split())
        for part in text.scanner.split(config.value, ",")
        if part.start not in text.findings.answered and text.scanner.word(part.start) in _CLAUSES
    ]
