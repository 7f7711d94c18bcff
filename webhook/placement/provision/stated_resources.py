"""Amounts that a Job or its processing elements state for containers, and the default of processing elements.

``docs/jobs.md`` (resources) has the rules. Amounts are in billionths of a unit.
"""

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.kube.containers import Place, called, listed, resources_at
from webhook.placement.kube.pod import Amount, PodSpec, Resources
from webhook.placement.kube.quantity import format_quantity, parse_quantity
from webhook.placement.objects.jobs.job_model import JobModel
from webhook.placement.objects.jobs.job_resources import problems_of_resources
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.grants import BINDING, all_granted
from webhook.placement.provision.worker import worker
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.problem import Problem, quote

_KEPT: Final = 1024
"""Cached amounts: more than a cluster has processing elements with resources of their own at work at a time."""

DEFAULT_CAUSE: Final = "default of processing elements"


class Stated(Struct, frozen=True, gc=False):
    """Resources for the container of a processing element.

    ``cause`` is what messages call them; a clause about them ends in it, in parentheses. ``firm`` resources replace
    what the container asks for itself; others only fill in what it does not say. ``problems`` are why the resources
    cannot be given. ``place`` is that of the container, if it was looked up.
    """

    resources: Resources
    cause: str
    firm: bool = True
    problems: tuple[Problem, ...] = ()
    place: Place | None = None


def stated_for(
    spec: PodSpec,
    annotations: Mapping[str, str],
    pe: str,
    model: JobModel | None,
    default: Resources,
    dropped: Collection[Clause] = (),
) -> Stated | None:
    """What is stated for a pod with the label ``pe``; ``None`` if nothing is, or nothing would change.

    ``default`` is what the container of a processing element requests where it says nothing. Resources of the Job that
    are among the ``dropped`` clauses do not count.
    """
    if model and pe in model.elements and model.misstated:
        return _misstated(f"Job {model.name}", model.misstated)
    resources = model.resources(pe) if model else None
    if model and resources:
        whole = f"1/{len(model.elements)} of the resources of Job {model.name}"
        cause = whole if model.shared else f"resources of processing element {pe}"
        if any(clause.source is Source.STATED for clause in dropped):
            return None
        problems = tuple(problems_of_resources(resources, "resources"))
        return _misstated(f"processing element {pe}", problems) if problems else Stated(resources, cause)
    place = worker(spec, annotations)
    if spec.resources is not None or isinstance(place, Problem):
        return None
    lacking = _lacking(spec, place, default)
    return Stated(lacking, DEFAULT_CAUSE, firm=False, place=place) if lacking else None


def _misstated(whose: str, problems: Sequence[Problem]) -> Stated:
    """Resources that cannot be given, for the pods of a Job that was stored before admission could refuse it."""
    all_problems = (
        Problem(f"metadata.labels[{keys.JOB}]", f"{whose}: {wrong.field}: {wrong.message}") for wrong in problems
    )
    return Stated(Resources(), f"resources of {whose}", problems=tuple(all_problems))


def _lacking(spec: PodSpec, place: Place, default: Resources) -> Resources | None:
    """The part of the default of which the container says nothing.

    A request that equals the default counts as the default: an earlier review of the pod may have written it.
    """
    own = resources_at(spec, place)
    limits = own.limits or {}
    amounts: dict[str, Amount] = {}
    for name, amount in (default.requests or {}).items():
        there = (own.requests or {}).get(name)
        if name not in limits if there is None else parse_quantity(there) == parse_quantity(amount):
            amounts[name] = amount
    return Resources(amounts) if amounts else None


class Shares(Struct, frozen=True, gc=False):
    """The amounts that a container is given, the pod's spec with them, and what is wrong or to be warned of."""

    spec: PodSpec
    given: tuple[SetResources, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


NO_SHARES: Final = Shares(PodSpec())
"""Nothing is given; its ``spec`` is not the pod's."""


def shares(stated: Stated, spec: PodSpec, place: Place, given_resources: Collection[str], *, bound: bool) -> Shares:
    """What the container at ``place`` gets of the stated resources, beside what hardware requirements give to it.

    Amounts of resources that are in ``given_resources`` are left out: hardware requirements come first. ``bound`` tells
    that the pod asks for CPU binding: then an amount of the container's own that differs is a problem, else a warning.
    """
    own = resources_at(spec, place)
    given = _amounts(stated, place)
    if given_resources:
        given = tuple(effect for effect in given if effect.resource not in given_resources)
    problems = [*stated.problems]
    warnings: list[str] = []
    for effect in given if own.requests or own.limits else ():
        name = effect.resource
        for part, there, amount in _differing(own, effect):
            path = f"{place.path}.resources.{part}[{name}]"
            if amount is None:
                least = format_quantity(effect.requests)
                message = f"{quote(str(there))} is less than {least}, the request by {stated.cause}"
                problems.append(Problem(path, message))
            elif bound:
                message = f"{quote(str(there))} is not {format_quantity(amount)}, as by {stated.cause}"
                problems.append(Problem(path, f"{message}: under {BINDING} remove one"))
            else:
                what = f"{part} {name} {there} of {called(spec, place)}"
                warnings.append(f"{what} become {format_quantity(amount)}, by {stated.cause}")
    return Shares(all_granted(spec, place, given), given, tuple(problems), tuple(warnings))


def states(stated: Stated, given: SetResources) -> bool:
    """Whether that amount of a resource is stated, with that limit."""
    amounts = (given.resource, given.requests, given.limits)
    return amounts in [(own.resource, own.requests, own.limits) for own in _amounts(stated, given.place)]


def no_container(stated: Stated, spec: PodSpec) -> Problem:
    """The problem that the pod has no container that could get the stated resources."""
    return Problem(annotation(keys.CONTAINER), f"must name the container that gets the {stated.cause}: {listed(spec)}")


_Items = tuple[tuple[str, Amount], ...]
"""Amounts by resource name, as a value that results can be kept by."""


def _amounts(stated: Stated, place: Place) -> tuple[SetResources, ...]:
    """The amounts for the container at ``place``, in the order of their names."""
    requests, limits = stated.resources.requests or {}, stated.resources.limits or {}
    return _kept_amounts(tuple(requests.items()), tuple(limits.items()), stated.cause, place, firm=stated.firm)


@functools.lru_cache(_KEPT)
def _kept_amounts(
    requests: _Items, limits: _Items, cause: str, place: Place, *, firm: bool
) -> tuple[SetResources, ...]:
    """Request and limit of each resource; the request is the limit where none is stated."""
    asked, most = dict(requests), dict(limits)
    amounts = []
    for name in sorted({*asked, *most}):
        request, limit = _parsed(asked, name), _parsed(most, name)
        amount = limit if request is None else request
        amounts.append(SetResources(cause, place, name, amount or 0, limit, firm=firm))
    return tuple(amounts)


def _parsed(part: Mapping[str, Amount], name: str) -> int | None:
    amount = part.get(name)
    return None if amount is None else parse_quantity(amount)


def _differing(own: Resources, effect: SetResources) -> Iterator[tuple[str, Amount, int | None]]:
    """Where the container's own amount differs: the part, its own amount, and the stated one.

    The stated one is ``None`` for a limit that stays, and that is less than the stated request.
    """
    asked, limit = (own.requests or {}).get(effect.resource), (own.limits or {}).get(effect.resource)
    if asked is not None and parse_quantity(asked) != effect.requests:
        yield "requests", asked, effect.requests
    if limit is None:
        return
    if effect.limits is None:
        if (parse_quantity(limit) or 0) < effect.requests:
            yield "limits", limit, None
    elif parse_quantity(limit) != effect.limits:
        yield "limits", limit, effect.limits
