"""The thread for one pod of ``kubelet``: prepares volumes, runs the process and its probes, writes the status."""

import contextlib
import http.client
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Final, TypeAlias

from tests.e2e.client.api import STRATEGIC, Api, Object, RefusedError
from tests.e2e.pods.addresses import loopback
from tests.e2e.pods.container import Place, Run
from tests.e2e.pods.pod_sources import NotYetError, UnsupportedError
from tests.e2e.pods.pod_status import PodStatus
from tests.e2e.pods.probing import Checks
from tests.e2e.programs.process import Process

_RESTART_SECONDS: Final = 10.0
"""A kubelet's first pause before it starts a container again; the pace shortens it."""

_TURN_SECONDS: Final = 0.2
"""The process is looked at this often."""

_GRACE_SECONDS: Final = 30.0
"""Of a pod that does not say otherwise."""

_TROUBLES: Final = (OSError, http.client.HTTPException, RefusedError)


Prepare: TypeAlias = Callable[[Object, Place], Run]
"""Writes the volumes of a pod as they are now, and says what to run."""


class PodWorker:
    """Start it once; tell it of news with ``see``."""

    def __init__(self, api: Api, pod: Object, place: Place, prepare: Prepare, pace: float) -> None:
        self.pod: Object | None = pod
        self.name: str = pod["metadata"]["name"]
        self.place = place
        self.process: Process | None = None
        self._api = api
        self._path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        self._prepare = prepare
        self._pace = pace
        self._status = PodStatus(place.address)
        self._told: Object = {}
        self._checks: Checks | None = None
        self._start_again = 0.0
        self._news = threading.Event()
        self._stale = True  # what the pod and its sources say now has not been prepared yet
        self._over = False
        self._paused = False
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def see(self, pod: Object | None) -> None:
        """The pod, or something that it refers to, has changed; None: it is gone."""
        self.pod = pod
        self._news.set()

    def end(self) -> None:
        """Let the process be killed, and do not tell anybody; ``join`` waits for that."""
        self._over = True
        self._news.set()

    def join(self, seconds: float) -> None:
        """Wait until the process has ended."""
        self._thread.join(seconds)

    def pause(self) -> None:
        """Stop the process where it is; no probe notices."""
        self._paused = True
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process go on."""
        self._signal(signal.SIGCONT)
        self._paused = False

    def _signal(self, number: signal.Signals) -> None:
        if self.running and self.process and self.process.pid:
            os.kill(self.process.pid, number)

    @property
    def alive(self) -> bool:
        """Whether there still is work."""
        return self._thread.is_alive()

    @property
    def running(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.alive

    def _run(self) -> None:
        try:
            while not self._over and (pod := self.pod) is not None:  # another thread says when it is gone
                if "deletionTimestamp" in pod["metadata"]:
                    self._leave(pod)
                    return
                pause = self._step(pod) if self._status.phase in {"Pending", "Running"} else _TURN_SECONDS
                self._tell(pod)
                self._stale |= self._news.wait(min(pause, _TURN_SECONDS))
                self._news.clear()
        finally:
            if self.process:
                (self.process.kill if self._over else self.process.stop)()

    def _step(self, pod: Object) -> float:
        """Bring the process nearer to what the pod wants; returns the seconds until the next step is due."""
        ended = self.process is None or not self.process.alive
        if self._stale or ended:
            try:
                run = self._prepare(pod, self.place)
            except (NotYetError, UnsupportedError, *_TROUBLES) as trouble:
                if self.process is None:
                    self._status.waits("CreateContainerConfigError", str(trouble))
                return _TURN_SECONDS
            self._stale = False
            if ended:
                return self._start(pod, run)
        if self._paused:
            return _TURN_SECONDS
        assert self._checks is not None  # made with the process
        pause = self._checks.ask()
        self._status.started, self._status.ready = self._checks.started, self._checks.ready
        if self._checks.dead:
            self.process.stop(pod["spec"].get("terminationGracePeriodSeconds", _GRACE_SECONDS))
            self._after(pod, 0)
        return pause

    def _start(self, pod: Object, run: Run) -> float:
        """Start the process, or deal with its end: again after a pause, or never if the pod says so."""
        if self.process is not None and self.process.exit_code is not None:
            code = self.process.exit_code
            self.process.kill()
            self._after(pod, code)
        if self._status.phase in {"Succeeded", "Failed"} or time.monotonic() < self._start_again:
            return _TURN_SECONDS
        container = pod["spec"]["containers"][0]
        log = self.place.folder / f"{container['name']}.log"
        self.process = Process(self.name, run.command, log, run.environment)
        self.process.start()
        self._checks = Checks(container, loopback(self.place.address), self._pace)
        self._status.runs()
        return 0.0

    def _after(self, pod: Object, code: int) -> None:
        policy = pod["spec"].get("restartPolicy", "Always")
        final = policy == "Never" or (policy == "OnFailure" and code == 0)
        self._status.ended(code, final=final)
        self._status.restarts += not final
        self._start_again = time.monotonic() + _RESTART_SECONDS * self._pace

    def _leave(self, pod: Object) -> None:
        """The end of a pod: preStop, SIGTERM, SIGKILL when the grace period is over, then the object goes."""
        grace = pod["metadata"].get("deletionGracePeriodSeconds", _GRACE_SECONDS)
        hook = pod["spec"]["containers"][0].get("lifecycle", {}).get("preStop", {})
        self._wait_unless_over(hook.get("sleep", {}).get("seconds", 0) * self._pace)
        if self.process:
            self.process.stop(grace)
        final = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        while not self._over and self.pod is not None:
            with contextlib.suppress(*_TROUBLES):
                self._api.send("DELETE", self._path, final)
                return
            self._wait_unless_over(_TURN_SECONDS)

    def _wait_unless_over(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._over and (left := deadline - time.monotonic()) > 0:
            self._news.wait(left)
            self._news.clear()

    def _tell(self, pod: Object) -> None:
        """Say how it is, if that is news; what does not arrive is said again later."""
        patch = self._status.patch(pod["spec"]["containers"][0])
        if patch == self._told:
            return
        with contextlib.suppress(*_TROUBLES):
            self._api.patch(f"{self._path}/status", patch, content=STRATEGIC)
            self._told = patch
