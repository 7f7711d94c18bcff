"""Puts what an input demands on pods and workloads that a user gives, as annotations (``docs/coming-from.md``).

An annotation that is there with another value is never replaced: that would lose what another author wrote.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import yaml

from webhook.admission.checks.templates import is_job, origin_of, pod_metadata, pods_of
from webhook.convert.emco import REPLICAS, EmcoConsumer, EmcoIntent, requirement_fields
from webhook.convert.findings import InputLine, Manifest, RefusedInputError, Remark
from webhook.convert.streams_application import StreamsApplication
from webhook.convert.streams_job import StreamsElement, fused
from webhook.convert.twister2 import Twister2Workers
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.spl.placement import format_placement, parse_placement
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

_OF_A_JOB: Final = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION})
"""Clauses that count within a job, by the pods' label."""


class Targets:
    """Objects of the user's manifests, to which annotations are added; ``documents`` has them in their order."""

    def __init__(self, documents: Sequence[tuple[str, Manifest]]) -> None:
        self.documents = [(file, copy.deepcopy(document)) for file, document in documents]
        self._pods = [
            (file, document) for file, document in self.documents if not is_job(document) and any(pods_of(document))
        ]
        if not self._pods:
            message = "no pod or workload to annotate"
            raise RefusedInputError(Problem(documents[0][0] if documents else "--onto", message))

    def put_streams(self, application: StreamsApplication, job: str) -> Iterator[Remark]:
        """Put the clauses of each processing element on the pods that are named after it, or on the only ones."""
        elements = [(f"{job}-{place}", element) for place, element in enumerate(fused(application))]
        chosen = [(target, [one for name, one in elements if _is_of(target[1], name, one)]) for target in self._pods]
        if len(self._pods) == 1 and not chosen[0][1]:
            chosen = [(self._pods[0], [one for _, one in elements])]
        for target, own in chosen:
            self._put_elements(target, own, job)
        known = {id(one) for _, own in chosen for one in own}
        for name, element in elements:
            if id(element) not in known and element.clauses:
                yield _unplaced(
                    element.operators[0].at, f"processing element {_title(name, element)}", "streams.ibm.com/pe"
                )
            for operator in element.operators:
                if not operator.restartable:
                    why = "the pod's own restartPolicy decides whether it is restarted"
                    what = f"restartable: false of {operator.name} is left out"
                    yield Remark(operator.at, what, why, "set restartPolicy: Never")

    def _put_elements(self, target: tuple[str, Manifest], elements: Sequence[StreamsElement], job: str) -> None:
        clauses = [clause for element in elements for clause in element.clauses]
        if not clauses:
            return
        text = format_placement(clauses)
        self._put(target, {keys.PLACEMENT: text})
        at = elements[0].operators[0].at
        problems = [Problem(str(at), one.message) for one in parse_placement(text, "")[1]]
        if problems:
            raise RefusedInputError(*problems)
        if any(clause.name in _OF_A_JOB for clause in clauses):
            _metadata(target[1]).setdefault("labels", {}).setdefault(keys.JOB, job)

    def put_workers(self, workers: Twister2Workers, job: str) -> Iterator[Remark]:
        """Put the parameters of worker mapping and binding on all pods."""
        for target in self._pods:
            self._put(target, workers.annotations)
            if keys.UNIFORM in workers.annotations:
                _metadata(target[1]).setdefault("labels", {}).setdefault(keys.JOB, job)
        for name, value in workers.settings.items():
            why = "the workload says so itself"
            yield Remark(value.at, f"{name} is left out", why, "compare it with the workload")

    def put_intents(self, intents: Sequence[EmcoIntent]) -> Iterator[Remark]:
        """Put the requirements of each consumer on its workload."""
        for intent in intents:
            for consumer in intent.consumers:
                consumers = [target for target in self._pods if _is_consumer(target[1], consumer)]
                if (count := consumer.workload.get(REPLICAS)) is not None:
                    what = f"replicas {count} of consumer {consumer.name} is left out"
                    why = "the workload defines the number of pods"
                    yield Remark(consumer.at, what, why, "set spec.replicas there")
                if not consumer.requirements:
                    continue
                if not consumers:
                    what = f"consumer {consumer.name} of intent {intent.name}"
                    yield _unplaced(consumer.at, what, "the kind and name of a workload")
                for target in consumers:
                    self._put(target, {keys.HARDWARE: _requirements(consumer)})

    @staticmethod
    def _put(target: tuple[str, Manifest], annotations: Mapping[str, str]) -> None:
        file, document = target
        own = _metadata(document).setdefault("annotations", {})
        for key, text in annotations.items():
            if own.setdefault(key, text) != text:
                message = (
                    f"{origin_of(document)} has the annotation {key} already, with another value: take it out first"
                )
                raise RefusedInputError(Problem(file, message))


def _unplaced(at: InputLine, what: str, by: str) -> Remark:
    """The remark that no object is the one that a demand is about."""
    why = f"no pod or workload of --onto is it, by {by}"
    return Remark(at, f"{what} is left out", why, "add it to the manifests of --onto", demand=True)


def _title(name: str, element: StreamsElement) -> str:
    return f"{name} ({', '.join(one.name for one in element.operators[:3])})"


def _metadata(document: Manifest) -> dict[str, Any]:
    """The metadata of the pods that the object describes; created if absent."""
    metadata_parent = document
    for part in pod_metadata(document).split("."):
        inner = metadata_parent.get(part)
        if not isinstance(inner, dict):
            inner = metadata_parent[part] = {}
        metadata_parent = inner
    for part in ("annotations", "labels"):
        if part in metadata_parent and not isinstance(metadata_parent[part], dict):
            del metadata_parent[part]
    return metadata_parent


def _is_of(document: Manifest, name: str, element: StreamsElement) -> bool:
    """Whether the pods are those of a processing element: by the label of its name, or by the object's own name."""
    labels = _metadata(document).get("labels") or {}
    own = document.get("metadata")
    named = {labels.get(keys.PE), own.get("name") if isinstance(own, dict) else None}
    return not named.isdisjoint({name, *(operator.name for operator in element.operators)})


def _is_consumer(document: Manifest, consumer: EmcoConsumer) -> bool:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    stated = (document.get("apiVersion"), document.get("kind"), name)
    return stated == tuple(map(consumer.workload.get, ("apiVersion", "kind", "name")))


def _requirements(consumer: EmcoConsumer) -> str:
    """The requirements as the text of an annotation; those that are allocatable name the consumer's container."""
    container = consumer.workload.get("container-name")
    requirements = []
    for requirement in consumer.requirements:
        spec = dict(requirement.spec)
        named = "container-name" in spec or "container" in spec or "value" in spec
        if container and not named:
            spec["container-name"] = container
        fields = requirement_fields(requirement)
        requirements.append({**fields, "spec": spec} if "spec" in fields else spec)
    return yaml.safe_dump(requirements, sort_keys=False)
