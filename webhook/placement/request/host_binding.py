"""How ``host("name")`` ties a pod to its node: by ``spec.nodeName``, or by node affinity (``docs/host.md``).

``nodeName`` goes past the scheduler. What only the scheduler keeps (terms about other pods, spread, ports, claims) is
lost with it, and two pods of one moment, which are decided about from the same state, are not told apart. So ``auto``
chooses it only for a pod that leaves the scheduler nothing to arbitrate, onto a node with ample room.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from webhook.placement.annotations.placement_text import PlacementText, annotation
from webhook.placement.annotations.worker_mapping import WorkerMapping
from webhook.placement.inventory.objects import Tally
from webhook.placement.inventory.policy import Binding
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.containers import host_ports
from webhook.placement.kube.pod import Affinity, Pod, PodAffinity, PodSpec, Volume
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, enumerated, quote

BINDINGS: Final = ("auto", "nodeName", "nodeAffinity")

OWN_KIND: Final = "ProcessingElement"
"""Kind of the controller whose pods are bound by ``nodeName`` like bare pods: it makes one pod, not replicas."""

AMPLE: Final = 4
"""A node has ample room for a pod if so many of it would fit into what is free.

Each replica of the webhook counts what it promised itself, so four of them that decide from the same state, before any
sees the others' pods, still promise no more than there is.
"""

_DEFAULT_SCHEDULER: Final = "default-scheduler"
"""Name that the API server gives to a pod that names no scheduler (core/v1, ``DefaultSchedulerName``)."""

_ABOUT_PODS: Final = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION})
_NAMED: Final = 4
"""Things that a message names; the user knows the rest."""

_RACE: Final = (
    "host-binding nodeName goes past the scheduler: of pods that are created at the same moment, "
    "more may be bound to the node than it has room for"
)


class Tie(NamedTuple):
    """How a pod is tied to the host that it names, what is wrong with that, and what its author should know."""

    binding: Binding
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


class BindingWords(NamedTuple):
    """What the pod says that matters to its tie: ``spec`` is as its containers will be, ``job`` empty without one.

    ``optional`` is whether it is given more than its ``requests`` where that is free.
    """

    spec: PodSpec
    said: PlacementText
    mapping: WorkerMapping
    job: str
    requests: Tally
    optional: bool = False


def tie(pod: Pod, namespace: str, words: BindingWords, world: World, *, waits: bool) -> Tie:
    """How ``host("name")`` is to be injected; ``waits`` is whether something of the cluster is still to come."""
    annotations = (pod.metadata.annotations if pod.metadata else None) or {}
    wanted = annotations.get(keys.HOST_BINDING)
    if wanted is not None and wanted not in BINDINGS:
        message = f"{quote(wanted)} is not one of {', '.join(BINDINGS)}"
        return Tie("nodeAffinity", (Problem(annotation(keys.HOST_BINDING), message),))
    if words.spec.node_name:
        return Tie("nodeName", tuple(_bound_already(words)))
    hosts = _hosts(words.said)
    choice = wanted or world.policy.host_binding
    if not hosts or waits or choice == "nodeAffinity" or words.spec.scheduling_gates:
        return Tie("nodeAffinity")
    if choice == "nodeName":
        return _outright(words)
    arbitrated = words.optional or any(_kept(words)) or any(_wished(words))
    arbitrated = arbitrated or _may_be_shunned(words.job, namespace, world)
    return Tie("nodeAffinity") if arbitrated or _controlled(pod) else _where_ample(hosts, words.requests, world)


def _hosts(said: PlacementText) -> Sequence[Clause]:
    """The clauses that name a node, unless that is only preferred."""
    hosts = () if ClauseName.HOST in said.soft else said.by_name.get(ClauseName.HOST, ())
    return [clause for clause in hosts if isinstance(clause.argument, str)]


def _controlled(pod: Pod) -> bool:
    """Whether a controller makes the pod, and would again and again: a node may refuse a pod that is bound to it."""
    owners = (pod.metadata.owner_references if pod.metadata else None) or ()
    return any(owner.controller and owner.kind != OWN_KIND for owner in owners)


def _outright(words: BindingWords) -> Tie:
    """The tie of a pod that is to be bound, whatever is lost with the scheduler."""
    lost = list(dict.fromkeys(_kept(words)))
    if lost:
        listed = enumerated(lost, _NAMED)
        message = f"nodeName goes past the scheduler, which alone keeps {listed}: set it to auto, or do without"
        return Tie("nodeName", (Problem(annotation(keys.HOST_BINDING), message),))
    idle = (f"{wish} has no effect: host-binding nodeName goes past the scheduler" for wish in _wished(words))
    return Tie("nodeName", (), (_RACE, *idle))


def _bound_already(words: BindingWords) -> Iterator[Problem]:
    """A problem if the pod names its node itself, and asks for what only the scheduler keeps among its job's pods."""
    lost = list(dict.fromkeys(_pods(words, soft=False)))
    if lost:
        verb = "is" if len(lost) == 1 else "are"
        message = f"{enumerated(lost, _NAMED)} {verb} kept by the scheduler, which this pod goes past"
        yield Problem("spec.nodeName", f"{message}: use nodeSelector instead")


def _may_be_shunned(job: str, namespace: str, world: World) -> bool:
    """Whether another element of the job may ask to be alone on its host, which only the scheduler keeps for both.

    Without a Job object nobody knows: the other pod may be created in this moment.
    """
    if not job:
        return False
    model = world.inventory.jobs.get((namespace, job))
    return model is None or bool(model.isolated) or bool(world.siblings(namespace, job).isolated)


def _where_ample(hosts: Iterable[Clause], requests: Tally, world: World) -> Tie:
    """Binds by ``nodeName`` onto one node that has ample room and no pod that may object to the newcomer."""
    meant: Bits = -1
    for clause in hosts:
        meant &= world.nodes_of_host(str(clause.argument))
    here = list(slots(meant & world.everything)) if meant >= 0 else []
    if len(here) != 1:
        return Tie("nodeAffinity")
    if _has_room(here[0], requests, world, AMPLE):
        return Tie("nodeAffinity" if world.inventory.guarded(here[0]) else "nodeName")
    if _has_room(here[0], requests, world, 1):
        return Tie("nodeAffinity")
    named = " and ".join(dict.fromkeys(clause.text for clause in hosts))
    return Tie("nodeAffinity", (), (f"{named}: the node has no room for this pod now, so it waits for others to end",))


def _has_room(slot: int, requests: Tally, world: World, times: int) -> bool:
    """Whether so many times the requests, and what was just promised to others there, are free on the node."""
    nodes = world.inventory.nodes
    promised = world.promised(nodes.names[slot])
    return all(
        nodes.capacity.free(resource, slot) >= times * (amount + promised.get(resource, 0))
        for resource, amount in requests.items()
    )


def _kept(words: BindingWords) -> Iterator[str]:
    """What the pod requires that only the scheduler keeps, in words."""
    spec = words.spec
    yield from _pods(words, soft=False)
    yield from _own_terms(spec.affinity, preferred=False)
    yield from _spreads(spec, preferred=False)
    yield from (f"hostPort {number}" for number in host_ports(spec))
    if spec.resource_claims:
        yield "resourceClaims"
    yield from _volumes(spec.volumes or ())
    if spec.scheduler_name and spec.scheduler_name != _DEFAULT_SCHEDULER:
        yield f"schedulerName {quote(spec.scheduler_name)}"
    if spec.scheduling_group is not None:
        yield "schedulingGroup"


def _wished(words: BindingWords) -> Iterator[str]:
    """What the pod only prefers and the scheduler weighs, in words; nodes aside, since the pod has named its own."""
    yield from _pods(words, soft=True)
    yield from _own_terms(words.spec.affinity, preferred=True)
    yield from _spreads(words.spec, preferred=True)


def _spreads(spec: PodSpec, *, preferred: bool) -> Iterator[str]:
    for constraint in spec.topology_spread_constraints or ():
        if (constraint.when_unsatisfiable == "ScheduleAnyway") == preferred:
            yield f"topologySpreadConstraints on {quote(constraint.topology_key)}"


def _pods(words: BindingWords, *, soft: bool) -> Iterator[str]:
    """The clauses about other pods that are required, or only preferred."""
    for name, clauses in words.said.by_name.items():
        if name in _ABOUT_PODS and (name in words.said.soft) == soft:
            yield from (clause.text for clause in clauses)
    if words.mapping.uniform != "none" and ("uniform" in words.said.soft) == soft:
        yield f"uniform {words.mapping.uniform}"
    if not soft:
        yield from (chosen.clause for chosen in words.mapping.pod_selections)


def _own_terms(affinity: Affinity | None, *, preferred: bool) -> Iterator[str]:
    kinds: Mapping[str, PodAffinity | None] = (
        {"podAffinity": affinity.pod_affinity, "podAntiAffinity": affinity.pod_anti_affinity} if affinity else {}
    )
    for kind, terms in kinds.items():
        if terms and (terms.preferred if preferred else terms.required):
            yield f"the pod's own {'preferred' if preferred else 'required'} {kind}"


_ATTACHED: Final = tuple(zip(Volume.__struct_fields__, Volume.__struct_encode_fields__, strict=True))
"""Kinds of volumes that tie a pod to nodes: as they are called here, and in the pod."""


def _volumes(volumes: Iterable[Volume]) -> Iterator[str]:
    """Volumes that the scheduler binds, or for which it finds a node that can attach them."""
    for volume in volumes:
        yield from (f"a volume of {kind}" for name, kind in _ATTACHED if getattr(volume, name) is not None)
