"""The devices that a pod wants: by ResourceClaims, by templates of these, and by resources that DeviceClasses map.

See ``docs/hardware.md``. Nothing here refuses a pod: what is not known is a doubt, of which the user is warned.
"""

import itertools
from collections import Counter
from collections.abc import Container as Having
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.devices.allocation.allocation import Lack
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice, DeviceRequest, HeldDevice, ResourceClaim
from webhook.placement.devices.published.described import spec_of
from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.selectors.selector import selector
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.pod import Container, NodeTerm, PodClaim, PodSpec, Resources
from webhook.placement.kube.quantity import format_quantity
from webhook.placement.request.described_templates import NOTHING, Described
from webhook.placement.request.unjudged import unjudged_devices
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.problem import quote, shorten
from webhook.placement.text.selector_words import condition, one_line

_CLAIMS: Final = 8
"""Maximum number of claims of a pod that are judged; pods have one or two."""

_CONDITION: Final = 100
"""Characters of a selector in a message."""

_LOOSE: Final = 2
"""Allocated claims without a pod are judged up to this number: each may keep its devices or get others."""

_SORTS: Final = 2
"""Maximum number of sorts of devices that are described for a node."""

_WORDS: Final = 280
"""Maximum number of characters that describe the devices of a node; a fix has room for these and for some labels."""

_RESOURCES: Final = 2
"""Maximum number of a pod's resources, mapped by DeviceClasses, that are judged."""

_NAMELESS: Final = (
    "an entry has neither resourceClaimName nor resourceClaimTemplateName; the API server refuses the pod for that"
)

ClaimPart = tuple[str, str]
"""What a clause names: ``claim``, ``template`` or ``resource``, and the name of it."""


class WantedDevices(Struct, frozen=True, gc=False):
    """One thing of a pod that wants devices.

    ``clause`` is how messages name it, ``specs`` is what has to be allocated for it. ``resource`` is the resource that
    a class maps, of which ``count`` are requested; nodes that offer it themselves need no devices. ``shared`` tells
    that other pods may use the same claim. A claim that is allocated has ``terms``, one of which the node must match
    (``None`` for any node), and its devices in ``held``; one that no pod uses is ``loose``, and has ``specs`` as well,
    since the scheduler may allocate other devices to it. ``doubt`` says what of it is not judged; empty if all is.
    ``described`` is what a requirement describes; empty for all else.
    """

    clause: Clause
    specs: tuple[ClaimSpec, ...] = ()
    resource: str = ""
    count: int = 0
    shared: bool = False
    terms: tuple[NodeTerm, ...] | None = None
    allocated: tuple[HeldDevice, ...] = ()
    loose: bool = False
    doubt: str = ""
    described: str = ""


def wanted_devices(
    spec: PodSpec,
    namespace: str,
    requests: Tally,
    mapped: Mapping[str, str],
    devices: Devices,
    described: Described = NOTHING,
) -> tuple[WantedDevices, ...]:
    """What of the pod wants devices; ``mapped`` are resources with their classes, ``described`` what templates hold.

    Nothing if devices are not known.
    """
    if not devices.read or devices.empty:
        return ()
    claims = spec.resource_claims or ()
    if len(claims) > _CLAIMS or len(mapped) > _RESOURCES:
        return ()
    counts = Counter(map(claim_part, claims))
    wanted = [
        _described(part, count, described[part[1]], devices)
        if part[0] == "template" and part[1] in described
        else _claimed(part, count, namespace, devices)
        for part, count in counts.items()
    ]
    wanted += [_of_class(resource, requests[resource], name, devices) for resource, name in sorted(mapped.items())]
    return tuple(wanted) if sum(part.loose for part in wanted) <= _LOOSE else ()


def unjudged_of(spec: PodSpec, mapped: Mapping[str, str], wanted: tuple[WantedDevices, ...]) -> Iterator[str]:
    """The warnings about devices that are not judged."""
    if wanted:
        return (f"{part.clause}: {part.doubt}" for part in wanted if part.doubt)
    return unjudged_devices(spec, mapped)


def claim_part(claim: PodClaim) -> ClaimPart:
    """What the clause of the claim names."""
    if claim.resource_claim_template_name is not None:
        return "template", claim.resource_claim_template_name
    return "claim", claim.resource_claim_name or ""


def without_resources(spec: PodSpec, gone: Having[object]) -> PodSpec:
    """The spec without requests for mapped resources that are parts of dropped clauses."""

    def kept(container: Container) -> Container:
        own = container.resources or Resources()
        requests = {name: amount for name, amount in (own.requests or {}).items() if ("resource", name) not in gone}
        most = {name: amount for name, amount in (own.limits or {}).items() if ("resource", name) not in gone}
        return replace(container, resources=Resources(requests, most, own.claims))

    return replace(
        spec,
        containers=spec.containers and tuple(map(kept, spec.containers)),
        init_containers=spec.init_containers and tuple(map(kept, spec.init_containers)),
    )


def _claimed(part: ClaimPart, count: int, namespace: str, devices: Devices) -> WantedDevices:
    """What the claim of that name wants, or so many claims of that template."""
    kind, name = part
    if kind == "template":
        several = f"{count} claims of " if count > 1 else ""
        clause = Clause(Source.DEVICES, (part,), f"{several}ResourceClaimTemplate {name}")
        template = devices.template((namespace, name))
        if template is None:
            return WantedDevices(clause, doubt="this template does not exist; the pod waits for it")
        return _wanting(WantedDevices(clause), template.spec, count, devices)
    if not name:
        return WantedDevices(Clause(Source.DEVICES, (part,), "spec.resourceClaims"), doubt=_NAMELESS)
    clause = Clause(Source.DEVICES, (part,), f"ResourceClaim {name}")
    claim = devices.claim((namespace, name))
    if claim is None:
        return WantedDevices(clause, doubt="this claim does not exist; the pod waits for it")
    return _of_claim(clause, claim, devices)


def _described(part: ClaimPart, count: int, wish: DescribedDevices, devices: Devices) -> WantedDevices:
    """What so many claims of described devices want: the same whether or not the template exists yet."""
    several = f"{count} claims of " if count > 1 else ""
    clause = Clause(Source.DEVICES, (part,), f"{several}hardware {wish}")
    return _wanting(WantedDevices(clause, described=several + str(wish)), spec_of(wish), count, devices)


def _of_claim(clause: Clause, claim: ResourceClaim, devices: Devices) -> WantedDevices:
    if claim.terminating:
        return WantedDevices(clause, doubt="the claim is being deleted; the pod waits for a new one of that name")
    anew, allocation = WantedDevices(clause, shared=True), claim.allocation
    if allocation is None:
        return _wanting(anew, claim.spec, 1, devices)
    nodes = allocation.nodes
    if claim.reserved or nodes is None:
        return WantedDevices(clause, terms=nodes, allocated=allocation.devices)
    # The scheduler takes the devices of a claim that no pod uses back, if they keep a pod from every node.
    loose = replace(anew, terms=nodes, allocated=allocation.devices, loose=True)
    return _wanting(loose, claim.spec, 1, devices)


def _of_class(resource: str, count: int, name: str, devices: Devices) -> WantedDevices:
    """What a request for a resource wants that the class maps."""
    clause = Clause(Source.DEVICES, (("resource", resource),), f"requests {resource} {count}")
    spec = ClaimSpec((DeviceRequest(resource, (DeviceChoice(name, count=count),)),))
    return _wanting(WantedDevices(clause, resource=resource, count=count), spec, 1, devices)


def _wanting(wanted: WantedDevices, spec: ClaimSpec, count: int, devices: Devices) -> WantedDevices:
    """The claim with the selectors of its classes, or with a doubt."""
    if doubt := next(_doubts(spec, devices), ""):
        return replace(wanted, doubt=doubt)
    requests = []
    for request in spec.requests:
        choices = []
        for choice in request.choices:
            known = devices.classes.get(choice.device_class)
            choices.append(replace(choice, selectors=(known.selectors if known else ()) + choice.selectors))
        requests.append(replace(request, choices=tuple(choices)))
    return replace(wanted, specs=(replace(spec, requests=tuple(requests)),) * count)


def _doubts(spec: ClaimSpec, devices: Devices) -> Iterator[str]:
    """Why the claim is not judged."""
    if spec.fault:
        yield f"it cannot be read: {spec.fault}; its devices are not judged"
    if spec.unread:
        yield f"{spec.unread} is not known here; its devices are not judged"
    for choice in itertools.chain.from_iterable(request.choices for request in spec.requests):
        known = devices.classes.get(choice.device_class)
        if known is None:
            yield f"DeviceClass {choice.device_class} does not exist; the pod waits for it"
        elif known.fault:
            yield f"DeviceClass {known.name} cannot be read: {known.fault}; its devices are not judged"
        elif known.unread or not _readable(known.selectors):
            yield f"the selectors of DeviceClass {known.name} cannot be evaluated here; its devices are not judged"
        for text in choice.selectors:
            if not _readable((text,)):
                yield f"{quote(one_line(text), _CONDITION)} cannot be evaluated here; its devices are not judged"


def _readable(selectors: tuple[str, ...]) -> bool:
    return all(selector(text).read is not None for text in selectors)


def lacking(lack: Lack, choice: DeviceChoice, devices: Devices) -> str:
    """What a node has, as the object of a sentence, if it has too few devices for the choice."""
    if lack.has:
        same = [f"the same {lack.same}"] if lack.same else []
        return f"only {lack.has} of {lack.wanted} devices {in_words(choice, devices, *same)}"
    any_value = [f"attribute {lack.same}"] if lack.same else []
    return f"no device {in_words(choice, devices, *any_value)}"


def in_words(choice: DeviceChoice, devices: Devices, *more: str) -> str:
    """What the choice wants of a device: its class, its selectors beside those of the class, and ``more``."""
    known = devices.classes.get(choice.device_class)
    own = choice.selectors[len(known.selectors) if known else 0 :]
    conditions = [shorten(condition(text), _CONDITION) for text in own]
    conditions += [f"{name} {format_quantity(amount)}" for name, amount in choice.capacity]
    wanted = " and ".join((*conditions, *more))
    return f"of DeviceClass {choice.device_class}{wanted and f' with {wanted}'}"


def all_of(parts: Sequence[WantedDevices]) -> str:
    """The clauses of the parts in words: two of them, or the first one and the number of the others."""
    first, *others = (part.clause.text for part in parts)
    if not others:
        return first
    return f"{first} and {others[0] if len(others) == 1 else f'{len(others)} more'}"


def devices_of_new(parts: Sequence[WantedDevices], devices: Devices) -> str | None:
    """The devices in words with which a node has enough for all of the parts at the same time, and none to spare.

    A request with alternatives is met by the one of the fewest devices. What takes more than two sorts of devices, or
    too many words, is named by the clauses. ``None`` if a request wants every device that matches, and others want
    some: perhaps no node can have these.
    """
    specs = [spec for part in parts for spec in part.specs]
    sorts: Counter[str] = Counter()
    for spec in specs:
        for choice in map(_fewest, spec.requests):
            same = "the same" if choice.count > 1 else "attribute"
            agreeing = [f"{same} {agreement.match}" for agreement in spec.agreements]
            sorts[in_words(choice, devices, *agreeing)] += choice.count
    if sum(sorts.values()) > 1 and any(_fewest(request).all for spec in specs for request in spec.requests):
        return None
    bound = [spec for spec in specs if spec.agreements]
    if len(sorts) > _SORTS or len(bound) > 1 or not all(map(_of_one_value, bound)):
        return f"all devices of {all_of(parts)}"
    words = " and ".join(f"{f'{count} devices' if count > 1 else 'a device'} {sort}" for sort, count in sorts.items())
    return words if len(words) <= _WORDS else f"all devices of {all_of(parts)}"


def _fewest(request: DeviceRequest) -> DeviceChoice:
    """The alternative of the fewest devices; of as many the one that leaves others to other requests."""
    return min(request.choices, key=lambda choice: (choice.count, choice.all))


def _of_one_value(spec: ClaimSpec) -> bool:
    """Whether the claim has one request, whose devices have to have the same values of attributes."""
    return len(spec.requests) == 1 and not any(agreement.distinct for agreement in spec.agreements)
