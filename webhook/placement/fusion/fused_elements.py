"""The processing elements that a partition makes, as a Job would state them.

Their operators keep their clauses about hosts, each clause once, and what they cost is what the element requests. An
element with the same operators and streams has the same content, so that its pod stays (``docs/fusion.md``).
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from webhook.placement.fusion.application import PARTITION, Application, PhysicalOperator
from webhook.placement.kube.pod import Amount, Resources
from webhook.placement.kube.quantity import format_quantity
from webhook.placement.objects.jobs.job_fusion import FusedElement
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, OperatorSpec
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.placement import format_placement

_DIGITS = 12
"""Hexadecimal digits of the hash of an element's streams: 48 bits."""


def fused(spec: JobSpec, application: Application, elements: Sequence[FusedElement]) -> JobSpec:
    """The Job with these processing elements in place of its operators; operators that it has no more are left out."""
    at = {operator.name: place for place, operator in enumerate(application.operators)}
    of_operator = {at[name]: place for place, one in enumerate(elements) for name in one.operators if name in at}
    links: list[list[str]] = [[] for _ in elements]
    for source, to in application.links:
        said = f"{application.operators[source].name}\n{application.operators[to].name}"
        for place in {of_operator.get(source), of_operator.get(to)} - {None}:
            links[place].append(said)  # type: ignore[index]
    made = [
        _element(one.name, [application.operators[at[name]] for name in one.operators if name in at], spec, own)
        for one, own in zip(elements, links, strict=True)
    ]
    return replace(spec, operators=None, streams=None, parallel_regions=None, processing_elements=tuple(made))


def _element(name: str, operators: Sequence[PhysicalOperator], spec: JobSpec, links: Sequence[str]) -> ElementSpec:
    said: set[str] = set()
    templates = [operator.template for operator in operators if operator.template is not None]
    return ElementSpec(
        name=name,
        operators=tuple(
            OperatorSpec(
                name=operator.name,
                placement=format_placement(_first(operator, said)) or None,
                restartable=None if operator.restartable else False,
            )
            for operator in operators
        ),
        template=templates[0] if templates else None,
        resources=None if spec.resources is not None else _sum(operators, spec),
        connections=hashlib.sha256("\n\n".join(sorted(links)).encode()).hexdigest()[:_DIGITS] if links else None,
    )


def _first(operator: PhysicalOperator, said: set[str]) -> Iterator[PlacementClause]:
    """The clauses about hosts that no operator before has stated."""
    for clause in operator.clauses:
        known = clause.text in said and clause.name is not ClauseName.ISOLATION
        if clause.name not in PARTITION and not known:
            said.add(clause.text)
            yield replace(clause, operator="", offset=0)


def _sum(operators: Sequence[PhysicalOperator], spec: JobSpec) -> Resources | None:
    """What the operators cost together, and otherwise what the Job requests for every element; ``None`` for neither."""
    requests = {key: format_quantity(sum(amounts)) for key, amounts in _stated(operators).items()}
    return _requesting(requests, spec) if requests else None


def _stated(operators: Iterable[PhysicalOperator]) -> dict[str, list[int]]:
    """The amounts that operators state, by the resource, in nano-units; only those of which there are some."""
    amounts: dict[str, list[int]] = {}
    for one in operators:
        for key, amount in (("cpu", one.cost), ("memory", one.memory)):
            if amount is not None:
                amounts.setdefault(key, []).append(amount)
    return amounts


def _requesting(requests: Mapping[str, Amount], spec: JobSpec) -> Resources:
    of_all = spec.processing_element.resources if spec.processing_element else None
    return Resources({**((of_all and of_all.requests) or {}), **requests}, of_all.limits if of_all else None)


def with_least_requests(element: ElementSpec, application: Application, spec: JobSpec) -> ElementSpec | None:
    """The element as it is if others are fused with it that cost as little as any; ``None`` if that changes nothing.

    Operators without a cost request what every element does, but nothing beside others that state theirs.
    """
    names = {operator.name for operator in element.operators or ()}
    own = _stated(one for one in application.operators if one.name in names)
    others = _stated(application.operators)
    if spec.resources is not None or others.keys() <= own.keys():
        return None
    amounts = {key: sum(own[key]) if key in own else min(others[key]) for key in others}
    requests = {key: format_quantity(amount) for key, amount in amounts.items()}
    return replace(element, resources=_requesting(requests, spec))


def named(job: str, groups: Sequence[Sequence[str]], previous: Sequence[FusedElement]) -> tuple[FusedElement, ...]:
    """Elements of these operators. One that has most of the operators of a previous element keeps its name.

    Others get the smallest index that is free.
    """
    names: dict[int, str] = {}
    of_operator: Mapping[str, int] = {name: at for at, one in enumerate(previous) for name in one.operators}
    shared: dict[tuple[int, int], int] = {}
    for place, group in enumerate(groups):
        for name in group:
            if name in of_operator:
                key = place, of_operator[name]
                shared[key] = shared.get(key, 0) + 1
    renamed: set[int] = set()
    whole = {(at, tuple(sorted(one.operators))) for at, one in enumerate(previous)}
    for place, at in sorted(
        shared, key=lambda key: ((key[1], tuple(sorted(groups[key[0]]))) not in whole, -shared[key], key)
    ):
        if place not in names and at not in renamed:
            names[place] = previous[at].name
            renamed.add(at)
    used = {*names.values()}
    free = (f"{job}-{index}" for index in range(len(groups) + len(used) + 1))
    unused = (name for name in free if name not in used)
    return tuple(FusedElement(names.get(place) or next(unused), tuple(group)) for place, group in enumerate(groups))
