"""Where the pods of an object are described: pods themselves, templates of workloads, elements of Streams jobs."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.document import Document, mapping, sequence
from webhook.admission.replicas import replicas_of
from webhook.placement import keys
from webhook.placement.crowd import Replicas
from webhook.placement.spl import format_placement, parse_placement

STREAMS: Final = "streams.ibm.com/v1"

_TEMPLATES: Final[dict[tuple[str, str], tuple[tuple[str, ...], str]]] = {
    ("v1", "PodTemplate"): (("template",), ""),
    ("v1", "ReplicationController"): (("spec", "template"), "ReplicationController"),
    ("apps/v1", "Deployment"): (("spec", "template"), "ReplicaSet"),
    ("apps/v1", "ReplicaSet"): (("spec", "template"), "ReplicaSet"),
    ("apps/v1", "StatefulSet"): (("spec", "template"), "StatefulSet"),
    ("apps/v1", "DaemonSet"): (("spec", "template"), "DaemonSet"),
    ("batch/v1", "Job"): (("spec", "template"), "Job"),
    ("batch/v1", "CronJob"): (("spec", "jobTemplate", "spec", "template"), "Job"),
}
"""Version and kind to where the template is, and what kind of controller makes pods of it."""

RUNTIME: Final = {"name": "streams-runtime", "image": "streams-runtime"}
"""The container of a processing element whose Job does not say otherwise."""


class Found(Struct, frozen=True):
    """A pod that an object describes: ``origin`` says where, ``pod`` is the object to create, and how many of it."""

    origin: str
    pod: Document
    replicas: Replicas = Replicas()


def pods_of(document: Document, old: Document | None = None) -> Iterator[Found]:
    """The pods that an object describes: one for a pod or a workload, one an element for a Streams job.

    ``old`` is what the object was before, if it is being changed. An object of any other kind describes none. Parts
    that are not of the expected type are passed over: the API server refuses such an object itself.
    """
    version, kind = document.get("apiVersion"), document.get("kind")
    name = mapping(document, "metadata").get("name", "")
    if (version, kind) == ("v1", "Pod"):
        yield Found(f"Pod {name}", document)
    elif (version, kind) == (STREAMS, "Job"):
        yield from _elements(document, str(name))
    elif (version, kind) in _TEMPLATES:
        path, controller = _TEMPLATES[str(version), str(kind)]
        pod = _from_template(mapping(document, *path), document, controller)
        yield Found(f"{kind} {name}", pod, replicas_of(document, old))


def _from_template(template: Document, owner: Document, controller: str) -> Document:
    """The pod that a controller makes of the template: without a name, and owned."""
    metadata = dict(mapping(template, "metadata"))
    name, namespace = mapping(owner, "metadata").get("name", ""), mapping(owner, "metadata").get("namespace")
    metadata["generateName"] = f"{name}-"
    if namespace:
        metadata["namespace"] = namespace
    if controller:
        version = next((version for version, kind in _TEMPLATES if kind == controller), "v1")
        reference = {"apiVersion": version, "kind": controller, "name": name, "uid": "", "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


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
        pod = _from_template({"metadata": metadata, "spec": spec}, job, "")
        owner = {"apiVersion": STREAMS, "kind": "ProcessingElement", "name": pe, "uid": "", "controller": True}
        pod["metadata"].update(generateName=f"{pe}-", ownerReferences=[owner])
        yield Found(f"Job {name}, processing element {pe}", pod)


def _said(operator: Document) -> str:
    """An operator's clauses, each with the operator's name where it has none; unparsable text as it is."""
    name, text = str(operator.get("name") or ""), str(operator["placement"])
    clauses, problems = parse_placement(text, "")
    if problems:
        return text
    return format_placement(replace(clause, operator=clause.operator or name) for clause in clauses)
