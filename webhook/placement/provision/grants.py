"""What hardware requirements give to the containers of a pod, and where that meets what they ask for themselves."""

from collections.abc import Iterable, Iterator
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
from webhook.placement.text.problem import Problem, quote

BINDING: Final = "kubernetes.bind.worker.to.cpu"
"""How messages name CPU binding: as Twister2 does."""


def grant(hardware: Hardware, spec: PodSpec, main: Place | None) -> SetResources | None:
    """What the requirement gives to which container; ``None`` if the pod has no such container.

    Where it names none that is the pod's ``main`` one or, where no container is, the only one that has it already: so
    it stays with whom it was given to when another webhook has put a sidecar beside it.
    """
    place = named(spec, hardware.container) if hardware.container else main or _holder(hardware, spec)
    if place is None:
        return None
    firm = hardware.mandatory
    return SetResources(hardware.clause, place, hardware.name, hardware.requests, hardware.limits, firm=firm)


def _holder(hardware: Hardware, spec: PodSpec) -> Place | None:
    """The only container that asks for just that."""
    holders = []
    for place, container in places(spec):
        asked = ((container.resources or NO_RESOURCES).requests or {}).get(hardware.name)
        if asked is not None and parse_quantity(asked) == hardware.requests:
            holders.append(place)
    return holders[0] if len(holders) == 1 else None


def granted(spec: PodSpec, given: SetResources) -> PodSpec:
    """The pod, its container given that."""
    limits: dict[str, Amount] = {} if given.limits is None else {given.resource: format_quantity(given.limits)}
    return asking(spec, given.place, {given.resource: format_quantity(given.requests)}, limits)


class Grants:
    """The grants of one pod, whose ``spec`` grows with them.

    ``main`` is the container for requirements that name none. ``wanted`` is given by those that are not mandatory, and
    not what the pod asks for already, heaviest first.
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
        allocatable = [found for found in hardware if found.allocatable]
        for found in (found for found in allocatable if found.mandatory):
            self._require(found)
        for found in sorted((found for found in allocatable if not found.mandatory), key=by_weight):
            self._wish(found)

    def _require(self, hardware: Hardware) -> None:
        given = self._new(hardware)
        if given:
            for part, there, amount in self._otherwise(given):
                self._overrule(hardware, given, part, there, amount)
            self.spec = granted(self.spec, given)
            self.given.append(given)

    def _wish(self, hardware: Hardware) -> None:
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
            whose = called(self.spec, given.place)
            self.warnings.append(f"{hardware.clause} is not asked for: {whose} asks for {there} itself")

    def _acceptable(self, given: SetResources, limit: Amount | None) -> bool:
        """Whether the limit that belongs to the amount overrules none that the container has, or that holds for all."""
        same = limit is None or parse_quantity(limit) == given.limits
        return same and not any(broken(granted(self.spec, given), (given,)))

    def _new(self, hardware: Hardware) -> SetResources | None:
        """What the requirement gives, unless another one gives it, or there is nobody to give it to."""
        given = grant(hardware, self.spec, self._main)
        if given is None:
            self.problems.append(_nobody(hardware, self.spec))
            return None
        first = self._first.setdefault((given.place, given.resource), hardware)
        if first is hardware:
            return given
        if (first.requests, first.limits) != (hardware.requests, hardware.limits):
            message = f"{hardware.clause} and {first.clause} ({first.field}) are for the same container: one must go"
            self.problems.append(Problem(hardware.field, message))
        return None

    def _otherwise(self, given: SetResources) -> Iterator[tuple[str, Amount, int | None]]:
        """Where the container says something else itself: the part, what it says, and what it is given."""
        own = resources_at(self._own, given.place)
        for part, said, amount in (("requests", own.requests, given.requests), ("limits", own.limits, given.limits)):
            there = (said or {}).get(given.resource)
            if there is not None and parse_quantity(there) != amount:
                yield part, there, amount

    def _overrule(self, hardware: Hardware, given: SetResources, part: str, there: Amount, amount: int | None) -> None:
        """A requirement goes before what the container says, but where cores are bound nobody should guess."""
        path = f"{given.place.path}.resources.{part}[{given.resource}]"
        if amount is None:
            if (parse_quantity(there) or 0) < given.requests:
                message = f"{quote(str(there))} is less than {hardware.clause} requests"
                self.problems.append(Problem(path, message))
        elif self._bound:
            message = f"{quote(str(there))} is not what {hardware.clause} asks for: under {BINDING} one must go"
            self.problems.append(Problem(path, message))
        else:
            said = f"{part} {given.resource} {there} of {called(self.spec, given.place)}"
            self.warnings.append(f"{said} become {format_quantity(amount)}: {hardware.clause} asks for it")


def _nobody(hardware: Hardware, spec: PodSpec) -> Problem:
    nameless = f"{hardware.clause} needs a container-name, one of {listed(spec)}"
    return Problem(hardware.field, missing(hardware.container, spec) if hardware.container else nameless)
