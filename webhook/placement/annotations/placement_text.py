"""Reader of the annotations ``placement`` and ``preferred``: clauses, preferences, contradictions and warnings.

The results of short texts are cached, because all pods of a template have the same annotations.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.spl.clauses import PARTITION_CLAUSES, ClauseName, PlacementClause
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause, Source, parts_of
from webhook.placement.text.problem import Problem, quote

PREFERABLE: Final = ("host", "hostColocation", "hostExlocation", "hostIsolation", "mapping", "uniform")
"""Constraints that the annotation ``preferred`` may name."""

PREFERRED_LIMIT: Final = 1024
"""Characters of the annotation ``preferred``; all possible names together take 66."""

SHOWN: Final = 10
"""Problems of one kind that are reported: more than a person corrects at once."""

_KEPT: Final = 1024
"""Texts whose result is cached: more than a cluster has pod templates in use at a time."""

_KEPT_LENGTH: Final = 1024
"""Characters of a text whose result is cached; longer texts are rare, and must not fill memory."""


class PlacementText(Struct, frozen=True, gc=False):
    """The content of the two annotations.

    ``clauses`` are in the order of the text, ``by_name`` the same clauses by their name. ``soft`` are the constraints
    that are only preferred (names of :data:`PREFERABLE`). ``warnings`` name clauses that have no effect. ``meaning`` is
    the same for texts that ask the same: without operators, but those of ``hostIsolation``, which become labels.
    ``names_node`` tells that a ``host`` clause names a node.
    """

    clauses: tuple[PlacementClause, ...]
    by_name: Mapping[ClauseName, tuple[PlacementClause, ...]]
    soft: frozenset[str]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]
    meaning: str
    names_node: bool


def annotation(key: str) -> str:
    """The path of an annotation, for messages."""
    return f"metadata.annotations[{key}]"


def read_placement(text: str | None, preferred: str | None) -> PlacementText:
    """The content of the annotations ``placement`` and ``preferred``; ``None`` is an absent annotation."""
    if len(text or "") > _KEPT_LENGTH or len(preferred or "") > _KEPT_LENGTH:
        return _latest(text, preferred)
    return _kept(text, preferred)


def _read(text: str | None, preferred: str | None) -> PlacementText:
    soft, unknown = _preferred(preferred)
    clauses: tuple[PlacementClause, ...] = ()
    problems: list[Problem] = []
    if text is not None:
        clauses, unparsed = parse_placement(text, annotation(keys.PLACEMENT))
        hard = [clause for clause in clauses if clause.name not in soft]
        problems += unparsed
        if len(hard) > 1:
            problems += contradictions(hard, annotation(keys.PLACEMENT), text)
    idle = [clause for clause in clauses if clause.name in PARTITION_CLAUSES]
    warnings = [f"{clause} controls fusion, which is complete: it has no effect on the pod" for clause in idle]
    meaning = "; ".join(
        [
            f"{clause.operator}: {clause.text}" if clause.name is ClauseName.ISOLATION else clause.text
            for clause in clauses
        ]
    )
    named = any(clause.name is ClauseName.HOST and isinstance(clause.argument, str) for clause in clauses)
    return PlacementText(clauses, _by_name(clauses), soft, (*problems, *unknown), tuple(warnings), meaning, named)


def idle_preferences(placement: PlacementText, *, mapped: bool, uniform: bool) -> tuple[str, ...]:
    """A warning if the annotation ``preferred`` names constraints that the pod does not have.

    ``mapped`` and ``uniform`` say whether the pod has these constraints of worker mapping. There is no warning where a
    clause cannot be read, as that clause may be the missing one.
    """
    present = {*placement.by_name, *(["mapping"] if mapped else []), *(["uniform"] if uniform else [])}
    idle = [name for name in PREFERABLE if name in placement.soft and name not in present]
    if not idle or placement.problems:
        return ()
    have, those = ("has", "that name") if len(idle) == 1 else ("have", "those names")
    return (f"{annotation(keys.PREFERRED)}: {', '.join(idle)} {have} no effect, no constraint of the pod has {those}",)


def without(placement: PlacementText, dropped: Iterable[Clause]) -> PlacementText:
    """The placement without these clauses."""
    gone = parts_of(dropped, Source.PLACEMENT)
    clauses = tuple(clause for clause in placement.clauses if gone.isdisjoint(clause.written.parts))
    return replace(placement, clauses=clauses, by_name=_by_name(clauses))


def joined(clauses: Iterable[PlacementClause]) -> Clause:
    """The clauses of one colocation group as one: ``hostColocation("a") and hostColocation("b")``."""
    written = dict.fromkeys(clause.written for clause in clauses)
    parts = tuple(part for clause in written for part in clause.parts)
    return Clause(Source.PLACEMENT, parts, " and ".join(map(str, written)))


def _by_name(clauses: tuple[PlacementClause, ...]) -> dict[ClauseName, tuple[PlacementClause, ...]]:
    by_name: dict[ClauseName, tuple[PlacementClause, ...]] = {}
    for clause in clauses:
        by_name[clause.name] = (*by_name.get(clause.name, ()), clause)
    return by_name


_kept = functools.lru_cache(_KEPT)(_read)

_latest = functools.lru_cache(1)(_read)
"""Cache of the last long text: making a refusal reads the annotation many times, each time without other clauses."""


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


def contradictions(clauses: Sequence[PlacementClause], field: str, text: str) -> Iterator[Problem]:
    """A problem for each two clauses that contradict each other, at the offset of the later clause.

    ``hostColocation`` contradicts ``hostExlocation`` of the same token. ``text`` is the text of the annotation that the
    clauses were read from, ``field`` the path of that annotation.
    """
    near = [clause for clause in clauses if clause.name is ClauseName.COLOCATION]
    away = {clause.argument: clause for clause in clauses if clause.name is ClauseName.EXLOCATION}
    for clause in near:
        other = away.get(clause.argument)
        if other is not None:
            first, second = sorted((clause, other), key=lambda one: one.offset)
            yield Problem(field, f"{first} and {second} contradict each other", text, second.offset)
