"""The status that a kubelet writes for a pod with one container."""

import dataclasses
import datetime as dt
from typing import Any, Final

from tests.e2e.client.api import Object

_RUNNING_CONDITIONS: Final = ("PodReadyToStartContainers", "Initialized")


def now() -> str:
    """The time, as the API writes it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclasses.dataclass(slots=True)
class PodStatus:
    """The state of one container; ``patch`` is the pod's status made of it."""

    address: str
    phase: str = "Pending"
    started: bool = False
    ready: bool = False
    restarts: int = 0
    state: dict[str, Any] = dataclasses.field(default_factory=lambda: {"waiting": {"reason": "ContainerCreating"}})
    start_time: str = dataclasses.field(default_factory=now)
    _since: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)

    def waits(self, reason: str, message: str) -> None:
        """The container cannot start yet."""
        self.started = self.ready = False
        self.state = {"waiting": {"reason": reason, "message": message}}

    def runs(self) -> None:
        """The container runs from now on."""
        self.phase = "Running"
        self.state = {"running": {"startedAt": now()}}

    def ended(self, exit_code: int, *, final: bool) -> None:
        """The container has ended; if that is final, so has the pod."""
        self.started = self.ready = False
        reason = "Error" if exit_code else "Completed"
        # a shell's convention for signals, which container runtimes follow: 128 + 9 for SIGKILL
        code = exit_code if exit_code >= 0 else 128 - exit_code
        self.state = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": now()}}
        if final:
            self.phase = "Failed" if exit_code else "Succeeded"

    def patch(self, container: Object) -> Object:
        """A strategic merge patch; equal states give equal patches."""
        conditions = dict.fromkeys(_RUNNING_CONDITIONS, self.phase != "Pending")
        conditions |= {"ContainersReady": self.ready, "Ready": self.ready}
        own = {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "ready": self.ready,
            "started": self.started,
            "restartCount": self.restarts,
            "state": self.state,
        }
        return {
            "status": {
                "phase": self.phase,
                "hostIP": "127.0.0.1",
                "podIP": self.address,
                "podIPs": [{"ip": self.address}],
                "startTime": self.start_time,
                "conditions": [self._condition(name, holds=holds) for name, holds in conditions.items()],
                "containerStatuses": [own],
            }
        }

    def _condition(self, name: str, *, holds: bool) -> dict[str, str]:
        status = str(holds)
        if name not in self._since or self._since[name][0] != status:
            self._since[name] = (status, now())
        return {"type": name, "status": status, "lastTransitionTime": self._since[name][1]}
