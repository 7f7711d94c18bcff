"""The status of a ProcessingElement as a value: what the state machine remembers, and what people read."""

import enum
from typing import Final

from msgspec import Struct

from webhook.placement.elements.restart_policy import LaunchOutcome
from webhook.placement.objects.condition import UNKNOWN, ConditionState


class ElementPhase(enum.StrEnum):
    """The phase of a ProcessingElement (``status.phase``)."""

    PENDING = "Pending"
    """The element has no pod, its pod does not run yet, or it waits for its next launch."""
    RUNNING = "Running"
    COMPLETED = "Completed"
    FAILED = "Failed"
    STOPPED = "Stopped"
    """The pod was deleted and is not restarted."""


FINAL: Final = frozenset({ElementPhase.COMPLETED, ElementPhase.FAILED, ElementPhase.STOPPED})
"""Phases that end only when the launch count is raised, or the Job changed."""

FINAL_PHASE: Final = {
    LaunchOutcome.COMPLETED: ElementPhase.COMPLETED,
    LaunchOutcome.FAILED: ElementPhase.FAILED,
    LaunchOutcome.DELETED: ElementPhase.STOPPED,
}
"""The phase after an end without a restart."""


class Ended(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The last launch whose end was counted. ``finished_at`` is when the controller saw it, in RFC 3339."""

    launch_count: int = 0
    outcome: str = ""
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    finished_at: str = ""


REFUSED: Final = "Refused"
"""Reason, of the condition PodCreated, of an element whose pod the API server has refused."""


class ElementStatus(Struct, frozen=True, gc=False, kw_only=True):
    """The status of a processing element.

    ``launch_count`` is the last launch whose pod was created; ``failures`` are the ends in a row after which the pod
    had not run for long; ``restarts`` counts launches that followed an end. The conditions are PodCreated, Scheduled
    and Ready.
    """

    phase: ElementPhase = ElementPhase.PENDING
    launch_count: int = 0
    pod: str = ""
    pod_uid: str = ""
    node: str = ""
    restarts: int = 0
    failures: int = 0
    ended: Ended | None = None
    created: ConditionState = UNKNOWN
    scheduled: ConditionState = UNKNOWN
    ready: ConditionState = UNKNOWN

    @property
    def counted(self) -> int:
        """The last launch whose end was counted; 0 if none was."""
        return self.ended.launch_count if self.ended else 0
