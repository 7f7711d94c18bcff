"""Events about pods that were admitted although no node could run them (``docs/verdicts.md``, waiting).

The webhook writes the reason into an annotation of the pod, because it has no right to write Events and the pod does
not exist yet when it is reviewed. The leader records the Event once the pod has waited for a few seconds; a pod that
gets its node at once needs none.
"""

from typing import Final

from kubeapi.clock import Clock, seconds
from webhook.controller.events.event import Regarding
from webhook.controller.events.recorder import EventRecorder
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.workqueue.queue import Queue
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text.api_kinds import POD

SOON: Final = 5.0
"""Seconds that a pod may wait before the Event: by then a scheduler that finds a node has bound the pod."""

REASON: Final = "PlacementWaiting"


class WaitingPods:
    """The waiting pods by uid; one Event is recorded for each of them, and none before :meth:`begin`."""

    def __init__(self, watched: ObservedInventory, events: EventRecorder, *, clock: Clock = seconds) -> None:
        self.queue: Queue[str] = Queue(clock=clock)
        self._events = events
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
        if pod is not None and pod.waits is not None:
            about = Regarding.of(POD, (pod.namespace, pod.waits.name), uid)
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
