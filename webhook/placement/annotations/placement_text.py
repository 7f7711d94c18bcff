"""What the placement annotations say, by themselves: read once for all pods that say the same."""

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, quote

PREFERABLE: Final = ("host", "hostColocation", "hostExlocation", "hostIsolation", "mapping", "uniform")
"""Constraints that the annotation ``preferred`` may name."""

PREFERRED_LIMIT: Final = 1024
"""Characters of the annotation ``preferred``: all the names there are take 66."""

SHOWN: Final = 10
"""Problems of one kind that are named: more than a person mends at once."""

_KEPT: Final = 1024
"""Texts that are kept read: more templates than a cluster has at work at a time."""

_KEPT_LENGTH: Final = 1024
"""Characters of a text that is kept; longer ones are rare, and must not fill memory."""


class PlacementText(Struct, frozen=True, gc=False):
    """The clauses, those of each name, the constraint names that are only preferred, and what is wrong or idle."""

    clauses: tuple[Clause, ...]
    by_name: Mapping[ClauseName, tuple[Clause, ...]]
    soft: frozenset[str]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]


def annotation(key: str) -> str:
    """The path of an annotation, for messages."""
    return f"metadata.annotations[{key}]"


def read_placement(text: str | None, preferred: str | None) -> PlacementText:
    """What the annotations ``placement`` and ``preferred`` say; ``None`` for one that is not there."""
    if len(text or "") > _KEPT_LENGTH or len(preferred or "") > _KEPT_LENGTH:
        return _latest(text, preferred)
    return _kept(text, preferred)


def _read(text: str | None, preferred: str | None) -> PlacementText:
    soft, unknown = _preferred(preferred)
    clauses: tuple[Clause, ...] = ()
    problems: list[Problem] = []
    if text is not None:
        clauses, unparsed = parse_placement(text, annotation(keys.PLACEMENT))
        hard = [clause for clause in clauses if clause.name not in soft]
        problems += (*unparsed, *contradictions(hard, annotation(keys.PLACEMENT), text))
    idle = (clause for clause in clauses if clause.name.startswith("partition"))
    warnings = (f"{clause} steers fusion, which is over: it has no effect on the pod" for clause in idle)
    return PlacementText(clauses, _by_name(clauses), soft, (*problems, *unknown), tuple(warnings))


def idle_preferences(said: PlacementText, *, mapped: bool, uniform: bool) -> tuple[str, ...]:
    """A warning that preferred names constraints which the pod does not have, if it does.

    ``mapped`` and ``uniform`` are whether the pod has those of worker mapping. Where a clause cannot be read, it may be
    the one that is missing, and nothing is said.
    """
    there = {*said.by_name, *(["mapping"] if mapped else []), *(["uniform"] if uniform else [])}
    idle = [name for name in PREFERABLE if name in said.soft and name not in there]
    if not idle or said.problems:
        return ()
    have, those = ("has", "that name") if len(idle) == 1 else ("have", "those names")
    return (f"{annotation(keys.PREFERRED)}: {', '.join(idle)} {have} no effect, no constraint of the pod has {those}",)


def without(said: PlacementText, texts: Collection[str]) -> PlacementText:
    """The same, but for the clauses of these texts, and of all tokens of a group if a text names the group."""
    gone = {*texts}
    near = said.by_name.get(ClauseName.COLOCATION, ())
    if joined(near) in gone:
        gone.update(clause.text for clause in near)
    clauses = tuple(clause for clause in said.clauses if clause.text not in gone)
    return replace(said, clauses=clauses, by_name=_by_name(clauses))


def joined(clauses: Collection[Clause]) -> str:
    """How messages name the clauses that make one group: ``hostColocation("a") and hostColocation("b")``."""
    return " and ".join(dict.fromkeys(clause.text for clause in clauses))


def _by_name(clauses: tuple[Clause, ...]) -> dict[ClauseName, tuple[Clause, ...]]:
    by_name: dict[ClauseName, tuple[Clause, ...]] = {}
    for clause in clauses:
        by_name[clause.name] = (*by_name.get(clause.name, ()), clause)
    return by_name


_kept = functools.lru_cache(_KEPT)(_read)

_latest = functools.lru_cache(1)(_read)
"""The long text that was read last: what refuses a pod reads it again and again, without some of its words."""


def _preferred(text: str | None) -> tuple[frozenset[str], list[Problem]]:
    if text is None:
        return frozenset(), []
    field = annotation(keys.PREFERRED)
    if len(text) > PREFERRED_LIMIT:
        return frozenset(), [Problem(field, f"has {len(text)} characters, at most {PREFERRED_LIMIT} are allowed")]
    names = [name.strip() for name in text.split(",")]
    problems = [
        Problem(field, f"{quote(name)} is not one of {', '.join(PREFERABLE)}")
        for name in dict.fromkeys(names)
        if name not in PREFERABLE
    ]
    return frozenset(names) & frozenset(PREFERABLE), problems[:SHOWN]


def contradictions(clauses: Sequence[Clause], field: str, text: str) -> Iterator[Problem]:
    """A problem for each pair that contradicts itself, at the later of the two clauses.

    A host cannot be shared with, and kept from, the pods of one token; and a processing element that must be alone on
    its host cannot share it with those of a token. ``text`` is the annotation ``field`` that the clauses stand in.
    """
    near = [clause for clause in clauses if clause.name is ClauseName.COLOCATION]
    away = {clause.argument: clause for clause in clauses if clause.name is ClauseName.EXLOCATION}
    alone = next((clause for clause in clauses if clause.name is ClauseName.ISOLATION), None)
    for clause in near:
        other = away.get(clause.argument) or alone
        if other is not None:
            first, second = sorted((clause, other), key=lambda found: found.offset)
            yield Problem(field, f"{first} and {second} contradict each other", text, second.offset)
