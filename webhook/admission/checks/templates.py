"""The pods and HostPools that an object describes: a pod itself, the template of a workload, a Streams Job's elements.

Annotations of ours on a workload itself, which its pods do not get, are found here as well.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.checks.replicas import grown, replicas_of
from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.element_pods import element_pod
from webhook.placement.jobs.problems import pool_object_name
from webhook.placement.kinds.application import OperatorApplication
from webhook.placement.objects.jobs.job_spec import JobSpec, element_name
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import CRON_JOB, HOST_POOL, POD, POD_TEMPLATE, STREAMS_JOB, WORKLOADS
from webhook.placement.text.problem import Problem

_TEMPLATES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    **{(kind.api_version, kind.name): ("spec", "template") for kind in WORKLOADS},
    (POD_TEMPLATE.api_version, POD_TEMPLATE.name): ("template",),
    (CRON_JOB.api_version, CRON_JOB.name): ("spec", "jobTemplate", "spec", "template"),
}
"""Version and kind to where the template is."""

_POD: Final = (POD.api_version, POD.name)
_STREAMS_JOB: Final = (STREAMS_JOB.api_version, STREAMS_JOB.name)


class DescribedPod(Struct, frozen=True):
    """A pod that an object describes: ``origin`` says where, ``pod`` is the object to create, and how many of it.

    ``note`` says what is not certain about it. ``misplaced`` is what the object says for its pods where they do not get
    it: only what is new, if it is a change that leaves the pods the ``same``. ``metadata`` is the path of the pod's
    metadata in the object, if that is not the one which :func:`pod_metadata` knows.
    """

    origin: str
    pod: Unstructured
    replicas: Replicas = Replicas()
    note: str = ""
    misplaced: tuple[Problem, ...] = ()
    same: bool = False
    metadata: str = ""


def pods_of(document: Unstructured, old: Unstructured | None = None) -> Iterator[DescribedPod]:
    """The pods that an object describes: one for a pod or a workload, one an element for a Streams job.

    ``old`` is what the object was before, if it is being changed. An object of any other kind describes one if it has a
    pod template where a Deployment has it, and else none. Parts that are not of the expected type are passed over: the
    API server refuses such an object itself.
    """
    version, kind = document.get("apiVersion"), document.get("kind")
    name = mapping(document, "metadata").get("name", "")
    if (version, kind) == _POD:
        yield DescribedPod(origin_of(document), document)
    elif (version, kind) == _STREAMS_JOB:
        yield from _elements(document, str(name))
    elif (version, kind) in _TEMPLATES:
        path = _TEMPLATES[str(version), str(kind)]
        pod = _from_template(mapping(document, *path), document)
        if kind != "PodTemplate":
            pod["metadata"]["ownerReferences"] = [_owner(str(version), str(kind), name)]
        same = old is not None and not grown(document, old)
        lost = tuple(misplaced(document, path, old if same else None))
        yield DescribedPod(origin_of(document), pod, replicas_of(document, old), misplaced=lost, same=same)
    elif sequence(mapping(document, "spec", "template", "spec"), "containers"):
        yield _of_unknown_kind(document)


def components_of(application: OperatorApplication, document: Unstructured) -> Iterator[DescribedPod]:
    """The pods of each component of an application of another operator."""
    for one in application.components:
        size = Replicas.of_component(one.count)
        yield DescribedPod(
            f"{origin_of(document)}, {one.name}", one.pod, size, metadata=one.annotations_field.rpartition(".")[0]
        )


def is_job(document: Unstructured) -> bool:
    """Whether the object is a Job of Streams."""
    return (document.get("apiVersion"), document.get("kind")) == _STREAMS_JOB


def pools_of(document: Unstructured) -> Iterator[Unstructured]:
    """The HostPool objects that the controller makes for a Job of Streams; none for any other object."""
    if not is_job(document):
        return
    metadata = mapping(document, "metadata")
    name, namespace = str(metadata.get("name", "")), metadata.get("namespace")
    for pool in sequence(mapping(document, "spec"), "hostPools"):
        own = {
            "name": pool_object_name(name, str(pool.get("name", ""))),
            **({"namespace": namespace} if namespace else {}),
        }
        yield {
            "apiVersion": HOST_POOL.api_version, "kind": HOST_POOL.name, "metadata": own, "spec": {**pool, "job": name},
        }  # fmt: skip


def pod_metadata(document: Unstructured) -> str:
    """The path of the metadata of the pods that the object describes."""
    version, kind = str(document.get("apiVersion")), str(document.get("kind"))
    if (version, kind) == _POD:
        return "metadata"
    if (version, kind) == _STREAMS_JOB:
        return "spec.processingElements[].template.metadata"
    return ".".join((*_TEMPLATES.get((version, kind), ("spec", "template")), "metadata"))


def origin_of(document: Unstructured) -> str:
    """Kind and name of the object, for messages; a name that the API server has yet to make up ends in ``*``."""
    metadata = mapping(document, "metadata")
    made_up = f"{metadata['generateName']}*" if metadata.get("generateName") else "without a name"
    return f"{document.get('kind')} {metadata.get('name') or made_up}"


def _of_unknown_kind(document: Unstructured) -> DescribedPod:
    """The pods of an object that has a template like a Deployment: of an Argo Rollout, for example."""
    version, kind = document.get("apiVersion"), document.get("kind")
    pod = _from_template(mapping(document, "spec", "template"), document)
    pod["metadata"]["ownerReferences"] = [
        _owner(str(version), str(kind), mapping(document, "metadata").get("name", ""))
    ]
    replicas = replicas_of({**document, "kind": "ReplicaSet"})
    note = f"{kind} of {version} is an unknown kind: spec.template and {replicas.said} were judged"
    return DescribedPod(origin_of(document), pod, replicas, note)


def _from_template(template: Unstructured, source: Unstructured) -> Unstructured:
    """The pod of the template: without a name, in the namespace of the object with the template."""
    metadata = dict(mapping(template, "metadata"))
    name, namespace = mapping(source, "metadata").get("name", ""), mapping(source, "metadata").get("namespace")
    metadata["generateName"] = f"{name}-"
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def _owner(version: str, kind: str, name: object) -> Unstructured:
    """The owner reference to the workload as the pod's controller; a ReplicaSet or Job between them has no name yet."""
    return {"apiVersion": version, "kind": kind, "name": name, "uid": "", "controller": True}


def _elements(job: Unstructured, name: str) -> Iterator[DescribedPod]:
    """The first pod of each processing element; none for a Job whose spec is not readable."""
    try:
        spec = msgspec.convert(mapping(job, "spec"), JobSpec)
    except msgspec.ValidationError:
        return
    namespace = mapping(job, "metadata").get("namespace")
    for at, element in enumerate(spec.processing_elements or ()):
        pe = element_name(name, at, element)
        pod = element_pod(name, pe, element, spec)
        pod["metadata"] |= {"namespace": namespace} if namespace else {}
        yield DescribedPod(f"Job {name}, processing element {pe}", pod)


def misplaced(document: Unstructured, path: tuple[str, ...], old: Unstructured | None = None) -> Iterator[Problem]:
    """A problem for each annotation of ours that does not reach the pods of the template at ``path``.

    What the template says as well is not lost. With ``old``, the object before a change, only additions count.
    """
    ours = mapping(document, *path, "metadata", "annotations")
    where = ".".join((*path, "metadata", "annotations"))
    for place, whose in _places(str(document.get("kind"))):
        said = mapping(document, *place, "metadata", "annotations")
        before = mapping(old, *place, "metadata", "annotations") if old else {}
        for key in sorted(said):
            lost = key.startswith(keys.PREFIX) and key not in keys.FOREIGN and ours.get(key) != said[key]
            if lost and (old is None or before.get(key) != said[key]):
                field = ".".join((*place, "metadata", f"annotations[{key}]"))
                yield Problem(field, f"{whose}: write it in {where}")


def _places(kind: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Where annotations stand that are not the pods', and the words that say whose they are."""
    yield (), f"a {kind}'s own annotations do not reach its pods"
    if kind == "CronJob":
        yield ("spec", "jobTemplate"), "the annotations of a CronJob's Jobs do not reach their pods"


def with_misplaced(decision: Decision, problems: tuple[Problem, ...], policy: Policy) -> Decision:
    """The decision, refused or warned of for misplaced annotations, as the policy has it for unknown ones."""
    if problems and policy.unknown_annotations == "refuse":
        return replace(decision, problems=(*problems, *decision.problems), additions=None)
    warnings = (f"{problem.field}: {problem.message}" for problem in problems)
    return replace(decision, warnings=(*warnings, *decision.warnings)) if problems else decision
