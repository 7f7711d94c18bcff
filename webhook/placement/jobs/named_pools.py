"""Clauses of a Job's processing elements about HostPools: which pools they name, and which of these are not declared.

Both what operators state counts, and what the template of an element states for its pod.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from webhook.placement.annotations.placement_text import read_placement
from webhook.placement.elements.element_order import own_annotations, own_placement
from webhook.placement.fusion.channel_tokens import written_out
from webhook.placement.jobs.problems import TEMPLATE_PLACEMENT
from webhook.placement.objects.jobs.job_operators import JobOperator
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, ProcessingElementSpec
from webhook.placement.planning.search.steps import Steps
from webhook.placement.spl.clauses import DEFAULT_POOL, ClauseName, PlacementClause, PoolName
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem, counted, enumerated, quote

_LISTED = 10
"""HostPools that a message lists."""


class PoolClause(NamedTuple):
    """A ``clause`` about a HostPool in the placement ``text`` at ``path``; ``soft`` tells that it is only preferred."""

    path: str
    clause: PlacementClause
    pool: PoolName
    text: str
    soft: bool


def undeclared_pools(clauses: Iterable[PoolClause], spec: JobSpec, known: Collection[str]) -> Iterator[Problem]:
    """A problem for each required clause about a pool that the Job does not declare, and that is not a ``known`` one.

    An index beyond the size of a declared pool is a problem, too.
    """
    declared = {pool.name: pool for pool in spec.host_pools or () if pool.name}
    for path, clause, pool, text, soft in clauses:
        if soft:
            continue
        declaration = declared.get(pool.name)
        if declaration is None and pool.name not in known:
            names = sorted({*declared, *known})
            without = "neither the Job nor its namespace has any"
            there = f"known HostPools: {enumerated(names, _LISTED)}" if names else without
            message = f"the Job declares no HostPool {quote(pool.name)}; {there}"
            # The pool may yet be created, so this is not a contradiction of the Job's own.
            yield Problem(path, message, text, clause.offset, fault=Fault.FORBIDDEN)
        elif declaration is not None and pool.index is not None:
            size = declaration.size if declaration.hosts is None else len(declaration.hosts)
            if size is None:
                message = f"{clause}: HostPool {pool.name} has no size, so its hosts have no index"
                yield Problem(path, message, text, clause.offset)
            elif pool.index >= size:
                last = f"0 to {size - 1}" if size > 1 else "0 only"
                message = f"{clause}: HostPool {pool.name} has {counted(size, 'host')}, index {last}"
                yield Problem(path, message, text, clause.offset)


def foreign_pools(clauses: Iterable[PoolClause], spec: JobSpec) -> Iterator[tuple[str, PlacementClause]]:
    """The name of each pool that the clauses name and the Job does not declare, with the clause that says so."""
    declared = {pool.name for pool in spec.host_pools or ()}
    for clause in clauses:
        if clause.pool.name not in declared:
            yield clause.pool.name, clause.clause


def pools_of_element(spec: ProcessingElementSpec) -> Iterator[PoolClause]:
    """Every clause of a ProcessingElement about a pool."""
    return _of_element(spec, "spec")


def pool_clauses(spec: JobSpec) -> list[PoolClause]:
    """Every clause of the Job about a pool; texts with syntax errors are left out."""
    return [
        *(
            clause
            for place, element in enumerate(spec.processing_elements or ())
            for clause in _of_element(element, f"spec.processingElements[{place}]")
        ),
        *(clause for place, one in enumerate(spec.operators or ()) for clause in _of_operator(one, place)),
    ]


def pool_clause_steps(spec: JobSpec) -> Steps[list[PoolClause]]:
    """Every clause of the Job about a pool; yields after each element, so that other work can run."""
    pool_clauses: list[PoolClause] = []
    for place, element in enumerate(spec.processing_elements or ()):
        pool_clauses += _of_element(element, f"spec.processingElements[{place}]")
        yield
    for place, operator in enumerate(spec.operators or ()):
        pool_clauses += _of_operator(operator, place)
        yield
    return pool_clauses


def _of_operator(operator: JobOperator, place: int) -> Iterator[PoolClause]:
    """The clauses of an operator that is yet to be fused."""
    text = written_out(operator.placement or "", operator.region or "", operator.region or "")
    path, element = f"spec.operators[{place}]", ElementSpec(template=operator.template)
    return _read([(f"{path}.placement", text)] if text else [], element, path)


def _of_element(element: ElementSpec, path: str) -> Iterator[PoolClause]:
    return _read(_texts(element, path), element, path)


def _read(texts: Iterable[tuple[str, str]], element: ElementSpec, path: str) -> Iterator[PoolClause]:
    """The clauses about pools of these texts, and of the template of the element."""
    soft = ClauseName.HOST in read_placement(None, own_annotations(element).get(keys.PREFERRED)).soft
    own = own_placement(element)
    for where, text in (*texts, *([(f"{path}.{TEMPLATE_PLACEMENT}", own)] if own else [])):
        clauses, problems = parse_placement(text, where)
        for clause in clauses if not problems else ():
            pool = clause.argument
            if isinstance(pool, PoolName) and (pool.name != DEFAULT_POOL or pool.index is not None):
                yield PoolClause(where, clause, pool, text, soft)


def _texts(element: ElementSpec, path: str) -> Iterable[tuple[str, str]]:
    """Every placement text of the operators of the element, with its path."""
    for at, operator in enumerate(element.operators or ()):
        if operator.placement:
            yield f"{path}.operators[{at}].placement", operator.placement
