"""``PromisedRoom``: room of Workloads that were let pass, until their pods are bound.

Kueue admits a Workload after all of its checks have passed, and its pods are made then.
"""

from kubeapi.clock import Clock
from webhook.cluster.judging.kept_room import KeptRoom
from webhook.cluster.judging.stand_ins import stand_ins
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.records import CheckedWorkload
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.planning.group import Group, Placed


class PromisedRoom:
    """The stand-ins of all Workloads; ``clock`` measures how long they stay."""

    def __init__(self, watched: ObservedInventory, store: CheckStore, clock: Clock) -> None:
        self._store = store
        self._room: KeptRoom[Name] = KeptRoom(watched.inventory, clock)
        self._uids: dict[Name, str] = {}
        watched.on_bound.append(self._room.bound)
        store.on_workload.append(self._workload)

    def hold(self, workload: CheckedWorkload, group: Group, placed: Placed, *, passed: float = 0.0) -> None:
        """Keep the room of the Workload's pods, which passed so many seconds ago, where they were placed."""
        pods = stand_ins("/".join(("admitted", *workload.key)), workload.namespace, group, placed)
        self._room.hold(workload.key, workload.namespace, pods, passed=passed)
        self._uids[workload.key] = workload.uid

    def release(self, workload: Name) -> None:
        """Give up what is kept for the Workload."""
        self._room.release(workload)
        self._uids.pop(workload, None)

    def expire(self) -> None:
        """Give up what has been kept for too long."""
        self._room.expire()

    def _workload(self, key: Name) -> None:
        workload = self._store.workloads.get(key)
        if workload is None or workload.uid != self._uids.get(key) or not workload.placed:
            self.release(key)
