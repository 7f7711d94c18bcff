"""Warnings about needs of a pod that are left to the scheduler: devices of dynamic resource allocation.

See ``docs/hardware.md``.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from webhook.placement.kube.pod import PodSpec
from webhook.placement.text.problem import enumerated

_NAMED: Final = 2
"""Maximum number of resources named in a warning: the API server cuts off long ones."""


def of_class(name: str) -> str:
    """The warning that devices of the DeviceClass are not judged."""
    return f"devices of DeviceClass {name} are not judged"


def unjudged_devices(spec: PodSpec, mapped: Mapping[str, str]) -> Iterator[str]:
    """The warnings about devices; ``mapped`` are the resources that DeviceClasses map, each with its class."""
    if mapped:
        classes = sorted(set(mapped.values()))
        noun = "DeviceClass" if len(classes) == 1 else "DeviceClasses"
        devices = f"devices of {noun} {enumerated(classes, _NAMED)} are not judged"
        yield f"{enumerated(sorted(mapped), _NAMED)}: {devices}; the pod waits until some are free"
    if spec.resource_claims:
        yield "spec.resourceClaims: ResourceClaims are not judged; the pod waits until devices that meet them are free"
