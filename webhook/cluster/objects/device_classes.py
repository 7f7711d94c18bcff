"""DeviceClasses and DeviceTaintRules of the API server, translated into the values of ``placement``."""

from msgspec import Struct

from kubeapi.client import decoding
from webhook.cluster.objects import wire
from webhook.cluster.objects.device_claims import SelectorObject, expressions
from webhook.cluster.objects.device_slices import taints
from webhook.cluster.objects.items import Item, decode
from webhook.cluster.objects.metadata import MalformedError, Notes, metadata_of
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.text.problem import REASON_LIMIT, shorten


class _ClassSpec(Struct, frozen=True, gc=False, rename="camel"):
    selectors: tuple[SelectorObject, ...] | None = None
    extended_resource_name: str | None = None


class _ClassObject(Struct, frozen=True, gc=False):
    """``resource.k8s.io/v1 DeviceClass``."""

    metadata: wire.DatedMetadata | None = None
    spec: _ClassSpec = _ClassSpec()


class _OutlineOfClass(Struct, frozen=True, gc=False, rename="camel"):
    extended_resource_name: str | None = None


class _ClassOutline(Struct, frozen=True, gc=False):
    """What of a class has to be known in any case: its name, and the resource that it maps."""

    metadata: wire.DatedMetadata | None = None
    spec: _OutlineOfClass = _OutlineOfClass()


class _RuleSelector(Struct, frozen=True, gc=False, rename="camel"):
    """Which devices a rule taints; early versions could also select by class and by expressions."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    device_class_name: str | None = None
    selectors: tuple[SelectorObject, ...] | None = None


class _RuleSpec(Struct, frozen=True, gc=False, rename="camel"):
    device_selector: _RuleSelector | None = None
    taint: wire.NodeTaint = wire.NodeTaint()


class _RuleObject(Struct, frozen=True, gc=False):
    """``resource.k8s.io DeviceTaintRule``."""

    metadata: wire.ObjectMetadata | None = None
    spec: _RuleSpec = _RuleSpec()


def read_class(item: Item) -> tuple[DeviceClass, Notes]:
    """A class; one with a selector of an unknown kind is not judged. Raises for one whose resource is not legible."""
    try:
        return _class(item), []
    except decoding.ERRORS as error:
        reason = decoding.reason(error)
    outline = decode(item, _ClassOutline)
    _, name = metadata_of(outline.metadata)
    created = (outline.metadata and outline.metadata.creation_timestamp) or ""
    unreadable = DeviceClass(
        name, outline.spec.extended_resource_name or "", created, fault=shorten(reason, REASON_LIMIT)
    )
    return unreadable, [f"{reason}; nothing is refused for lack of its devices"]


def _class(item: Item) -> DeviceClass:
    source = decode(item, _ClassObject)
    _, name = metadata_of(source.metadata)
    spec, selectors = source.spec, source.spec.selectors or ()
    return DeviceClass(
        name,
        spec.extended_resource_name or "",
        (source.metadata and source.metadata.creation_timestamp) or "",
        selectors=expressions(selectors),
        unread="spec.selectors" if any(each.cel is None for each in selectors) else "",
    )


def read_rule(item: Item) -> tuple[TaintRule | None, Notes]:
    """A rule; ``None`` for one whose taint keeps no pod away."""
    source = decode(item, _RuleObject)
    _, name = metadata_of(source.metadata)
    selector = source.spec.device_selector or _RuleSelector()
    if selector.device_class_name or selector.selectors:
        raise MalformedError("spec.deviceSelector: deviceClassName and selectors are not read")
    taint = next(taints((source.spec.taint,)), None)
    if taint is None:
        return None, []
    return (
        TaintRule(
            name,
            taint,
            selector.driver or "",
            selector.pool or "",
            selector.device or "",
            selects=source.spec.device_selector is not None,
        ),
        [],
    )
