"""ResourceClaims and ResourceClaimTemplates of the API server, translated into the values of ``placement``.

Fields are those of ``resource.k8s.io/v1``. A claim that says something unknown here is kept, and is not judged.
"""

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from kubeapi.client import decoding
from webhook.cluster.objects import wire
from webhook.cluster.objects.device_slices import NamedObject, nano
from webhook.cluster.objects.items import Item, decode
from webhook.cluster.objects.metadata import MalformedError, Notes, full_name
from webhook.placement.devices.published.claims import (
    Agreement,
    ClaimAllocation,
    ClaimSpec,
    ClaimTemplate,
    DeviceChoice,
    DeviceName,
    DeviceRequest,
    HeldDevice,
    ResourceClaim,
)
from webhook.placement.devices.published.described import MADE_LABEL, content_of
from webhook.placement.kube.pod import Amount, NodeSelector, NodeTerm, Requirement, Toleration
from webhook.placement.kube.selection.selector import NAME_FIELD
from webhook.placement.text.problem import REASON_LIMIT, shorten

ALL: Final = "All"
EXACT: Final = "ExactCount"
"""Allocation modes; ``ExactCount`` is the default."""

_KEPT: Final = 1024
"""Maximum number of specs kept for sharing: more than a cluster has claim templates in use."""

_ZONES: Final = 256
"""Maximum number of multi-node terms kept for sharing: one for each group of nodes that can use the same devices."""

_POD: Final = "Pod"
_OWN: Final = "spec.devices"
_OF_TEMPLATE: Final = "spec.spec.devices"


class CelExpression(Struct, frozen=True, gc=False):
    """A CEL expression."""

    expression: str = ""


class SelectorObject(Struct, frozen=True, gc=False):
    """A selector of devices, of a class or of a request; CEL is the only kind there is."""

    cel: CelExpression | None = None


class _CapacityNeeds(Struct, frozen=True, gc=False):
    requests: dict[str, Amount] | None = None


class _Choice(Struct, frozen=True, gc=False, rename="camel"):
    """What is requested: ``exactly``, or one of ``firstAvailable``, which has a name."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[SelectorObject, ...] | None = None
    allocation_mode: str | None = None
    count: int | None = None
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] | None = None
    capacity: _CapacityNeeds | None = None


class _Request(Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    exactly: _Choice | None = None
    first_available: tuple[_Choice, ...] | None = None


class _Constraint(Struct, frozen=True, gc=False, rename="camel"):
    requests: tuple[str, ...] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class _DeviceClaim(Struct, frozen=True, gc=False):
    requests: tuple[_Request, ...] | None = None
    constraints: tuple[_Constraint, ...] | None = None
    config: Any = None


class _DeviceClaimSpec(Struct, frozen=True, gc=False):
    devices: _DeviceClaim = _DeviceClaim()


class _AllocatedDevice(Struct, frozen=True, gc=False, rename="camel"):
    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] | None = None
    share_id: str | None = field(name="shareID", default=None)
    consumed_capacity: dict[str, Amount] | None = None


class _Results(Struct, frozen=True, gc=False):
    results: tuple[_AllocatedDevice, ...] | None = None


class _Allocation(Struct, frozen=True, gc=False, rename="camel"):
    devices: _Results = _Results()
    node_selector: NodeSelector | None = None


class _ClaimStatus(Struct, frozen=True, gc=False, rename="camel"):
    allocation: _Allocation | None = None
    reserved_for: tuple[Any, ...] | None = None


class _ClaimObject(Struct, frozen=True, gc=False):
    """``resource.k8s.io/v1 ResourceClaim``."""

    metadata: wire.ObjectMetadata | None = None
    spec: _DeviceClaimSpec = _DeviceClaimSpec()
    status: _ClaimStatus | None = None


class _ClaimMetadata(Struct, frozen=True, gc=False):
    """What each claim of a template gets."""

    labels: Any = None
    annotations: Any = None


class _ClaimTemplateSpec(Struct, frozen=True, gc=False):
    metadata: _ClaimMetadata | None = None
    spec: _DeviceClaimSpec = _DeviceClaimSpec()


class _TemplateObject(Struct, frozen=True, gc=False):
    """``resource.k8s.io/v1 ResourceClaimTemplate``."""

    metadata: wire.ObjectMetadata | None = None
    spec: _ClaimTemplateSpec = _ClaimTemplateSpec()


def read_claim(item: Item) -> tuple[ResourceClaim, Notes]:
    """A claim, with what is allocated to it and who uses it. Raises only for a claim without a name."""
    try:
        return _claim(decode(item, _ClaimObject)), []
    except (MalformedError, *decoding.ERRORS) as error:
        namespace, name, spec, notes = _faulty(item, error)
        return ResourceClaim(namespace, name, spec), notes


def read_template(item: Item) -> tuple[ClaimTemplate, Notes]:
    """A claim template. Raises only for one without a name."""
    try:
        return _template(decode(item, _TemplateObject)), []
    except (MalformedError, *decoding.ERRORS) as error:
        namespace, name, spec, notes = _faulty(item, error)
        return ClaimTemplate(namespace, name, spec), notes


def _claim(source: _ClaimObject) -> ResourceClaim:
    namespace, name = full_name(source.metadata).split("/", 1)
    metadata, status = source.metadata or wire.ObjectMetadata(), source.status or _ClaimStatus()
    owners = (owner.name for owner in metadata.owner_references or () if owner.controller and owner.kind == _POD)
    return ResourceClaim(
        sys.intern(namespace),
        name,
        _spec(source.spec, _OWN),
        None if status.allocation is None else _allocation(status.allocation),
        bool(status.reserved_for),
        next(owners, ""),
        metadata.deletion_timestamp is not None,
    )


def _template(source: _TemplateObject) -> ClaimTemplate:
    namespace, name = full_name(source.metadata).split("/", 1)
    metadata, spec = source.metadata or wire.ObjectMetadata(), _spec(source.spec.spec, _OF_TEMPLATE)
    label, value = MADE_LABEL
    claims = source.spec.metadata or _ClaimMetadata()
    configured = bool(source.spec.spec.devices.config or claims.labels or claims.annotations)
    if configured or (metadata.labels or {}).get(label) != value or content_of(name, spec) is None:
        return ClaimTemplate(sys.intern(namespace), name, spec, configured=configured)
    version = metadata.resource_version or ""
    return ClaimTemplate(sys.intern(namespace), name, spec, made=True, uid=metadata.uid or "", version=version)


def _faulty(item: Item, error: Exception) -> tuple[str, str, ClaimSpec, Notes]:
    """Namespace and name of an object that cannot be read, a spec that says why, and a note on it."""
    reason = decoding.reason(error) if isinstance(error, decoding.ERRORS) else str(error)
    namespace, name = full_name(decode(item, NamedObject).metadata).split("/", 1)
    notes = [f"{reason}; nothing is refused for lack of its devices"]
    return sys.intern(namespace), name, ClaimSpec(fault=shorten(reason, REASON_LIMIT)), notes


def expressions(selectors: Iterable[SelectorObject]) -> tuple[str, ...]:
    """The CEL expressions of the selectors."""
    return tuple(each.cel.expression for each in selectors if each.cel is not None)


def _spec(source: _DeviceClaimSpec, path: str) -> ClaimSpec:
    requests, constraints = source.devices.requests or (), source.devices.constraints or ()
    unread = [*_unread_requests(requests, f"{path}.requests"), *_unread_constraints(constraints, f"{path}.constraints")]
    return _shared(
        ClaimSpec(
            tuple(_request(each, f"{path}.requests[{at}]") for at, each in enumerate(requests)),
            tuple(
                Agreement(each.requests or (), each.match_attribute or "", each.distinct_attribute or "")
                for each in constraints
            ),
            next(iter(unread), ""),
        )
    )


@functools.lru_cache(_KEPT)
def _shared(spec: ClaimSpec) -> ClaimSpec:
    """The equal spec that was seen first: all claims of a template have the same."""
    return spec


def _request(source: _Request, path: str) -> DeviceRequest:
    alternatives = source.first_available or ()
    if source.exactly is not None:
        return DeviceRequest(source.name, (_choice(source.exactly, f"{path}.exactly"),))
    return DeviceRequest(
        source.name, tuple(_choice(each, f"{path}.firstAvailable[{at}]") for at, each in enumerate(alternatives))
    )


def _choice(source: _Choice, path: str) -> DeviceChoice:
    return DeviceChoice(
        source.device_class_name,
        name=source.name,
        selectors=expressions(source.selectors or ()),
        count=1 if source.count is None else source.count,
        all=source.allocation_mode == ALL,
        admin=source.admin_access or False,
        tolerations=source.tolerations or (),
        capacity=_amounts((source.capacity and source.capacity.requests) or {}, f"{path}.capacity.requests"),
    )


def _unread_requests(requests: Iterable[_Request], path: str) -> Iterator[str]:
    """The paths of what is not known here."""
    for at, request in enumerate(requests):
        alternatives = request.first_available or ()
        if request.exactly is None and not alternatives:
            yield f"{path}[{at}]"
        elif request.exactly is not None:
            yield from _unread_choice(request.exactly, f"{path}[{at}].exactly")
        else:
            for place, choice in enumerate(alternatives):
                yield from _unread_choice(choice, f"{path}[{at}].firstAvailable[{place}]")


def _unread_choice(choice: _Choice, path: str) -> Iterator[str]:
    if choice.allocation_mode not in {None, "", EXACT, ALL}:
        yield f"{path}.allocationMode"
    if choice.count is not None and choice.count < 1:
        yield f"{path}.count"
    if any(each.cel is None for each in choice.selectors or ()):
        yield f"{path}.selectors"


def _unread_constraints(constraints: Iterable[_Constraint], path: str) -> Iterator[str]:
    for at, each in enumerate(constraints):
        if not each.match_attribute and not each.distinct_attribute:
            yield f"{path}[{at}]"


def _allocation(source: _Allocation) -> ClaimAllocation:
    results = source.devices.results or ()
    devices = tuple([_held(each, f"status.allocation.devices.results[{at}]") for at, each in enumerate(results)])
    if source.node_selector is None:
        return ClaimAllocation(devices)
    terms = source.node_selector.node_selector_terms or ()
    match terms:
        case (NodeTerm(None, (Requirement(key, "In", (node,)),)),) if key == NAME_FIELD and node:
            return ClaimAllocation(devices, node=sys.intern(node))
    return ClaimAllocation(devices, _shared_terms(terms))


@functools.lru_cache(_ZONES)
def _shared_terms(terms: tuple[NodeTerm, ...]) -> tuple[NodeTerm, ...]:
    """The equal terms that were seen first."""
    return terms


def _held(source: _AllocatedDevice, path: str) -> HeldDevice:
    return HeldDevice(
        DeviceName(sys.intern(source.driver), sys.intern(source.pool), sys.intern(source.device)),
        sys.intern(source.request),
        admin=source.admin_access or False,
        share=source.share_id or "",
        consumed=_amounts(source.consumed_capacity or {}, f"{path}.consumedCapacity"),
        tolerations=source.tolerations or (),
    )


def _amounts(amounts: Mapping[str, Amount], path: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, nano(amount, f"{path}[{name}]")) for name, amount in sorted(amounts.items()))
