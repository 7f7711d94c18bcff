"""Nodes and pods as the values that placement knows, made from wire objects.

An object that breaks a rule of its own raises :class:`MalformedError`. Where only a part cannot be used, the rest is
used, and a note says what was left out.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from webhook.cluster.objects import wire
from webhook.placement.annotations.placement_text import PlacementText, read_placement
from webhook.placement.checks.unbound_pods import opening
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.containers import HostPort, host_ports
from webhook.placement.kube.owner import DAEMON_SET, is_daemon_set, owner_of
from webhook.placement.kube.pod import (
    Affinity,
    Amount,
    LabelSelector,
    PodSpec,
    PodTerm,
    Requirement,
    Toleration,
    required_terms,
)
from webhook.placement.kube.quantity import milli, parse_quantity, whole
from webhook.placement.kube.requests import pod_requests
from webhook.placement.kube.selector import requirements_of
from webhook.placement.kube.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import Guest, NodeDemand, PodInfo, Waiting
from webhook.placement.objects.repelling import RepellingTerm
from webhook.placement.objects.template_pods import NAMESPACE_NAME
from webhook.placement.spl.clauses import ClauseName, PoolName
from webhook.placement.text import keys
from webhook.placement.text.problem import quote

Notes = list[str]
"""Parts of an object that were left out, and why: a path, then the reason."""

NAMESPACE = "default"
"""Where an object without a namespace belongs, as for ``kubectl apply``."""

_FAULTS_SHOWN = 5
"""Faults named of one object; a list of 5,000 hosts can have as many."""

_EFFECTS = ("NoSchedule", "NoExecute")
"""Effects that the exclusive taint may have (``docs/operations.md``, settings)."""

_FINISHED = frozenset({"Succeeded", "Failed"})
_NO_LABELS: Mapping[str, str] = MappingProxyType({})
_NO_ANNOTATIONS: Final = wire.Annotations()


class MalformedError(Exception):
    """The object breaks a rule of its own, so it cannot be used; the text names the fields."""


def node(source: wire.NodeObject) -> tuple[Node, Notes]:
    """A node, with the taints that Kubernetes derives from its state."""
    spec, status = source.spec or wire.NodeSpec(), source.status or wire.NodeStatus()
    metadata, name = metadata_of(source.metadata)
    tainted, notes = taints(spec, status)
    # As the API server does, a node that says nothing about what it can give away gives away what it has.
    amounts, field = (
        (status.capacity, "capacity") if status.allocatable is None else (status.allocatable, "allocatable")
    )
    return (
        Node(
            name=name,
            uid=metadata.uid or name,
            labels={sys.intern(key): sys.intern(value) for key, value in (metadata.labels or {}).items()},
            taints=tainted,
            addresses=tuple(dict.fromkeys(found.address for found in status.addresses or () if found.address)),
            allocatable=_amounts(amounts or {}, f"status.{field}", notes),
        ),
        notes,
    )


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
    labels, told = metadata.labels or _NO_LABELS, metadata.annotations or _NO_ANNOTATIONS
    job = sys.intern(labels.get(keys.JOB) or "")
    said = read_placement(told.placement, told.preferred) if job or told.placement else None
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
        waits=_waits(name, told) if waiting else None,
        guest=None if job or pools else _guest(name, metadata, spec, daemons),
    )
    return _of_job(pod, job, labels, told, said) if job and said else pod, notes


def full_name(metadata: wire.ObjectMetadata | None) -> str:
    """``namespace/name`` of an object of a namespace; raises :class:`MalformedError` if it has no name."""
    stated, name = metadata_of(metadata)
    return f"{stated.namespace or NAMESPACE}/{name}"


def metadata_of(stated: wire.ObjectMetadata | None) -> tuple[wire.ObjectMetadata, str]:
    """The metadata and the name in it; raises :class:`MalformedError` if there is no name."""
    if stated is None or not stated.name:
        raise MalformedError("metadata.name: missing")
    return stated, stated.name


def refuse(found: Iterable[str]) -> None:
    """Raise :class:`MalformedError` that names the first of the faults, if there are any, and counts the others."""
    remaining = iter(found)
    shown = list(islice(remaining, _FAULTS_SHOWN))
    if shown:
        more = sum(1 for _ in remaining)
        raise MalformedError("; ".join(shown) + (f"; and {more} more" if more else ""))


def _amounts(amounts: Mapping[str, Amount], path: str, notes: Notes) -> Tally:
    found = {}
    for name, amount in amounts.items():
        nano = parse_quantity(amount)
        if nano is None or nano < 0:
            notes.append(_uncounted(f"{path}[{name}]", str(amount)))
        else:
            found[sys.intern(name)] = milli(nano) if name == "cpu" else whole(nano)
    return found


def _uncounted(path: str, value: str) -> str:
    return f"{path}: {quote(value)} is not a quantity, it counts as 0"


_REQUESTS: Final[dict[bytes, Tally]] = {}
"""Effective requests by the JSON of all that they are computed from, of pods without an invalid amount."""

_REQUESTS_KEPT: Final = 4096
"""More than the workloads of a cluster with 150,000 pods differ in what they request."""


def _requests(spec: PodSpec) -> tuple[Tally, Notes]:
    """The effective requests of a pod, and a note on every amount that is not counted.

    Writing the JSON takes a quarter of the time of computing the requests.
    """
    containers = [container.resources for container in spec.containers or ()]
    stated = _to_json((containers, spec.init_containers, spec.resources, spec.overhead))
    known = _REQUESTS.get(stated)
    if known is not None:
        return known, []
    found, invalid = pod_requests(spec)
    requests = _shared(frozenset(found.items()))
    if not invalid:
        if len(_REQUESTS) >= _REQUESTS_KEPT:
            _REQUESTS.clear()
        _REQUESTS[stated] = requests
    return requests, [_uncounted(path, value) for path, value in invalid]


_to_json: Final = msgspec.json.Encoder().encode


@lru_cache(maxsize=16384)
def _shared(requests: frozenset[tuple[str, int]]) -> Tally:
    """One tally for all pods that request the same."""
    return {sys.intern(name): amount for name, amount in requests}


def _pools(said: PlacementText) -> tuple[str, ...]:
    """The SPL names of the pools that a placement names."""
    arguments = (clause.argument for clause in said.clauses)
    return tuple(dict.fromkeys(argument.name for argument in arguments if isinstance(argument, PoolName)))


def _of_job(pod: PodInfo, job: str, labels: Mapping[str, str], told: wire.Annotations, said: PlacementText) -> PodInfo:
    """The pod with all that is kept of pods of a job."""
    pe = labels.get(keys.PE, "")
    own = {sys.intern(key): value for key, value in labels.items() if key.startswith(keys.PREFIX)}
    # A pod that only prefers to be alone keeps nobody away.
    alone = () if ClauseName.ISOLATION in said.soft else said.by_name.get(ClauseName.ISOLATION, ())
    operators = dict.fromkeys(clause.operator or pe for clause in alone)
    return replace(
        pod,
        job=job,
        pe=pe,
        labels=own,
        isolated=tuple(filter(None, operators)),
        cpu_bound=told.bind == "true",
        repels=tuple(_repelled(said, told, own)),
    )


def _repelled(said: PlacementText, told: wire.Annotations, labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The labels that the pod carries and requires others of its job not to carry on its host.

    Only the webhook writes such a label, and with it the term that the scheduler enforces both ways.
    """
    tokens = () if ClauseName.EXLOCATION in said.soft else said.by_name.get(ClauseName.EXLOCATION, ())
    marks = [(keys.EXLOCATION + keys.digest(str(clause.argument)), str(clause.argument)) for clause in tokens]
    if told.uniform == "all-separate-nodes" and "uniform" not in said.soft:
        marks.append((keys.WORKER, "true"))
    return (mark for mark in dict.fromkeys(marks) if labels.get(mark[0]) == mark[1])


def _guards(affinity: Affinity) -> tuple[str, ...]:
    """The topology keys of the required podAntiAffinity."""
    away = affinity.pod_anti_affinity
    terms = (away.required if away else None) or ()
    return tuple(dict.fromkeys(sys.intern(term.topology_key) for term in terms))


def _ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """The ports of its node that the pod takes, each once."""
    found = tuple(dict.fromkeys(host_ports(spec)))
    return _shared_ports(found) if found else found


@lru_cache(maxsize=4096)
def _shared_ports(ports: tuple[HostPort, ...]) -> tuple[HostPort, ...]:
    """One tuple for all pods that take the same ports of their nodes."""
    return ports


def _shuns(affinity: Affinity, own: str, labels: Mapping[str, str]) -> tuple[RepellingTerm, ...]:
    """The terms of the required podAntiAffinity that users write, and that surely apply to what they match."""
    away = affinity.pod_anti_affinity
    terms = (away and away.required) or ()
    return tuple(found for term in terms if (found := _shunning(term, own, labels)) is not None)


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


def _waits(name: str, told: wire.Annotations) -> Waiting | None:
    """What a pod without a node waits for; pods of one template share the text."""
    return Waiting(name, sys.intern(told.waits)) if told.waits else None


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
    """Whether a pod of others that waits may come to exclusive hosts, and is no agent of a DaemonSet."""
    return bool(opening(spec.tolerations)) and not (daemons and is_daemon_set(daemons))


def _static(metadata: wire.ObjectMetadata) -> bool:
    """Whether the pod is the API server's image of a static pod."""
    return metadata.annotations is not None and metadata.annotations.mirror is not None


def _guest(name: str, metadata: wire.ObjectMetadata, spec: PodSpec, daemons: wire.Owner | None) -> Guest | None:
    """What a pod of others is that may run on exclusive hosts; ``None`` for most."""
    passes = _passed(spec.tolerations) if spec.tolerations else ()
    forged = daemons is not None and not is_daemon_set(daemons)
    if not (passes or forged) or _static(metadata):
        return None
    owner = "" if forged else owner_of(metadata.owner_references, metadata.labels)
    return _one_guest(owner, passes) if owner else Guest(f"Pod/{name}", passes, forged)


def _passed(tolerations: Iterable[Toleration]) -> tuple[str, ...]:
    """The effects of the exclusive taint, of whatever pool, that these tolerate."""
    found = [one.effect for one in tolerations if not one.key or one.key == keys.EXCLUSIVE]
    return tuple(effect for effect in _EFFECTS if not {None, "", effect}.isdisjoint(found)) if found else ()


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


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")

BY_READINESS = {
    "False": Taint("node.kubernetes.io/not-ready", effect="NoSchedule"),
    "Unknown": Taint("node.kubernetes.io/unreachable", effect="NoSchedule"),
}
"""By the status of the condition Ready (Kubernetes, ``pkg/controller/nodelifecycle``)."""


def taints(spec: wire.NodeSpec, status: wire.NodeStatus) -> tuple[tuple[Taint, ...], list[str]]:
    """The node's taints with those that Kubernetes derives from its state, and notes on the ones that are none.

    The node-lifecycle controller writes the derived ones some time later, so what is decided without them would be
    undone by them.
    """
    notes: list[str] = []
    found = list(_stated(spec, notes))
    there = {(taint.key, taint.effect) for taint in found}
    found += (taint for taint in _derived(spec, status) if (taint.key, taint.effect) not in there)
    return tuple(dict.fromkeys(found)), notes


def _stated(spec: wire.NodeSpec, notes: list[str]) -> Iterator[Taint]:
    for place, taint in enumerate(spec.taints or ()):
        if not taint.key:
            notes.append(f"spec.taints[{place}].key: missing, the taint is left out")
        elif taint.effect not in EFFECTS:
            stated = quote(taint.effect) if taint.effect else "nothing"
            notes.append(f"spec.taints[{place}].effect: {stated} is not one of {', '.join(EFFECTS)}, it is left out")
        else:
            yield Taint(taint.key, taint.value or "", taint.effect)


def _derived(spec: wire.NodeSpec, status: wire.NodeStatus) -> Iterator[Taint]:
    if spec.unschedulable:
        yield UNSCHEDULABLE
    for condition in status.conditions or ():
        if condition.type == "Ready" and condition.status in BY_READINESS:
            yield BY_READINESS[condition.status]
