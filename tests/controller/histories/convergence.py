"""What must be so when nothing has happened for a while."""

from collections.abc import Iterator
from typing import Any

import msgspec

from tests.apiserver.paths import NODES, PODS, POOLS
from tests.apiserver.storage import Storage
from tests.controller.histories.random_cluster import own_labels
from webhook.cluster.objects import wire
from webhook.cluster.objects.custom_resources import pool
from webhook.cluster.objects.nodes import node
from webhook.cluster.objects.pods import bound_pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_spec import HostPoolSpec
from webhook.placement.pools.allocation import is_user
from webhook.placement.pools.pool_plan import plan
from webhook.placement.text import keys

Json = dict[str, Any]
Index = int
Host = tuple[str, str]


def at_rest(kube: Storage, *, long: bool = False) -> Iterator[str]:
    """Everything that is wrong with a cluster in which nothing has happened for a while, or for a ``long`` one."""
    cluster = truth(kube)
    expected: dict[str, set[tuple[str, ...]]] = {each["metadata"]["name"]: set() for each in kube.all(NODES)}
    exclusive: dict[str, str] = {}
    leaving = set[str]()
    for each in kube.all(POOLS):
        found = pool_of(each)
        yield from _of_a_pool(each, found, cluster)
        if each["metadata"].get("deletionTimestamp"):
            leaving |= {keys.membership(found.namespace, found.name), keys.exclusive(found.namespace, found.name)}
            continue
        if long and found.sized and not each["metadata"].get("finalizers"):
            yield f"{name_of(each)} is not held"
        for index, (name, uid) in hosts(each).items():
            if name not in expected or kube.node(name)["metadata"]["uid"] != uid:
                yield f"{name_of(each)} has the host {name} {uid}, which is gone"
                continue
            expected[name].add((keys.membership(found.namespace, found.name), str(index)))
            if found.exclusive:
                expected[name].add((keys.EXCLUSIVE, keys.exclusive(found.namespace, found.name), "NoSchedule"))
                if exclusive.setdefault(name, name_of(each)) != name_of(each):
                    yield f"{name} is in {exclusive[name]} and in {name_of(each)}"
    for name, wanted in expected.items():
        carried = {mark for mark in marks_of(kube.node(name)) if leaving.isdisjoint(mark)}
        if carried != wanted:
            yield f"{name} carries {carried} instead of {wanted}"


def _of_a_pool(each: Json, found: Pool, cluster: Inventory) -> Iterator[str]:
    status = each.get("status") or {}
    said = {condition["type"]: condition for condition in status.get("conditions", ())}
    told = f"{name_of(each)} ({each['spec']}) says {status}"
    if each["metadata"].get("deletionTimestamp"):
        pods = (
            *cluster.leaving.values(),
            *(pod for _, job in cluster.jobs_with_pods() for _, pod in job.pods.values()),
        )
        if not any(is_user(pod, found, cluster) for pod in pods):
            yield f"{told}, and waits for nobody"
        return
    if not found.sized:
        if (phase_of(each), said.get("Ready", {}).get("reason")) != ("Ready", "Unsized"):
            yield f"{told}, and is unsized"
        return
    yield from _of_a_sized_pool(each, found, cluster, told)


def _of_a_sized_pool(each: Json, found: Pool, cluster: Inventory, told: str) -> Iterator[str]:
    status = each.get("status") or {}
    said = {condition["type"]: condition for condition in status.get("conditions", ())}
    best = plan(found, cluster, Policy())
    complete = len(status.get("hosts", ())) == (len(found.hosts) if found.hosts is not None else found.size)
    taken = bool(hosts(each)) and all(_is_another_s(name, found, cluster) for name, _ in hosts(each).values())
    if taken != (said.get("Ready", {}).get("reason") == "HostsTaken"):
        yield f"{told}, and {'all' if taken else 'not all'} of them are another pool's"
        return
    degraded = said.get("Degraded", {}).get("status") == "True"
    waits = bool(best.reason) and not status.get("hosts")
    match phase_of(each), said.get("Ready", {}).get("reason"):
        case "Failed", "HostsTaken":
            right = True
        case "Ready", "HostsAssigned":
            right = complete or (degraded and bool(best.reason))
        case "Failed", "NotEnoughNodes":
            right = waits and not _may_come(found, cluster)
        case "Pending", "WaitingForNodes":
            right = waits and _may_come(found, cluster)
        case _:
            right = False
    if not right:
        yield f"{told}, and could have {best}"


def _is_another_s(name: str, found: Pool, cluster: Inventory) -> bool:
    there, own = cluster.nodes.get(name), keys.exclusive(found.namespace, found.name)
    taints = there.taints if there else ()
    hard = {"NoSchedule", "NoExecute"}
    return any(each.key == keys.EXCLUSIVE and each.value != own and each.effect in hard for each in taints)


def _may_come(pool: Pool, cluster: Inventory) -> bool:
    """Whether nodes may come for the pool, or only have to recover."""
    later = cluster.recovered()
    return pool.elastic or (later is not None and not plan(pool, later, Policy()).reason)


def truth(kube: Storage) -> Inventory:
    """What there is."""
    inventory = Inventory()
    for each in kube.all(NODES):
        inventory.set_node(node(msgspec.convert(each, wire.NodeObject))[0])
    for each in kube.all(POOLS):
        inventory.set_pool(pool_of(each))
    for each in kube.all(PODS):
        found = bound_pod(msgspec.convert(each, wire.PodObject))[0]
        if found is not None:
            inventory.set_pod(found)
    return inventory


def hosts(each: Json) -> dict[Index, Host]:
    stated = (each.get("status") or {}).get("hosts") or ()
    return {host["index"]: (host.get("name", ""), host.get("uid", "")) for host in stated}


def pool_of(each: Json) -> Pool:
    """The pool, whatever its status says if that is none."""
    try:
        return pool(msgspec.convert(each, wire.HostPoolObject))
    except Exception:  # noqa: BLE001 -- people write anything into a status
        metadata = msgspec.convert(each["metadata"], wire.DatedMetadata)
        return pool(wire.HostPoolObject(metadata, msgspec.convert(each["spec"], HostPoolSpec)))


def phase_of(each: Json) -> str:
    return str((each.get("status") or {}).get("phase"))


def name_of(each: Json) -> str:
    return f"{each['metadata']['namespace']}/{each['metadata']['name']}"


def marks_of(each: Json) -> Iterator[tuple[str, ...]]:
    yield from ((label, each["metadata"]["labels"][label]) for label in own_labels(each))
    for taint in each["spec"]["taints"]:
        if taint["key"] == keys.EXCLUSIVE:
            yield taint["key"], taint["value"], taint["effect"]
