"""HostPools, HPAIntents and Jobs of Streams as values; and namespaces where HPAIntents apply by label.

An object that breaks a rule of its own raises :class:`MalformedError`.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from webhook.cluster.objects import wire
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError, Notes, full_name, metadata_of, refuse
from webhook.cluster.objects.pods import to_cpus
from webhook.placement.jobs.operators.fused_job import as_fused
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.intent import Intent, read_intent
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT, JobSpec
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.objects.pool_spec import HostPoolSpec, pool_of_spec, problems_of_spec, repeated
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, quote

PHASES = tuple(phase.value for phase in Phase)


def pool(source: wire.HostPoolObject) -> Pool:
    """A host pool; one that is being deleted is Releasing, whether or not its status says so yet."""
    spec, status = source.spec or HostPoolSpec(), source.status or wire.HostPoolStatus()
    metadata, name = metadata_of(source.metadata)
    refuse(faults(spec, status))
    phase = Phase(status.phase or Phase.PENDING)
    return replace(
        pool_of_spec(spec, metadata.namespace or NAMESPACE, name),
        phase=phase if metadata.deletion_timestamp is None else Phase.RELEASING,
        assigned=tuple(PoolHost(host.index, host.name, host.uid or "") for host in status.hosts or ()),
        reason=next((_reason(condition) for condition in status.conditions or () if condition.type == "Ready"), ""),
        created=(source.metadata and source.metadata.creation_timestamp) or "",
    )


def _reason(condition: wire.Condition) -> str:
    return condition.message or condition.reason or ""


def faults(spec: HostPoolSpec, status: wire.HostPoolStatus) -> Iterator[str]:
    """Every rule that the object breaks: a path, then the reason."""
    for problem in (*problems_of_spec(spec), *_given(spec, status)):
        yield f"{problem.field}: {problem.message}"


def _given(spec: HostPoolSpec, status: wire.HostPoolStatus) -> Iterator[Problem]:
    """What is wrong with ``status``: anyone may have edited it, and placement takes the hosts in it for the pool's."""
    if status.phase and status.phase not in PHASES:
        yield Problem("status.phase", f"{quote(status.phase)} is not one of {', '.join(PHASES)}")
    hosts = status.hosts or ()
    size = spec.size if spec.hosts is None else len(spec.hosts)
    if size is None:
        if hosts:
            yield Problem("status.hosts", "a pool without a size has no hosts of its own")
        return
    for place, host in enumerate(hosts):
        if not 0 <= host.index < size:
            yield Problem(f"status.hosts[{place}].index", f"{host.index} is not between 0 and {size - 1}")
    yield from repeated("status.hosts", (host.name for host in hosts), ".name")
    yield from repeated("status.hosts", (host.index for host in hosts), ".index")


def job(source: wire.JobObject) -> StreamsJob:
    """A Job's processing elements, with the placement of each operator and the resources that the Job states."""
    namespace, name = full_name(source.metadata).split("/", 1)
    spec = source.spec or wire.StreamsJobSpec()
    stated = spec.processing_elements or tuple(_fused(source))
    default = spec.processing_element.resources if spec.processing_element else None
    elements = tuple(_element(element, f"{name}-{place}", default) for place, element in enumerate(stated))
    refuse(_job_faults(elements))
    deleting = bool(source.metadata and source.metadata.deletion_timestamp)
    return StreamsJob(namespace, name, elements=elements, resources=spec.resources, deleting=deleting)


def _fused(source: wire.JobObject) -> Iterator[wire.ProcessingElement]:
    """The processing elements that the operators of a Job are fused into, once its controller has said so."""
    spec, fusion = source.spec, source.status.fusion if source.status else None
    if spec is None or spec.operators is None or fusion is None:
        return
    model = {"operators": spec.operators, "parallelRegions": spec.parallel_regions}
    try:
        fused = as_fused(msgspec.convert(model, JobSpec), fusion)
    except msgspec.ValidationError as error:
        raise MalformedError(f"spec.operators: {error}") from None
    yield from msgspec.convert(msgspec.to_builtins(fused.processing_elements), tuple[wire.ProcessingElement, ...])


def _element(stated: wire.ProcessingElement, name: str, resources: Resources | None) -> Element:
    """The element; ``name`` and ``resources`` are what holds if it does not say so itself."""
    operators = stated.operators or ()
    placements = tuple((operator.name or "", operator.placement) for operator in operators if operator.placement)
    metadata = stated.template.metadata if stated.template else None
    own = metadata.annotations.placement if metadata and metadata.annotations else None
    bound = metadata is not None and to_cpus(metadata)
    return Element(
        stated.name or name, (("", own), *placements) if own else placements, bound, stated.resources or resources
    )


def _job_faults(elements: tuple[Element, ...]) -> Iterable[str]:
    if len(elements) > ELEMENT_LIMIT:
        yield f"spec.processingElements: {len(elements)} of them, at most {ELEMENT_LIMIT} are allowed"
    first: dict[str, int] = {}
    for place, element in enumerate(elements):
        earlier = first.setdefault(element.name, place)
        if earlier != place:
            path = "spec.processingElements"
            yield f"{path}[{place}].name: {quote(element.name)} is also the name of {path}[{earlier}]"


def intent(source: wire.HPAIntentObject) -> tuple[Intent, Notes]:
    """An HPAIntent, and notes on what is wrong with it: one with problems is kept, and its pods are refused."""
    namespace, name = full_name(source.metadata).split("/", 1)
    where = f"HPAIntent {name} "
    read = read_intent(namespace, name, {} if source.spec is None else source.spec, where)
    return read, [f"{problem.field.removeprefix(where)}: {problem.message}" for problem in read.problems]


def enabled(source: wire.NamespaceObject) -> tuple[str, bool]:
    """The name of a namespace, and whether HPAIntents apply to its pods without an annotation."""
    name = full_name(source.metadata).rpartition("/")[2]
    labels = (source.metadata and source.metadata.labels) or {}
    return name, labels.get(keys.INJECT) == keys.ENABLED
