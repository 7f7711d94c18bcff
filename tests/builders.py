"""Minimal valid objects with one keyword per tweak: a cluster, its parts, pods and the reviews that carry them."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.decision.decision import Decision, decide
from webhook.placement.inventory.guests import Guests
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import LabelSelector, NodeTerm, Pod, Requirement, Toleration
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import Guest, NodeDemand, PodInfo
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text import keys

NAMESPACE = "default"
JOB = "parallel"
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"
GIB = 2**30
GATES: list[dict[str, str]] = [{"name": "example.com/wait"}]

BY_DAEMON_SETS = {"username": "system:serviceaccount:kube-system:daemon-set-controller"}
"""Who makes the pods of DaemonSets."""

OUTRIGHT = {keys.HOST_BINDING: "nodeName"}
"""The annotation of a pod that is to be bound by ``nodeName``, whatever that drops."""

Json = dict[str, Any]


def node(
    name: str = "node-a",
    *,
    labels: Mapping[str, str] = {},
    taints: Iterable[Taint] = (),
    addresses: Iterable[str] = (),
    hostname: str | None = "",
    uid: str | None = None,
    **allocatable: int,
) -> Node:
    """A ready node of 8 cores, 32 GiB and 110 pods; ``hostname=None`` leaves it without the label."""
    own = {} if hostname is None else {keys.HOSTNAME: hostname or name}
    offers = {"cpu": 8000, "memory": 32 * GIB, "pods": 110} | allocatable
    uid = f"uid-of-{name}" if uid is None else uid
    return Node(name, uid, {**own, **labels}, tuple(taints), tuple(addresses), offers)


def nodes(count: int, **tweaks: Any) -> list[Node]:
    """Equal nodes ``node-a``, ``node-b``, ..."""
    return [node(f"node-{chr(ord('a') + at)}", **tweaks) for at in range(count)]


def bound_pod(
    on: str = "node-a",
    *,
    pe: str = "parallel-1",
    job: str = JOB,
    namespace: str = NAMESPACE,
    uid: str = "",
    requests: Mapping[str, int] = {},
    pools: Iterable[str] = (),
    labels: Mapping[str, str] = {},
    isolated: Iterable[str] = (),
    terminating: bool = False,
    owner: str = "",
    guards: Iterable[str] = (),
    repels: Iterable[tuple[str, str]] = (),
    guest: Guest | None = None,
) -> PodInfo:
    """A live pod of another element of the same job, which requests nothing but its place."""
    uid = uid or f"uid-of-{job}-{pe}-{on}"
    needs = {"pods": 1} | dict(requests)
    return PodInfo(
        uid,
        namespace,
        on,
        needs,
        job,
        pe,
        tuple(pools),
        dict(labels),
        tuple(isolated),
        terminating,
        owner,
        guards=tuple(guards),
        repels=tuple(repels),
        guest=guest,
    )


def sleeper(
    *tolerations: Toleration,
    name: str = "sleeper",
    job: str = "",
    namespace: str = NAMESPACE,
    pools: Iterable[str] = (),
    terms: Iterable[NodeTerm] | None = None,
    terminating: bool = False,
) -> PodInfo:
    """A pod that waits for a node and tolerates this; every taint, if nothing is said."""
    tolerates = tolerations or (Toleration(operator="Exists"),)
    demand = NodeDemand(name, terms=None if terms is None else tuple(terms), tolerates=tolerates)
    waiting = bound_pod("", job=job, uid=f"uid-of-{name}", namespace=namespace, pools=pools, terminating=terminating)
    return replace(waiting, demand=demand)


def pool(
    spl_name: str = "MyPool",
    *,
    name: str | None = None,
    namespace: str = NAMESPACE,
    job: str | None = None,
    hosts: Iterable[str] | None = None,
    size: int | None = None,
    tags: Iterable[str] = (),
    selector: LabelSelector | None = None,
    devices: Iterable[DescribedDevices] = (),
    mode: Literal["Shared", "Exclusive"] = "Shared",
    elastic: bool = False,
    phase: Phase = Phase.READY,
    assigned: Iterable[str] = (),
    reason: str = "",
) -> Pool:
    """A shared pool that is ready; ``assigned`` are the names of its hosts by index."""
    return Pool(
        namespace,
        spl_name.lower() if name is None else name,
        spl_name,
        job=job,
        hosts=None if hosts is None else tuple(hosts),
        size=size,
        tags=tuple(tags),
        selector=selector,
        devices=tuple(devices),
        mode=mode,
        elastic=elastic,
        phase=phase,
        assigned=tuple(PoolHost(at, host, f"uid-of-{host}") for at, host in enumerate(assigned)),
        reason=reason,
    )


def job(elements: Mapping[str, str | Mapping[str, str]], *, name: str = JOB, namespace: str = NAMESPACE) -> StreamsJob:
    """A Job object: element name to the placement of its one operator, or to operators and their placements."""
    by_name = (
        Element(pe, tuple(({"": said} if isinstance(said, str) else said).items())) for pe, said in elements.items()
    )
    return StreamsJob(namespace, name, tuple(by_name))


def cluster(
    nodes: Iterable[Node] = (),
    pools: Iterable[Pool] = (),
    pods: Iterable[PodInfo] = (),
    jobs: Iterable[StreamsJob] = (),
    *,
    spared: Collection[str] | None = None,
    guests: Guests | None = None,
) -> Inventory:
    """An inventory of these objects."""
    inventory = Inventory(spared, guests)
    for one_node in nodes:
        inventory.set_node(one_node)
    for one_pool in pools:
        inventory.set_pool(one_pool)
    for one_pod in pods:
        inventory.set_pod(one_pod)
    for one_job in jobs:
        inventory.set_job(one_job)
    return inventory


def pod(
    placement: str | None = None,
    *,
    job: str | None = JOB,
    pe: str | None = "parallel-0",
    annotations: Mapping[str, str] = {},
    labels: Mapping[str, str] = {},
    owner: str | None = None,
    requests: Mapping[str, str] = {},
    **spec: Any,
) -> Json:
    """A pod as JSON: of a job's element, with one container; ``owner`` is the kind of its controller."""
    said = {} if placement is None else {keys.PLACEMENT: placement}
    own = {keys.JOB: job, keys.PE: pe}
    metadata: Json = {
        "generateName": "parallel-0-",
        "namespace": NAMESPACE,
        "labels": {key: value for key, value in own.items() if value is not None} | dict(labels),
        "annotations": said | dict(annotations),
    }
    metadata = {key: value for key, value in metadata.items() if value}
    if owner:
        metadata["ownerReferences"] = [owner_reference(owner)]
    container: Json = {"name": "runtime", "image": "streams-runtime:6", "resources": {}}
    if requests:
        container["resources"] = {"requests": dict(requests)}
    body = {"containers": [container], "restartPolicy": "Never", **spec}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": body, "status": {}}


def owner_reference(kind: str, version: str = "") -> Json:
    """The controller of an object; a DaemonSet is one of Kubernetes' own."""
    version = version or ("apps/v1" if kind == "DaemonSet" else "v1")
    return {"apiVersion": version, "kind": kind, "name": "o", "uid": "u", "controller": True}


def typed(found: Json) -> Pod:
    """The pod as the core reads it."""
    return msgspec.convert(found, Pod)


def asked(found: Json, inventory: Inventory, policy: Policy | None = None) -> Ask:
    """What a pod asks for, whatever is wrong with it."""
    return read(typed(found), NAMESPACE, World(inventory, policy or Policy()))[0]


def decided(found: Json, inventory: Inventory, policy: Policy | None = None) -> Decision:
    """What becomes of a pod."""
    return decide(typed(found), NAMESPACE, World(inventory, policy or Policy()))


def selector(key: str, operator: str, *values: str) -> LabelSelector:
    """A selector of one expression."""
    return LabelSelector(match_expressions=(Requirement(key, operator, values or None),))


def review(
    found: object,
    operation: str = "CREATE",
    *,
    old: object = None,
    kind: str = "Pod",
    group: str = "",
    subresource: str | None = None,
    namespace: str = NAMESPACE,
    uid: object = UID,
    **fields: object,
) -> bytes:
    """The bytes that an API server sends: compact, its order of fields, ``fields`` of the request replaced or added."""
    what = {"group": group, "version": "v1", "kind": kind}
    where = {"group": group, "version": "v1", "resource": f"{kind.lower()}s"}
    request: Json = {"uid": uid, "kind": what, "resource": where}
    request |= {} if subresource is None else {"subResource": subresource}
    request |= {"requestKind": what, "requestResource": where, "namespace": namespace, "operation": operation}
    request |= {"userInfo": {"username": "alice", "groups": ["system:authenticated"]}, "object": found}
    request |= {"oldObject": old, "dryRun": False, "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}}
    return envelope(request | fields)


def envelope(request: object, **fields: object) -> bytes:
    """An AdmissionReview around a request, compact; ``fields`` replaced or added."""
    whole = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request} | fields
    try:
        return msgspec.json.encode(whole) + b"\n"
    except (UnicodeEncodeError, OverflowError):  # lone surrogates, and numbers of more than 64 bits
        pass
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
