"""Objects of Streams in the generated cluster: host pools, jobs, and the placements of processing elements."""

from collections.abc import Iterator
from typing import Any

from bench.generated.topology import (
    CLOSED,
    ELEMENTS,
    NAMESPACE,
    SEVERAL,
    SEVERAL_TAGS,
    SIZED,
    TAGGED,
    Topology,
    node_name,
    uid,
)
from webhook.placement.constraints.pods.isolation import isolation_label
from webhook.placement.text import keys

MODELS = 50
"""Job objects at most; the jobs with an even number have one, the others only pods."""

NEW_ELEMENTS = 10
"""Elements of a job's model that have no pod yet: the ones that reviews ask about."""

SINK = "Sink"
"""The operator with ``hostIsolation`` that every job has."""

_ISOLATED = 10
"""The element of that operator."""


def job_name(job: int) -> str:
    """A job's name."""
    return f"pipeline-{job:04d}"


def element_name(element: int) -> str:
    """A processing element's name."""
    return f"parallel-{element}"


def placement(job: int, element: int) -> str:
    """What a processing element says; some say nothing."""
    if element == 0:
        return f"Source: host(Tagged{job % TAGGED})"
    if element in range(1, 6):
        return 'hostExlocation("apart")' + (f", host(Several{job % SEVERAL})" if element < 3 else "")
    if element in range(6, 10):
        return 'hostColocation("together")'
    if element == _ISOLATED:
        return f"{SINK}: hostIsolation"
    return f"host(Tagged{(job + element) % TAGGED})" if element % 2 else ""


def element_labels(job: int, element: int) -> dict[str, str]:
    """The labels of an element's pod: its own, and those that the webhook gave it."""
    labels = {"app.kubernetes.io/name": "streams", keys.JOB: job_name(job), keys.PE: element_name(element)}
    if element in range(1, 6):
        labels[keys.EXLOCATION + keys.digest("apart")] = "apart"
    if element in range(6, 10):
        labels[keys.COLOCATION + keys.digest("together")] = "together"
    if element != _ISOLATED:
        labels |= [isolation_label(SINK)]
    return labels


def job_objects(jobs: int) -> Iterator[dict[str, Any]]:
    """The jobs that have a Job object."""
    for job in range(0, min(jobs, 2 * MODELS), 2):
        elements = [
            {"name": element_name(element), "operators": [{"name": "Work", "placement": placement(job, element)}]}
            for element in range(ELEMENTS + NEW_ELEMENTS)
        ]
        yield _object("Job", job_name(job), uid(4, job), {"processingElements": elements})


def pool_objects(shape: Topology) -> Iterator[dict[str, Any]]:
    """All host pools: with one tag, with two, with a size and all hosts given, and exclusive ones."""
    for at in range(TAGGED):
        yield _pool(f"tagged-{at}", f"Tagged{at}", {"tags": [f"kind-{at}"]})
    for at in range(SEVERAL):
        yield _pool(f"several-{at}", f"Several{at}", {"tags": list(SEVERAL_TAGS[at])})
    for at in range(SIZED):
        yield _given(f"sized-{at}", f"Sized{at}", "Shared", shape)
    for at in range(CLOSED):
        yield _given(f"closed-{at}", f"Closed{at}", "Exclusive", shape)


def _given(name: str, spl_name: str, mode: str, shape: Topology) -> dict[str, Any]:
    hosts = [
        {"index": place, "name": node_name(index), "uid": uid(1, index)}
        for place, index in enumerate(shape.hosts[name])
    ]
    condition = {"type": "Ready", "status": "True", "reason": "Complete", "message": "all hosts are given"}
    status = {"phase": "Ready", "hosts": hosts, "eligible": len(hosts), "conditions": [condition]}
    return _pool(name, spl_name, {"mode": mode, "size": len(hosts)}) | {"status": status}


def _pool(name: str, spl_name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return _object("HostPool", name, uid(5, sum(name.encode())), {"name": spl_name, **spec})


def _object(kind: str, name: str, identity: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {
        "creationTimestamp": "2026-01-01T00:00:00Z", "name": name, "namespace": NAMESPACE, "uid": identity,
    }  # fmt: skip
    return {"apiVersion": "streams.ibm.com/v1", "kind": kind, "metadata": metadata, "spec": spec}
