"""A ResourceClaimTemplate of described devices as JSON."""

from typing import Any

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.devices.published.claims import ClaimName
from webhook.placement.devices.published.described import MADE_LABEL, REQUEST
from webhook.placement.text.api_kinds import CLAIM_TEMPLATE


def template_object(namespace: str, described: DescribedDevices) -> dict[str, Any]:
    """The object by which each pod that names it gets a claim for these devices."""
    exactly: dict[str, Any] = {
        "deviceClassName": described.device_class,
        "allocationMode": "ExactCount",
        "count": described.count,
    }
    if described.selector:
        exactly["selectors"] = [{"cel": {"expression": described.selector}}]
    devices: dict[str, Any] = {"requests": [{"name": REQUEST, "exactly": exactly}]}
    if described.same:
        devices["constraints"] = [{"requests": [REQUEST], "matchAttribute": described.same}]
    label, value = MADE_LABEL
    return {
        "apiVersion": CLAIM_TEMPLATE.api_version,
        "kind": CLAIM_TEMPLATE.name,
        "metadata": {"name": described.template, "namespace": namespace, "labels": {label: value}},
        "spec": {"spec": {"devices": devices}},
    }


def template_path(name: ClaimName) -> str:
    """The path of the template of that namespace and name."""
    return f"{CLAIM_TEMPLATE.path_in(name[0])}/{name[1]}"
