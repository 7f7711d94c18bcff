"""``PromisedRoom``: room of Workloads that were let pass, until their pods are bound.

Kueue admits a Workload after all of its checks have passed, and its pods are made then. Meanwhile stand-ins hold in the
inventory what the pods will request, so that the next Workload, or Job, is not promised the same room. A pod of the
namespace that gets its node takes the place of a stand-in that requests the same.
"""

import itertools
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubeapi.clock import Clock
from webhook.cluster.objects import wire
from webhook.cluster.objects.pods import bound_pod
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.records import CheckedWorkload
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.text import keys

SECONDS: Final = 60.0
"""Seconds for which room is kept: Kueue makes pods within a few, and no Workload may hoard room."""


_Likeness = tuple[str, frozenset[tuple[str, int]]]
"""The job of a pod, and what it requests."""


class _Room(Struct, frozen=True):
    """The uids of a Workload's stand-ins by what they are like and by node, and until when they stay."""

    uid: str
    until: float
    uids: dict[_Likeness, dict[str, list[str]]]


class PromisedRoom:
    """The stand-ins of all Workloads; ``clock`` measures how long they stay."""

    def __init__(self, watched: ObservedInventory, store: CheckStore, clock: Clock) -> None:
        self._inventory = watched.inventory
        self._store = store
        self._clock = clock
        self._rooms: dict[Name, _Room] = {}
        watched.on_bound.append(self._bound)
        store.on_workload.append(self._workload)

    def hold(self, workload: CheckedWorkload, group: Group, placed: Placed, *, passed: float = 0.0) -> None:
        """Keep the room of the Workload's pods, which passed so many seconds ago, where they were placed."""
        self.release(workload.key)
        room = _Room(workload.uid, self._clock() + SECONDS - passed, {})
        self._rooms[workload.key] = room
        for pod in _stand_ins(workload.key, group, placed):
            room.uids.setdefault(_likeness(pod), {}).setdefault(pod.node, []).append(pod.uid)
            self._inventory.set_pod(pod)

    def release(self, workload: Name) -> None:
        """Give up what is kept for the Workload."""
        room = self._rooms.pop(workload, None)
        for nodes in room.uids.values() if room else ():
            for uid in itertools.chain.from_iterable(nodes.values()):
                self._inventory.remove_pod(uid)

    def expire(self) -> None:
        """Give up what has been kept for too long."""
        now = self._clock()
        for workload in [workload for workload, room in self._rooms.items() if room.until <= now]:
            self.release(workload)

    def _bound(self, pod: PodInfo) -> None:
        """A pod has got its node: it holds its own room from now on."""
        likeness = _likeness(pod)
        for (namespace, _), room in self._rooms.items():
            nodes = room.uids.get(likeness) if namespace == pod.namespace else None
            if nodes:
                node = pod.node if pod.node in nodes else next(iter(nodes))
                self._inventory.remove_pod(nodes[node].pop())
                if not nodes[node]:
                    del nodes[node]
                return

    def _workload(self, key: Name) -> None:
        room, workload = self._rooms.get(key), self._store.workloads.get(key)
        if room is not None and (workload is None or workload.uid != room.uid or not workload.placed):
            self.release(key)


def _likeness(pod: PodInfo) -> _Likeness:
    return pod.job, frozenset(pod.requests.items())


def _stand_ins(workload: Name, group: Group, placed: Placed) -> Iterator[PodInfo]:
    """A pod for each one that the Workload will have, as it is once it is bound."""
    names = group.world.inventory.nodes.names
    for place, (member, slots) in enumerate(zip(group.members, placed.slots, strict=True)):
        pod, _ = bound_pod(msgspec.convert(_patched(member, workload[0], group), wire.PodObject))
        own = requests_of(member.conditions)
        for one in filter(None, [pod]):
            like = replace(one, requests=own, priority=member.priority, demand=None)
            for number, slot in enumerate(slots):
                uid = f"admitted/{workload[0]}/{workload[1]}/{place}/{number}"
                yield replace(like, uid=uid, node=names[slot])


def _patched(member: Member, namespace: str, group: Group) -> dict[str, Any]:
    """One of the member's pods, with the labels that the webhook adds."""
    document: dict[str, Any] = msgspec.to_builtins(member.pod)
    metadata = document.get("metadata") or {}
    additions = decide(member.pod, namespace, group.world).additions
    labels = {**(metadata.get("labels") or {}), **(additions.labels if additions else {})}
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if key.startswith(keys.PREFIX)}
    found = {"name": member.names[0], "namespace": namespace, "labels": labels, "annotations": kept}
    return {"metadata": found, "spec": document.get("spec") or {}}
