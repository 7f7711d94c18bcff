"""``WhyReport``: the state of an object, what it asks for, and what admission would answer now."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from webhook.admission.checks.templates import DescribedPod, origin_of, pods_of
from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.app.why import Found
from webhook.cluster.queries.object_facts import ObjectFacts, ObjectRef
from webhook.placement.constraints.families import room_for
from webhook.placement.decision.held_devices import held_devices
from webhook.placement.jobs.whole_application import read_pods
from webhook.placement.kinds.application import OperatorApplication
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HOST_POOL, PARALLEL_REGION, POD, PROCESSING_ELEMENT, STREAMS_JOB
from webhook.placement.text.problem import counted
from webhook.placementreview.evictions import unbound
from webhook.placementreview.explanations.application_explanation import explain_application
from webhook.placementreview.explanations.decided_pod import UNREAD
from webhook.placementreview.explanations.explanation import Explanation, Removed, explain, names
from webhook.placementreview.explanations.job_explanation import explain_job
from webhook.placementreview.explanations.pool_explanation import explain_pool
from webhook.placementreview.explanations.region_explanation import RegionExplanation, explain_region
from webhook.placementreview.submission import application_of

_WORDS: Final = 200
"""Characters of one annotation that are shown."""

_UNSCHEDULED: Final = "FailedScheduling"
"""The reason of the scheduler's warnings about a pod that no node can take."""

_OURS: Final = keys.ANNOTATIONS - keys.WRITTEN
"""Annotations by which a user asks for placement."""


class PodLine(Struct, frozen=True):
    """A pod of a workload, or a processing element of a Job: where it runs, or why it does not."""

    name: str
    node: str
    phase: str
    message: str


class SinceCreation(Struct, frozen=True):
    """Something that has changed since the object was created; ``at`` (RFC 3339) is empty if the time is not known."""

    at: str
    text: str


class Channels(Struct, frozen=True):
    """The channels of a ParallelRegion: those ``asked`` for, those ``made``, and the ``most`` that the Job allows.

    ``fit`` is the largest number that was found to fit beside what runs, ``proved`` whether no larger one does, and
    ``beyond`` why one more does not.
    """

    asked: int
    made: int
    most: int
    fit: int
    proved: bool
    beyond: str = ""


class EventLine(Struct, frozen=True):
    """A Warning of Kubernetes about the object, or about what it owns."""

    at: str
    about: str
    reason: str
    message: str


class WhyReport(Struct, frozen=True, rename="camel"):
    """The state of an object, and why.

    ``state`` is the object's own. ``verdict`` is what admission would say about it today: ``fits``, ``refused``,
    ``waits`` where no node can run it and admission lets it through, as it does not ask for placement, or ``unknown``
    where the user may not read the cluster; ``message`` is the text of the refusal, or what one would say, ``removed``
    why nodes cannot run it, ``candidates`` those that can. ``scheduler`` is the scheduler's own message about a pod.
    ``unread`` are resources that the user may not read. ``channels`` are those of a ParallelRegion, whose verdict is
    that on the width that it asks for.
    """

    namespace: str
    kind: str
    name: str
    created: str
    state: str
    verdict: Literal["fits", "refused", "waits", "unknown"]
    asks: list[str] = []
    message: str = ""
    warnings: list[str] = []
    candidates: list[str] = []
    removed: list[Removed] = []
    scheduler: str = ""
    events: list[EventLine] = []
    changes: list[SinceCreation] = []
    pods: list[PodLine] = []
    unread: list[str] = []
    channels: Channels | None = None


class JudgedObject(NamedTuple):
    """The explanation of an object as of today; for a pod, or a template of pods, also what it asks for.

    ``asks`` are the words for what components of an application ask for.
    """

    explanation: Explanation
    ask: Ask | None = None
    asks: tuple[str, ...] = ()


def judge(wanted: ObjectRef, facts: Found) -> JudgedObject | None:
    """The answer of admission to the object today; ``None`` if it cannot be determined."""
    world, document = facts.world, facts.facts.document
    if world is None:
        return None
    if wanted.kind == HOST_POOL:
        known = (wanted.namespace, wanted.name) in world.inventory.pools
        return JudgedObject(explain_pool("", document, world)) if known else None
    if wanted.kind == STREAMS_JOB:
        return JudgedObject(explain_job("", document, world))
    if wanted.kind == PARALLEL_REGION:
        region = explain_region(document, facts.facts.job, world) if facts.facts.job else None
        return JudgedObject(region) if region else None
    if wanted.kind in (POD, PROCESSING_ELEMENT):
        pods = [document] if wanted.kind == POD else facts.facts.pods
        return _judge_pod(pods[0], world) if pods else None
    return _judge_workload(document, facts.facts.pods, world)


def _judge_workload(document: Unstructured, pods: Sequence[Unstructured], world: World) -> JudgedObject | None:
    """An application of another operator, or a workload by its template."""
    if application := application_of(document, world):
        return _judge_application(document, application, pods, world)
    return next((_judge(document, described, world) for described in pods_of(document, document)), None)


def _judge_application(
    document: Unstructured, application: OperatorApplication, pods: Sequence[Unstructured], world: World
) -> JudgedObject:
    """An application as if it were submitted today, in place of the pods that it has."""
    for pod in pods:
        world.inventory.remove_pod(str(mapping(pod, "metadata").get("uid")))
    asks = [
        f"{one.name}: {wish}"
        for one in (*application.components, *application.unknown)
        for wish in _wishes(one.pod["metadata"])
    ]
    return JudgedObject(explain_application("", document, application, read_pods(application), world), asks=tuple(asks))


def _judge_pod(pod: Unstructured, world: World) -> JudgedObject | None:
    """A pod as if it were submitted today, and were not there yet."""
    world.inventory.remove_pod(str(mapping(pod, "metadata").get("uid")))
    document = unbound(pod)
    return _judge(document, DescribedPod(origin_of(document), document), world)


def _judge(document: Unstructured, described: DescribedPod, world: World) -> JudgedObject | None:
    """The pod that is described in the document; ``None`` if it cannot be read."""
    try:
        pod = msgspec.convert(described.pod, Pod)
    except msgspec.ValidationError:
        return None
    explanation = explain("", document, described, world)
    return JudgedObject(explanation, read(pod, explanation.namespace, world)[0])


def report(
    wanted: ObjectRef, object_facts: Found, judged: JudgedObject | None, changes: Sequence[SinceCreation] = ()
) -> WhyReport:
    """The answer about the object."""
    facts, explanation = object_facts.facts, judged.explanation if judged else None
    document = facts.document
    return WhyReport(
        namespace=wanted.namespace,
        kind=wanted.kind.name,
        name=wanted.name,
        created=str(mapping(document, "metadata").get("creationTimestamp") or ""),
        state=_state(wanted, facts),
        verdict=_verdict(explanation),
        asks=[*(judged.asks if judged and judged.asks else _asks(wanted, document))],
        message=explanation.message if explanation else "",
        warnings=[one for one in explanation.warnings if one != UNREAD] if explanation else [],
        candidates=explanation.candidates if explanation else [],
        removed=[*(explanation.removed if explanation else []), *_full(wanted, object_facts, judged)],
        scheduler=_condition(document, "PodScheduled"),
        events=list(_events(wanted, facts)),
        changes=list(changes),
        pods=[_pod_line(pod) for pod in facts.pods],
        unread=list(object_facts.unread),
        channels=_channels(explanation),
    )


def _channels(explanation: Explanation | None) -> Channels | None:
    if not isinstance(explanation, RegionExplanation):
        return None
    channels = explanation.channels
    return Channels(
        channels.asked, channels.made, channels.most, channels.fitting.width, channels.fitting.proved, channels.beyond
    )


def _events(wanted: ObjectRef, facts: ObjectFacts) -> Iterator[EventLine]:
    """The warnings, but for those of the scheduler that are past, or that the condition of the pod repeats."""
    pods = [facts.document] if wanted.kind == POD else facts.pods
    placed = {_called(pod) for pod in pods if mapping(pod, "spec").get("nodeName")}
    said = {(_called(pod), _condition(pod, "PodScheduled")) for pod in pods}
    for one in facts.warnings:
        by_scheduler = one.reason == _UNSCHEDULED
        if not (by_scheduler and (one.about in placed or (one.about, one.message) in said)):
            yield EventLine(timestamp(one.at), one.about, one.reason, one.message)


def _called(pod: Unstructured) -> str:
    """The pod, as warnings about it name it."""
    return f"{POD.name} {mapping(pod, 'metadata').get('name')}"


def _verdict(explanation: Explanation | None) -> Literal["fits", "refused", "waits", "unknown"]:
    if explanation is None:
        return "unknown"
    if not explanation.refused:
        return "fits"
    return "waits" if UNREAD in explanation.warnings else "refused"


def _asks(wanted: ObjectRef, document: Unstructured) -> Iterator[str]:
    """The annotations by which the object, or its template, asks for placement: key without prefix, and value."""
    if wanted.kind == PARALLEL_REGION:
        spec = mapping(document, "spec")
        yield f"width {spec.get('width')} of parallel region {spec.get('region')} of Job {spec.get('job')}"
    for part in (mapping(document, "metadata"), mapping(document, "spec", "template", "metadata")):
        yield from _wishes(part)


def _wishes(metadata: Unstructured) -> Iterator[str]:
    """The annotations of ours in the metadata."""
    for key, value in sorted(mapping(metadata, "annotations").items()):
        if key in _OURS:
            yield f"{key.removeprefix(keys.PREFIX)}: {' '.join(str(value).split())[:_WORDS]}"


def _full(wanted: ObjectRef, facts: Found, judged: JudgedObject | None) -> Iterator[Removed]:
    """Why candidates cannot take a pod that waits: their free room. Admission compares with all that a node has."""
    world, document = facts.world, facts.facts.document
    if wanted.kind == PROCESSING_ELEMENT and facts.facts.pods:
        document = facts.facts.pods[0]
    waits = wanted.kind in (POD, PROCESSING_ELEMENT) and not mapping(document, "spec").get("nodeName")
    if not waits or world is None or judged is None or judged.ask is None:
        return
    candidates = 0
    for name in judged.explanation.candidates:
        candidates |= world.named(name)
    room = room_for(judged.ask.requests, pinned=candidates)
    for reason in room.explain(world, candidates & ~room.filter(world)):
        yield Removed("", f"{reason.one} now", names(reason.nodes, world))
    for reason in held_devices(judged.ask, world, candidates):
        yield Removed("", reason.one, names(reason.nodes, world))


def _state(wanted: ObjectRef, facts: ObjectFacts) -> str:
    """The state of the object, in a few words."""
    document, status = facts.document, mapping(facts.document, "status")
    if mapping(document, "metadata").get("deletionTimestamp"):
        return "is being deleted"
    if wanted.kind == POD:
        return _pod_state(document)
    if wanted.kind == PARALLEL_REGION:
        return _said(document, "Scaled") or "not reconciled by a controller yet"
    phase = str(status.get("phase") or "")
    if wanted.kind in (HOST_POOL, STREAMS_JOB, PROCESSING_ELEMENT):
        why = _condition(document, "Ready")
        return f"{phase or 'not reconciled by a controller yet'}{f': {why}' if why else ''}"
    phases = Counter(_pod_line(pod).phase for pod in facts.pods)
    said = ", ".join(f"{phases[each]} {each}" for each in sorted(phases))
    return f"{_wanted(document)}{counted(len(facts.pods), 'pod')}{f' ({said})' if said else ''}"


def _wanted(document: Unstructured) -> str:
    """How many pods the workload wants, where it says so."""
    for field in ("replicas", "parallelism"):
        if isinstance(count := mapping(document, "spec").get(field), int):
            return f"{field} {count}, there are "
    return ""


def _pod_state(pod: Unstructured) -> str:
    phase, node = mapping(pod, "status").get("phase") or "Unknown", mapping(pod, "spec").get("nodeName")
    if node:
        return f"{phase} on {node}"
    gates = [str(gate.get("name")) for gate in sequence(mapping(pod, "spec"), "schedulingGates")]
    return f"waits until its scheduling gates are removed: {', '.join(gates)}" if gates else "waits for a node"


def _pod_line(pod: Unstructured) -> PodLine:
    """One pod of a workload."""
    metadata, node = mapping(pod, "metadata"), str(mapping(pod, "spec").get("nodeName") or "")
    phase = str(mapping(pod, "status").get("phase") or "Unknown")
    why = "" if node else _condition(pod, "PodScheduled")
    if metadata.get("deletionTimestamp"):
        phase = "Terminating"
    return PodLine(str(metadata.get("name")), node, phase, why)


def _said(document: Unstructured, type_: str) -> str:
    """The message of the condition of that type; empty if it is not there."""
    conditions = sequence(mapping(document, "status"), "conditions")
    return next((str(one.get("message") or "") for one in conditions if one.get("type") == type_), "")


def _condition(document: Unstructured, type_: str) -> str:
    """Why the condition of that type is not True; empty if it is, or is not there."""
    for one in sequence(mapping(document, "status"), "conditions"):
        if one.get("type") == type_ and one.get("status") != "True":
            return str(one.get("message") or one.get("reason") or "")
    return ""
