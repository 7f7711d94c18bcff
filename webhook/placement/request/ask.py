"""What one pod asks for (``Ask``), read once from its annotations, labels and spec, for all constraint families."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.annotations.hardware import Hardware, mandatory_named
from webhook.placement.annotations.hardware_text import REQUIREMENT_LIMIT, read_annotation
from webhook.placement.annotations.placement_text import (
    annotation,
)
from webhook.placement.annotations.worker_mapping import NOTHING, WorkerMapping
from webhook.placement.inventory.policy import Binding
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.pod import Metadata, OwnerReference, Pod, PodSpec
from webhook.placement.kube.requests import Invalid, pod_requests
from webhook.placement.objects.pool import Pool
from webhook.placement.pod_defaults.completed_pod import CompletedPod
from webhook.placement.pod_defaults.priority_class import NEVER
from webhook.placement.provision.intended_hardware import intended
from webhook.placement.provision.provision import BARE, Provision, provide, provide_stated
from webhook.placement.provision.stated_resources import stated_for
from webhook.placement.request import pod_text
from webhook.placement.request.annotated_pod import AnnotatedPod, annotated
from webhook.placement.request.claimed_devices import WantedDevices, unjudged_of, wanted_devices
from webhook.placement.request.claimed_volumes import ClaimedVolume, claimed_volumes, doubts, has_claims
from webhook.placement.request.described_templates import described_by, problems_of_templates
from webhook.placement.request.host_binding import BindingSubject, HostBinding, choose_binding
from webhook.placement.request.pool_lookup import look_up
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause, Source, parts_of
from webhook.placement.text.problem import Problem, quote

_EQUIPMENT = frozenset(keys.EQUIPMENT)
_NO_SPEC, _NO_METADATA = PodSpec(), Metadata()
_NO_HOST: Final = HostBinding("nodeAffinity")
"""The binding of a pod that names no node."""


class PodClaims(Struct, frozen=True, gc=False):
    """What a pod claims beside its requests: devices and volumes.

    ``unjudged`` are warnings about claims that are not judged, ``problems`` those of the templates that it describes.
    """

    devices: tuple[WantedDevices, ...]
    volumes: tuple[ClaimedVolume, ...]
    unjudged: tuple[str, ...]
    problems: tuple[Problem, ...]


_NO_CLAIMS: Final = PodClaims((), (), (), ())


class Ask(Struct, frozen=True, gc=False):
    """What one pod asks for, as the constraint families read it.

    ``spec`` is the pod's spec once its containers have what ``provision`` gives them; ``requests`` is what that spec
    requests, in milli-units of cpu and whole units of everything else. ``job`` and ``pe`` are the names in the pod's
    labels, empty without them. ``clauses`` are those of the placement annotation, ``by_name`` the same clauses by their
    names, ``soft`` the names of constraints that are only preferred, ``pools`` the HostPool of each ``host(P)`` clause
    (none for ``$default``), ``closed`` the same of pools that it cannot use now. ``binding`` is how ``host("name")``
    ties the pod to its node, ``elastic`` whether nodes are expected to come for the pod. ``mapping`` is the worker
    mapping of the pod, ``references`` are its owner references. Resources that a DeviceClass maps are not in
    ``requests``. ``volumes`` are those of claims, ``devices`` is what wants devices,
    ``mapped`` whether a DeviceClass maps a resource that is requested.
    """

    namespace: str
    spec: PodSpec
    labels: Mapping[str, str]
    job: str
    pe: str
    clauses: tuple[PlacementClause, ...]
    by_name: Mapping[ClauseName, tuple[PlacementClause, ...]]
    soft: frozenset[str]
    pools: tuple[tuple[PlacementClause, Pool], ...]
    binding: Binding
    elastic: bool
    requests: Tally
    warnings: tuple[str, ...] = ()
    mapping: WorkerMapping = NOTHING
    provision: Provision = BARE
    references: tuple[OwnerReference, ...] | None = None
    closed: tuple[tuple[PlacementClause, Pool], ...] = ()
    volumes: tuple[ClaimedVolume, ...] = ()
    devices: tuple[WantedDevices, ...] = ()
    mapped: bool = False
    completed: CompletedPod | None = None
    """The pod, if it was made of a template, with what the API server adds to it."""
    names_hosts: bool = False
    """Whether the pod names a node or a HostPool, or says how it is bound: what it asks for depends on the nodes."""

    @property
    def fixed(self) -> frozenset[str]:
        """The names of containers whose requests no user writes, because an operator adds them."""
        return self.completed.added if self.completed else frozenset()

    def requesting(self, spec: PodSpec, world: World) -> "Ask":
        """What the pod asks for with this spec, of which only the requests are others."""
        return replace(self, spec=spec, requests=world.inventory.devices.classes.judged(pod_requests(spec)[0]))

    @property
    def priority(self) -> int:
        """The priority of the pod."""
        return self.spec.priority or 0

    @property
    def preempts(self) -> int | None:
        """The priority below which the pod preempts others; ``None`` if it preempts none.

        A pod that is bound by its node name goes past the scheduler, which preempts.
        """
        waits = self.spec.preemption_policy == NEVER or self.binding == "nodeName"
        return None if waits else self.priority

    def of(self, name: ClauseName) -> tuple[PlacementClause, ...]:
        """The clauses of that name, in the order of the placement annotation."""
        return self.by_name.get(name, ())

    @property
    def closed_pools(self) -> Iterator[Name]:
        """The names of the ``closed`` pools: an earlier review may have made the pod tolerate their taint."""
        return ((pool.namespace, pool.name) for _, pool in self.closed)


def read(
    pod: Pod, namespace: str, world: World, dropped: Collection[Clause] = (), *, provision: Provision | None = None
) -> tuple[Ask, tuple[Problem, ...]]:
    """Everything that the pod asks for, and the problems of all of its annotations at once; never raises.

    The pod is read as if its author had dropped (or lowered) the clauses ``dropped``: what follows from them is gone as
    well. ``provision`` is what its containers are given, if that is known.
    """
    if dropped:
        pod = pod_text.without(pod, dropped, world.inventory.devices.classes)
    said = annotated(pod, dropped, world.policy)
    placement, mapping = said.placement, said.mapping
    provision = provision or _provided(pod, namespace, world, said, dropped)
    spec = pod.spec or _NO_SPEC if provision is BARE else provision.spec
    named = look_up(said, namespace, world)
    warnings = said.warnings + provision.warnings + named.warnings
    problems = said.problems + provision.problems + named.problems
    elastic, pending = _expected(named.pools, spec, world)
    requests, unreadable = pod_requests(spec)
    claims = _NO_CLAIMS
    mapped = world.inventory.devices.classes.mapped(requests)
    if mapped or spec.resource_claims or has_claims(spec):
        claims = _claims(spec, namespace, requests, mapped, provision, world)
        problems += claims.problems
    requests = world.inventory.devices.classes.judged(requests) if mapped else requests
    host = _NO_HOST
    names_hosts = ClauseName.HOST in placement.by_name or bool(spec.node_name) or keys.HOST_BINDING in said.annotations
    if names_hosts:
        subject = BindingSubject(spec, placement, mapping, said.job, requests, provision.optional, tuple(mapped))
        host = choose_binding(pod, namespace, subject, world, waits=elastic or pending)
    ask = Ask(
        namespace, spec, said.labels, said.job, said.pe, placement.clauses, placement.by_name, placement.soft,
        named.pools, host.binding, elastic, requests, warnings + host.warnings + claims.unjudged, mapping, provision,
        pod.metadata.owner_references if pod.metadata else None, named.closed, claims.volumes, claims.devices,
        bool(mapped), None, names_hosts,
    )  # fmt: skip
    if isinstance(pod, CompletedPod):
        ask = replace(ask, completed=pod, warnings=pod.warnings + ask.warnings)
        problems += (*pod.problems, *pod.out_of_bounds(spec))
    return ask, problems + host.problems + (_unreadable(unreadable) if unreadable else ())


def _claims(
    spec: PodSpec, namespace: str, requests: Tally, mapped: Mapping[str, str], provision: Provision, world: World
) -> PodClaims:
    """What the pod claims; ``mapped`` are resources that it requests, with their DeviceClasses."""
    volumes = claimed_volumes(spec, namespace, world.inventory.volumes) if spec.volumes else ()
    unjudged = tuple(doubts(volumes))
    if not (mapped or spec.resource_claims):
        return PodClaims((), volumes, unjudged, ())
    known = world.inventory.devices
    given = {grant.resource for grant in (*provision.grants, *provision.stated)}
    described = described_by(provision.claims)
    devices: tuple[WantedDevices, ...] = ()
    if given.isdisjoint(mapped):  # amounts that requirements give are not judged
        devices = wanted_devices(spec, namespace, requests, mapped, known, described)
    made = world.policy.described_devices
    problems = tuple(problems_of_templates(provision.claims, namespace, known, made=made)) if described else ()
    return PodClaims(devices, volumes, (*unjudged_of(spec, mapped, devices), *unjudged), problems)


def reread(ask: Ask, pod: Pod, world: World) -> tuple[Ask, tuple[Problem, ...]]:
    """What the pod, which asked for ``ask`` without a problem, asks for in a world whose nodes alone are others."""
    return read(pod, ask.namespace, world, provision=ask.provision) if ask.names_hosts else (ask, ())


def _provided(pod: Pod, namespace: str, world: World, said: AnnotatedPod, dropped: Collection[Clause]) -> Provision:
    """What the pod's containers are given: by its annotations, its Job, and the HPAIntents for its workload."""
    intents, spec, annotations = world.inventory.intents, pod.spec or _NO_SPEC, said.annotations
    stated = None
    if said.pe:
        model = world.inventory.jobs.get((namespace, said.job))
        stated = stated_for(spec, annotations, said.pe, model, world.policy.element_requests, dropped)
    if _EQUIPMENT.isdisjoint(annotations) and namespace not in intents.enabled:
        return provide_stated(spec, annotations, stated) if stated else BARE
    hardware: tuple[Hardware, ...] = ()
    problems: tuple[Problem, ...] = ()
    written, named = annotations.get(keys.HARDWARE), annotations.get(keys.INTENT)
    if written is not None:
        hardware, problems = read_annotation(written)
    if named is not None or namespace in intents.enabled:
        more, wrong = intended(pod.metadata or _NO_METADATA, namespace, named, intents)
        hardware, problems = hardware + more, problems + wrong
    if len(hardware) > REQUIREMENT_LIMIT:
        many = f"{len(hardware)} requirements are for this pod, at most {REQUIREMENT_LIMIT} are allowed"
        hardware, problems = (), (*problems, Problem(annotation(keys.HARDWARE), many))
    gone = mandatory_named(hardware, dropped) if hardware and dropped else ()
    if devices := parts_of(dropped, Source.DEVICES):
        hardware = tuple(one for one in hardware if one.device is None or one.device.part not in devices)
    provision = provide(spec, annotations, hardware, gone, stated)
    return replace(provision, problems=(*problems, *provision.problems)) if problems else provision


def _expected(pools: tuple[tuple[PlacementClause, Pool], ...], spec: PodSpec, world: World) -> tuple[bool, bool]:
    """Whether nodes are expected to come for the pod, and whether the pod waits for a change of the nodes there are.

    Such a change is that one of its pools gets its hosts, or that a condition of nodes ends. A pod that tolerates
    everything may not wait for what the cluster lacks: hosts that become exclusive in the meantime would be open to it.
    """
    patient = world.patient and not any(toleration.of_everything for toleration in spec.tolerations or ())
    elastic, pending = world.policy.elastic or patient, world.unbound
    for _, pool in pools:
        elastic = elastic or pool.elastic
        pending = pending or (pool.sized and not world.complete(pool))
    return elastic and not spec.node_name, pending  # a pod that has its node has no use for a node that comes


def _unreadable(amounts: Iterable[Invalid]) -> tuple[Problem, ...]:
    """A problem for each amount, given with its path, that is not a Kubernetes quantity."""
    return tuple(Problem(path, f"{quote(value)} is not a Kubernetes quantity") for path, value in amounts)
