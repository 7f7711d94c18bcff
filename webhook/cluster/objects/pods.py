"""Pods as the values that placement knows, made from wire objects.

Where only a part of a pod cannot be used, the rest is used, and a note says what was left out.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

from webhook.cluster.objects import wire
from webhook.cluster.objects.metadata import NAMESPACE, Notes, full_name, metadata_of, uncounted
from webhook.placement.annotations.described_devices import MADE_NAME
from webhook.placement.annotations.hardware_text import read_annotation
from webhook.placement.annotations.placement_text import PlacementText, read_placement
from webhook.placement.checks.unbound_pods import opening
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.containers import HostPort, host_ports
from webhook.placement.kube.owner import DAEMON_SET, is_daemon_set, owner_of
from webhook.placement.kube.pod import (
    Affinity,
    LabelSelector,
    PodClaim,
    PodSpec,
    PodTerm,
    Requirement,
    Toleration,
    required_terms,
)
from webhook.placement.kube.requests import pod_requests
from webhook.placement.kube.selection.selector import requirements_of
from webhook.placement.objects.pod import ClaimedTemplates, Guest, NodeDemand, PodInfo, Waiting
from webhook.placement.objects.repelling import RepellingTerm
from webhook.placement.objects.template_pods import NAMESPACE_NAME
from webhook.placement.spl.clauses import ClauseName, PoolName
from webhook.placement.text import keys

_EFFECTS = ("NoSchedule", "NoExecute")
"""Effects that the exclusive taint may have (``docs/operations.md``, settings)."""

_FINISHED = frozenset({"Succeeded", "Failed"})
_NO_LABELS: Final[Mapping[str, str]] = {}
"""Of all pods of no job; a plain dict, as pods are sent to the process that judges Jobs."""
_NO_ANNOTATIONS: Final = wire.Annotations()


def bound_pod(source: wire.PodObject) -> tuple[PodInfo | None, Notes]:
    """A pod that holds something, or ``None`` for one that has finished.

    Of 150,000 pods most are alike, so equal requests, node names and namespaces are one object each. Most belong to no
    job and wait for nothing, so that what only other pods have is not looked for.
    """
    metadata, name = metadata_of(source.metadata)
    if source.status and source.status.phase in _FINISHED:
        return None, []
    spec = source.spec or PodSpec()
    requests, notes = _requests(spec)
    labels, annotations = metadata.labels or _NO_LABELS, metadata.annotations or _NO_ANNOTATIONS
    job = sys.intern(labels.get(keys.JOB) or "")
    said = read_placement(annotations.placement, annotations.preferred) if job or annotations.placement else None
    pools = _pools(said) if said else ()
    daemons = _claimed(metadata.owner_references)
    waiting = not spec.node_name
    pod = PodInfo(
        metadata.uid or full_name(metadata),
        sys.intern(metadata.namespace or NAMESPACE),
        sys.intern(spec.node_name or ""),
        requests,
        labels=_NO_LABELS,
        pools=pools,
        terminating=metadata.deletion_timestamp is not None,
        owner=_owner(metadata, spec, job, daemons),
        demand=demand_of(name, spec) if waiting and (job or _sleeps(spec, daemons)) else None,
        guards=_guards(spec.affinity) if spec.affinity else (),
        shuns=_shuns(spec.affinity, metadata.namespace or NAMESPACE, labels) if spec.affinity else (),
        ports=_ports(spec),
        priority=spec.priority or 0,
        waits=_waits(name, annotations) if waiting else None,
        claimed=_claimed_templates(name, spec.resource_claims, annotations) if spec.resource_claims else None,
        guest=None if job or pools else _guest(name, metadata, spec, daemons),
    )
    return _of_job(pod, job, labels, annotations, said) if job and said else pod, notes


_REQUESTS: Final[dict[bytes, Tally]] = {}
"""Effective requests by the JSON of all that they are computed from, of pods without an invalid amount."""

_REQUESTS_KEPT: Final = 4096
"""More than the workloads of a cluster with 150,000 pods differ in what they request."""

_REQUESTS_LENGTH: Final = 2048
"""Characters of JSON that are kept: several times what most pods have. One pod may state a megabyte of requests."""

_PORTS_KEPT: Final = 64
"""Ports of a pod that are shared with others that take the same: one pod may take thousands."""


def _requests(spec: PodSpec) -> tuple[Tally, Notes]:
    """The effective requests of a pod, and a note on every amount that is not counted.

    Writing the JSON takes a quarter of the time of computing the requests.
    """
    containers = [container.resources for container in spec.containers or ()]
    stated = _to_json((containers, spec.init_containers, spec.resources, spec.overhead))
    known = _REQUESTS.get(stated)
    if known is not None:
        return known, []
    computed, invalid = pod_requests(spec)
    if len(stated) > _REQUESTS_LENGTH:
        return computed, [uncounted(path, value) for path, value in invalid]
    requests = _shared(frozenset(computed.items()))
    if not invalid:
        if len(_REQUESTS) >= _REQUESTS_KEPT:
            _REQUESTS.clear()
        _REQUESTS[stated] = requests
    return requests, [uncounted(path, value) for path, value in invalid]


_to_json: Final = msgspec.json.Encoder().encode


@lru_cache(maxsize=_REQUESTS_KEPT)
def _shared(requests: frozenset[tuple[str, int]]) -> Tally:
    """One tally for all pods that request the same."""
    return {sys.intern(name): amount for name, amount in requests}


def _pools(said: PlacementText) -> tuple[str, ...]:
    """The SPL names of the pools that a placement names."""
    arguments = (clause.argument for clause in said.clauses)
    return tuple(dict.fromkeys(argument.name for argument in arguments if isinstance(argument, PoolName)))


def _of_job(
    pod: PodInfo, job: str, labels: Mapping[str, str], annotations: wire.Annotations, said: PlacementText
) -> PodInfo:
    """The pod with all that is kept of pods of a job."""
    pe = labels.get(keys.PE, "")
    own = {sys.intern(key): value for key, value in labels.items() if key.startswith(keys.PREFIX)}
    # A pod that only prefers to be alone keeps no others away.
    alone = () if ClauseName.ISOLATION in said.soft else said.by_name.get(ClauseName.ISOLATION, ())
    operators = dict.fromkeys(clause.operator or pe for clause in alone)
    return replace(
        pod,
        job=job,
        pe=pe,
        labels=own,
        isolated=tuple(filter(None, operators)),
        cpu_bound=annotations.bind == "true",
        repels=tuple(_repelled(said, annotations, own)),
    )


def _repelled(
    said: PlacementText, annotations: wire.Annotations, labels: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The labels that the pod carries and requires others of its job not to carry on its host.

    Only the webhook writes such a label, and with it the term that the scheduler enforces both ways.
    """
    tokens = () if ClauseName.EXLOCATION in said.soft else said.by_name.get(ClauseName.EXLOCATION, ())
    marks = [(keys.EXLOCATION + keys.digest(str(clause.argument)), str(clause.argument)) for clause in tokens]
    if annotations.uniform == "all-separate-nodes" and "uniform" not in said.soft:
        marks.append((keys.WORKER, "true"))
    return (mark for mark in dict.fromkeys(marks) if labels.get(mark[0]) == mark[1])


def _guards(affinity: Affinity) -> tuple[str, ...]:
    """The topology keys of the required podAntiAffinity."""
    away = affinity.pod_anti_affinity
    terms = (away.required if away else None) or ()
    return tuple(dict.fromkeys(sys.intern(term.topology_key) for term in terms))


def _ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """The ports of its node that the pod takes, each once."""
    ports = tuple(dict.fromkeys(host_ports(spec)))
    return _shared_ports(ports) if 0 < len(ports) <= _PORTS_KEPT else ports


@lru_cache(maxsize=4096)
def _shared_ports(ports: tuple[HostPort, ...]) -> tuple[HostPort, ...]:
    """One tuple for all pods that take the same ports of their nodes."""
    return ports


def _shuns(affinity: Affinity, own: str, labels: Mapping[str, str]) -> tuple[RepellingTerm, ...]:
    """The terms of the required podAntiAffinity that users write, and that surely apply to what they match."""
    away = affinity.pod_anti_affinity
    terms = (away and away.required) or ()
    return tuple(shunned for term in terms if (shunned := _shunning(term, own, labels)) is not None)


def _shunning(term: PodTerm, own: str, labels: Mapping[str, str]) -> RepellingTerm | None:
    """The term of a pod of the namespace ``own`` with these labels; ``None`` if it is not kept.

    Those about pods of the pod's own job are not. What the keys in ``matchLabelKeys`` and ``mismatchLabelKeys`` stand
    for is in the selector of a pod that the API server has stored; a key that the pod does not have says nothing.
    """
    stated = requirements_of(term.label_selector) if term.label_selector else ()
    needs = (
        *stated,
        *(Requirement(key, "In", (labels[key],)) for key in term.match_label_keys or () if key in labels),
        *(Requirement(key, "NotIn", (labels[key],)) for key in term.mismatch_label_keys or () if key in labels),
    )
    if not needs or Requirement(keys.JOB, "In", (labels.get(keys.JOB, ""),)) in needs:
        return None
    spaces = frozenset(term.namespaces or ())
    if term.namespace_selector is None:
        return RepellingTerm(term.topology_key, needs, spaces or frozenset({own}))
    named = requirements_of(term.namespace_selector)
    if not named:
        return RepellingTerm(term.topology_key, needs, None)
    if [(need.key, need.operator) for need in named] == [(NAMESPACE_NAME, "In")]:
        spaces |= {*(named[0].values or ())}
    return RepellingTerm(term.topology_key, needs, spaces)


def _waits(name: str, annotations: wire.Annotations) -> Waiting | None:
    """The reason for which a pod without a node waits; pods of one template share the text."""
    return Waiting(name, sys.intern(annotations.waits)) if annotations.waits else None


def _claimed_templates(name: str, claims: Iterable[PodClaim], annotations: wire.Annotations) -> ClaimedTemplates | None:
    """The templates of described devices of a pod, and the descriptions in its annotation."""
    templates = [claim.resource_claim_template_name or "" for claim in claims]
    made = tuple(dict.fromkeys(sys.intern(template) for template in templates if MADE_NAME.fullmatch(template)))
    if not made:
        return None
    hardware = read_annotation(annotations.hardware)[0] if annotations.hardware else ()
    sources = (one.device for one in hardware if one.device and one.device.template in made)
    described = {source.template: source.described for source in sources if source.described}
    return ClaimedTemplates(name, made, tuple(described.items()))


def _claimed(references: tuple[wire.Owner, ...] | None) -> wire.Owner | None:
    """The owner reference that names a DaemonSet, of whatever group, as the pod's controller."""
    for owner in references or ():
        if owner.kind == DAEMON_SET[1] and owner.controller:
            return owner
    return None


def _owner(metadata: wire.ObjectMetadata, spec: PodSpec, job: str, daemons: wire.Owner | None) -> str:
    """The workload of a pod of a job, or of one that goes with its node; empty for all others, where nothing reads it.

    Kubernetes itself sees to it that the latter is true: it deletes a pod whose DaemonSet does not exist, and one that
    its DaemonSet does not want there; and no kubelet runs a pod that has the annotation of a static one.
    """
    if _static(metadata):
        return f"Node/{spec.node_name}"
    if job or (daemons and is_daemon_set(daemons)):
        return owner_of(metadata.owner_references, metadata.labels)
    return ""


def _sleeps(spec: PodSpec, daemons: wire.Owner | None) -> bool:
    """Whether an unrelated pod that waits may be scheduled to exclusive hosts, and is not an agent of a DaemonSet."""
    return bool(opening(spec.tolerations)) and not (daemons and is_daemon_set(daemons))


def _static(metadata: wire.ObjectMetadata) -> bool:
    """Whether the pod is the API server's image of a static pod."""
    return metadata.annotations is not None and metadata.annotations.mirror is not None


def _guest(name: str, metadata: wire.ObjectMetadata, spec: PodSpec, daemons: wire.Owner | None) -> Guest | None:
    """The identity of an unrelated pod that may run on exclusive hosts; ``None`` for most pods."""
    passes = _passed(spec.tolerations) if spec.tolerations else ()
    forged = daemons is not None and not is_daemon_set(daemons)
    if not (passes or forged) or _static(metadata):
        return None
    owner = "" if forged else owner_of(metadata.owner_references, metadata.labels)
    return _one_guest(owner, passes) if owner else Guest(f"Pod/{name}", passes, forged)


def _passed(tolerations: Iterable[Toleration]) -> tuple[str, ...]:
    """The effects of the exclusive taint, of whatever pool, that these tolerate."""
    effects = [one.effect for one in tolerations if not one.key or one.key == keys.EXCLUSIVE]
    return tuple(effect for effect in _EFFECTS if not {None, "", effect}.isdisjoint(effects)) if effects else ()


@lru_cache(maxsize=4096)
def _one_guest(name: str, passes: tuple[str, ...]) -> Guest:
    """One value for all replicas of a workload."""
    return Guest(name, passes)


def to_cpus(metadata: wire.ObjectMetadata) -> bool:
    """Whether the pod is to be bound to cpus."""
    return metadata.annotations is not None and metadata.annotations.bind == "true"


def demand_of(name: str, spec: PodSpec) -> NodeDemand:
    """Its node selector and required node affinity; preferences demand nothing."""
    return NodeDemand(
        name,
        requirements_of(LabelSelector(match_labels=spec.node_selector)),
        required_terms(spec),
        opening(spec.tolerations),
    )
