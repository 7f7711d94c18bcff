"""Random pods that want devices of small clusters, and what their refusals advise."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tests.builders import Json, decided, node, pod
from tests.placement.devices.clusters import CLASS, GPU, RESOURCE, equipped, template
from tests.placement.devices.worlds import GI, SELECTORS
from tests.placement.hardware_containers import required
from tests.refused.census import Tried
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.decision.decision import Decision
from webhook.placement.devices.published.claims import Agreement, ClaimSpec, DeviceChoice, DeviceRequest, ResourceClaim
from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Reach
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.text.clause import Source
from webhook.placement.text.fix import Drop
from webhook.placement.text.problem import Fault

LARGE: Final = "large.example.com"
"""A class of devices with much memory."""

CLASSES: Final = {GPU: (SELECTORS[0],), LARGE: (SELECTORS[0], SELECTORS[4])}
ROOT: Final = "example.com/root"
CONDITIONS: Final = {'model == "A100"': SELECTORS[1], "memory >= 40Gi": SELECTORS[4]}
"""Selectors of requests, as messages write them."""

LOWERED: Final = re.compile(r"lower (?:count of )?(?P<what>.*) to (?P<to>\d+) \(this opens (?P<nodes>\d+) nodes?\)")
ADDED: Final = re.compile(
    r"add a node with (?:cpu 6 to offer(?: and )?)?(?P<devices>(?:all|a|\d+) devices? .*?)?"
    r"(?:(?: and )?the label disk=(?P<disk>\w+))?"
)
DEVICES: Final = re.compile(
    r"(?P<count>a|\d+) devices? of DeviceClass (?P<name>[\w.]+)(?: with (?P<conditions>.*?))?"
    r"(?: and (?=(?:a|\d+) devices? of )|$)"
)
ALL: Final = re.compile("all devices of .*")
FEWER_CORES: Final = re.compile(r"lower requests cpu 6 to cpu 4 \((?P<nodes>\d+) nodes? would fit\)")
LABELLED: Final = re.compile(
    r"label (?P<which>one more node) disk=ssd(?: \(only (?P<help>\d+) of (?P<of>\d+) nodes helps?\))?"
)
DROPPED: Final = re.compile(r"(?:drop|lower) (?P<what>.*) \((?P<nodes>\d+) nodes? would fit\)")
NOTHING: Final = "no single change helps; the pod needs a node that meets all of it"


@dataclass(frozen=True)
class Gpu:
    """A device: its model, its GiB and the value of its attribute."""

    model: str = "A100"
    memory: int = 80
    root: str = "p0"


@dataclass(frozen=True)
class Machine:
    """A node with devices."""

    name: str
    gpus: tuple[Gpu, ...]
    disk: str
    cpu: int = 6


@dataclass(frozen=True)
class Want:
    """What a pod wants devices by: ``kind`` is a template, a claim, a resource of a class, or a described requirement.

    There are ``times`` claims of a template.
    """

    kind: str
    name: str
    spec: ClaimSpec
    times: int = 1

    @property
    def clause(self) -> str:
        """How messages name it."""
        if self.kind == "resource":
            return f"requests {RESOURCE} {self._only.count}"
        if self.kind == "described":
            return f"hardware {self.described}"
        several = f"{self.times} claims of " if self.times > 1 else ""
        return f"{several}{'ResourceClaim' if self.kind == 'claim' else 'ResourceClaimTemplate'} {self.name}"

    @property
    def part(self) -> tuple[str, str]:
        """How clauses name it."""
        if self.kind == "described":
            same = "".join(each.match for each in self.spec.agreements)
            selector = "".join(self._only.selectors)
            only = DescribedDevices(self._only.device_class, selector, self._only.count, same)
            return "template", only.template
        return self.kind, self.name

    @property
    def described(self) -> str:
        """The words for described devices."""
        only = self._only
        said = [word for word, selector in CONDITIONS.items() if selector in only.selectors]
        said += [f"the same {each.match}" for each in self.spec.agreements]
        devices = "1 device" if only.count == 1 else f"{only.count} devices"
        return f"{devices} of DeviceClass {only.device_class}{(said and ' with ' + ' and '.join(said)) or ''}"

    @property
    def _only(self) -> DeviceChoice:
        return self.spec.requests[0].choices[0]

    def counts(self) -> Iterator[tuple[str, int, int]]:
        """How messages name each count that can be lowered, with the places of its request and of its choice."""
        for at, request in enumerate(self.spec.requests):
            for which, choice in enumerate(request.choices):
                if self.kind == "resource":
                    yield f"requests {RESOURCE}", at, which
                elif self.kind == "described":
                    yield self.clause, at, which
                else:
                    sub = f"/{choice.name}" if choice.name else ""
                    yield f"request {request.name}{sub} of {self.clause}", at, which

    def with_count(self, at: int, which: int, count: int) -> "Want":
        """The same with another count of one choice."""
        request = self.spec.requests[at]
        choices = [*request.choices]
        choices[which] = _with(choices[which], count)
        requests = [*self.spec.requests]
        requests[at] = DeviceRequest(request.name, tuple(choices))
        return replace(self, spec=ClaimSpec(tuple(requests), self.spec.agreements))

    @property
    def claims(self) -> list[ClaimSpec]:
        """What has to be allocated, with the selectors of the classes."""
        requests = [
            DeviceRequest(
                request.name,
                tuple(_with(choice, choice.count, CLASSES[choice.device_class]) for choice in request.choices),
            )
            for request in self.spec.requests
        ]
        return [ClaimSpec(tuple(requests), self.spec.agreements)] * self.times


def _with(choice: DeviceChoice, count: int, selectors: tuple[str, ...] = ()) -> DeviceChoice:
    return DeviceChoice(
        choice.device_class, choice.name, selectors=(*selectors, *choice.selectors), count=count, all=choice.all
    )


@dataclass(frozen=True)
class TriedDevices:
    """A pod that wants devices, so many cores and perhaps a kind of disk, in a cluster."""

    machines: tuple[Machine, ...]
    wants: tuple[Want, ...]
    disk: str
    cpu: int

    @cached_property
    def decision(self) -> Decision:
        """The decision about it."""
        inventory = equipped(
            *map(_slice_of, self.machines),
            classes=[CLASS, DeviceClass(LARGE, selectors=CLASSES[LARGE])],
            machines=[node(one.name, labels={"disk": one.disk}, cpu=1000 * one.cpu) for one in self.machines],
        )
        claims, resources, described = [], {}, []
        for want in self.wants:
            if want.kind == "template":
                template(inventory, want.name, want.spec)
            elif want.kind == "claim":
                inventory.devices.put_claim(ResourceClaim("default", want.name, want.spec))
            only = want.spec.requests[0].choices[0]
            if want.kind == "resource":
                resources = {RESOURCE: str(only.count)}
            elif want.kind == "described":
                described.append(_description(want))
            else:
                field = "resourceClaimName" if want.kind == "claim" else "resourceClaimTemplateName"
                claims += [{"name": f"{want.name}-{at}", field: want.name} for at in range(want.times)]
        fields: Json = {"resourceClaims": claims} if claims else {}
        fields |= {"nodeSelector": {"disk": self.disk}} if self.disk else {}
        requests = resources | ({"cpu": str(self.cpu)} if self.cpu else {})
        main = {"name": "main", "resources": {"requests": requests, "limits": resources}}
        decision = decided(
            pod(annotations=required(*described) if described else {}, containers=[main], **fields), inventory
        )
        assert not (decision.refused and self.fitting()), (self, decision.message)
        assert decision.refused or decision.warnings or self.fitting(), self
        return decision

    def fitting(self) -> list[str]:
        """The nodes that can run the pod."""
        return [one.name for one in self.machines if self._fits(one)]

    def _fits(self, machine: Machine) -> bool:
        if machine.cpu < self.cpu or self.disk not in ("", machine.disk):
            return False
        return allocates(Counter(machine.gpus), [spec for want in self.wants for spec in want.claims])

    def refused(self) -> bool:
        """Whether no node can run it."""
        return self.decision.refused

    @property
    def fixes(self) -> list[str]:
        """What is advised."""
        last = self.decision.message.splitlines()[-1]
        return last.removeprefix("Nearest fix: ").removesuffix(".").split(", or ")

    def check_fixes(self) -> bool:
        """Each fix opens as many nodes as it says, and a smaller one of its kind does not help."""
        for fix in self.fixes:
            ways = [*self.done(fix)]
            assert ways or fix == NOTHING, (fix, self.decision.message)
            helped = [way for way in ways if way.fitting()]
            assert helped or not ways, (fix, self.decision.message)
            if said := LOWERED.fullmatch(fix) or FEWER_CORES.fullmatch(fix) or DROPPED.fullmatch(fix):
                assert len(ways[0].fitting()) == int(said["nodes"]), (fix, self.decision.message)
            if said := LABELLED.fullmatch(fix):
                assert len(helped) == int(said["help"] or len(ways)), (fix, self.decision.message)
                assert len(ways) == int(said["of"] or len(ways)), (fix, self.decision.message)
            for less in self._smaller(fix):
                assert not less.fitting(), ("less is enough", fix, self.decision.message)
        return self.fixes != [NOTHING]

    def check_smallest(self) -> bool:
        """The clauses of the first line cannot hold together, and can without any one of them."""
        refusal = self.decision.refusal
        assert refusal
        assert refusal.fault is Fault.FORBIDDEN
        together = any(one.startswith(f"{want.clause} and ") for one in refusal.clauses for want in self.wants)
        named = tuple(want for want in self.wants if together or want.clause in refusal.clauses)
        disk = self.disk if f"nodeSelector disk={self.disk}" in refusal.clauses else ""
        cpu = self.cpu if f"requests cpu {self.cpu}" in refusal.clauses else 0
        own = replace(self, wants=named, disk=disk, cpu=cpu)
        assert len(refusal.clauses) == bool(disk) + bool(cpu) + (1 if together else len(named)), refusal
        assert not own.fitting(), refusal.text
        assert not disk or replace(own, disk="").fitting(), refusal.text
        assert not cpu or replace(own, cpu=0).fitting(), refusal.text
        assert not named or replace(own, wants=()).fitting(), refusal.text
        return True

    def followed(self) -> list[Tried]:
        """The pod after the first fix that can be made."""
        for fix in self.fixes:
            if ways := [*self.done(fix)]:
                return [way for way in ways if not LABELLED.fullmatch(fix) or way.fitting()]
        return []

    def done(self, fix: str) -> Iterator["TriedDevices"]:
        """The case after the fix, in every way to do it."""
        if FEWER_CORES.fullmatch(fix):
            yield replace(self, cpu=4)
        elif said := LOWERED.fullmatch(fix):
            yield self._lowered(said["what"], int(said["to"]))
        elif said := DROPPED.fullmatch(fix):
            assert self.decision.refusal
            steps = next(one.steps for one in self.decision.refusal.fixes if isinstance(one, Drop) and str(one) == fix)
            gone = {part for _, clause in steps for part in clause.parts}
            kept = tuple(want for want in self.wants if want.part not in gone)
            sources = {clause.source for _, clause in steps}
            disk = "" if Source.NODE_SELECTOR in sources else self.disk
            after = replace(self, wants=kept, disk=disk, cpu=0 if Source.REQUESTS in sources else self.cpu)
            assert after != self, fix
            yield after
        elif said := LABELLED.fullmatch(fix):
            for machine in self.machines:
                if machine.disk != "ssd":
                    others = tuple(replace(one, disk="ssd") if one is machine else one for one in self.machines)
                    yield replace(self, machines=others)
        elif said := ADDED.fullmatch(fix):
            yield self._with_node(self._gpus(said["devices"] or ""), said["disk"] or "")
        else:
            assert fix == NOTHING, fix

    def _lowered(self, what: str, count: int) -> "TriedDevices":
        """The case with so many devices of what is named, which is one of the counts."""
        places = [
            (place, at, which)
            for place, want in enumerate(self.wants)
            for name, at, which in want.counts()
            if name == what
        ]
        assert len(places) == 1, (what, self.decision.message)
        ((place, at, which),) = places
        wants = [*self.wants]
        wants[place] = wants[place].with_count(at, which, count)
        return replace(self, wants=tuple(wants))

    def _with_node(self, gpus: tuple[Gpu, ...], disk: str) -> "TriedDevices":
        return replace(self, machines=(*self.machines, Machine(f"new-{len(self.machines)}", gpus, disk)))

    def _gpus(self, text: str) -> tuple[Gpu, ...]:
        """The devices that a fix names: they have what it says, and of all else too little."""
        if ALL.fullmatch(text):
            return tuple(gpu for want in self.wants for spec in want.claims for gpu in _wanted(spec))
        gpus: list[Gpu] = []
        at = 0
        while at < len(text):
            said = DEVICES.match(text, at)
            assert said, text
            conditions = said["conditions"].split(" and ") if said["conditions"] else []
            known = {*CONDITIONS, f"the same {ROOT}", f"attribute {ROOT}"}
            assert known.issuperset(conditions), text
            large = said["name"] == LARGE or "memory >= 40Gi" in conditions
            model = "A100" if 'model == "A100"' in conditions else "H100"
            same = f"the same {ROOT}" in conditions
            count = 1 if said["count"] == "a" else int(said["count"])
            new = len(gpus)
            gpus += [Gpu(model, 40 if large else 20, "p0" if same else f"p{new + each}") for each in range(count)]
            at = said.end()
        return tuple(gpus)

    def _smaller(self, fix: str) -> Iterator["TriedDevices"]:
        """The next smaller changes of that kind: one device more is left, or a device less is on the node."""
        if said := LOWERED.fullmatch(fix):
            more = self._lowered(said["what"], int(said["to"]) + 1)
            if more != self:
                yield more
        elif said := ADDED.fullmatch(fix):
            gpus = self._gpus(said["devices"] or "")
            for at in range(len(gpus)):
                yield self._with_node(gpus[:at] + gpus[at + 1 :], said["disk"] or "")


def allocates(free: Counter[Gpu], claims: Sequence[ClaimSpec]) -> bool:
    """Whether the devices are enough for all of these claims, each with the selectors of its class."""

    def met(left: Counter[Gpu], at: int, request: int, given: Counter[Gpu]) -> bool:
        if at == len(claims):
            return True
        if request == len(claims[at].requests):
            same = not claims[at].agreements or len({gpu.root for gpu in given}) == 1
            return same and met(left, at + 1, 0, Counter())
        return any(
            met(left - more, at, request + 1, given + more)
            for choice in claims[at].requests[request].choices
            for more in _ways(free, left, choice)
        )

    return met(free, 0, 0, Counter())


def _ways(every: Counter[Gpu], left: Counter[Gpu], choice: DeviceChoice) -> Iterator[Counter[Gpu]]:
    """The devices that a choice may be given of those that are ``left``; of equal ones it does not matter which."""
    fitting = Counter({gpu: count for gpu, count in every.items() if _meets(gpu, choice)})
    if choice.all:
        yield from [fitting] if fitting and fitting <= left else []
        return
    kinds = [gpu for gpu in fitting for _ in range(min(left[gpu], choice.count))]
    yield from map(Counter, {*itertools.combinations(kinds, choice.count)})


def _meets(gpu: Gpu, choice: DeviceChoice) -> bool:
    model = SELECTORS[1] not in choice.selectors or gpu.model == "A100"
    return model and (SELECTORS[4] not in choice.selectors or gpu.memory >= 40)


def _wanted(spec: ClaimSpec) -> Iterator[Gpu]:
    """Devices that meet all requests of the claim, the alternative of the fewest devices."""
    for request in spec.requests:
        choice = min(request.choices, key=lambda one: (one.count, one.all))
        model = "A100" if SELECTORS[1] in choice.selectors else "H100"
        yield from [Gpu(model, 40 if SELECTORS[4] in choice.selectors else 20)] * choice.count


def _slice_of(machine: Machine) -> DeviceSlice:
    return _slice(machine, machine.name)


def _slice(machine: Machine, name: str) -> DeviceSlice:
    """The devices of a node, under that name of a node."""
    devices = tuple(
        Device(
            f"gpu-{at}",
            (Attribute("model", gpu.model), Attribute(ROOT, gpu.root)),
            (DeviceCapacity("memory", gpu.memory * GI),),
        )
        for at, gpu in enumerate(machine.gpus)
    )
    return DeviceSlice(f"slice-{name}", GPU, name, reach=Reach(node=name), devices=devices)


def _description(want: Want) -> Json:
    """The requirement that describes the devices."""
    only = want.spec.requests[0].choices[0]
    device: Json = {"class": only.device_class, "count": only.count}
    device |= {"selector": only.selectors[0]} if only.selectors else {}
    device |= dict.fromkeys(["sameAttribute"] * len(want.spec.agreements), ROOT)
    return {"device": device}


def _choice(chance: random.Random, name: str = "", *, simple: bool) -> DeviceChoice:
    selectors = chance.choice(((), (), (SELECTORS[1],), (SELECTORS[4],)))
    count = chance.choice((1, 1, 2, 2, 3))
    every = not simple and chance.random() < 0.1
    return DeviceChoice(
        chance.choice((GPU, GPU, LARGE)), name, selectors=selectors, count=1 if every else count, all=every
    )


def _want(chance: random.Random, name: str) -> Want:
    kind = chance.choice(("template", "template", "claim", "described", "described"))
    if kind == "described":
        choice = _choice(chance, simple=True)
        same = (Agreement(("devices",), match=ROOT),) if chance.random() < 0.4 else ()
        return Want(kind, name, ClaimSpec((DeviceRequest("devices", (choice,)),), same))
    requests = []
    for at in range(chance.choice((1, 1, 2))):
        names = chance.choice(((), (), (), ("s0", "s1")))
        choices = [_choice(chance, one, simple=False) for one in names or ("",)]
        requests.append(DeviceRequest(f"r{at}", tuple(choices)))
    # Of all devices that are to agree the scheduler decides by their order.
    greedy = any(choice.all for request in requests for choice in request.choices)
    same = (Agreement(match=ROOT),) if chance.random() < 0.3 and not greedy else ()
    return Want(kind, name, ClaimSpec(tuple(requests), same), chance.choice((1, 1, 2)) if kind == "template" else 1)


def random_devices(seed: int) -> TriedDevices:
    """The pod of that number and its cluster."""
    chance = random.Random(f"devices {seed}")  # noqa: S311 -- the same cases each time
    machines = tuple(
        Machine(
            f"node-{at}",
            tuple(
                Gpu(chance.choice(("A100", "H100")), chance.choice((20, 40)), chance.choice(("p0", "p1")))
                for _ in range(chance.choice((0, 1, 2, 2, 3, 4)))
            ),
            chance.choice(("ssd", "ssd", "hdd")),
            chance.choice((6, 6, 4)),
        )
        for at in range(chance.randint(1, 4))
    )
    first = machines[0]  # a class without any device is not judged
    machines = (replace(first, gpus=(Gpu("H100", 40), *first.gpus)), *machines[1:])
    wants = [_want(chance, f"w{at}") for at in range(chance.choice((1, 1, 1, 2)))]
    if chance.random() < 0.2:
        count = chance.randint(1, 4)
        request = DeviceRequest(RESOURCE, (DeviceChoice(GPU, count=count),))
        wants.append(Want("resource", RESOURCE, ClaimSpec((request,))))
    different = {want.clause: want for want in wants}  # two equal descriptions are one
    return TriedDevices(machines, tuple(different.values()), chance.choice(("", "", "ssd")), chance.choice((0, 0, 6)))
