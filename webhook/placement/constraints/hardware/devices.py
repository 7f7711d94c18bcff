"""Family ``devices``: the node has the devices that the pod's ResourceClaims want (``docs/hardware.md``).

A pod may wait until others give devices back, so what the pod wants is compared with all devices of the node, also
those that other pods have. Source: the scheduler's plugin ``DynamicResources``.
"""

import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread, Tie
from webhook.placement.constraints.topology_limit import Limit, Places
from webhook.placement.devices.allocation.allocation import Lack
from webhook.placement.devices.fits import Fit, Wanted
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice, DeviceRequest, HeldDevice
from webhook.placement.inventory.capacity import Row
from webhook.placement.inventory.topology import Domains
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, Toleration
from webhook.placement.kube.selection.selector import matching_any
from webhook.placement.request.ask import Ask
from webhook.placement.request.claimed_devices import WantedDevices, all_of, devices_of_new, lacking
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.fix import AddNode, Advice, Fix
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import REASON_LIMIT, Problem, counted, enumerated, quote
from webhook.placement.text.rule import Rule
from webhook.placement.text.selector_words import one_line

_NAMED: Final = 2
"""Maximum number of claims or resources named in a message."""

_EVERY_TAINT: Final = (Toleration(operator="Exists"),)


class AllocatedClaim(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node can use the devices that are allocated to a claim."""

    rule: ClassVar[str] = Rule.DEVICES
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    tie: ClassVar[Tie] = Tie.HOSTS
    clause: Clause
    terms: tuple[NodeTerm, ...]
    soft: bool = False
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes that match one of the terms."""
        return matching_any(world.inventory.nodes, self.terms)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, under one reason."""
        what = f"cannot use the devices that {self.clause} has"
        yield Reason(what, what, out)


class DevicesPerNode(Struct, frozen=True, gc=False, eq=False):
    """The limit of pods on each node by the devices that each of them wants."""

    wanted: Wanted
    world: World
    reach: Bits
    key: str = HOSTNAME
    beside: int = 0

    @property
    def domains(self) -> Domains:
        """Each node by itself."""
        size = max(self.world.inventory.nodes.nodes, default=-1) + 1
        return Domains(size, np.arange(size, dtype=np.int64))

    @property
    def own(self) -> Places:
        """No slots: live pods of the workload are replaced, or are among the pods that it wants."""
        return np.zeros(0, np.intp)

    def most(self, _room: Row) -> Row:
        """The number of pods for which a node has devices."""
        return self.alone()

    def alone(self) -> Row:
        """The number of pods for which a node has devices."""
        inventory = self.world.inventory
        return inventory.device_fits.copies(self.wanted, inventory.nodes, self.world.device_budget)

    def each_new(self, _room: Row) -> int:
        """Zero: the devices of a new node are unknown."""
        return 0


class DeviceRoom(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node has devices for all of ``parts`` at the same time, beside those that are ``held``.

    ``fitting`` are the nodes that have, or may have, by what is known when the pod is parsed; ``lacks`` says what
    others lack. ``every`` are all parts of the pod, which one node has to have devices for.
    """

    rule: ClassVar[str] = Rule.DEVICES
    verb: ClassVar[str] = "drop"
    clause: Clause
    parts: tuple[WantedDevices, ...]
    allocated: tuple[HeldDevice, ...]
    fitting: Bits
    lacks: tuple[tuple[Lack, Bits], ...]
    every: tuple[WantedDevices, ...]
    world: World
    soft: bool = False
    node: str = ""

    @property
    def devices(self) -> tuple[WantedDevices, ...]:
        """The parts that want devices."""
        return self.parts

    @property
    def spread(self) -> Spread | Limit:
        """As many pods on each node as it has devices for; all on one node if they share a claim of one node."""
        inventory = self.world.inventory
        if any(part.shared for part in self.parts):
            apart = any(_where(part, self.world).bit_count() > 1 for part in self.parts if part.loose)
            return Spread.FREE if inventory.devices.wide or apart else Spread.TOGETHER
        mapped = [part for part in self.parts if part.resource]
        offered = any(inventory.nodes.capacity.fits({part.resource: 1}) for part in mapped)
        if self.allocated or offered:
            return Spread.FREE
        return DevicesPerNode(Wanted(_claims(self.parts, mapped)), self.world, self.fitting)

    def filter(self, world: World) -> Bits:
        """Nodes that have the devices, or of which that is not known."""
        return self.fitting & world.everything

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Each node under what it lacks first."""
        remaining = out
        for lack, nodes in self.lacks:
            if short := nodes & remaining:
                remaining &= ~nodes
                yield self._reason(lack, short, world)
        if remaining:
            yield Reason(f"offers less than {self._less()}", f"offer less than {self._less()}", remaining)

    @property
    def equipment(self) -> str | None:
        """The devices that the pod wants of one node."""
        return devices_of_new(self.every, self.world.inventory.devices)

    def fix(self, world: World, out: Bits) -> Fix | None:
        """The largest count that opens a node; else a node with all devices that the pod wants."""
        for lack, nodes in self.lacks:
            if lack.choice is None or not nodes & out:
                continue
            part = next(part for part in self.parts if lack.choice in _choices(part))
            if lack.has and not lack.choice.all:
                count, opened = self._largest(part, lack, world, out)
                if opened:
                    gain = "1 node" if opened.bit_count() == 1 else f"{opened.bit_count()} nodes"
                    return Advice(f"lower {_count(part, lack)} to {count} (this opens {gain})")
            return AddNode(having=self.equipment) if self.equipment else None
        return None

    def _largest(self, part: WantedDevices, lack: Lack, world: World, out: Bits) -> tuple[int, Bits]:
        """The largest count of the request that lacks devices with which nodes of ``out`` fit, and these nodes."""
        low, high, opened = 0, lack.wanted - 1, 0
        while low < high:
            middle = (low + high + 1) // 2
            fewer = tuple(_lowered(one, lack, middle) if one is part else one for one in self.every)
            if nodes := _found(fewer, self.allocated, world).nodes & out:
                low, opened = middle, nodes
            else:
                high = middle - 1
        return low, opened

    def _reason(self, lack: Lack, nodes: Bits, world: World) -> Reason:
        """Why these nodes lack what the constraint wants."""
        if lack.choice is None:
            beside = " in addition to those of its other claims" if self.allocated else " at the same time"
            described = self.parts[0].described if len(self.parts) == 1 else ""
            what = f"have all {described or f'devices of {self.clause}'}{beside}"
            return Reason(f"does not {what}", f"do not {what}", nodes)
        what = lacking(lack, lack.choice, world.inventory.devices)
        return Reason(f"has {what}", f"have {what}", nodes)

    def _less(self) -> str:
        """The resources that nodes offer too little of."""
        return enumerated([f"{part.resource} {part.count}" for part in self.parts if part.resource], _NAMED)


class _Found(Struct, frozen=True, gc=False):
    """Nodes that have devices for parts, those of which it is not known, and what the others lack."""

    nodes: Bits
    unknown: Bits
    lacks: dict[Lack, Bits]
    failed: frozenset[str]

    @property
    def fitting(self) -> Bits:
        """The nodes that have the devices, or may have them."""
        return self.nodes | self.unknown


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for each thing that wants devices, and one for all of them together if there are several."""
    if not ask.devices:  # nearly all pods
        return
    parts = tuple(part for part in ask.devices if part.specs)
    fixed = [part for part in ask.devices if not part.loose]
    allocated = tuple(device for part in fixed for device in part.allocated)
    for part in fixed:
        if part.terms is not None:
            yield AllocatedClaim(part.clause, part.terms)
    each = [_found((part,), allocated, world) for part in parts]
    if len(parts) > 1 and (possible := functools.reduce(operator.and_, (fit.fitting for fit in each))):
        fit = _found(parts, allocated, world)
        clause = Clause(Source.DEVICES, tuple(name for part in parts for name in part.clause.parts), all_of(parts))
        yield from _judged(clause, parts, allocated, fit, parts, world)
        if possible and not fit.fitting:
            return
    for part, fit in zip(parts, each, strict=True):
        yield from _judged(part.clause, (part,), allocated, fit, parts, world)


def _judged(
    clause: Clause,
    parts: tuple[WantedDevices, ...],
    allocated: tuple[HeldDevice, ...],
    fit: "_Found",
    every: tuple[WantedDevices, ...],
    world: World,
) -> Iterator[Constraint | str]:
    """The constraint of these parts, and a warning if it is not known of some nodes; the warning alone if of all."""
    if not fit.fitting and (silent := _silent(parts, world)):
        yield f"{clause}: no driver offers devices of DeviceClass {silent}, so they are not judged; the pod waits"
        return
    failed = quote(one_line(min(fit.failed)), REASON_LIMIT) if fit.failed else ""
    if fit.unknown:
        nodes = counted(fit.unknown.bit_count(), "node")
        unread = _unread(fit.unknown, world)
        why = f", since {unread} cannot be read" if unread else ""
        why = f", for which {failed} cannot be evaluated" if failed else why
        yield f"{clause}: devices of {nodes} are not judged{why}; the pod may wait for them"
    elif failed:
        yield f"{clause}: {failed} cannot be evaluated for some devices; the pod may wait until they are gone"
    lacks = sorted(fit.lacks.items(), key=lambda item: (-item[0].has, item[0].wanted, item[0].request))
    yield DeviceRoom(clause, parts, allocated, fit.fitting, tuple(lacks), every, world)


def _found(parts: Sequence[WantedDevices], allocated: tuple[HeldDevice, ...], world: World) -> _Found:
    """The nodes with devices for the parts.

    Nodes that offer a mapped resource themselves need none for it, and those that can use what a loose claim has need
    no others.
    """
    inventory, everything = world.inventory, world.inventory.nodes.everything
    either = [part for part in parts if part.resource or part.loose]
    nodes = unknown = 0
    lacks: dict[Lack, Bits] = {}
    failed: frozenset[str] = frozenset()
    for offers in itertools.product((False, True), repeat=len(either)):
        there, offered = everything, [part for part, offer in zip(either, offers, strict=True) if offer]
        for part in either:
            there &= _offering(part, world) if part in offered else _bare(part, world)
        unoffered = [part for part in parts if part not in offered]
        claims = _claims(unoffered, [part for part in unoffered if part.resource])
        if not there:
            continue
        fit = Fit(everything)
        if claims:
            own = tuple(device for part in offered for device in part.allocated)
            wanted = Wanted(claims, (*allocated, *own))
            fit = inventory.device_fits.fit(wanted, inventory.nodes, world.device_budget)
        nodes |= fit.nodes & there
        unknown |= fit.unknown & there
        failed |= fit.failed
        for lack, short in fit.lacks.items():
            lacks[lack] = lacks.get(lack, 0) | short & there
    return _Found(nodes, unknown, lacks, failed)


def _offering(part: WantedDevices, world: World) -> Bits:
    """The nodes that need no devices for the part."""
    if part.loose:
        return _where(part, world)
    return world.inventory.nodes.capacity.fits({part.resource: part.count})


def _bare(part: WantedDevices, world: World) -> Bits:
    """The nodes where devices may be allocated for the part."""
    if part.loose:
        return world.inventory.nodes.everything
    return ~world.inventory.nodes.capacity.fits({part.resource: 1})


def _where(part: WantedDevices, world: World) -> Bits:
    """The nodes that can use what the claim has."""
    return matching_any(world.inventory.nodes, part.terms or ())


def _claims(parts: Sequence[WantedDevices], mapped: Sequence[WantedDevices]) -> tuple[ClaimSpec, ...]:
    """The claims of the parts, and the one that the scheduler makes for these mapped resources of a pod."""
    special = tuple(request for part in mapped for request in _requests(part))
    own = tuple(spec for part in parts if not part.resource for spec in part.specs)
    return (*own, ClaimSpec(special)) if special else own


def _choices(part: WantedDevices) -> list[DeviceChoice | None]:
    return [choice for request in _requests(part) for choice in request.choices]


def _requests(part: WantedDevices) -> Iterator[DeviceRequest]:
    return (request for spec in part.specs for request in spec.requests)


def _count(part: WantedDevices, lack: Lack) -> str:
    """What says how many devices the request of the part that lacks some wants."""
    if part.resource:
        return f"requests {part.resource}"
    if part.described:
        return f"count of {part.clause}"
    alternative = f"/{lack.choice.name}" if lack.choice and lack.choice.name else ""
    return f"count of request {lack.request}{alternative} of {part.clause}"


def _lowered(part: WantedDevices, lack: Lack, count: int) -> WantedDevices:
    """The part with so many devices for the request that lacks some."""

    def fewer(request: DeviceRequest) -> DeviceRequest:
        choices = [replace(choice, count=count) if choice == lack.choice else choice for choice in request.choices]
        return replace(request, choices=tuple(choices)) if request.name == lack.request else request

    specs = tuple(replace(spec, requests=tuple(map(fewer, spec.requests))) for spec in part.specs)
    return replace(part, specs=specs, count=count if part.resource else part.count)


def _silent(parts: Iterable[WantedDevices], world: World) -> str:
    """A DeviceClass of which no node has a device: its driver publishes none yet. Empty if there is no such class."""
    names = dict.fromkeys(
        choice.device_class for part in parts for request in _requests(part) for choice in request.choices
    )
    for name in names:
        known = world.inventory.devices.classes.get(name)
        one = DeviceChoice(name, selectors=known.selectors if known else (), tolerations=_EVERY_TAINT)
        wanted = Wanted((ClaimSpec((DeviceRequest("", (one,)),)),))
        fit = world.inventory.device_fits.fit(wanted, world.inventory.nodes, world.device_budget)
        if not fit.nodes:
            return name
    return ""


def _unread(nodes: Bits, world: World) -> str:
    """The slice of these nodes that cannot be read, or how many such slices there are; empty without one."""
    slots = world.inventory.nodes.slot_of
    names = [
        name
        for name, reach in world.inventory.devices.unread_slices.items()
        if not (reach and reach.node) or (reach.node in slots and nodes >> slots[reach.node] & 1)
    ]
    if not names:
        return ""
    return f"ResourceSlice {names[0]}" if len(names) == 1 else counted(len(names), "ResourceSlice")
