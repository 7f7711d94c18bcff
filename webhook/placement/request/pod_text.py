"""Clauses that stand for the pod's own fields (node name, requests, affinity), and the pod without such fields.

A refusal treats them like the clauses of the placement annotation; :func:`without` removes their fields.
"""

from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from webhook.placement.kube.containers import host_ports
from webhook.placement.kube.pod import HARD, Affinity, Container, Pod, PodSpec, SpreadConstraint
from webhook.placement.kube.requests import lowered
from webhook.placement.objects.device_classes import DeviceClasses
from webhook.placement.pod_defaults.completed_pod import CompletedPod
from webhook.placement.request.claimed_devices import claim_part, without_resources
from webhook.placement.request.claimed_volumes import clause_of
from webhook.placement.text import keys
from webhook.placement.text.clause import REQUESTED, Clause, Source, parts_of, zoned_alone
from webhook.placement.text.problem import enumerated

SELECTOR: Final = Clause(Source.NODE_SELECTOR, (), "the pod's nodeSelector")
"""The clause for a ``nodeSelector`` of more labels than are named one by one."""

AFFINITY: Final = Clause(Source.NODE_AFFINITY, (), "the pod's node affinity")
"""The clause for the pod's own required node affinity."""

_NAMED: Final = 4
"""Maximum number of ports named; the user knows the rest."""


def node_name(name: str) -> Clause:
    """The clause for the pod's own node name."""
    return Clause(Source.NODE_NAME, (name,), f"spec.nodeName {name}")


def label(key: str, value: str) -> Clause:
    """The clause for one label of the pod's ``nodeSelector``."""
    return Clause(Source.NODE_SELECTOR, ((key, value),), f"nodeSelector {key}={value}")


def selected(name: str, key: str, value: str) -> Clause:
    """The clause for a node label that the RuntimeClass of that name selects."""
    return Clause(Source.RUNTIME_CLASS, ((name, key, value),), f"runtimeClassName {name} (nodeSelector {key}={value})")


def spread(constraint: SpreadConstraint) -> Clause:
    """The clause for a topology spread constraint."""
    least = f"minDomains {constraint.min_domains}, " if constraint.min_domains else ""
    text = f"topologySpread {constraint.topology_key} ({least}maxSkew {constraint.max_skew})"
    return Clause(Source.SPREAD, ((constraint.topology_key, constraint.min_domains, constraint.max_skew),), text)


def anti_affinity(topology_key: str) -> Clause:
    """The clause for required terms that keep pods of one template apart."""
    return Clause(Source.ANTI_AFFINITY, (topology_key,), f"the pod's own anti-affinity on {topology_key}")


def pod_affinity(topology_key: str) -> Clause:
    """The clause for required terms that put a pod beside others."""
    return Clause(Source.POD_AFFINITY, (topology_key,), f"the pod's own pod affinity on {topology_key}")


def ports(spec: PodSpec) -> Clause | None:
    """The clause for the host ports of the pod; ``None`` if it takes none."""
    taken = {port.number for port in host_ports(spec)}
    if not taken:
        return None
    numbers = tuple(sorted(taken))
    return Clause(Source.PORTS, numbers, f"hostPort {enumerated(numbers, _NAMED)}")


def without(pod: Pod, dropped: Collection[Clause], classes: DeviceClasses) -> Pod:
    """The pod without the fields of these clauses; with minimal requests if its requests are among them.

    Requests of resources that DeviceClasses map have clauses of their own.
    """
    sources = {clause.source for clause in dropped}
    fixed = pod.added if isinstance(pod, CompletedPod) else ()
    if isinstance(pod, CompletedPod) and Source.RUNTIME_CLASS in sources:
        pod = pod.without_runtime_class()
    metadata, spec = pod.metadata, pod.spec
    annotations = metadata.annotations if metadata else None
    if metadata and annotations and Source.BINDING in sources:
        others = {key: text for key, text in annotations.items() if key != keys.BIND}
        metadata, annotations = replace(metadata, annotations=others), others
    if spec:
        spec = _reduced(spec, dropped)
        if not sources.isdisjoint(REQUESTED):
            bound = (annotations or {}).get(keys.BIND) == "true"
            zoned = zoned_alone(dropped)

            def kept(name: str) -> bool:
                return (bool(zoned) and name not in zoned) or bool(classes.class_of(name))

            spec = lowered(spec, whole=bound, kept=kept, fixed=fixed)
    return replace(pod, metadata=metadata, spec=spec)


def _reduced(spec: PodSpec, dropped: Collection[Clause]) -> PodSpec:
    """The spec without these clauses: node name, labels, host ports, required terms, spread, volumes, devices."""
    name, labels, affinity, constraints = (
        spec.node_name, spec.node_selector, spec.affinity, spec.topology_spread_constraints
    )  # fmt: skip
    if name and node_name(name) in dropped:
        name = None
    if labels:
        kept = {} if SELECTOR in dropped else labels
        labels = {key: value for key, value in kept.items() if label(key, value) not in dropped}
    if ports(spec) in dropped:
        spec = _without_ports(spec)
    if constraints:
        constraints = tuple(one for one in constraints if one.when_unsatisfiable != HARD or spread(one) not in dropped)
    if affinity:
        affinity = _loosened(affinity, dropped)
    volumes = spec.volumes and tuple(volume for volume in spec.volumes if clause_of(volume) not in dropped)
    if gone := parts_of(dropped, Source.DEVICES):
        claims = tuple(claim for claim in spec.resource_claims or () if claim_part(claim) not in gone)
        spec = without_resources(replace(spec, resource_claims=claims), gone)
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


def _loosened(affinity: Affinity, dropped: Collection[Clause]) -> Affinity:
    """The affinity without the required terms among these clauses."""
    nodes, away = affinity.node_affinity, affinity.pod_anti_affinity
    if AFFINITY in dropped and nodes:
        nodes = replace(nodes, required=None)
    if away and away.required:
        away = replace(
            away, required=tuple(term for term in away.required if anti_affinity(term.topology_key) not in dropped)
        )
    return replace(affinity, node_affinity=nodes, pod_anti_affinity=away)
