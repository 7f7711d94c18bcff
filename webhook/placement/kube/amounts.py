"""Amounts of resources by name, and the order and the words that messages give them."""

from collections.abc import Mapping
from typing import Final

from webhook.placement.kube.quantity import NANO, format_quantity
from webhook.placement.kube.resource_name import CPU, MEMORY

Tally = Mapping[str, int]
"""Amounts by resource name: milli-units of ``cpu``, whole units (bytes, counts) of everything else."""

PODS: Final = "pods"
"""The resource that counts pods: every pod needs one of it."""

SAID: Final = 4
"""Maximum number of resources named in a clause; the user knows the rest."""

_FIRST: Final = (CPU, MEMORY)
"""Resources that are named before the others."""


def amount(resource: str, value: int) -> str:
    """The Kubernetes quantity of ``value``, in milli-units of cpu or whole units of any other resource."""
    return format_quantity(nano(resource, value))


def nano(resource: str, value: int) -> int:
    """``value``, in milli-units of cpu or whole units of any other resource, in billionths of a unit."""
    return value * (NANO // 1000 if resource == CPU else NANO)


def ordered(requests: Mapping[str, object]) -> list[str]:
    """Resource names in the order of messages: cpu, memory, the others by name."""
    named = sorted(requests.keys() - set(_FIRST))
    return [resource for resource in (*_FIRST, *named) if resource in requests]
