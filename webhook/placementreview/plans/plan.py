"""``plan``: where everything that manifests describe would run, planned together.

What does not fit beside what comes before it is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from webhook.admission.checks.templates import is_job, origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.cluster.objects import wire
from webhook.cluster.objects.custom_resources import job
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.applied_job import open_pools, pools_of_job
from webhook.placement.jobs.declared_pools import cannot_be_had, settled_hosts, unlisted_pools
from webhook.placement.jobs.element_pods import element_pods
from webhook.placement.jobs.job_verdict import UNDECIDED
from webhook.placement.jobs.newnodes.job_scale_up import JobScaleUp
from webhook.placement.jobs.newnodes.scaled_group import Beside
from webhook.placement.jobs.refused_elements import RefusedElement, certain, judged_alone, refuse_elements
from webhook.placement.jobs.tolerant_elements import taken_from
from webhook.placement.jobs.whole_application import PodsToJudge, read_pods
from webhook.placement.jobs.whole_job import NOUN, refused_pools
from webhook.placement.kinds.application import OperatorApplication
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Group, GroupAnswer
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.plan import Plan, cheapest
from webhook.placement.planning.preemption import notices, with_more_room
from webhook.placement.planning.refusal.group_refusal import refuse_group
from webhook.placement.planning.refusal.pool_refusal import refuse_pools
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World
from webhook.placement.text.decoder_words import unreadable
from webhook.placement.text.problem import Fault, enumerated, render
from webhook.placementreview.plans.fuse import FusedManifest, fused_manifest, name_of
from webhook.placementreview.plans.plan_scale_up import scale_up_of, scale_up_pods
from webhook.placementreview.references import referred_to
from webhook.placementreview.submission import (
    Manifests,
    Step,
    application_of,
    own_pods,
    silent,
    whole_application,
    wrong,
)

PODS: Final = 150_000
"""Pods that are planned together, those of the largest clusters: each takes memory. One object more is undecided."""

_SAID: Final = 3
"""Names in a warning."""


class PlannedObject(Struct, frozen=True, eq=False):
    """An object of a manifest: its ``members`` in the group, ``warnings``, and ``text`` if it is refused.

    ``taken`` are nodes that its exclusive pools must not have. ``fused`` says how operators were fused.
    ``refusals`` say what cannot hold together: of the object as a whole, or of each kind of elements that cannot run
    even by themselves. ``undecided`` tells that time was too short to find out whether it can run.
    """

    file: str
    origin: str
    namespace: str
    members: tuple[Member, ...] = ()
    pools: tuple[Pool, ...] = ()
    excluded: Mapping[Name, Bits] = {}
    text: str = ""
    refusals: tuple[Refusal, ...] = ()
    undecided: bool = False
    warnings: tuple[str, ...] = ()
    fused: FusedManifest | None = None
    noun: str = "pod"
    """What its pods are: of a Job, its processing elements."""
    scale_up: JobScaleUp | None = None
    """The new nodes that the object waits for, which is not in the plan of the nodes there are."""
    whole: Refusal | None = None
    """The refusal that ``text`` is the text of."""
    unplanned: tuple[str, ...] = ()
    """Which of its pods the plan does not have; of a refused object it has none."""


class Planned(Struct, frozen=True, eq=False):
    """All objects with the plan of those that fit; ``group`` has the members of these, in the same order."""

    objects: tuple[PlannedObject, ...]
    group: Group
    plan: Plan | None


def planned(manifests: Manifests, world: World, seconds: float, step: Step = silent) -> Planned:
    """The plan of all pods, workloads and Jobs of manifests that are applied in that world.

    Each object is judged in at most so many seconds, and the cheapest plan looked for in as many. Raises
    ``ValueError`` for an object that is not readable. ``step`` is called before each object and each search.
    """
    jobs = [name_of(document) for _, document in manifests if is_job(document)]
    fused = [(file, _fused(document, world, seconds)) for file, document in manifests]
    fresh = World(world.inventory, world.policy, leaving=frozenset(jobs))
    objects: list[PlannedObject] = []
    fitting: list[PlannedObject] = []
    group, answer = Group((), fresh, (), AtOnce(seconds), jobs), None
    for at, (file, fused_object) in enumerate(fused):
        step("deciding", at, len(fused))
        for planned_object in _described(file, fused_object, fresh, seconds):
            if planned_object.text or not planned_object.members:
                objects.append(_scaled(planned_object, fitting, objects, fresh, seconds, jobs))
                continue
            together = [*fitting, planned_object]
            if sum(member.count for one in together for member in one.members) > PODS:
                objects.append(msgspec.structs.replace(planned_object, undecided=True))
                continue
            tried, judged = _tried(together, fresh, seconds, jobs)
            if judged.placed is None and judged.decided:
                refused = _refused(planned_object, tried, judged)
                objects.append(_scaled(refused, fitting, objects, fresh, seconds, jobs))
                continue
            if judged.placed is None:
                objects.append(msgspec.structs.replace(planned_object, undecided=True))
                continue
            warnings = (*planned_object.warnings, *notices(tried, judged.placed))
            objects.append(msgspec.structs.replace(planned_object, warnings=warnings))
            fitting, group, answer = together, tried, judged
    plan = None
    if answer is not None and answer.placed is not None:
        step("looking for the cheapest plan", 0, 0)
        final = _group(fitting, group.world, seconds, jobs)
        group, plan = final, finished(cheapest(final, answer.placed))
    return Planned(tuple(objects), group, plan)


def _tried(
    objects: Sequence[PlannedObject], world: World, seconds: float, jobs: Sequence[Name]
) -> tuple[Group, GroupAnswer]:
    """The group of these objects and whether it fits; if need be, with what the scheduler can free for it."""
    group = _group(objects, world, seconds, jobs)
    answer = finished(group.place())
    more = with_more_room(group.members, world) if answer.placed is None and answer.decided else None
    return _tried(objects, more, seconds, jobs) if more else (group, answer)


def _group(objects: Sequence[PlannedObject], world: World, seconds: float, jobs: Sequence[Name]) -> Group:
    members = [member for planned_object in objects for member in planned_object.members]
    pools = [pool for planned_object in objects for pool in planned_object.pools]
    settled = {pool: nodes for planned_object in objects for pool, nodes in planned_object.excluded.items()}
    return Group(members, world, pools, AtOnce(seconds), jobs, settled)


def _refused(planned_object: PlannedObject, group: Group, answer: GroupAnswer) -> PlannedObject:
    refusal = finished(refuse_group(group, answer.short, planned_object.noun))
    return msgspec.structs.replace(
        planned_object, text=refusal.text, refusals=refusal.parts or (refusal,), whole=refusal
    )


def _scaled(
    refused: PlannedObject,
    fitting: Sequence[PlannedObject],
    objects: Sequence[PlannedObject],
    world: World,
    seconds: float,
    jobs: Sequence[Name],
) -> PlannedObject:
    """The object, if it is refused, as one that waits for new nodes, or with why no group makes them.

    It is judged beside what is ``fitting`` on the nodes there are, and beside what waits before it.
    """
    if world.policy.scale_up == "off" or not refused.members or refused.fused is None:
        return refused
    if refused.whole is None:  # something is wrong with it, or it was judged with new nodes already
        return refused
    if any(one.fault is Fault.INVALID for one in refused.refusals):
        return refused
    waiting = _group([one for one in objects if one.scale_up and one.scale_up.made], world, seconds, jobs)
    beside = Beside(_group(fitting, world, seconds, jobs), waiting)
    if refused.noun == NOUN:
        scale_up = scale_up_of(refused.fused, beside, seconds)
    else:
        named = application_of(refused.fused.manifest, world) is not None
        scale_up = scale_up_pods(refused.members, beside, seconds, named=named)
    if scale_up is None:
        return refused
    if scale_up.decided and not scale_up.made:
        whole = refused.whole.with_reasons(scale_up.reasons)
        return msgspec.structs.replace(refused, text=whole.text, whole=whole)
    waits = msgspec.structs.replace(refused, text="", refusals=(), undecided=not scale_up.decided, scale_up=scale_up)
    warnings = (*waits.warnings, scale_up.notice)
    return msgspec.structs.replace(waits, warnings=warnings, pools=scale_up.pools, excluded=scale_up.excluded)


def _fused(document: Unstructured, world: World, seconds: float) -> FusedManifest:
    """A Job of operators with the processing elements that these are fused into, which the inventory has from then on.

    One that has problems, or cannot run, is left as it is.
    """
    fused = fused_manifest(document, world, seconds)
    if fused.fusion is None:
        return fused
    namespace, name = name_of(document)
    made = {**fused.manifest, "metadata": {**mapping(document, "metadata"), "namespace": namespace, "name": name}}
    world.inventory.set_job(job(msgspec.convert(made, wire.JobObject)))
    return msgspec.structs.replace(fused, manifest=made)


def _described(file: str, fused: FusedManifest, world: World, seconds: float) -> Iterator[PlannedObject]:
    """The object with its members; nothing for an object that describes no pods."""
    document = fused.manifest
    namespace, name = name_of(document)
    plain = PlannedObject(file, origin_of(document), namespace, fused=fused)
    try:
        if application := application_of(document, world):
            yield _of_application(plain, application, world, seconds)
            return
        if not is_job(document):
            for pod in own_pods(document, referred_to(world.policy.kinds)):
                read = [((pod.origin,), pod.replicas.count, msgspec.convert(pod.pod, Pod))]
                yield _with_members(plain, read, world)
            return
        plain = msgspec.structs.replace(plain, noun=NOUN)
        problems = wrong(document, world.inventory)
        if problems:
            yield msgspec.structs.replace(plain, text=render(problems))
            return
        spec = msgspec.convert(mapping(document, "spec"), JobSpec)
    except msgspec.ValidationError as error:
        raise ValueError(unreadable(file, document, error)) from error
    if spec.operators is not None:
        yield msgspec.structs.replace(plain, text=fused.text)
        return
    yield _of_job(plain, name, spec, world, seconds)


def _of_job(plain: PlannedObject, name: str, spec: JobSpec, world: World, seconds: float) -> PlannedObject:
    """A Job with a member for each kind of its elements; refused as admission does.

    The refusal lists HostPools that cannot get their hosts and elements that cannot run by themselves.
    """
    pools = [world.inventory.pools[pool.namespace, pool.name] for pool in pools_of_job(plain.namespace, name, spec)]
    choices, without_hosts = open_pools(pools, world), cannot_be_had(pools, world)
    unlisted = unlisted_pools(pools, world) if without_hosts else []
    elements = [(names, len(names), pod) for names, pod in element_pods(name, spec)]
    members, refused = _judged(plain.namespace, elements, choices, world, unlisted)
    if without_hosts or certain(refused):
        without_hosts += finished(refused_pools(plain.namespace, name, choices, world, AtOnce(seconds)))
        shown = msgspec.structs.replace(plain, pools=tuple(pools) if without_hosts else ())
        if refused:
            return _alone(shown, refused, members, len(spec.processing_elements or ()), without_hosts)
        refusal = refuse_pools(without_hosts)
        return msgspec.structs.replace(shown, text=refusal.text, refusals=_of_pools(without_hosts))
    settled = taken_from(choices, members, settled_hosts(pools, world), world)
    return msgspec.structs.replace(plain, members=tuple(members), pools=tuple(choices), excluded=settled)


def _of_application(
    plain: PlannedObject, application: OperatorApplication, world: World, seconds: float
) -> PlannedObject:
    """An application of another operator with the fewest pods that run at the same time; refused as admission does."""
    pods = read_pods(application)
    if isinstance(pods, tuple):
        return msgspec.structs.replace(plain, text=render(pods))
    warnings = tuple(application.warnings(plain.origin.partition(" ")[0]))
    plain = msgspec.structs.replace(plain, warnings=warnings, unplanned=tuple(_unplanned(application, pods)))
    if application.suspended:
        return plain
    verdict = whole_application(pods, plain.namespace, world, seconds)
    if verdict.refused:
        refusals = (verdict.refusal,) if verdict.refusal else ()
        members = tuple(verdict.group.members) if verdict.group else ()
        return msgspec.structs.replace(plain, text=verdict.text, refusals=refusals, members=members)
    together = [
        ((f"{plain.origin}, {one.component.name}",), one.component.count, one.pod)
        for one in pods
        if one.component.count and not one.component.apart
    ]
    return _with_members(plain, together, world)


def _unplanned(application: OperatorApplication, pods: Sequence[PodsToJudge]) -> Iterator[str]:
    """Which pods of the application the plan does not have."""
    if application.suspended:
        yield "it is suspended and creates no pods yet, so none are planned"
        return
    apart = [one.component.name for one in pods if one.component.apart]
    if apart:
        yield f"not planned, since they may run at other times: {enumerated(apart, _SAID)}"
    growing = [one.component for one in pods if one.component.most > one.component.count and not one.component.apart]
    if growing:
        most = enumerated([f"{component.name}: {component.most}" for component in growing], _SAID)
        yield f"only the minimum number of pods is planned; the maximum is {most}"


def _with_members(
    plain: PlannedObject, pods: Sequence[tuple[tuple[str, ...], int, Pod]], world: World
) -> PlannedObject:
    """The object with a member for each of the pods; refused if some of these cannot run by themselves."""
    members, refused = _judged(plain.namespace, pods, (), world)
    if certain(refused):
        return _alone(plain, refused, members, sum(count for _, count, _ in pods))
    return msgspec.structs.replace(plain, members=tuple(members))


def _judged(
    namespace: str,
    pods: Sequence[tuple[tuple[str, ...], int, Pod]],
    choices: Sequence[Pool],
    world: World,
    unlisted: Sequence[Pool] = (),
) -> tuple[list[Member], list[RefusedElement]]:
    """The members of the pods, and those that cannot run by themselves.

    ``choices`` are HostPools whose hosts are yet to be chosen, ``unlisted`` those without hosts because of their lists.
    """
    chosen = frozenset((pool.namespace, pool.name) for pool in choices)
    members: list[Member] = []
    refused: list[RefusedElement] = []
    for names, count, pod in pods:
        member = member_of(names, count, pod, namespace, world, chosen)
        judged = judged_alone(names, member, namespace, [*choices, *unlisted], world)
        if isinstance(judged, RefusedElement):
            refused.append(judged)
        if isinstance(member, Member):
            members.append(member)
    return members, refused


def _alone(
    plain: PlannedObject,
    refused: Sequence[RefusedElement],
    members: Sequence[Member],
    total: int,
    pools: Sequence[Refusal] = (),
) -> PlannedObject:
    """The object, refused because of pods that could not run even by themselves; ``members`` are all of its members.

    ``pools`` are the refusals of its HostPools that cannot have their hosts.
    """
    text, whole = refused[0].message, refused[0].refusal
    if plain.noun == NOUN:
        whole = refuse_elements(refused, total, all_known=True, pools=pools)
        text = whole.text
    refusals = [
        msgspec.structs.replace(element.refusal, text=text, names=element.names)
        for element in refused
        if element.refusal is not None
    ]
    refusals += _of_pools(pools)
    return msgspec.structs.replace(plain, text=text, whole=whole, refusals=tuple(refusals), members=tuple(members))


def _of_pools(refused: Sequence[Refusal]) -> tuple[Refusal, ...]:
    """The refusals among these that name HostPools that contradict each other."""
    return tuple(refusal for refusal in refused if refusal.clauses)


def warning_of(planned_object: PlannedObject) -> tuple[str, ...]:
    """Warnings about an object."""
    undecided = (UNDECIDED,) if planned_object.undecided and not planned_object.scale_up else ()
    return (*undecided, *planned_object.warnings, *(() if planned_object.text else planned_object.unplanned))
