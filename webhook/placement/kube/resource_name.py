"""Names of resources that a container can ask for, and what amounts of each mean.

Source: ``ValidateResourceRequirements`` and ``IsExtendedResourceName`` of the Kubernetes core validation.
"""

import re
from typing import Final

from webhook.placement.kube.addresses import is_node_name
from webhook.placement.kube.quantity import NANO, parse_quantity

CPU: Final = "cpu"
MEMORY: Final = "memory"

UNITS: Final[dict[str, int]] = {
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}i": 1024**power for power, letter in enumerate("KMGT", 1)},
}
"""Bytes in a unit (EMCO HPA intents; KB is 1,000 bytes and Ki 1,024)."""

DEFAULT_UNIT: Final = "MB"
"""Unit of a bare number of bytes (EMCO HPA intents)."""

_BYTES: Final = frozenset({MEMORY, "ephemeral-storage"})
_HUGE_PAGES: Final = "hugepages-"
_RESERVED: Final = "kubernetes.io"
_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)


def in_bytes(name: str) -> bool:
    """Whether amounts of it are bytes."""
    return name in _BYTES or name.startswith(_HUGE_PAGES)


def is_resource(name: str) -> bool:
    """Whether a container can ask for a resource of that name."""
    return name == CPU or name in _BYTES or bool(page_size(name)) or _is_device(name)


def indivisible(name: str) -> bool:
    """Whether it comes in whole pieces of which a container gets as many as it asks for: a device, or a page."""
    return name != CPU and name not in _BYTES


def page_size(name: str) -> int:
    """Bytes in a huge page of that resource; 0 for every other resource."""
    if not name.startswith(_HUGE_PAGES) or not _NAME.fullmatch(name):
        return 0
    nano = parse_quantity(name.removeprefix(_HUGE_PAGES)) or 0
    return nano // NANO if nano > 0 and nano % NANO == 0 else 0


def _is_device(name: str) -> bool:
    """Whether it is an extended resource: of a domain, and not of Kubernetes' own."""
    domain, _, device = name.rpartition("/")
    kept = domain == _RESERVED or domain.endswith(f".{_RESERVED}") or domain.startswith("requests.")
    # Quotas name it with "requests." before it, and that must be a name as well.
    return bool(domain) and not kept and is_node_name(f"requests.{domain}") and bool(_NAME.fullmatch(device))
