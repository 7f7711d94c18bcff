"""Names of resources that a container can request, and the units of their amounts.

Source: ``ValidateResourceRequirements`` and ``IsExtendedResourceName`` of the Kubernetes core validation.
"""

from typing import Final

from webhook.placement.kube.names import LABEL_NAME, is_object_name
from webhook.placement.kube.quantity import INT64, NANO, parse_quantity

CPU: Final = "cpu"
MEMORY: Final = "memory"

UNITS: Final[dict[str, int]] = {
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}i": 1024**power for power, letter in enumerate("KMGT", 1)},
}
"""Bytes in each unit of EMCO HPA intents; KB is 1,000 bytes and Ki 1,024."""

DEFAULT_UNIT: Final = "MB"
"""Unit of an amount of bytes that is a bare number (EMCO HPA intents)."""

_BYTES: Final = frozenset({MEMORY, "ephemeral-storage"})
HUGE_PAGES: Final = "hugepages-"
_LARGEST_PAGE: Final = INT64 // 1000
_RESERVED: Final = "kubernetes.io"

OF_DEVICE_CLASS: Final = "deviceclass.resource.kubernetes.io/"
"""Prefix of the implicit resource of a DeviceClass (``ResourceDeviceClassPrefix`` of resource.k8s.io/v1)."""


def in_bytes(name: str) -> bool:
    """Whether amounts of the resource are bytes: memory, ephemeral storage, huge pages."""
    return name in _BYTES or name.startswith(HUGE_PAGES)


def is_resource(name: str) -> bool:
    """Whether a container can request a resource of that name."""
    return name == CPU or name in _BYTES or bool(page_size(name)) or _is_device(name)


def indivisible(name: str) -> bool:
    """Whether the resource is a device or huge pages: amounts are whole pieces, and request and limit must be equal."""
    return name != CPU and name not in _BYTES


def page_size(name: str) -> int:
    """Bytes of a huge page, for the resource ``hugepages-<size>``; 0 for every other resource.

    The API server counts the size in thousandths of a byte, in 64 bits.
    """
    if not name.startswith(HUGE_PAGES) or not LABEL_NAME.fullmatch(name):
        return 0
    nano = parse_quantity(name.removeprefix(HUGE_PAGES)) or 0
    return nano // NANO if 0 < nano <= _LARGEST_PAGE * NANO and nano % NANO == 0 else 0


def _is_device(name: str) -> bool:
    """Whether the name is that of an extended resource.

    It has a domain that is not reserved for Kubernetes, or is the implicit one of a DeviceClass.
    """
    domain, _, device = name.rpartition("/")
    if name.startswith(OF_DEVICE_CLASS) and f"{domain}/" == OF_DEVICE_CLASS:
        return bool(LABEL_NAME.fullmatch(device))
    reserved = (
        name.startswith(HUGE_PAGES)
        or domain == _RESERVED
        or domain.endswith(f".{_RESERVED}")
        or domain.startswith("requests.")
    )
    # A ResourceQuota names the resource with the prefix "requests.", so the domain with that prefix must be legal, too.
    return bool(domain) and not reserved and is_object_name(f"requests.{domain}") and bool(LABEL_NAME.fullmatch(device))
