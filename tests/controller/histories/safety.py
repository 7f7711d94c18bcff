"""What must be so while anything happens."""

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from tests.apiserver.paths import NODES, PODS, POOLS, node_path
from tests.apiserver.storage import Change
from tests.controller.controller_process import FaultyApi
from tests.controller.histories.convergence import Host, Index, hosts, marks_of, name_of, phase_of, pool_of, truth
from tests.controller.histories.random_cluster import own_labels
from tests.controller.histories.random_history import History
from webhook.cluster.objects import wire
from webhook.cluster.objects.pods import bound_pod
from webhook.placement.inventory.policy import CONTROL_PLANE
from webhook.placement.pools.allocation import is_user
from webhook.placement.text import keys

BRIEF: Final = 0.1
"""Seconds between a look and what follows from it: a list, and some writes."""

FINISHED: Final = {"Succeeded", "Failed"}

Json = dict[str, Any]


class SafetyMonitor:
    """Sees everything that is written to ``history``'s cluster; ``violations`` are sentences."""

    def __init__(self, history: History) -> None:
        self.violations: list[str] = []
        self._history = history
        self._random_cluster, self._kube = history.random_cluster, history.kube
        self._kube.listeners.append(self._seen)

    def _seen(self, change: Change) -> None:
        writer = self._kube.writer
        if writer is None or change.before is None:
            return
        assert isinstance(writer, FaultyApi)
        if change.after is None:
            self.violations += self._of_users(change.before)
        elif change.collection == NODES:
            self.violations += _of_a_node(change.before, change.after)
        elif change.collection == POOLS and change.before["metadata"]["uid"] not in self._random_cluster.meddled:
            self.violations += self._of_indices(change.before, change.after)
            if not writer.deposed:
                self.violations += self._of_strangers(change.before, change.after)

    def _of_indices(self, before: Json, after: Json) -> Iterator[str]:
        if phase_of(before) != "Ready":
            return
        old, new = hosts(before), hosts(after)
        where = {host: index for index, host in old.items()}
        for index, host in new.items():
            if where.get(host, index) != index:
                yield f"{host} was host {where[host]} of {name_of(after)} and is host {index}"
        for index, host in old.items():
            if new.get(index) != host and self._stands(host) and not self._dismissed(index, new):
                yield f"host {index} of {name_of(after)} was {host}, which stands, and is {new.get(index)}"

    def _stands(self, host: Host) -> bool:
        found = self._kube.objects.get(node_path(host[0]))
        if found is None or host[0] in self._random_cluster.disturbed:
            return False
        return found["metadata"]["uid"] == host[1] and not found["metadata"].get("deletionTimestamp")

    def _dismissed(self, index: int, new: dict[Index, Host]) -> bool:
        return self._history.rules.replacement.unlabelled and index in new

    def _of_users(self, last: Json) -> Iterator[str]:
        cluster, found, now = truth(self._kube), pool_of(last), asyncio.get_running_loop().time()
        for each in self._kube.all(PODS) if found.sized else ():
            pod = bound_pod(msgspec.convert(each, wire.PodObject))[0]
            if pod and is_user(pod, found, cluster) and each["metadata"]["boundAt"] < now - BRIEF:
                yield f"{name_of(last)} is let go, and {each} names it"

    def _of_strangers(self, before: Json, after: Json) -> Iterator[str]:
        found = pool_of(after)
        if not found.exclusive or phase_of(after) != "Ready":
            return
        had = set(hosts(before).values()) if phase_of(before) == "Ready" else set()
        cluster = truth(self._kube)
        for name, uid in set(hosts(after).values()) - had:
            for each in self._kube.all(PODS):
                alive = (each.get("status") or {}).get("phase") not in FINISHED
                pod = bound_pod(msgspec.convert(each, wire.PodObject))[0]
                here = pod and alive and pod.node == name and name not in self._random_cluster.disturbed
                if pod and here and not is_user(pod, found, cluster):
                    yield f"{name} {uid} is given to {name_of(after)} and runs {pod}"


def _of_a_node(before: Json, after: Json) -> Iterator[str]:
    name = after["metadata"]["name"]
    if _without_marks(before) != _without_marks(after):
        yield f"{name} was changed from {before} to {after}"
    gained = set(marks_of(after)) - set(marks_of(before))
    if gained and (CONTROL_PLANE in after["metadata"]["labels"] or after["metadata"].get("deletionTimestamp")):
        yield f"{name} must not be pooled, and was given {gained}"
    values = {taint["value"] for taint in after["spec"]["taints"] if taint["key"] == keys.EXCLUSIVE}
    if gained and len(values) > 1:
        yield f"{name} is closed for {values}"


_OWN: Final = ("resourceVersion", "generation")


def _without_marks(each: Json) -> Json:
    own = own_labels(each)
    labels = {key: value for key, value in each["metadata"]["labels"].items() if key not in own}
    metadata = {key: value for key, value in each["metadata"].items() if key not in _OWN} | {"labels": labels}
    taints = [taint for taint in each["spec"]["taints"] if taint["key"] != keys.EXCLUSIVE]
    return {**each, "metadata": metadata, "spec": {**each["spec"], "taints": taints}}
