"""``plan``: where everything that manifests describe would run, planned together.

What does not fit beside what comes before it is refused.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from webhook.admission.templates import is_job, origin_of, pods_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.app.explain import Manifests, Step, silent, wrong
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.decision.refusal import Refusal
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.declared_pools import cannot_be_had, settled_hosts
from webhook.placement.jobs.refused_elements import RefusedElement, judged_alone, refuse_elements
from webhook.placement.jobs.tolerant_elements import taken_from
from webhook.placement.jobs.whole_job import NOUN, UNDECIDED, element_pods, pools_of_job
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.job_spec import JobSpec
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Group, GroupAnswer
from webhook.placement.planning.group_refusal import refuse_group
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.plan import Plan, cheapest
from webhook.placement.planning.preemption import notices, with_more_room
from webhook.placement.planning.solver import finished
from webhook.placement.request.world import World
from webhook.placement.text.decoder_words import unreadable
from webhook.placement.text.problem import render


class PlannedObject(Struct, frozen=True, eq=False):
    """An object of a manifest: its ``members`` in the group, ``warnings``, and ``text`` if it is refused.

    ``taken`` are nodes that its exclusive pools must not have.
    ``refusal`` says what cannot hold together, if that is known. ``undecided`` tells that time was too short to find
    out whether it can run.
    """

    file: str
    origin: str
    namespace: str
    members: tuple[Member, ...] = ()
    pools: tuple[Pool, ...] = ()
    taken: Mapping[Name, Bits] = {}
    text: str = ""
    refusal: Refusal | None = None
    undecided: bool = False
    warnings: tuple[str, ...] = ()


class Planned(Struct, frozen=True, eq=False):
    """All objects with the plan of those that fit; ``group`` has the members of these, in the same order."""

    objects: tuple[PlannedObject, ...]
    group: Group
    plan: Plan | None


def planned(manifests: Manifests, world: World, seconds: float, step: Step = silent) -> Planned:
    """The plan of all pods, workloads and Jobs of manifests that are applied in that world.

    Each object is decided about in at most so many seconds, and the cheapest plan looked for in as many. Raises
    ``ValueError`` for an object that is not readable. ``step`` is called before each object and each search.
    """
    jobs = [_name(document) for _, document in manifests if is_job(document)]
    fresh = World(world.inventory, world.policy, leaving=frozenset(jobs))
    objects: list[PlannedObject] = []
    fitting: list[PlannedObject] = []
    group, answer = Group((), fresh, (), AtOnce(seconds), jobs), None
    for at, (file, document) in enumerate(manifests):
        step("deciding", at, len(manifests))
        for planned_object in _described(file, document, fresh):
            if planned_object.text or not planned_object.members:
                objects.append(planned_object)
                continue
            together = [*fitting, planned_object]
            tried, judged = _tried(together, fresh, seconds, jobs)
            if judged.placed is None and judged.decided:
                objects.append(_refused(planned_object, tried, judged))
                continue
            if judged.placed is None:
                objects.append(msgspec.structs.replace(planned_object, undecided=True))
                continue
            objects.append(msgspec.structs.replace(planned_object, warnings=notices(tried, judged.placed)))
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
    settled = {pool: nodes for planned_object in objects for pool, nodes in planned_object.taken.items()}
    return Group(members, world, pools, AtOnce(seconds), jobs, settled)


def _refused(planned_object: PlannedObject, group: Group, answer: GroupAnswer) -> PlannedObject:
    noun = NOUN if planned_object.origin.startswith("Job ") else "pod"
    refusal = finished(refuse_group(group, answer.short, noun))
    return msgspec.structs.replace(planned_object, text=refusal.text, refusal=refusal)


def _name(document: Unstructured) -> Name:
    metadata = mapping(document, "metadata")
    return str(metadata.get("namespace") or NAMESPACE), str(metadata.get("name") or "")


def _described(file: str, document: Unstructured, world: World) -> Iterator[PlannedObject]:
    """The object with its members; nothing for an object that describes no pods."""
    namespace, name = _name(document)
    plain = PlannedObject(file, origin_of(document), namespace)
    try:
        if not is_job(document):
            for pod in pods_of(document):
                read = [((pod.origin,), pod.replicas.count, msgspec.convert(pod.pod, Pod))]
                yield _with_members(plain, read, (), world)
            return
        problems = wrong(document, world.inventory)
        if problems:
            yield msgspec.structs.replace(plain, text=render(problems))
            return
        spec = msgspec.convert(mapping(document, "spec"), JobSpec)
    except msgspec.ValidationError as error:
        raise ValueError(unreadable(file, document, error)) from error
    pools = [world.inventory.pools[pool.namespace, pool.name] for pool in pools_of_job(namespace, name, spec)]
    if refused := cannot_be_had(pools, world):
        yield msgspec.structs.replace(plain, text=refused.text, pools=tuple(pools))
        return
    choices = [pool for pool in pools if pool.size is not None and not pool.elastic and not world.complete(pool)]
    elements = [(names, len(names), pod) for names, pod in element_pods(name, spec)]
    planned_object = _with_members(plain, elements, choices, world)
    settled = taken_from(planned_object.pools, planned_object.members, settled_hosts(pools, world), world)
    yield msgspec.structs.replace(planned_object, taken=settled)


def _with_members(
    plain: PlannedObject, pods: Sequence[tuple[tuple[str, ...], int, Pod]], pools: Sequence[Pool], world: World
) -> PlannedObject:
    """The object with a member for each of the pods; refused if some of these cannot run by themselves."""
    chosen = frozenset((pool.namespace, pool.name) for pool in pools)
    members: list[Member] = []
    refused: list[tuple[RefusedElement, Member | None]] = []
    for names, count, pod in pods:
        member = member_of(names, count, pod, plain.namespace, world, chosen)
        judged = judged_alone(names, member, plain.namespace, pools, world)
        if isinstance(judged, RefusedElement):
            refused.append((judged, member if isinstance(member, Member) else None))
        else:
            members.append(judged)
    if refused:
        return _alone(plain, refused, sum(count for _, count, _ in pods))
    return msgspec.structs.replace(plain, members=tuple(members), pools=tuple(pools))


def _alone(plain: PlannedObject, refused: Sequence[tuple[RefusedElement, Member | None]], total: int) -> PlannedObject:
    """The object, refused because of pods that could not run even by themselves.

    It keeps the member of the first of them that nodes refuse, with what cannot hold together for it.
    """
    elements = [element for element, _ in refused]
    text = elements[0].message
    if plain.origin.startswith("Job "):
        text = refuse_elements(elements, total, all_known=True).text
    for element, member in refused:
        if element.refusal and member:
            refusal = msgspec.structs.replace(element.refusal, text=text, names=element.names)
            return msgspec.structs.replace(plain, text=text, refusal=refusal, members=(member,))
    return msgspec.structs.replace(plain, text=text)


def warning_of(planned_object: PlannedObject) -> tuple[str, ...]:
    """Warnings about an object."""
    return (UNDECIDED,) if planned_object.undecided else planned_object.warnings
