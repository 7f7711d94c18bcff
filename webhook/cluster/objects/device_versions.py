"""Devices of ``v1beta1`` and ``v1beta2`` of ``resource.k8s.io``, converted to ``v1`` as the API server does.

Objects of ``v1beta2`` have the fields of ``v1``. In ``v1beta1`` a request states by itself what ``v1`` has under
``exactly``, and a device has most of its fields under ``basic``. Source: ``pkg/apis/resource/v1beta1/conversion.go`` of
Kubernetes.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from webhook.cluster.objects import items
from webhook.cluster.objects.items import Head, Item
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.text.api_kinds import CLAIM_TEMPLATE, DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_SLICE

_GROUP: Final = RESOURCE_CLAIM.group
_FLAT: Final = f"{_GROUP}/v1beta1"

CONVERTED: Final[Mapping[str, tuple[str, ...]]] = {
    kind.name: (f"{_GROUP}/v1beta2", _FLAT) for kind in (DEVICE_CLASS, RESOURCE_SLICE, RESOURCE_CLAIM, CLAIM_TEMPLATE)
}
"""The apiVersions other than ``v1`` in which manifests may state these kinds. The API server is asked for ``v1``."""

_EACH: Final = "[]"
"""Step of a path to all members of a list."""

_FILLED: Final = ("deviceClassName", "allocationMode", "count")
"""Fields of a request that count as unset if they are empty or 0."""

_POINTERS: Final = ("selectors", "adminAccess", "tolerations", "capacity")
"""Fields of a request that count as set whatever their value is, except null."""

_KEPT: Final = frozenset({"name", "firstAvailable"})
"""Fields of a request that are the same in both versions."""


def in_v1(stated: Head, item: Item) -> Item:
    """The item with the fields of ``v1``; the item itself if its kind and version have these already.

    Raises :class:`MalformedError` for a device that has no object under ``basic``.
    """
    if stated.api_version != _FLAT or stated.kind not in _CHANGES:
        return item
    path, change = _CHANGES[stated.kind]
    converted: Item = _changed(items.decode(item, dict), path, change)
    return converted


def _changed(value: Any, path: tuple[str, ...], change: Callable[[Any], object]) -> Any:  # noqa: ANN401 -- JSON
    """The value with the change at the end of the path; where the path leads nowhere, the value as it is."""
    if not path:
        return change(value) if isinstance(value, dict) else value
    step, further = path[0], path[1:]
    if step == _EACH:
        return [_changed(each, further, change) for each in value] if isinstance(value, list) else value
    if not isinstance(value, dict) or step not in value:
        return value
    return {**value, step: _changed(value[step], further, change)}


def _request(request: dict[str, Any]) -> dict[str, Any]:
    """The request with what it wants under ``exactly``; one with ``firstAvailable`` alone has nothing there."""
    wanted = {name: request[name] for name in (*_FILLED, *_POINTERS) if name in request}
    kept = {name: value for name, value in request.items() if name in _KEPT}
    exact = any(wanted.get(name) for name in _FILLED) or any(wanted.get(name) is not None for name in _POINTERS)
    return {**kept, "exactly": wanted} if exact else kept


def _device(device: dict[str, Any]) -> dict[str, Any]:
    """The device with the fields of ``basic`` as its own; one without any has its name alone."""
    basic = device.get("basic")
    if not isinstance(basic, dict | None):
        raise MalformedError("spec.devices: basic of a device is not an object")
    return {**(basic or {}), "name": device.get("name", "")}


_CHANGES: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Any], object]]]] = {
    RESOURCE_CLAIM.name: (("spec", "devices", "requests", _EACH), _request),
    CLAIM_TEMPLATE.name: (("spec", "spec", "devices", "requests", _EACH), _request),
    RESOURCE_SLICE.name: (("spec", "devices", _EACH), _device),
}
"""What of an object of ``v1beta1`` is converted: the path to it, and how."""
