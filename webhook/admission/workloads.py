"""Where the pods of an object are described: pods themselves, templates of workloads, elements of Streams jobs."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.document import Document, mapping, sequence
from webhook.admission.misplaced import misplaced
from webhook.admission.replicas import grown, replicas_of
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.spl.placement import format_placement, parse_placement
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

STREAMS: Final = "streams.ibm.com/v1"

_TEMPLATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("v1", "PodTemplate"): ("template",),
    ("v1", "ReplicationController"): ("spec", "template"),
    ("apps/v1", "Deployment"): ("spec", "template"),
    ("apps/v1", "ReplicaSet"): ("spec", "template"),
    ("apps/v1", "StatefulSet"): ("spec", "template"),
    ("apps/v1", "DaemonSet"): ("spec", "template"),
    ("batch/v1", "Job"): ("spec", "template"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
"""Version and kind to where the template is."""

RUNTIME: Final = {"name": "streams-runtime", "image": "streams-runtime"}
"""The container of a processing element whose Job does not say otherwise."""


class Found(Struct, frozen=True):
    """A pod that an object describes: ``origin`` says where, ``pod`` is the object to create, and how many of it.

    ``note`` says what is not certain about it. ``misplaced`` is what the object says for its pods where they do not get
    it: only what is new, if it is a change that leaves the pods the ``same``.
    """

    origin: str
    pod: Document
    replicas: Replicas = Replicas()
    note: str = ""
    misplaced: tuple[Problem, ...] = ()
    same: bool = False


def pods_of(document: Document, old: Document | None = None) -> Iterator[Found]:
    """The pods that an object describes: one for a pod or a workload, one an element for a Streams job.

    ``old`` is what the object was before, if it is being changed. An object of any other kind describes one if it has a
    pod template where a Deployment has it, and else none. Parts that are not of the expected type are passed over: the
    API server refuses such an object itself.
    """
    version, kind = document.get("apiVersion"), document.get("kind")
    name = mapping(document, "metadata").get("name", "")
    if (version, kind) == ("v1", "Pod"):
        yield Found(origin_of(document), document)
    elif (version, kind) == (STREAMS, "Job"):
        yield from _elements(document, str(name))
    elif (version, kind) in _TEMPLATES:
        path = _TEMPLATES[str(version), str(kind)]
        pod = _from_template(mapping(document, *path), document)
        if kind != "PodTemplate":
            pod["metadata"]["ownerReferences"] = [_owner(str(version), str(kind), name)]
        same = old is not None and not grown(document, old)
        lost = tuple(misplaced(document, path, old if same else None))
        yield Found(origin_of(document), pod, replicas_of(document, old), misplaced=lost, same=same)
    elif sequence(mapping(document, "spec", "template", "spec"), "containers"):
        yield _of_unknown_kind(document)


def pod_metadata(document: Document) -> str:
    """The path of the metadata of the pods that the object describes."""
    version, kind = str(document.get("apiVersion")), str(document.get("kind"))
    if (version, kind) == ("v1", "Pod"):
        return "metadata"
    if (version, kind) == (STREAMS, "Job"):
        return "spec.processingElements[].template.metadata"
    return ".".join((*_TEMPLATES.get((version, kind), ("spec", "template")), "metadata"))


def origin_of(document: Document) -> str:
    """Kind and name of the object, for people; a name that is still to be made up ends in ``*``."""
    metadata = mapping(document, "metadata")
    made_up = f"{metadata['generateName']}*" if metadata.get("generateName") else "without a name"
    return f"{document.get('kind')} {metadata.get('name') or made_up}"


def _of_unknown_kind(document: Document) -> Found:
    """The pods of an object that has a template like a Deployment: of an Argo Rollout, for example."""
    version, kind = document.get("apiVersion"), document.get("kind")
    pod = _from_template(mapping(document, "spec", "template"), document)
    pod["metadata"]["ownerReferences"] = [
        _owner(str(version), str(kind), mapping(document, "metadata").get("name", ""))
    ]
    replicas = replicas_of({**document, "kind": "ReplicaSet"})
    note = f"{kind} of {version} is no kind that is known here: spec.template and {replicas.said} were judged"
    return Found(origin_of(document), pod, replicas, note)


def _from_template(template: Document, source: Document) -> Document:
    """The pod that is made of the template: without a name, in the namespace of the object that it stands in."""
    metadata = dict(mapping(template, "metadata"))
    name, namespace = mapping(source, "metadata").get("name", ""), mapping(source, "metadata").get("namespace")
    metadata["generateName"] = f"{name}-"
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def _owner(version: str, kind: str, name: object) -> Document:
    """The workload as the pod's controller: the ReplicaSet or Job between them has no name yet, and says no more."""
    return {"apiVersion": version, "kind": kind, "name": name, "uid": "", "controller": True}


def _elements(job: Document, name: str) -> Iterator[Found]:
    """One pod a processing element: its operators' clauses in one placement annotation."""
    for at, element in enumerate(sequence(mapping(job, "spec"), "processingElements")):
        pe = str(element.get("name") or f"{name}-{at}")
        template = mapping(element, "template")
        metadata = dict(mapping(template, "metadata"))
        metadata["labels"] = {**mapping(metadata, "labels"), keys.JOB: name, keys.PE: pe}
        placement = "; ".join(
            _said(operator) for operator in sequence(element, "operators") if operator.get("placement")
        )
        if placement:
            metadata["annotations"] = {**mapping(metadata, "annotations"), keys.PLACEMENT: placement}
        spec = template.get("spec") or {"containers": [dict(RUNTIME)]}
        pod = _from_template({"metadata": metadata, "spec": spec}, job)
        owner = _owner(STREAMS, "ProcessingElement", pe)
        pod["metadata"].update(generateName=f"{pe}-", ownerReferences=[owner])
        yield Found(f"Job {name}, processing element {pe}", pod)


def _said(operator: Document) -> str:
    """An operator's clauses, each with the operator's name where it has none; unparsable text as it is."""
    name, text = str(operator.get("name") or ""), str(operator["placement"])
    clauses, problems = parse_placement(text, "")
    if problems:
        return text
    return format_placement(replace(clause, operator=clause.operator or name) for clause in clauses)
