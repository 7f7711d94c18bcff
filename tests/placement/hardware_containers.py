"""Containers, and hardware for them, in the order in which people think of them."""

import json
from typing import Any

import msgspec

from tests.builders import Json, node
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.kube.containers import Place
from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.quantity import NANO
from webhook.placement.objects.node import Node
from webhook.placement.text import keys

GPU, FPGA = "example.com/gpu", "example.com/fpga"
FIRST = Place(init=False, at=0)
BOUND = {keys.BIND: "true"}
FIELD = "metadata.annotations[streams.ibm.com/hpa-requirements]"


def required(*requirements: Json, **more: str) -> dict[str, str]:
    """The annotation with these requirements, beside other annotations."""
    return {keys.HARDWARE: json.dumps(requirements)} | more


def amount(name: str, limits: object = None, *, of: str = "", **fields: object) -> Json:
    """A requirement of a resource, for the container ``of`` that name."""
    said = {"limits": limits, "container-name": of or None}
    return {"name": name} | {key: word for key, word in said.items() if word is not None} | fields


def wanted(name: str, limits: object = 1, weight: int = 1, *, of: str = "") -> Json:
    """A requirement that is not mandatory."""
    return amount(name, limits, of=of, weight=weight, mandatory=False)


def label(name: str, value: str, **fields: object) -> Json:
    """A requirement of a node label."""
    return {"name": name, "value": value} | fields


def container(
    name: str = "runtime", requests: Json | None = None, limits: Json | None = None, **fields: object
) -> Json:
    """A container that asks for these amounts; with limits alone, requests stay unsaid."""
    resources = {key: said for key, said in (("requests", requests), ("limits", limits)) if said is not None}
    return {"name": name, "resources": resources, **fields}


def guaranteed(name: str = "runtime", cpu: str = "2", memory: str = "1Gi", **fields: object) -> Json:
    """A container whose requests are its limits."""
    both = {"cpu": cpu, "memory": memory}
    return container(name, both, both, **fields)


def spec(*containers: Json, init: tuple[Json, ...] = (), **fields: object) -> PodSpec:
    """The part of a pod that has them."""
    found: Json = {"containers": [*containers], **fields}
    return msgspec.convert(found | ({"initContainers": [*init]} if init else {}), PodSpec)


def device(limits: int = 1, name: str = GPU, **fields: Any) -> Hardware:
    """A requirement of so many pieces."""
    return Hardware(f"at {name}", name, requests=limits * NANO, limits=limits * NANO, **fields)


def equipped(name: str, gpu: int = 0, fpga: int = 0, **tweaks: Any) -> Node:
    """A node with so many devices of either kind."""
    return offering(name, {key: count for key, count in ((GPU, gpu), (FPGA, fpga)) if count} | tweaks)


def offering(name: str, tweaks: Json) -> Node:
    """A node with these amounts too, whose names may be no keywords."""
    return node(name, **tweaks)
