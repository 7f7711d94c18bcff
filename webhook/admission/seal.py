"""The seal: a checksum of a pod as the webhook leaves it, in the label ``streams.ibm.com/seal``.

The API server computes the same by a match condition of the ValidatingWebhookConfiguration (the chart's ``_seal.tpl``)
and sends a pod to ``/validate`` only if the seal does not fit, because another admission plugin has changed the pod
(``docs/admission.md``). CEL has no hash functions, so the checksum is a weighted sum: how often each character of
``WEIGHTS`` is in what is sealed. That is everything that a decision reads of a pod, but for its owners and its names,
those as a pod and as a PE. The order of the characters does not matter: two programs write maps in different orders.
"""

import string
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
import numpy as np
from msgspec import Struct

from webhook.placement.kube.pod import Container, Pod, PodSpec, SpreadConstraint
from webhook.placement.text import keys

WEIGHTS: Final = {
    letter: number**5
    for number, letter in enumerate(string.ascii_lowercase + string.digits + string.ascii_uppercase[:6], 1)
}
"""Weights of characters: no two are equal, and the sum over a pod stays below 2**63, the integers of CEL."""

BROKEN: Final = "0"
"""A seal that fits no pod, for one in which the webhook has replaced values: such a pod is reviewed again."""

UNSEALED: Final = frozenset({keys.INJECTED, keys.WAITS, keys.SEAL, keys.PE}) | keys.FOREIGN
"""Annotations and labels of ours that are not sealed: pods that ask the same and get the same patch differ in them."""

_BYTE_WEIGHTS: Final = np.array([WEIGHTS.get(chr(byte), 0) for byte in range(256)], np.int64)
_ENCODE: Final = msgspec.json.Encoder().encode
_NO_SPEC: Final = PodSpec()

_DEEP: Final = 3
"""Parts of a path below which the last part is a key of the sealed maps, such as ``/spec/affinity/nodeAffinity``."""


class Operation(Struct, frozen=True, gc=False, omit_defaults=True):
    """One step of a JSON Patch (RFC 6902)."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: Any = msgspec.UNSET


def seal(pod: Pod, labels: Mapping[str, str], steps: Sequence[Operation]) -> str:
    """The seal of the pod with these labels added, and after these steps below ``/spec``."""
    added = []
    for step in steps:
        if step.op == "replace":
            return BROKEN
        *parents, last = step.path.split("/")
        if len(parents) >= _DEEP and last != "resources" and not last.isdecimal():
            added.append(last.replace("~1", "/").replace("~0", "~"))
        if step.op == "add":
            added.append(step.value)
    metadata = pod.metadata
    said = *_own(metadata.labels if metadata else None), *_own(metadata.annotations if metadata else None)
    text = _ENCODE((labels, *_parts(pod.spec or _NO_SPEC), added)) + "".join(said).encode()
    counts = np.bincount(np.frombuffer(text, np.uint8), minlength=len(_BYTE_WEIGHTS))
    return str(counts @ _BYTE_WEIGHTS)


def _own(said: Mapping[str, str] | None) -> list[str]:
    """Keys and values under our prefix, but for those that only the webhook writes."""
    own = (said or {}).items()
    return [key + value for key, value in own if key.startswith(keys.PREFIX) and key not in UNSEALED]


def _parts(spec: PodSpec) -> list[Any]:
    """What is sealed of the spec; parts that the pod does not have are left out."""
    parts = (
        spec.node_name,
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.scheduling_gates,
        [*map(_spread, spec.topology_spread_constraints or ())],
        spec.overhead,
        spec.resources,
        spec.resource_claims,
        *map(_container, (*(spec.init_containers or ()), *(spec.containers or ()))),
    )
    return [part for part in parts if part]


def _spread(constraint: SpreadConstraint) -> list[Any]:
    """The constraint, with the field that its JSON leaves out at its default."""
    return [constraint, "maxSkew", 1] if constraint.max_skew == 1 else [constraint]


def _container(container: Container) -> list[Any]:
    ports = [port.host_port for port in container.ports or () if port.host_port]
    return [container.name, container.resources or {}, container.restart_policy or "", ports]
