"""The status of a ProcessingElement as JSON: read from the stored object, and as the merge patch that writes it."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from kubeapi.client import decoding
from webhook.controller.conditions import condition_in, merged_conditions, shortened
from webhook.controller.jobstore.records import StoredElement
from webhook.placement.elements.element_status import ElementPhase, ElementStatus, Ended
from webhook.placement.objects.condition import UNKNOWN, ConditionState

Document = dict[str, Any]

PHASE_CONDITIONS: Final = ("PodCreated", "Scheduled", "Ready")
"""The conditions of a processing element, in the order of a launch."""


class _Figures(Struct, frozen=True, rename="camel"):
    """The fields of the status without its conditions."""

    phase: ElementPhase = ElementPhase.PENDING
    launch_count: int = 0
    pod: str | None = None
    pod_uid: str | None = msgspec.field(name="podUID", default=None)
    node: str | None = None
    restarts: int = 0
    failures: int = 0
    ended: Ended | None = None


def status_of_element(element: StoredElement) -> ElementStatus:
    """The stored status; fields that break rules count as absent, all of them if one does."""
    try:
        figures = msgspec.json.decode(element.status, type=_Figures)
    except decoding.ERRORS:
        figures = _Figures()
    there = element.status_document().get("conditions")
    created, scheduled, ready = (condition_in(there, kind, UNKNOWN) for kind in PHASE_CONDITIONS)
    return ElementStatus(
        phase=figures.phase,
        launch_count=figures.launch_count,
        pod=figures.pod or "",
        pod_uid=figures.pod_uid or "",
        node=figures.node or "",
        restarts=figures.restarts,
        failures=figures.failures,
        ended=figures.ended,
        created=created,
        scheduled=scheduled,
        ready=ready,
    )


def status_patch(element: StoredElement, status: ElementStatus, now: str) -> Document | None:
    """The merge patch of the status; ``None`` if the stored status equals it."""
    wanted = _cut(status)
    stored = element.status_document()
    if status_of_element(element) == wanted and stored.get("observedGeneration") == element.generation:
        return None
    said = dict(zip(PHASE_CONDITIONS, (wanted.created, wanted.scheduled, wanted.ready), strict=True))
    ended = wanted.ended
    return {
        "metadata": {"resourceVersion": str(element.version)},
        "status": {
            "phase": wanted.phase.value,
            "launchCount": wanted.launch_count,
            "pod": wanted.pod or None,
            "podUID": wanted.pod_uid or None,
            "node": wanted.node or None,
            "restarts": wanted.restarts,
            "failures": wanted.failures,
            "ended": ended and {**_NO_END, **msgspec.to_builtins(ended)},
            "conditions": merged_conditions(stored.get("conditions"), said, element.generation, now),
            "observedGeneration": element.generation,
        },
    }


_NO_END: Final = dict.fromkeys(("launchCount", "outcome", "exitCode", "reason", "message", "finishedAt"))
"""A merge patch keeps the fields of the end before, unless it removes them."""


def _cut(status: ElementStatus) -> ElementStatus:
    """The status with messages as they are stored."""
    return msgspec.structs.replace(
        status, created=_short(status.created), scheduled=_short(status.scheduled), ready=_short(status.ready)
    )


def _short(said: ConditionState) -> ConditionState:
    return ConditionState(said.holds, said.reason, shortened(said.message))
