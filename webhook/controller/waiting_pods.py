"""Pods that were let in although no node could run them: an Event says why, as soon as one is seen to wait.

The webhook never writes, and while it reviews a pod there is none yet; so it leaves the text in an annotation that only
it writes (``docs/verdicts.md``, waiting), and whoever leads tells it. A pod that gets its node at once needs no Event.
"""

from typing import Final

from kubeapi.clock import Clock, seconds
from webhook.controller.events.event import Regarding
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.hostpools.pool_reports import Tells
from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.objects import PodInfo

SOON: Final = 5.0
"""Seconds that a pod may wait in silence: a scheduler that finds a node has bound it by then."""

REASON: Final = "PlacementWaiting"


class WaitingPods:
    """Knows those that wait, by uid; tells ``events`` of each once, and nothing before :meth:`begin`."""

    def __init__(self, watched: ObservedInventory, events: Tells, *, clock: Clock = seconds) -> None:
        self.queue: Queue[str] = Queue(clock=clock)
        self._events = events
        self._leading = False
        self._waiting: dict[str, PodInfo] = {}
        watched.on_pod.append(self._pod)

    def begin(self) -> None:
        """Look at all that wait, and from now on at those that come."""
        self._leading = True
        for uid in self._waiting:
            self.queue.add_after(uid, SOON)

    async def tell(self, uid: str) -> None:
        """Say what the pod waits for, if it still does."""
        pod = self._waiting.get(uid)
        if pod is not None and pod.waits is not None:
            about = Regarding(api_version="v1", kind="Pod", name=pod.waits.name, namespace=pod.namespace, uid=uid)
            self._events.warning(about, REASON, pod.waits.text)

    def _pod(self, uid: str, _: PodInfo | None, after: PodInfo | None) -> None:
        if after is None or after.waits is None or after.terminating:
            self._waiting.pop(uid, None)
            return
        known = uid in self._waiting
        self._waiting[uid] = after
        if self._leading and not known:
            self.queue.add_after(uid, SOON)
