"""What a pod asks for, read once from annotations, labels and spec: one value that all constraint families share."""

import itertools
from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.annotations import placement_text, worker_mapping
from webhook.placement.annotations.hardware import Hardware, mandatory_named
from webhook.placement.annotations.hardware_text import REQUIREMENT_LIMIT, read_annotation
from webhook.placement.annotations.mapping_conflicts import conflicts
from webhook.placement.annotations.placement_text import (
    SHOWN,
    PlacementText,
    annotation,
    idle_preferences,
    read_placement,
)
from webhook.placement.annotations.worker_mapping import NOTHING, WorkerMapping, read_mapping
from webhook.placement.inventory.objects import Pool, Tally
from webhook.placement.inventory.policy import Binding, Policy
from webhook.placement.kube.pod import Affinity, Metadata, OwnerReference, Pod, PodSpec
from webhook.placement.kube.requests import pod_requests
from webhook.placement.provision.intended_hardware import intended
from webhook.placement.provision.provision import BARE, Provision, provide
from webhook.placement.request import pod_text
from webhook.placement.request.host_binding import BindingWords, tie
from webhook.placement.request.pool_lookup import look_up
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.text import keys
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import Problem, quote

_KNOWN = keys.ANNOTATIONS | keys.FOREIGN
_WRITABLE = sorted(key.removeprefix(keys.PREFIX) for key in keys.ANNOTATIONS - keys.WRITTEN)
_EQUIPMENT = frozenset(keys.EQUIPMENT)
_NO_SPEC, _NOBODY = PodSpec(), Metadata()
_NOTHING: Mapping[str, str] = {}


class Ask(Struct, frozen=True, gc=False):
    """A pod's words, as the constraint families read them.

    ``clauses`` are those of the placement annotation, ``by_name`` the same by their names, ``soft`` the constraint
    names that are only preferred, ``pools`` the host pool of each ``host(P)`` clause (no ``$default``), ``binding`` how
    ``host("name")`` ties the pod to its node, ``elastic`` whether nodes are expected to come for it, ``requests`` what
    it needs: milli-units of cpu, whole units of everything else. ``mapping`` is what its worker mapping says,
    ``provision`` what its containers are given; ``spec`` and ``requests`` are those with it. ``references`` say who
    made the pod.
    """

    namespace: str
    spec: PodSpec
    labels: Mapping[str, str]
    job: str
    pe: str
    clauses: tuple[Clause, ...]
    by_name: Mapping[ClauseName, tuple[Clause, ...]]
    soft: frozenset[str]
    pools: tuple[tuple[Clause, Pool], ...]
    binding: Binding
    elastic: bool
    requests: Tally
    warnings: tuple[str, ...] = ()
    mapping: WorkerMapping = NOTHING
    provision: Provision = BARE
    references: tuple[OwnerReference, ...] | None = None

    def of(self, name: ClauseName) -> tuple[Clause, ...]:
        """The clauses of that name, as they were written."""
        return self.by_name.get(name, ())


def read(pod: Pod, namespace: str, world: World, dropped: Collection[str] = ()) -> tuple[Ask, tuple[Problem, ...]]:
    """Everything the pod says about placement, with all problems of all its annotations at once.

    ``dropped`` are words of the pod, as refusals name them, that count as if its author had dropped (or lowered) them:
    what follows from them is gone as well.
    """
    if dropped:
        pod = pod_text.without(pod, dropped)
    metadata, spec = pod.metadata, pod.spec or _NO_SPEC
    annotations = (metadata.annotations if metadata else None) or _NOTHING
    labels = (metadata.labels if metadata else None) or _NOTHING
    job, pe = labels.get(keys.JOB, ""), labels.get(keys.PE, "")
    text = annotations.get(keys.PLACEMENT)
    said = read_placement(text, annotations.get(keys.PREFERRED))
    mapping = read_mapping(annotations)
    if dropped:
        said, mapping = placement_text.without(said, dropped), worker_mapping.without(mapping, dropped)
    warnings, problems = said.warnings, said.problems
    unknown = [key for key in annotations if key.startswith(keys.PREFIX) and key not in _KNOWN]
    if unknown:
        warned, refused = _unknown(unknown, world.policy)
        warnings, problems = warnings + warned, refused + problems
    if mapping is not NOTHING or said.soft or (spec.affinity and spec.affinity.pod_affinity):
        told, wrong = _mapped(mapping, said, spec.affinity)
        warnings, problems = warnings + told, problems + wrong
    provision = _provided(pod, namespace, world, annotations, dropped)
    if provision is not BARE:
        spec = provision.spec
        warnings += provision.warnings
        problems += provision.problems
    pools, missing = look_up(said.by_name.get(ClauseName.HOST, ()), namespace, job, world, text or "")
    if missing and ClauseName.HOST in said.soft:
        warnings += tuple(problem.message for problem in missing)
    else:
        problems += tuple(missing)
    elastic, pending = _expected(pools, spec, world)
    elastic = elastic and not spec.node_name  # no node that comes is of use to a pod that has its node
    requests, unreadable = pod_requests(spec)
    binding: Binding = "nodeAffinity"
    if ClauseName.HOST in said.by_name or spec.node_name or keys.HOST_BINDING in annotations:
        tied = tie(
            pod,
            namespace,
            BindingWords(spec, said, mapping, job, requests, optional=provision.optional),
            world,
            waits=elastic or pending,
        )
        binding = tied.binding
        warnings += tied.warnings
        problems += tied.problems
    if unreadable:
        problems += tuple(Problem(path, f"{quote(value)} is not a Kubernetes quantity") for path, value in unreadable)
    words = said.clauses, said.by_name, said.soft
    references = metadata.owner_references if metadata else None
    return Ask(
        namespace, spec, labels, job, pe, *words, pools, binding, elastic, requests, warnings, mapping, provision,
        references,
    ), problems  # fmt: skip


def _mapped(
    mapping: WorkerMapping, said: PlacementText, affinity: Affinity | None
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Warnings and problems of the worker mapping, and of what the pod wants beside it."""
    warnings, problems = mapping.warnings, (*mapping.problems, *conflicts(mapping, said.clauses, said.soft, affinity))
    if said.soft:
        broken = bool(mapping.problems)  # what cannot be read may be what is preferred
        mapped, uniform = broken or bool(mapping.expressions), broken or mapping.uniform != "none"
        warnings += idle_preferences(said, mapped=mapped, uniform=uniform)
    return warnings, problems


def _provided(
    pod: Pod, namespace: str, world: World, annotations: Mapping[str, str], dropped: Collection[str]
) -> Provision:
    """What the pod's containers are given: by its own annotations, and by what HPAIntents say of its workload."""
    intents = world.inventory.intents
    if _EQUIPMENT.isdisjoint(annotations) and namespace not in intents.enabled:
        return BARE
    hardware: tuple[Hardware, ...] = ()
    problems: tuple[Problem, ...] = ()
    written, named = annotations.get(keys.HARDWARE), annotations.get(keys.INTENT)
    if written is not None:
        hardware, problems = read_annotation(written)
    if named is not None or namespace in intents.enabled:
        more, wrong = intended(pod.metadata or _NOBODY, namespace, named, intents)
        hardware, problems = hardware + more, problems + wrong
    if len(hardware) > REQUIREMENT_LIMIT:
        many = f"{len(hardware)} requirements are for this pod, at most {REQUIREMENT_LIMIT} are allowed"
        hardware, problems = (), (*problems, Problem(annotation(keys.HARDWARE), many))
    gone = mandatory_named(hardware, dropped) if dropped else ()
    provision = provide(pod.spec or _NO_SPEC, annotations, hardware, gone)
    return replace(provision, problems=(*problems, *provision.problems)) if problems else provision


def _expected(pools: tuple[tuple[Clause, Pool], ...], spec: PodSpec, world: World) -> tuple[bool, bool]:
    """Whether nodes are expected to come for the pod, and whether it waits for something of those there are.

    That is a host of one of its pools, or the end of a condition of nodes. A pod that tolerates everything may not wait
    for what the cluster lacks: hosts that become exclusive in the meantime would be open to it.
    """
    patient = world.patient and not any(toleration.of_everything for toleration in spec.tolerations or ())
    elastic, pending = world.policy.elastic or patient, world.unbound
    for _, pool in pools:
        elastic = elastic or pool.elastic
        pending = pending or (pool.sized and not world.complete(pool))
    return elastic, pending


def _unknown(unknown: Iterable[str], policy: Policy) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Warnings and problems for keys under our prefix that mean nothing.

    A constraint that is silently ignored is the worst outcome.
    """
    problems = []
    for key in itertools.islice(unknown, SHOWN):
        near = nearest(key.removeprefix(keys.PREFIX), _WRITABLE)
        hint = f", did you mean {keys.PREFIX}{near}?" if near else ""
        problems.append(Problem(annotation(key), f"unknown annotation{hint}"))
    if policy.unknown_annotations == "warn":
        return tuple(f"{problem.field}: {problem.message}" for problem in problems), ()
    return (), tuple(problems)
