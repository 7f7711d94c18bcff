"""Events about pods that were admitted although no node could run them (``docs/verdicts.md``, waiting).

The webhook writes the reason into an annotation of the pod, because it has no right to write Events and the pod does
not exist yet when it is reviewed. The leader records the Event once the pod has waited for a few seconds; a pod that
gets its node at once needs none. An application of another operator gets the Event of its pod, too, because users look
at the object that they submitted. Its owners are read for that, so it has a queue of its own, in which namespaces take
turns: no pod waits for the owners of another one.
"""

from typing import Final

from kubeapi.clock import Clock, seconds
from webhook.cluster.queries.lookups.pod_owners import PodOwners
from webhook.controller.events.event import Regarding
from webhook.controller.events.recorder import EventRecorder
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import fair_queue
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text.api_kinds import POD

SOON: Final = 5.0
"""Seconds that a pod may wait before the Event: by then a scheduler that finds a node has bound the pod."""

REASON: Final = "PlacementWaiting"


class WaitingPods:
    """The waiting pods by uid; one Event is recorded for each of them, and none before :meth:`begin`."""

    def __init__(
        self,
        watched: ObservedInventory,
        events: EventRecorder,
        *,
        owners: PodOwners,
        policy: Policy,
        clock: Clock = seconds,
    ) -> None:
        self.queue: Queue[str] = Queue(clock=clock)
        self.applications: Queue[Name] = fair_queue(clock)
        """Namespace and uid of pods whose application is to be told."""
        self._events = events
        self._owners = owners
        self._policy = policy
        self._clock = clock
        self._leading = False
        self._waiting: dict[str, PodInfo] = {}
        self._since: dict[str, float] = {}
        """When each of them was first seen, the longest wait first."""
        watched.on_pod.append(self._pod)

    @property
    def count(self) -> int:
        """How many pods wait now."""
        return len(self._waiting)

    @property
    def oldest(self) -> float:
        """Seconds since the pod that waits longest was seen; 0 if none waits."""
        return self._clock() - next(iter(self._since.values())) if self._since else 0.0

    def begin(self) -> None:
        """Queue all waiting pods, and from now on every new one."""
        self._leading = True
        for uid in self._waiting:
            self.queue.add_after(uid, SOON)

    async def tell(self, uid: str) -> None:
        """Record the Event for the pod if it still waits."""
        pod = self._waiting.get(uid)
        if pod is None or pod.waits is None:
            return
        self._events.warning(Regarding.of(POD, (pod.namespace, pod.waits.name), uid), REASON, pod.waits.text)
        if self._policy.reviewed:
            self.applications.add((pod.namespace, uid))

    async def tell_application(self, key: Name) -> None:
        """Record the Event for the application of the pod, if the pod still waits and has one."""
        namespace, uid = key
        pod = self._waiting.get(uid)
        if pod is None or pod.waits is None:
            return
        owner = await self._owners.application(namespace, pod.waits.name, uid, self._policy)
        if owner is not None:
            about = Regarding(
                api_version=owner.api_version, kind=owner.kind, namespace=namespace, name=owner.name, uid=owner.uid
            )
            self._events.warning(about, REASON, pod.waits.text)

    def _pod(self, uid: str, _: PodInfo | None, after: PodInfo | None) -> None:
        if after is None or after.waits is None or after.terminating:
            self._waiting.pop(uid, None)
            self._since.pop(uid, None)
            return
        known = uid in self._waiting
        self._waiting[uid] = after
        self._since.setdefault(uid, self._clock())
        if self._leading and not known:
            self.queue.add_after(uid, SOON)
