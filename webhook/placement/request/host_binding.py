"""The choice between ``spec.nodeName`` and node affinity for ``host("name")`` (``docs/host.md``).

A pod with ``nodeName`` goes past the scheduler. What only the scheduler keeps (terms about other pods, topology spread,
ports, claims) is lost for such a pod, and two pods of one moment, both judged from the same state, may get the
same room. So ``auto`` chooses ``nodeName`` only for a pod that leaves the scheduler nothing to arbitrate, onto a node
with ample room.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from webhook.placement.annotations.placement_text import PlacementText, annotation
from webhook.placement.annotations.worker_mapping import WorkerMapping
from webhook.placement.inventory.policy import Binding
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.containers import host_ports
from webhook.placement.kube.pod import Affinity, Pod, PodAffinity, PodSpec, Volume
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, enumerated, quote

BINDINGS: Final = ("auto", "nodeName", "nodeAffinity")

OWN_KIND: Final = "ProcessingElement"
"""Kind of owner whose pods are bound by ``nodeName`` like bare pods: a processing element has one pod, not replicas."""

AMPLE: Final = 4
"""A node has ample room for a pod if so many pods of its requests would fit into what is free on the node.

Each replica of the webhook counts what it promised itself, so four replicas that decide from the same state, before any
of them sees the pods of the others, promise no more than there is.
"""

_DEFAULT_SCHEDULER: Final = "default-scheduler"
"""Name that the API server gives to a pod that names no scheduler (core/v1, ``DefaultSchedulerName``)."""

_ABOUT_PODS: Final = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION})
_NAMED: Final = 4
"""Maximum number of things named in a message; the user knows the rest."""

_RACE: Final = (
    "host-binding nodeName bypasses the scheduler: pods created at the same moment may be bound to the node beyond "
    "its capacity"
)


class HostBinding(NamedTuple):
    """How a pod is tied to the node that it names, with the problems and warnings of that."""

    binding: Binding
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


class BindingSubject(NamedTuple):
    """The parts of a pod on which its binding depends.

    ``spec`` is the spec with what the containers are given, ``job`` the name of the job (empty without one).
    ``optional`` tells that the pod also gets hardware beyond its ``requests`` where that is free, ``devices`` are
    resources that a DeviceClass maps.
    """

    spec: PodSpec
    placement: PlacementText
    mapping: WorkerMapping
    job: str
    requests: Tally
    optional: bool = False
    devices: tuple[str, ...] = ()


def choose_binding(pod: Pod, namespace: str, subject: BindingSubject, world: World, *, waits: bool) -> HostBinding:
    """How ``host("name")`` is injected into the pod; ``waits`` tells that the pod waits for a change of the nodes."""
    annotations = (pod.metadata.annotations if pod.metadata else None) or {}
    wanted = annotations.get(keys.HOST_BINDING)
    if wanted is not None and wanted not in BINDINGS:
        message = f"{quote(wanted)} is not one of {', '.join(BINDINGS)}"
        return HostBinding("nodeAffinity", (Problem(annotation(keys.HOST_BINDING), message),))
    if subject.spec.node_name:
        return HostBinding("nodeName", tuple(_bound_already(subject)))
    hosts = _hosts(subject.placement)
    choice = wanted or world.policy.host_binding
    if not hosts or waits or choice == "nodeAffinity" or subject.spec.scheduling_gates:
        return HostBinding("nodeAffinity")
    if choice == "nodeName":
        return _outright(subject)
    arbitrated = subject.optional or any(_required(subject)) or any(_preferred(subject))
    if arbitrated or _may_be_isolated_from(subject.job, namespace, world) or _controlled(pod):
        return HostBinding("nodeAffinity")
    return _where_ample(hosts, subject.requests, world)


def _hosts(placement: PlacementText) -> Sequence[PlacementClause]:
    """The ``host`` clauses that name a node; none if ``host`` is only preferred."""
    hosts = () if ClauseName.HOST in placement.soft else placement.by_name.get(ClauseName.HOST, ())
    return [clause for clause in hosts if isinstance(clause.argument, str)]


def _controlled(pod: Pod) -> bool:
    """Whether a controller makes the pod, and would make it again each time that a node refuses the bound pod."""
    owners = (pod.metadata.owner_references if pod.metadata else None) or ()
    return any(owner.controller and owner.kind != OWN_KIND for owner in owners)


def _outright(subject: BindingSubject) -> HostBinding:
    """``nodeName`` because the annotation or the policy says so.

    What only the scheduler could keep is a problem if the pod requires it, and a warning if the pod prefers it.
    """
    lost = list(dict.fromkeys(_required(subject)))
    if lost:
        listed = enumerated(lost, _NAMED)
        message = (
            f"nodeName bypasses the scheduler, which alone enforces {listed}: set it to auto, or remove what "
            "only the scheduler enforces"
        )
        return HostBinding("nodeName", (Problem(annotation(keys.HOST_BINDING), message),))
    idle = (f"{wish} has no effect: host-binding nodeName bypasses the scheduler" for wish in _preferred(subject))
    return HostBinding("nodeName", (), (_RACE, *idle))


def _bound_already(subject: BindingSubject) -> Iterator[Problem]:
    """A problem if the pod names its node itself, and asks for what only the scheduler keeps among its job's pods."""
    lost = list(dict.fromkeys(_pod_clauses(subject, soft=False)))
    if lost:
        verb = "is" if len(lost) == 1 else "are"
        message = f"{enumerated(lost, _NAMED)} {verb} enforced by the scheduler, which this pod bypasses"
        yield Problem("spec.nodeName", f"{message}: use nodeSelector instead")


def _may_be_isolated_from(job: str, namespace: str, world: World) -> bool:
    """Whether another processing element of the job may ask for ``hostIsolation``, which only the scheduler keeps.

    True for a job without a Job object: its isolated pod may be created in this moment.
    """
    if not job:
        return False
    model = world.inventory.jobs.get((namespace, job))
    return model is None or bool(model.isolated) or bool(world.job_pods(namespace, job).isolated)


def _where_ample(hosts: Iterable[PlacementClause], requests: Tally, world: World) -> HostBinding:
    """``nodeName`` if the clauses mean one node with ample room, none of whose pods may keep the new pod away."""
    named: Bits = -1
    for clause in hosts:
        named &= world.nodes_of_host(str(clause.argument))
    nodes = list(slots(named & world.everything)) if named >= 0 else []
    if len(nodes) != 1:
        return HostBinding("nodeAffinity")
    if _has_room(nodes[0], requests, world, AMPLE):
        return HostBinding("nodeAffinity" if world.inventory.guarded(nodes[0]) else "nodeName")
    if _has_room(nodes[0], requests, world, 1):
        return HostBinding("nodeAffinity")
    texts = " and ".join(dict.fromkeys(clause.text for clause in hosts))
    warning = f"{texts}: the node has no room for this pod now, so it waits for others to end"
    return HostBinding("nodeAffinity", (), (warning,))


def _has_room(slot: int, requests: Tally, world: World, times: int) -> bool:
    """Whether ``times`` the requests, and so many times what was just promised to other pods, are free on the node."""
    nodes = world.inventory.nodes
    assumed_requests = world.assumed_requests(nodes.names[slot])
    return all(
        nodes.capacity.free(resource, slot) >= times * (amount + assumed_requests.get(resource, 0))
        for resource, amount in requests.items()
    )


def _required(subject: BindingSubject) -> Iterator[str]:
    """What the pod requires that only the scheduler keeps, as messages name it."""
    spec = subject.spec
    yield from _pod_clauses(subject, soft=False)
    yield from _own_terms(spec.affinity, preferred=False)
    yield from _spreads(spec, preferred=False)
    yield from (f"hostPort {port.number}" for port in host_ports(spec))
    if spec.resource_claims:
        yield "resourceClaims"
    yield from (f"devices for {resource}" for resource in subject.devices)
    yield from _volumes(spec.volumes or ())
    if spec.scheduler_name and spec.scheduler_name != _DEFAULT_SCHEDULER:
        yield f"schedulerName {quote(spec.scheduler_name)}"
    if spec.scheduling_group is not None:
        yield "schedulingGroup"


def _preferred(subject: BindingSubject) -> Iterator[str]:
    """What the pod prefers and the scheduler weighs, as messages name it.

    Preferred nodes are left out: the pod names its node.
    """
    yield from _pod_clauses(subject, soft=True)
    yield from _own_terms(subject.spec.affinity, preferred=True)
    yield from _spreads(subject.spec, preferred=True)


def _spreads(spec: PodSpec, *, preferred: bool) -> Iterator[str]:
    """The pod's topology spread constraints that are required (``DoNotSchedule``), or those that are preferred."""
    for constraint in spec.topology_spread_constraints or ():
        if (constraint.when_unsatisfiable == "ScheduleAnyway") == preferred:
            yield f"topologySpreadConstraints on {quote(constraint.topology_key)}"


def _pod_clauses(subject: BindingSubject, *, soft: bool) -> Iterator[str]:
    """The clauses about other pods, of placement and worker mapping: those that are preferred, or those required."""
    for name, clauses in subject.placement.by_name.items():
        if name in _ABOUT_PODS and (name in subject.placement.soft) == soft:
            yield from (clause.text for clause in clauses)
    if subject.mapping.uniform != "none" and ("uniform" in subject.placement.soft) == soft:
        yield f"uniform {subject.mapping.uniform}"
    if not soft:
        yield from (chosen.clause.text for chosen in subject.mapping.pod_selections)


def _own_terms(affinity: Affinity | None, *, preferred: bool) -> Iterator[str]:
    """The kinds of pod affinity that the pod's own spec has, preferred or required."""
    kinds: Mapping[str, PodAffinity | None] = (
        {"podAffinity": affinity.pod_affinity, "podAntiAffinity": affinity.pod_anti_affinity} if affinity else {}
    )
    for kind, terms in kinds.items():
        if terms and (terms.preferred if preferred else terms.required):
            yield f"the pod's own {'preferred' if preferred else 'required'} {kind}"


_ATTACHED: Final = tuple(zip(Volume.__struct_fields__, Volume.__struct_encode_fields__, strict=True))
"""Kinds of volumes that tie a pod to nodes: the field of ``Volume``, and its name in the pod's JSON."""


_UNATTACHED: Final = Volume()


def _volumes(volumes: Iterable[Volume]) -> Iterator[str]:
    """The volumes that the scheduler binds, or for which it finds a node that can attach the volume."""
    for volume in volumes:
        if volume == _UNATTACHED:
            continue
        yield from (f"a volume of {kind}" for name, kind in _ATTACHED if getattr(volume, name) is not None)
