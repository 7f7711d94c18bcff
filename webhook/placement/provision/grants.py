"""Amounts that hardware requirements give to containers; problems where a container asks for another amount.

Amounts are in billionths of a unit.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from webhook.placement.annotations.hardware import Hardware, by_weight
from webhook.placement.kube.containers import (
    NO_RESOURCES,
    Place,
    asking,
    called,
    listed,
    missing,
    named,
    places,
    resources_at,
)
from webhook.placement.kube.pod import Amount, PodSpec
from webhook.placement.kube.quantity import format_quantity, parse_quantity
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.resource_rules import broken
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.problem import Problem, quote

BINDING: Final = Clause(Source.BINDING, (), "kubernetes.bind.worker.to.cpu")
"""CPU binding as a clause; messages give it the name of the setting in Twister2."""


def grant(hardware: Hardware, spec: PodSpec, main: Place | None) -> SetResources | None:
    """The amount that the requirement gives, and to which container; ``None`` if the pod has no such container.

    A requirement that names no container is for the ``main`` one. A pod with several containers may have no main one:
    then the requirement is for the only container that requests that amount already, so that the amount stays where it
    was given when another webhook adds a sidecar later.
    """
    place = named(spec, hardware.container) if hardware.container else main or _holder(hardware, spec)
    if place is None:
        return None
    firm = hardware.mandatory
    return SetResources(hardware.text, place, hardware.name, hardware.requests, hardware.limits, firm=firm)


def _holder(hardware: Hardware, spec: PodSpec) -> Place | None:
    """The container that requests just that amount; ``None`` if it is not exactly one."""
    holders = []
    for place, container in places(spec):
        asked = ((container.resources or NO_RESOURCES).requests or {}).get(hardware.name)
        if asked is not None and parse_quantity(asked) == hardware.requests:
            holders.append(place)
    return holders[0] if len(holders) == 1 else None


def clause_of(given: SetResources) -> Clause:
    """The clause of the hardware requirement that gives the amount."""
    return Clause(Source.HARDWARE, ((given.resource, given.requests),), given.cause)


def granted(spec: PodSpec, given: SetResources) -> PodSpec:
    """The pod's spec once the container has that amount."""
    return all_granted(spec, given.place, (given,))


def all_granted(spec: PodSpec, place: Place, given: Sequence[SetResources]) -> PodSpec:
    """The pod's spec once the container at ``place`` has all of these amounts, which are its own."""
    requests: dict[str, Amount] = {one.resource: format_quantity(one.requests) for one in given}
    limits: dict[str, Amount] = {one.resource: format_quantity(one.limits) for one in given if one.limits is not None}
    return asking(spec, place, requests, limits)


class Grants:
    """The grants of one pod; ``spec`` is the pod's spec with all that is ``given``.

    ``main`` is the container for requirements that name none, ``bound`` tells that the pod asks for CPU binding.
    ``given`` are the amounts of mandatory requirements, and the amounts of optional ones that the pod asks for already;
    ``wanted`` those of all other optional ones, heaviest first.
    """

    def __init__(self, spec: PodSpec, hardware: Iterable[Hardware], main: Place | None, *, bound: bool) -> None:
        self.spec = spec
        self.given: list[SetResources] = []
        self.wanted: list[SetResources] = []
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        self._own = spec
        self._main = main
        self._bound = bound
        self._first: dict[tuple[Place, str], Hardware] = {}
        allocatable = [one for one in hardware if one.allocatable]
        for one in (one for one in allocatable if one.mandatory):
            self._require(one)
        for one in sorted((one for one in allocatable if not one.mandatory), key=by_weight):
            self._wish(one)

    def _require(self, hardware: Hardware) -> None:
        """Give what a mandatory requirement asks for."""
        given = self._new(hardware)
        if given:
            for part, own, amount in self._differing(given):
                self._overrule(hardware, given, part, own, amount)
            self.spec = granted(self.spec, given)
            self.given.append(given)

    def _wish(self, hardware: Hardware) -> None:
        """Note what an optional requirement asks for; a warning if the container itself asks for another amount."""
        given = self._new(hardware)
        if given is None:
            return
        own = resources_at(self.spec, given.place)
        there = {**(own.limits or {}), **(own.requests or {})}.get(given.resource)
        if there is None:
            self.wanted.append(given)
        elif parse_quantity(there) == given.requests and self._acceptable(
            given, (own.limits or {}).get(given.resource)
        ):
            self.given.append(given)
        else:
            container = called(self.spec, given.place)
            self.warnings.append(f"{hardware.clause} is not requested: {container} asks for {there} itself")

    def _acceptable(self, given: SetResources, limit: Amount | None) -> bool:
        """Whether the amount breaks no rule, and the container's own ``limit``, if there is one, is the given limit."""
        same = limit is None or parse_quantity(limit) == given.limits
        return same and not any(broken(granted(self.spec, given), (given,)))

    def _new(self, hardware: Hardware) -> SetResources | None:
        """The amount that the requirement gives; ``None`` if it has no container, or another requirement gives it.

        Requirements of different amounts for one container are a problem.
        """
        given = grant(hardware, self.spec, self._main)
        if given is None:
            self.problems.append(no_container(hardware, self.spec))
            return None
        first = self._first.setdefault((given.place, given.resource), hardware)
        if first is hardware:
            return given
        if (first.requests, first.limits) != (hardware.requests, hardware.limits):
            message = f"{hardware.clause} and {first.clause} ({first.field}) are for the same container: remove one"
            self.problems.append(Problem(hardware.field, message))
        return None

    def _differing(self, given: SetResources) -> Iterator[tuple[str, Amount, int | None]]:
        """Where the container's own amount differs: ``requests`` or ``limits``, its own amount, and the given one."""
        own = resources_at(self._own, given.place)
        for part, amounts, amount in (("requests", own.requests, given.requests), ("limits", own.limits, given.limits)):
            there = (amounts or {}).get(given.resource)
            if there is not None and parse_quantity(there) != amount:
                yield part, there, amount

    def _overrule(self, hardware: Hardware, given: SetResources, part: str, own: Amount, amount: int | None) -> None:
        """Note that the requirement replaces the container's own amount: a warning, under CPU binding a problem.

        A requirement without a limit leaves the container's own limit, which must not be below the request.
        """
        path = f"{given.place.path}.resources.{part}[{given.resource}]"
        if amount is None:
            if (parse_quantity(own) or 0) < given.requests:
                message = f"{quote(str(own))} is less than {hardware.clause} requests"
                self.problems.append(Problem(path, message))
        elif self._bound:
            message = f"{quote(str(own))} is not what {hardware.clause} asks for: under {BINDING} remove one"
            self.problems.append(Problem(path, message))
        else:
            replaced = f"{part} {given.resource} {own} of {called(self.spec, given.place)}"
            self.warnings.append(f"{replaced} become {format_quantity(amount)}: {hardware.clause} asks for it")


def no_container(hardware: Hardware, spec: PodSpec) -> Problem:
    """The problem of a requirement for which the pod has no container."""
    nameless = f"{hardware.clause} needs a container-name, one of {listed(spec)}"
    return Problem(hardware.field, missing(hardware.container, spec) if hardware.container else nameless)
