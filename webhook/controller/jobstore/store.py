"""``JobStore``: Jobs, ProcessingElements, their pods, and HostPools, with the indices by which one leads to the other.

Pods are found by their element and elements by their Job, so that a look at one element costs the same in a job of ten
and in a job of a thousand.
"""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, KeysView
from typing import Final, Generic, TypeVar

from webhook.controller.jobstore.records import StoredElement, StoredHostPool, StoredJob, StoredRegion, of_a_job
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.inventory.pool_index import Name

R = TypeVar("R", StoredJob, StoredElement, StoredHostPool, StoredRegion)
V = TypeVar("V")

Heard = Callable[[V | None, V | None], object]
"""Called with the value before and the value after; ``None`` for an object that did not or does not exist."""

_log: Final = logging.getLogger(__name__)


class Records(Generic[R]):
    """Objects of one kind by name, from the watch and from the answers to the controller's own writes.

    An event of the watch that is older than an answer is skipped, because the watch will bring the newer state, too.
    ``listeners`` hear of every change, ``on_news`` only of what others have changed. While a write is under way
    (:meth:`writing`) the watch may bring it before the answer, and what others have changed after it; the answer says
    which of them is which.
    """

    def __init__(self) -> None:
        self.all: dict[Name, R] = {}
        self.listeners: list[Heard[R]] = []
        self.on_news: list[Heard[R]] = []
        self._answered: dict[Name, int] = {}
        """Versions of answers that the watch has not brought yet."""
        self._written: dict[Name, R | None] = {}
        """Objects that are being written, with what the watch has brought of them meanwhile."""
        self._writers: dict[Name, int] = {}
        """How many writes of each of them are under way: a Job is written by several workers."""

    def put(self, record: R) -> None:
        """An object was added or changed, as the watch says."""
        before = self.all.get(record.key)
        ahead = self._answered.get(record.key, 0)
        if before is not None and before.uid == record.uid and record.version < ahead:
            return
        self._answered.pop(record.key, None)
        if record.key in self._written:
            self._written[record.key] = record
            self._set(before, record, self.listeners)
        else:
            self._set(before, record, self.listeners + self.on_news)

    @contextlib.contextmanager
    def writing(self, key: Name) -> Iterator[None]:
        """While an object is written, and its answer learned; without an answer everything is news."""
        self._writers[key] = self._writers.get(key, 0) + 1
        self._written.setdefault(key, None)
        try:
            yield
        finally:
            self._writers[key] -= 1
            if not self._writers[key]:
                del self._writers[key]
                late = self._written.pop(key)
                if late is not None:
                    _tell(self.on_news, None, late)

    def learn(self, record: R) -> None:
        """The API server has answered this state of an object; of an object that is gone nothing is learned."""
        before = self.all.get(record.key)
        if before is not None and before.uid == record.uid and before.version < record.version:
            self._answered[record.key] = record.version
            self._set(before, record, self.listeners)
        late = self._written.get(record.key)
        if late is not None and late.version == record.version:
            self._written[record.key] = None

    def correct(self, record: R) -> None:
        """Learn the state after a conflict: it holds even if another API server had reported a newer one before."""
        before = self.all.get(record.key)
        if before is not None and before.uid == record.uid:
            self._answered.pop(record.key, None)
            self._set(before, record, self.listeners + self.on_news)

    def drop(self, key: Name) -> None:
        """An object is gone."""
        self._answered.pop(key, None)
        before = self.all.pop(key, None)
        if before is not None:
            _tell(self.listeners + self.on_news, before, None)

    def _set(self, before: R | None, record: R, listeners: list[Heard[R]]) -> None:
        self.all[record.key] = record
        if before != record:
            _tell(listeners, before, record)


class JobStore:
    """All that is known; listeners are called after a change, on the path that reads watch events."""

    def __init__(self) -> None:
        self.jobs: Records[StoredJob] = Records()
        self.elements: Records[StoredElement] = Records()
        self.pools: Records[StoredHostPool] = Records()
        self.regions: Records[StoredRegion] = Records()
        self.on_pod: list[Heard[ElementPod]] = []
        self.unlaunched: set[str] = set()
        """Elements, by uid, that this process has created and no pod for: no other controller has acted on these."""
        self._pods: dict[str, ElementPod] = {}
        self._of_element: dict[Name, dict[str, ElementPod]] = {}
        self._of_job: dict[Name, dict[str, None]] = {}
        self._pools_of_job: dict[Name, dict[str, None]] = {}
        self._regions_of_job: dict[Name, dict[str, None]] = {}
        self._gone: dict[Name, ElementPod] = {}
        """By element, the last pod that is gone, as it was last seen: how it ended may not have been counted yet."""
        self.elements.listeners.append(self._element)
        self.pools.listeners.append(self._pool)
        self.regions.listeners.append(self._region)

    @property
    def pod_uids(self) -> KeysView[str]:
        """The uids of all pods of elements."""
        return self._pods.keys()

    def pods_of(self, element: Name) -> Iterable[ElementPod]:
        """The pods whose controller has that name, of whatever uid."""
        return self._of_element.get(element, {}).values()

    def elements_of(self, job: Name) -> Iterable[StoredElement]:
        """The elements whose ``spec.job`` is that Job."""
        return (self.elements.all[job[0], name] for name in self._of_job.get(job, ()))

    def pools_of(self, job: Name) -> Iterable[StoredHostPool]:
        """The HostPools whose controller is a Job of that name, of whatever uid."""
        return (self.pools.all[job[0], name] for name in self._pools_of_job.get(job, ()))

    def regions_of(self, job: Name) -> Iterable[StoredRegion]:
        """The ParallelRegions whose controller is a Job of that name, of whatever uid."""
        return (self.regions.all[job[0], name] for name in self._regions_of_job.get(job, ()))

    def gone(self, element: Name) -> ElementPod | None:
        """The last pod of the element that is gone."""
        return self._gone.get(element)

    def put_pod(self, pod: ElementPod) -> None:
        """A pod was added or changed."""
        key = (pod.namespace, pod.element)
        before = self._pods.get(pod.uid)
        if before is not None and before.element != pod.element:
            self.drop_pod(pod.uid)
            before = None
        self._pods[pod.uid] = pod
        self._of_element.setdefault(key, {})[pod.uid] = pod
        if before != pod:
            _tell(self.on_pod, before, pod)

    def drop_pod(self, uid: str) -> None:
        """A pod is gone."""
        pod = self._pods.pop(uid, None)
        if pod is None:
            return
        key = (pod.namespace, pod.element)
        pods = self._of_element[key]
        del pods[uid]
        if not pods:
            del self._of_element[key]
        last = self._gone.get(key)
        if key in self.elements.all and (last is None or last.owner != pod.owner or last.launch <= pod.launch):
            self._gone[key] = pod
        _tell(self.on_pod, pod, None)

    def _element(self, before: StoredElement | None, after: StoredElement | None) -> None:
        if before is not None:
            _remove(self._of_job, (before.namespace, before.job), before.name)
            if after is None:
                self._gone.pop(before.key, None)
                self.unlaunched.discard(before.uid)
        if after is not None:
            self._of_job.setdefault((after.namespace, after.job), {})[after.name] = None

    def _pool(self, before: StoredHostPool | None, after: StoredHostPool | None) -> None:
        _index(self._pools_of_job, before, after)

    def _region(self, before: StoredRegion | None, after: StoredRegion | None) -> None:
        _index(self._regions_of_job, before, after)


def _index(
    index: dict[Name, dict[str, None]],
    before: StoredHostPool | StoredRegion | None,
    after: StoredHostPool | StoredRegion | None,
) -> None:
    """Keep the names of objects by the Job that controls them."""
    if before is not None and (job := of_a_job(before)):
        _remove(index, (before.namespace, job), before.name)
    if after is not None and (job := of_a_job(after)):
        index.setdefault((after.namespace, job), {})[after.name] = None


def _remove(index: dict[Name, dict[str, None]], key: Name, name: str) -> None:
    names = index[key]
    del names[name]
    if not names:
        del index[key]


def _tell(listeners: list[Heard[V]], before: V | None, after: V | None) -> None:
    for listener in listeners:
        try:
            listener(before, after)
        except Exception:  # noqa: BLE001 -- whatever it is, it must not look like a fault of the object's
            _log.exception("a listener has failed")
