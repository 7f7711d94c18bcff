"""Answers the admission checks of Workloads that have their quota reserved (``docs/kueue.md``)."""

from collections.abc import Sequence
from typing import Final

from msgspec import Raw, Struct

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.admissionchecks.check_answer import (
    EXCLUDED,
    NOTHING_ASKED,
    REJECTED,
    RUNS,
    CheckReply,
    answer_of,
    ready,
    rejected,
)
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.former_promises import FormerPromises
from webhook.controller.admissionchecks.promised_room import PromisedRoom
from webhook.controller.admissionchecks.queued_pods import QueuedPods
from webhook.controller.admissionchecks.records import CheckedWorkload, read_workload
from webhook.controller.admissionchecks.woken_workloads import WokenWorkloads
from webhook.controller.admissionchecks.workload_judge import WorkloadJudge, WorkloadVerdict
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.reconciler_settings import SOON
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import fair_queue
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.whole_application import PodsToJudge
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.text.problem import Fault, render

_DECIDED: Final = frozenset({Cause.CONFLICT, Cause.MISSING, Cause.INVALID, Cause.FORBIDDEN})
"""Causes of failures after which an answer is certainly not stored."""

_AGAIN: Final = {Cause.CONFLICT: SOON, Cause.MISSING: 5.0}
"""Seconds until the next pass where a Workload has changed, or where it or one of its ResourceFlavors is missing."""


AGREED: Final = 10.0
"""Seconds after which a Workload that the cluster cannot run is judged again, and rejected if it still cannot.

Kueue deactivates what is rejected, and a HostPool, or nodes, that were made a moment ago may not be known yet.
"""


class _JudgedWorkload(Struct, frozen=True, eq=False):
    """The answer to a Workload's checks, with the pods and the verdict on them if these were judged."""

    answer: CheckReply
    pods: Sequence[PodsToJudge] = ()
    verdict: WorkloadVerdict | None = None

    @property
    def doubtful(self) -> bool:
        """Whether it is to be rejected for what is, or is not, in the cluster, and not for what it says itself."""
        verdict = self.verdict
        return self.answer.state == REJECTED and verdict is not None and verdict.now.fault is Fault.FORBIDDEN


class WorkloadChecks:
    """The reconciler of Workloads; ``times`` are the clock of durations, and the time in seconds since 1970."""

    def __init__(
        self,
        server: ObjectEditor,
        store: CheckStore,
        judge: WorkloadJudge,
        room: PromisedRoom,
        woken: WokenWorkloads,
        times: tuple[Clock, Clock],
    ) -> None:
        self._clock, self._now = times
        self.queue: Queue[Name] = fair_queue(self._clock)
        self._server = server
        self._store = store
        self._judge = judge
        self._room = room
        self._woken = woken
        self._pods = QueuedPods(server)
        self._former = FormerPromises(server, store, self._pods, room, self._now, judge.policy.excluded)
        self._leading = False
        self._doubted: dict[Name, tuple[str, float]] = {}
        """The uid of each Workload that is to be judged again before it is rejected, and when."""
        store.on_workload.append(self._workload)
        store.on_check.append(self._check)

    async def begin(self) -> None:
        """Keep the room of what passed a short time ago, then queue whatever waits for an answer, now and later."""
        async with self._judge.turn:  # no Job is promised the room before it is kept again
            await self._former.take_over()
        self._leading = True
        for key in self._store.workloads:
            self._workload(key)

    async def reconcile(self, key: Name) -> float | None:
        """Answer the checks of that Workload; returns the seconds until the next pass, if one is due.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        known = self._store.workloads.get(key)
        if known is None or not known.awaiting(self._store.active):
            return None
        uid, due = self._doubted.get(key, ("", 0.0))
        if uid == known.uid and (delay := due - self._clock()) > 0:
            return delay
        async with self._judge.turn:
            try:
                return await self._answer(known)
            except ApiError as failure:
                if failure.cause not in _DECIDED:
                    raise
                self._room.release(key)
                if failure.cause not in _AGAIN:
                    raise
                return _AGAIN[failure.cause]

    async def _answer(self, known: CheckedWorkload) -> float | None:
        """Judge the Workload as it is stored now, and write what came of it, unless it changes meanwhile.

        Returns the seconds until it is to be judged again, if it is.
        """
        text = await self._server.read(known.path)
        workload = read_workload(Raw(text))
        places = workload.awaiting(self._store.active) if workload else []
        if workload is None or not places:
            return None
        if workload.version != known.version:
            return SOON  # what the watch has yet to bring would end what is promised now
        self._room.release(workload.key)
        self._woken.forget(workload.key)
        retries = max(workload.checks[at].retry_count or 0 for at in places)
        judged = await self._judge.turn.judged(lambda: self._found(workload, text, retries=retries))
        if judged.doubtful and self._doubted.get(workload.key, ("", 0.0))[0] != workload.uid:
            self._doubted[workload.key] = workload.uid, self._clock() + AGREED
            return AGREED
        if judged.verdict and not self._room.hold(workload, judged.pods, judged.verdict.now):
            return SOON
        now = timestamp(self._now())
        entries = ((at, judged.answer.entry(workload.checks[at], now)) for at in places)
        operations = [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": workload.version},
            *({"op": "replace", "path": f"/status/admissionChecks/{at}", "value": entry} for at, entry in entries),
        ]
        await self._server.json_patch(f"{workload.path}/status", operations)
        self._doubted.pop(workload.key, None)
        if judged.answer.wait is not None:
            self._woken.remember(workload, judged.pods)
        return None

    async def _found(self, workload: CheckedWorkload, text: bytes, *, retries: int) -> _JudgedWorkload:
        """What is to be answered."""
        if workload.admitted:
            return _JudgedWorkload(ready(RUNS))  # a check that was added later must not end what runs
        if workload.namespace in self._judge.policy.excluded:
            return _JudgedWorkload(ready(EXCLUDED))
        try:
            pods = await self._pods.read(workload, text)
        except decoding.ERRORS as error:
            return _JudgedWorkload(rejected(f"the pod sets cannot be read: {decoding.reason(error)}"))
        if pods is None:
            return _JudgedWorkload(ready(NOTHING_ASKED))
        if isinstance(pods, tuple):
            return _JudgedWorkload(rejected(render(pods).partition("\n")[0]))
        verdict = await self._judge.judge(pods, workload.namespace)
        return _JudgedWorkload(answer_of(verdict, retries, audit=self._judge.policy.audit), pods, verdict)

    def _workload(self, key: Name) -> None:
        workload = self._store.workloads.get(key)
        if workload is None or not workload.awaiting(self._store.active):
            self._doubted.pop(key, None)
        elif self._leading:
            self.queue.add(key)

    def _check(self, name: str) -> None:
        """A check may be answered from now on: look at all Workloads with it."""
        if self._leading and name in self._store.active:
            for key, workload in self._store.workloads.items():
                if workload.names((name,)):
                    self._workload(key)
