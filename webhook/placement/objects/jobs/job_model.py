"""The model of a Streams Job object: colocation groups, isolated operators, CPU binding and resources of its elements.

Colocation is transitive within a job, as in SPL: tokens of one processing element form one group
(``docs/colocation.md``). The annotations of a pod show only its own tokens; the Job object has those of all elements.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from webhook.placement.kube.pod import Resources
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.jobs.job_resources import divided, problems_of_resources
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text.problem import Problem


class Isolated(NamedTuple):
    """An operator with ``hostIsolation`` and the processing element it is fused into."""

    pe: str
    operator: str


class JobModel:
    """A job's processing elements with their placement clauses.

    A placement text with problems is left out: pods with that text are refused, so the job has no such pods.
    """

    __slots__ = (
        "_all_apart",
        "_bindings",
        "_cpu_bound",
        "_groups",
        "_resources",
        "_told_apart",
        "deleting",
        "elements",
        "isolated",
        "misstated",
        "name",
        "shared",
        "source",
    )

    def __init__(self, job: StreamsJob, clauses: Mapping[str, tuple[PlacementClause, ...]] | None = None) -> None:
        """``clauses`` are those of each element by name, as :func:`clauses_of` has them, if they are known already."""
        self.source = job
        self.name = job.name
        self.deleting = job.deleting
        self.elements: Mapping[str, tuple[PlacementClause, ...]] = (
            {element.name: clauses_of(element) for element in job.elements} if clauses is None else clauses
        )
        self.isolated: tuple[Isolated, ...] = tuple(
            Isolated(pe, clause.operator or pe)
            for pe, clauses in self.elements.items()
            for clause in clauses
            if clause.name is ClauseName.ISOLATION
        )
        self._cpu_bound = {element.name: element.cpu_bound for element in job.elements}
        self._bindings = frozenset(self._cpu_bound.values())
        self.shared, self.misstated = _shared(job)
        """What each element gets of the Job's own resources, and why these cannot be divided among the elements."""
        self._resources = {element.name: element.resources for element in job.elements if element.resources}
        self._groups = _groups(tokens_of(clauses) for clauses in self.elements.values())
        self._told_apart = frozenset(element.pe for element in self.isolated)
        self._all_apart = True in self._bindings or self.has_resources

    def tells_apart(self, pe: str) -> bool:
        """Whether it matters which element it is: it is isolated, or elements are bound to cpus or get resources."""
        return self._all_apart or pe in self._told_apart

    def binding(self, pe: str) -> frozenset[bool]:
        """The different values of ``cpu_bound`` of all elements other than ``pe``."""
        if len(self._bindings) == 1 and len(self._cpu_bound) > 1:
            return self._bindings
        return frozenset(bound for name, bound in self._cpu_bound.items() if name != pe)

    @property
    def has_resources(self) -> bool:
        """Whether some element gets resources, or would if they could be divided."""
        return self.shared is not None or bool(self._resources) or bool(self.misstated)

    def resources(self, pe: str) -> Resources | None:
        """What the element gets: its share of the Job's resources, else its own; ``None`` if it gets none."""
        if pe not in self.elements:
            return None
        return self.shared or self._resources.get(pe)

    def group(self, tokens: Iterable[str]) -> frozenset[str]:
        """The tokens of the groups to which the given tokens belong, and the given tokens."""
        joined: frozenset[str] = frozenset(tokens)
        for token in tuple(joined):
            joined |= self._groups.get(token, frozenset())
        return joined

    def knows(self, pe: str, clauses: Iterable[PlacementClause]) -> bool:
        """Whether the processing element is in the model, with just these clauses."""
        there = self.elements.get(pe)
        return there is not None and sorted(map(_meaning, there)) == sorted(map(_meaning, clauses))

    def joins(self, tokens: frozenset[str]) -> bool:
        """Whether the model has all of these tokens in one group."""
        return all(tokens <= self._groups.get(token, frozenset((token,))) for token in tokens)


def _meaning(clause: PlacementClause) -> tuple[str, str]:
    return clause.operator, clause.text


def tokens_of(clauses: Iterable[PlacementClause]) -> frozenset[str]:
    """The tokens of all ``hostColocation`` clauses."""
    return frozenset(
        clause.argument
        for clause in clauses
        if clause.name is ClauseName.COLOCATION and isinstance(clause.argument, str)
    )


def _shared(job: StreamsJob) -> tuple[Resources | None, tuple[Problem, ...]]:
    """One share of the Job's resources, or why it has none.

    Admission refuses a Job whose resources cannot be divided, but one that was stored before may state such.
    """
    stated = job.resources
    if stated is None or not job.elements:
        return None, ()
    if problems := tuple(problems_of_resources(stated, "spec.resources")):
        return None, problems
    share, problems = divided(stated, len(job.elements), "spec.resources")
    return (None, problems) if problems else (share, ())


def clauses_of(element: Element) -> tuple[PlacementClause, ...]:
    """The clauses of the element, each with its operator; none of a text with problems."""
    all_clauses: list[PlacementClause] = []
    for operator, text in element.placements:
        clauses, problems = parse_placement(text, "spec")
        if not problems:
            all_clauses += (
                PlacementClause(clause.name, clause.argument, clause.operator or operator, clause.offset)
                for clause in clauses
            )
    return tuple(all_clauses)


def _groups(sets: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    """The group of every token: sets that share a token are united."""
    groups: dict[str, frozenset[str]] = {}
    for tokens in sets:
        joined = tokens.union(*(groups.get(token, frozenset()) for token in tokens))
        groups.update(dict.fromkeys(joined, joined))
    return groups
