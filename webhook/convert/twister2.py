"""Reads configurations of Twister2 for Kubernetes: worker mapping, uniform mapping, binding, and workers' resources.

The parameters become annotations of the workers' pods under their own names; without a workload to put these on, a
StatefulSet is made as Twister2 makes it (``docs/coming-from.md``).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from webhook.convert.findings import InputLine, Manifest, RefusedInputError, Remark, object_name
from webhook.convert.java_properties import read_properties
from webhook.convert.located_yaml import LocatedValue, located_documents, refused_at
from webhook.convert.source_text import SourceText
from webhook.placement.annotations.worker_mapping import read_mapping
from webhook.placement.kube.names import LABEL_VALUE, is_namespace
from webhook.placement.kube.quantity import NANO, parse_quantity
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import STATEFUL_SET
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import Problem, quote

_RESOURCE: Final = "twister2.resource."
_ANNOTATIONS: Final[Mapping[str, str]] = {
    key.removeprefix(keys.PREFIX): key
    for key in (
        keys.BIND, keys.MAPPED, keys.MAPPING_KEY, keys.MAPPING_OPERATOR, keys.MAPPING_VALUES, keys.MAPPING,
        keys.UNIFORM,
    )
}  # fmt: skip
"""Parameters that are annotations of the same name."""

_JOB: Final = "job.name"
_IMAGE: Final = "kubernetes.docker.image"
_NAMESPACE: Final = "kubernetes.namespace"
_PULL: Final = "kubernetes.image.pull.policy"
_RESOURCES: Final = "worker.compute.resources"
_USED: Final = frozenset({_JOB, _IMAGE, _NAMESPACE, _PULL, _RESOURCES})
_COMPUTE: Final = ("cpu", "ram", "disk", "instances", "workersPerPod", "scalable")
_PLACES: Final = ("rack", "datacenter", "node.locations")
"""Words of parameters about where nodes are, which Twister2 tells its workers."""

_HOST_LISTS: Final = frozenset(
    {"desired_nodes", "twister2.desired_nodes", "scheduler.mpi.nodes.file", "scheduler.slurm.partition"}
)
"""Parameters of Twister2 for Mesos, MPI and Slurm that say on which hosts workers run."""

_EVERYWHERE: Final = "all"
"""The value of ``desired_nodes`` that demands nothing."""

_OTHERS: Final = frozenset({"kubernetes.worker.base.port", "kubernetes.worker.transport.protocol"})
"""Parameters of Twister2 that look like misspelt ones of worker mapping."""

_ASSUMED_IMAGE: Final = "twister2/twister2-k8s"
_SWITCHES: Final = frozenset({keys.BIND, keys.MAPPED})
_PROPERTIES: Final = re.compile(r"^[ \t]*+[\w.]++[ \t]*+=", re.MULTILINE)
_COUNT_LIMIT: Final = 100_000


class Twister2Workers(Struct, frozen=True, gc=False):
    """The workers of a job: annotations of their pods, and what else the configuration says of them."""

    at: InputLine
    annotations: dict[str, str]
    settings: dict[str, LocatedValue]
    resources: tuple[dict[str, LocatedValue], ...] = ()


def read_twister2(source: SourceText) -> tuple[Twister2Workers, list[Remark]]:
    """The workers of a configuration, and remarks. Raises :class:`RefusedInputError`."""
    entries = _entries(source)
    remarks: list[Remark] = []
    annotations: dict[str, str] = {}
    lines: dict[str, InputLine] = {}
    settings: dict[str, LocatedValue] = {}
    for name, value in entries.items():
        short = name.removeprefix(_RESOURCE)
        if key := _ANNOTATIONS.get(short):
            if key in annotations:
                raise refused_at(value.at, f"{quote(name)} and {quote(short)} are the same parameter")
            annotations[key], lines[key] = _word(name, key, value), value.at
        elif short in _USED:
            settings[short] = _setting(name, short, value)
        else:
            remarks.append(_unused(name, value))
    problems = [_at_line(problem, lines, source) for problem in read_mapping(annotations).problems]
    if problems:
        raise RefusedInputError(*problems)
    resources = tuple(_compute(settings[_RESOURCES])) if _RESOURCES in settings else ()
    first = min(lines.values(), default=InputLine(source.name, 1))
    return Twister2Workers(first, annotations, settings, resources), remarks


def _setting(name: str, short: str, value: LocatedValue) -> LocatedValue:
    """The value of a parameter that manifests have a field for."""
    if short == _RESOURCES:
        return value
    if not value.text:
        raise refused_at(value.at, f"{quote(name)} must be one word")
    if short == _NAMESPACE and not is_namespace(value.text):
        raise refused_at(value.at, f"{quote(value.text)} is not a namespace name: a-z, 0-9 and '-'")
    return value


def _entries(source: SourceText) -> dict[str, LocatedValue]:
    """The parameters by name, of YAML or of Java properties; names may be written as nested mappings."""
    if _PROPERTIES.search(source.text):
        return read_properties(source)
    values: dict[str, LocatedValue] = {}
    for document in located_documents(source):
        if not document.fields:
            raise refused_at(
                document.at, "a configuration of Twister2 has parameters, such as kubernetes.namespace: test"
            )
        for name, value in _flat(document, ""):
            if name in values:
                raise refused_at(value.at, f"{quote(name)} occurs twice, first in line {values[name].at.line}")
            values[name] = value
    return values


def _flat(value: LocatedValue, prefix: str) -> Iterator[tuple[str, LocatedValue]]:
    for name, inner in value.fields.items():
        if inner.fields:
            yield from _flat(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, inner


def _word(name: str, key: str, value: LocatedValue) -> str:
    """The text of an annotation: a switch and a word as they are, a list as YAML has it."""
    if isinstance(value.value, list):
        if not all(isinstance(one.value, str) for one in value.items) or key != keys.MAPPING_VALUES:
            raise refused_at(
                value.at, f"{quote(name)} must be {'a list of words' if key == keys.MAPPING_VALUES else 'one word'}"
            )
        return f"[{', '.join(_quoted(one.text) for one in value.items)}]"
    text = value.text
    return text.lower() if key in _SWITCHES or key == keys.UNIFORM else text


def _quoted(text: str) -> str:
    plain = LABEL_VALUE.fullmatch(text) and text
    return text if plain else "'" + text.replace("'", "''") + "'"


def _unused(name: str, value: LocatedValue) -> Remark:
    """The remark about a parameter that has no part in placement. Raises :class:`RefusedInputError` if misspelt."""
    short = name.removeprefix(_RESOURCE)
    if short.startswith(("kubernetes.worker.", "kubernetes.bind.")) and short not in _OTHERS:
        meant = nearest(short, _ANNOTATIONS)
        if meant is not None:
            raise refused_at(value.at, f"unknown parameter {quote(name)} (did you mean {meant}?)")
    if short in _HOST_LISTS:
        hosts = ", ".join(one.text for one in value.items) or value.text
        if hosts == _EVERYWHERE:
            return Remark(value.at, f"{name} is left out", "it allows every host", "nothing is missing")
        why = "worker mapping selects nodes by their labels"
        instead = "label these nodes, and map the workers to the label"
        return Remark(value.at, f"{name} {hosts} is left out", why, instead, demand=True)
    if any(word in short for word in _PLACES):
        why = "workers learn from the cluster where their nodes are"
        return Remark(value.at, f"{name} is left out", why, "label the nodes topology.kubernetes.io/rack and zone")
    why = "it says nothing about where workers run"
    return Remark(value.at, f"{name} is left out", why, "give it to the program in the container")


def _at_line(problem: Problem, lines: Mapping[str, InputLine], source: SourceText) -> Problem:
    """The problem of an annotation at the line of the parameter that it is made of."""
    key = problem.field.partition("[")[2].partition("]")[0]
    at = lines.get(key) or lines.get(keys.MAPPED) or InputLine(source.name, 1)
    return Problem(str(at), f"{key.removeprefix(keys.PREFIX)}: {problem.message}", problem.text, problem.offset)


def _compute(listed: LocatedValue) -> Iterator[dict[str, LocatedValue]]:
    """The entries of ``worker.compute.resources``."""
    if not isinstance(listed.value, list):
        raise refused_at(
            listed.at, f"{_RESOURCE}{_RESOURCES} must be a list, such as [{{cpu: 1, ram: 1024, instances: 4}}]"
        )
    for entry in listed.items:
        if not entry.fields:
            raise refused_at(entry.at, "must be an entry such as {cpu: 1, ram: 1024, disk: 1.0, instances: 4}")
        for name, value in entry.fields.items():
            if name not in _COMPUTE:
                hint = nearest(name, _COMPUTE)
                raise refused_at(value.at, f"unknown field {quote(name)}{f' (did you mean {hint}?)' if hint else ''}")
        yield entry.fields


def workers_of(workers: Twister2Workers, stem: str) -> tuple[list[Manifest], list[Remark]]:
    """A StatefulSet for each of the compute resources, as Twister2 makes them, and remarks about what is assumed."""
    remarks: list[Remark] = []
    job = object_name(workers.settings[_JOB].text if _JOB in workers.settings else stem)
    if _IMAGE not in workers.settings:
        why = "the configuration does not say twister2.resource.kubernetes.docker.image"
        remarks.append(Remark(workers.at, f"the image {_ASSUMED_IMAGE}", why, "write yours, or use --onto WORKLOAD"))
    if not workers.resources:
        why = f"the configuration does not say {_RESOURCE}{_RESOURCES}"
        remarks.append(Remark(workers.at, "one worker without resources", why, "write yours, or use --onto WORKLOAD"))
    all_workers = []
    for place, resource in enumerate(workers.resources or ({},)):
        name = job if place == 0 else f"{job}-{place}"
        all_workers.append(_stateful_set(workers, name, job, resource))
        remarks += _looked_at(resource)
    if workers.annotations.get(keys.BIND) == "true":
        _check_binding(workers)
    return all_workers, remarks


def _looked_at(resource: Mapping[str, LocatedValue]) -> Iterator[Remark]:
    """Remarks about what Kubernetes does in another way than Twister2."""
    per_pod = resource.get("workersPerPod")
    if per_pod is not None and per_pod.text not in {"", "1"}:
        what = f"{per_pod.text} workers in a pod are as many containers"
        why = "mapping places pods, and each of them has this many workers"
        instead = "binding gives cores to the container worker only: for binding have one worker in a pod"
        yield Remark(per_pod.at, what, why, instead)
    if "disk" in resource:
        what, why = "the disk is a request for ephemeral-storage", "Twister2 mounts a volume of that size"
        yield Remark(resource["disk"].at, what, why, "mount a volume if it is to last")
    if "scalable" in resource:
        what, why = "scalable is left out", "a StatefulSet can always be scaled"
        yield Remark(resource["scalable"].at, what, why, "use kubectl scale")


def _check_binding(workers: Twister2Workers) -> None:
    """Refuse workers with a fraction of a core: Kubernetes binds whole cores."""
    for resource in workers.resources:
        if (cpu := resource.get("cpu")) and (parse_quantity(cpu.text) or 0) % NANO:
            raise refused_at(
                cpu.at, f"cpu {quote(cpu.text)} is not a whole number, and workers that are bound have whole cores"
            )


def _stateful_set(workers: Twister2Workers, name: str, job: str, resource: Mapping[str, LocatedValue]) -> Manifest:
    metadata: dict[str, Any] = {"name": name}
    if _NAMESPACE in workers.settings:
        metadata["namespace"] = workers.settings[_NAMESPACE].text
    labels = {"app": name, keys.JOB: job}
    image = workers.settings[_IMAGE].text if _IMAGE in workers.settings else _ASSUMED_IMAGE
    container: dict[str, Any] = {"name": "worker", "image": image}
    if _PULL in workers.settings:
        container["imagePullPolicy"] = workers.settings[_PULL].text
    if amounts := _amounts(resource):
        bound = workers.annotations.get(keys.BIND) == "true"
        container["resources"] = {"requests": amounts, **({"limits": dict(amounts)} if bound else {})}
    count = _number(resource, "workersPerPod", 1)
    containers = [{**container, "name": "worker" if at == 0 else f"worker-{at}"} for at in range(count)]
    annotations = {**workers.annotations, **({keys.CONTAINER: "worker"} if count > 1 else {})}
    return {
        "apiVersion": STATEFUL_SET.api_version,
        "kind": STATEFUL_SET.name,
        "metadata": metadata,
        "spec": {
            "replicas": _number(resource, "instances", 1),
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": labels, **({"annotations": annotations} if annotations else {})},
                "spec": {"containers": containers},
            },
        },
    }


def _number(resource: Mapping[str, LocatedValue], name: str, absent: int) -> int:
    value = resource.get(name)
    if value is None:
        return absent
    limit = _COUNT_LIMIT if name == "instances" else 64
    text = value.text
    if text.isascii() and text.isdigit() and len(text) <= len(str(limit)) and 1 <= int(text) <= limit:
        return int(text)
    raise refused_at(value.at, f"{name} is {quote(text)}, which is not a whole number from 1 to {limit}")


def _amounts(resource: Mapping[str, LocatedValue]) -> dict[str, str]:
    """The resources of a worker; Twister2 counts memory and disk in binary units."""
    amounts: dict[str, str] = {}
    for name, kind, unit in (("cpu", "cpu", ""), ("ram", "memory", "Mi"), ("disk", "ephemeral-storage", "Gi")):
        value = resource.get(name)
        if value is None:
            continue
        text = value.text + unit
        nano = parse_quantity(text)
        if nano is None or nano < 0 or not value.text[-1:].isdigit():
            raise refused_at(value.at, f"{name} is {quote(value.text)}, which is not an amount")
        if nano:
            amounts[kind] = text
    return amounts
