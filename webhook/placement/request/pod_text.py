"""Texts by which refusals name the pod's own fields (node name, requests, affinity), and the pod without such fields.

A refusal treats these texts like the clauses of the placement annotation; :func:`without` removes the fields that some
of them name.
"""

from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from webhook.placement.kube.containers import host_ports
from webhook.placement.kube.pod import HARD, Affinity, Container, Pod, PodSpec, SpreadConstraint
from webhook.placement.kube.requests import lowered
from webhook.placement.pod_defaults.completed_pod import CompletedPod
from webhook.placement.provision.grants import BINDING
from webhook.placement.request.claimed_volumes import clause_of
from webhook.placement.text import keys
from webhook.placement.text.problem import enumerated

NODE_NAME: Final = "spec.nodeName "
"""Prefix of the clause text for the pod's own node name; the name of the node follows."""

REQUESTS: Final = "requests "
"""Prefix of the clause text for the pod's own requests, which are lowered and not dropped; the amounts follow."""

RUNTIME_CLASS: Final = "runtimeClassName "
"""Prefix of the clause text for a node label that the pod's RuntimeClass selects; the name of the class follows."""

SELECTOR: Final = "the pod's nodeSelector"
"""Clause text for a ``nodeSelector`` of more labels than are named one by one."""

AFFINITY: Final = "the pod's node affinity"
"""Clause text for the pod's own required node affinity."""

_NAMED: Final = 4
"""At most so many ports are named; the user knows the rest."""

POD_AFFINITY: Final = "the pod's own pod affinity on "
"""Prefix of the clause text for required terms that put a pod beside others; the topology key follows."""

ANTI_AFFINITY: Final = "the pod's own anti-affinity on "
"""Prefix of the clause text for required terms that keep pods of one template apart; the topology key follows."""


def label(key: str, value: str) -> str:
    """The clause text for one label of the pod's ``nodeSelector``."""
    return f"nodeSelector {key}={value}"


def selected(name: str, key: str, value: str) -> str:
    """The clause text for a node label that a RuntimeClass selects."""
    return f"{RUNTIME_CLASS}{name} ({label(key, value)})"


def spread(constraint: SpreadConstraint) -> str:
    """The clause text for a topology spread constraint."""
    least = f"minDomains {constraint.min_domains}, " if constraint.min_domains else ""
    return f"topologySpread {constraint.topology_key} ({least}maxSkew {constraint.max_skew})"


def ports(spec: PodSpec) -> str:
    """The clause text for the host ports of the pod; empty if it takes none."""
    numbers = sorted({port.number for port in host_ports(spec)})
    return f"hostPort {enumerated(numbers, _NAMED)}" if numbers else ""


def without(pod: Pod, texts: Collection[str]) -> Pod:
    """The pod without the fields that these clause texts name; with minimal requests if the texts name its requests."""
    if isinstance(pod, CompletedPod) and any(text.startswith(RUNTIME_CLASS) for text in texts):
        pod = pod.without_runtime_class()
    metadata, spec = pod.metadata, pod.spec
    annotations = metadata.annotations if metadata else None
    if metadata and annotations and BINDING in texts:
        left = {key: text for key, text in annotations.items() if key != keys.BIND}
        metadata, annotations = replace(metadata, annotations=left), left
    if spec:
        spec = _reduced(spec, texts)
        if any(text.startswith(REQUESTS) for text in texts):
            spec = lowered(spec, whole=(annotations or {}).get(keys.BIND) == "true")
    return replace(pod, metadata=metadata, spec=spec)


def _reduced(spec: PodSpec, texts: Collection[str]) -> PodSpec:
    """The spec without what the texts name: node name, labels, host ports, required terms, spread, volumes."""
    name, labels, affinity, constraints = (
        spec.node_name, spec.node_selector, spec.affinity, spec.topology_spread_constraints
    )  # fmt: skip
    if name and f"{NODE_NAME}{name}" in texts:
        name = None
    if labels:
        kept = {} if SELECTOR in texts else labels
        labels = {key: value for key, value in kept.items() if label(key, value) not in texts}
    if (taken := ports(spec)) and taken in texts:
        spec = _without_ports(spec)
    if constraints:
        constraints = tuple(one for one in constraints if one.when_unsatisfiable != HARD or spread(one) not in texts)
    if affinity:
        affinity = _loosened(affinity, texts)
    volumes = spec.volumes and tuple(volume for volume in spec.volumes if clause_of(volume) not in texts)
    return replace(
        spec,
        node_name=name,
        node_selector=labels,
        affinity=affinity,
        topology_spread_constraints=constraints,
        volumes=volumes,
    )


def _without_ports(spec: PodSpec) -> PodSpec:
    """The spec without the ports of its containers, of which only host ports are read."""

    def closed(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
        return containers and tuple(replace(container, ports=None) for container in containers)

    return replace(spec, containers=closed(spec.containers), init_containers=closed(spec.init_containers))


def _loosened(affinity: Affinity, texts: Collection[str]) -> Affinity:
    """The affinity without the required terms that the texts name."""
    nodes, away = affinity.node_affinity, affinity.pod_anti_affinity
    if AFFINITY in texts and nodes:
        nodes = replace(nodes, required=None)
    if away and away.required:
        away = replace(
            away, required=tuple(term for term in away.required if ANTI_AFFINITY + term.topology_key not in texts)
        )
    return replace(affinity, node_affinity=nodes, pod_anti_affinity=away)
