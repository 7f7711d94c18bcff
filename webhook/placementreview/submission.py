"""Objects of manifests that are submitted together: what of them counts as applied, and verdicts on whole objects."""

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

import msgspec

from webhook.admission.checks.job_workloads import KINDS, live_workloads
from webhook.admission.checks.jobs import problems_of
from webhook.admission.checks.templates import DescribedPod, is_job, pods_of, pools_of
from webhook.admission.unstructured import Unstructured, group_and_kind, mapping
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.objects.report import Report
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.cluster.snapshot.loader import READ, SnapshotLoader
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.job_workloads import WorkloadPods, judge_workload
from webhook.placement.jobs.operators.fused_job import ModelVerdict, judge_model
from webhook.placement.jobs.whole_application import PodsToJudge, judge_application
from webhook.placement.kinds.application import OperatorApplication, expanded
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem
from webhook.placementreview.references import in_namespaces, reference_in

Manifests = Sequence[tuple[str, Unstructured]]
"""Objects in the order in which they would be applied, each with the name of its file."""


Step = Callable[[str, int, int], object]
"""Called with what is being done, how much of it is done, and of how much: 0 if that is not known."""


def silent(what: str, done: int, total: int) -> None:
    """Report no progress."""


SECONDS: Final = 10.0
"""Seconds to judge one Job: ten times what admission takes by default."""


def wrong(job: Unstructured, cluster: Inventory) -> list[Problem]:
    """What is wrong with a Job among the manifests."""
    return problems_of(job, str(mapping(job, "metadata").get("namespace") or NAMESPACE), cluster)


def whole(job: Unstructured, world: World, seconds: float = SECONDS) -> ModelVerdict:
    """The verdict on a Job without problems as a whole, with the fusion of its operators."""
    namespace = str(mapping(job, "metadata").get("namespace") or NAMESPACE)
    spec = msgspec.convert(mapping(job, "spec"), JobSpec)
    name = str(mapping(job, "metadata").get("name") or "")
    return finished(judge_model((namespace, name), spec, world, AtOnce(seconds), measured=True))


def application_of(document: Unstructured, world: World) -> OperatorApplication | None:
    """The application of another operator that the object describes; ``None`` for an object of any other kind."""
    kind = world.policy.kinds.get(group_and_kind(document))
    if kind is None:
        return None
    reference = reference_in(document, world.policy.kinds)
    return expanded(kind, document, world.inventory.references.get(reference.key) if reference else None)


def whole_application(
    pods: Sequence[PodsToJudge], namespace: str, world: World, seconds: float = SECONDS
) -> JobVerdict:
    """The verdict on an application with these pods as a whole."""
    return finished(judge_application(pods, namespace, world.inventory, world.policy, AtOnce(seconds)))


def own_pods(document: Unstructured, keep: Container[tuple[str, str]]) -> Iterator[DescribedPod]:
    """The pods that the object describes; none of one of the kinds ``keep``, whose pods others make, such as a runtime.

    ``keep`` has apiVersion and kind.
    """
    return iter(()) if _stated(document) in keep else pods_of(document)


def unjudged(manifests: Manifests, world: World, keep: Container[tuple[str, str]]) -> Iterator[Unstructured]:
    """The objects without a verdict that the world is not read from either: a Service, or a Pod without apiVersion.

    ``keep`` are the kinds that others refer to, by apiVersion and kind.
    """
    for _, document in manifests:
        known = surrounding(document, keep) or group_and_kind(document) in world.policy.kinds
        if not known and next(pods_of(document), None) is None:
            yield document


def surrounding(document: Unstructured, keep: Container[tuple[str, str]]) -> bool:
    """Whether the world is read from objects of that kind; ``keep`` are the kinds that others refer to."""
    return _stated(document) in READ or _stated(document) in keep


def _stated(document: Unstructured) -> tuple[str, str]:
    """The apiVersion and the kind that the object states."""
    return str(document.get("apiVersion") or ""), str(document.get("kind"))


class EarlierWorkloads:
    """Workloads of manifests, in the order in which they would be submitted, by the job of their pods."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._admitted: dict[Name, list[WorkloadPods]] = {}

    def in_world(self, world: World) -> "EarlierWorkloads":
        """These workloads, judged in another world."""
        earlier = EarlierWorkloads(world)
        earlier._admitted = self._admitted
        return earlier

    def judge(self, document: Unstructured, described: DescribedPod, seconds: float = SECONDS) -> JobVerdict:
        """The verdict on a workload that could run by itself, beside the earlier ones of its job that were admitted."""
        metadata = mapping(described.pod, "metadata")
        namespace, job = str(metadata.get("namespace") or NAMESPACE), mapping(metadata, "labels").get(keys.JOB)
        if not job or described.replicas.idle or (document.get("apiVersion"), document.get("kind")) not in _TOGETHER:
            return JobVerdict()
        known = self._admitted.setdefault((namespace, str(job)), [])
        own = WorkloadPods(described.origin, msgspec.convert(described.pod, Pod), described.replicas)
        cluster, policy = self._world.inventory, self._world.policy
        verdict = finished(judge_workload(own, known, (namespace, str(job)), cluster, policy, AtOnce(seconds)))
        if not verdict.refused:
            known += live_workloads([document])
        return verdict


_TOGETHER: Final = frozenset((kind.api_version, kind.name) for kind in KINDS)


def applied(
    manifests: Iterable[tuple[str, Unstructured]], cluster: Inventory, keep: Mapping[tuple[str, str], bool] = {}
) -> Report:
    """The report of putting the manifests into the inventory, but for pods and for Jobs that break rules.

    ``keep`` are the kinds that others refer to, by apiVersion and kind, and whether they have namespaces.

    Raises ``ValueError`` for the first one that cannot be used.
    """
    reading = SnapshotLoader(cluster, keep=keep)
    for file, group in itertools.groupby(manifests, itemgetter(0)):
        reading.begin(file)
        for _, document in group:
            if document.get("kind") == "Pod" or (is_job(document) and wrong(document, cluster)):
                continue
            reading.document(document)
            for pool in pools_of(document):
                reading.document(pool)
    report = reading.report()
    cluster.references.update(in_namespaces(report.kept, keep))
    refused = (*report.skipped, *(note for note in report.noted if note.subject.startswith("HPAIntent ")))
    if refused:
        raise ValueError(str(refused[0]))
    return report
