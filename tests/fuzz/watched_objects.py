"""Objects that servers and controllers read from the API server never crash them, no matter who wrote them."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

import yaml
from msgspec import Raw

from kubeapi.client import decoding
from tests.builders import cluster, nodes, pod, pool, review
from tests.controller.admissionchecks.checked_cluster import APART, condition, pod_set
from tests.fuzz.oracles import said, sayable
from tests.fuzz.seeds import EXAMPLES, compact, files
from webhook.admission.mutate import mutate
from webhook.cluster.objects import items
from webhook.cluster.objects.kinds import KINDS, NODE_GROUPS, STORAGE, AnyKind
from webhook.cluster.objects.metadata import MalformedError
from webhook.controller.admissionchecks.pod_sets import PodSetUpdate, read_flavor, read_pod_sets
from webhook.controller.admissionchecks.records import read_check, read_workload
from webhook.controller.admissionchecks.workload_slice import read_slice
from webhook.controller.provisioningrequests.stored_request import CLASS, owner_uid, read_request
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy

_KINDS: Final[tuple[AnyKind, ...]] = (*KINDS, *NODE_GROUPS, *STORAGE)
"""The first byte of an input chooses one."""

_POLICY: Final = Policy(scale_up="auto")

_CLAIMS: Final = [{"name": "one", "resourceClaimName": "a"}, {"name": "two", "resourceClaimTemplateName": "a"}]
_VOLUMES: Final = [{"name": "data", "persistentVolumeClaim": {"claimName": "a"}}]
_ASKED: Final = tuple(
    review(each)
    for each in (
        pod("host(P)", pe="parallel-1"),
        pod("hostIsolation", requests={"cpu": "7", "nvidia.com/gpu": "1"}),
        pod('hostExlocation("a")', resourceClaims=_CLAIMS, volumes=_VOLUMES, runtimeClassName="a"),
    )
)
"""Reviews of pods that the objects of an input may be about."""


def watched(data: bytes) -> None:
    """An object is read, or it is said why not; once it is gone, pods get the answers that they had before."""
    kind, item = _KINDS[data[0] % len(_KINDS)] if data else _KINDS[0], Raw(data[1:])
    try:
        value, notes = kind.read(item)
    except (MalformedError, *decoding.ERRORS) as error:
        said(error)
        return
    assert all(notes)
    if value is None:
        return
    inventory = cluster(nodes(2), pools=[pool("P")])
    before = _answers(inventory) if kind.api.name not in {"Node", "HostPool"} else []
    kind.put(inventory, value)
    _answers(inventory)
    identity = items.identity(item)
    key = kind.key(identity) if identity.name else kind.value_key(value)  # the API server has no uid that is null
    assert key == kind.value_key(value), f"{kind.value_key(value)} is read, and is dropped as {key}"
    kind.drop(inventory, key)
    assert _answers(inventory)[: len(before)] == before


def _answers(inventory: Inventory) -> list[bytes]:
    found = [mutate(body, inventory, _POLICY) for body in _ASKED]
    assert all(each.status == 200 for each in found)
    return [each.body for each in found]


def queued(data: bytes) -> None:
    """A Workload, an AdmissionCheck, a ResourceFlavor or a ProvisioningRequest is read, or it is said why not."""
    item = Raw(data)
    for read in (read_workload, read_check, read_request, owner_uid):
        _read(read, item)
    _read(lambda text: read_slice(bytes(text)), item)
    flavor = _read(lambda text: read_flavor(bytes(text)), item) or PodSetUpdate()
    sets = _read(lambda text: read_pod_sets(bytes(text)), item)
    if sets is None:
        return
    assert sets.growing(sets).live == sets.live
    found = sets.pods(dict.fromkeys(sets.flavors, flavor))
    if isinstance(found, tuple):
        sayable(found)


def _read(read: Callable[[Raw], Any], item: Raw) -> Any:
    """What is read; ``None`` if it is said why not."""
    try:
        return read(item)
    except (MalformedError, *decoding.ERRORS) as error:
        said(error)
        return None


def watched_seeds() -> Iterator[bytes]:
    """Objects of the examples as what they are, and one of each kind that says nothing but its name."""
    for at, kind in enumerate(_KINDS):
        head = {"apiVersion": kind.api.api_version, "kind": kind.name}
        yield bytes([at]) + compact({**head, "metadata": {"name": "a", "namespace": "default", "uid": "u"}})
        for found in _examples():
            if (found.get("apiVersion"), found.get("kind")) == (kind.api.api_version, kind.name):
                yield bytes([at]) + compact(found)


def queued_seeds() -> Iterator[bytes]:
    """A Workload that waits, one that is admitted with a flavor, a flavor, a check and a request."""
    metadata = {"name": "w", "namespace": "default", "uid": "u", "resourceVersion": "1", "generation": 1}
    checks = [{"name": "placement", "state": "Pending", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    spec = {"podSets": [pod_set(count=2, placement=APART), pod_set("other", 3)], "active": True}
    assigned = [{"name": "main", "flavors": {"cpu": "a"}, "count": 2}, {"name": "other", "flavors": {"cpu": "a"}}]
    waits = {"admissionChecks": checks, "conditions": [condition("QuotaReserved")]}
    update = {"name": "main", "nodeSelector": {"a": "b"}, "labels": {"c": "d"}, "tolerations": [{"operator": "Exists"}]}
    admitted = {
        "admission": {"clusterQueue": "q", "podSetAssignments": assigned},
        "admissionChecks": [{**checks[0], "state": "Ready", "podSetUpdates": [update]}],
        "conditions": [condition("QuotaReserved"), condition("Admitted"), condition("Evicted", "False")],
        "reclaimablePods": [{"name": "main", "count": 1}],
        "requeueState": {"count": 1, "requeueAt": "2026-01-01T00:00:00Z"},
    }
    for status in (waits, admitted, {}):
        yield compact({"apiVersion": "kueue.x-k8s.io/v1", "metadata": metadata, "spec": spec, "status": status})
    yield compact({"metadata": metadata, "spec": {"nodeLabels": {"a": "b"}, "tolerations": [{"key": "x"}]}})
    yield compact({"metadata": metadata, "spec": {"controllerName": "x", "parameters": {"name": "y"}}})
    owner = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    asked = {"provisioningClassName": CLASS, "podSets": [{"count": 2, "podTemplateRef": {"name": "t"}}]}
    for kind in ("Accepted", "Provisioned", "Failed", "CapacityRevoked"):
        status = {"conditions": [condition("Accepted"), condition(kind)]}
        yield compact({"metadata": {**metadata, "ownerReferences": [owner]}, "spec": asked, "status": status})


@functools.cache
def _examples() -> tuple[dict[str, Any], ...]:
    """Objects of all example files, also those of lists."""
    objects: list[dict[str, Any]] = []
    for content in files(EXAMPLES, ".yaml"):
        try:
            documents = list(yaml.load_all(content, Loader=yaml.CSafeLoader))
        except yaml.YAMLError:  # an example of a broken file
            continue
        for found in documents:
            if isinstance(found, dict):
                objects += found["items"] if isinstance(found.get("items"), list) else [found]
    return tuple(objects)
