"""Planned launches of processing elements, as this controller planned them; they are kept in memory only."""

from typing import Final

from msgspec import Struct

from kubeapi.clock import Clock
from webhook.controller.jobstore.records import StoredElement, StoredJob
from webhook.controller.jobstore.store import JobStore
from webhook.placement.elements.plan import UNPLANNED, PlannedLaunch, planned_launch
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import JobPhase
from webhook.placement.objects.condition import ConditionState
from webhook.placement.text.problem import enumerated

VALID: Final = 60.0
"""Seconds for which a plan is good, as long as its room is kept."""

NAMED: Final = 3
"""Nodes that a message names."""


class LaunchEntry(Struct, frozen=True):
    """The plan for one launch, and its time; ``together`` are the elements that share its node."""

    uid: str
    launch: int
    planned: PlannedLaunch
    since: float
    together: frozenset[str] = frozenset()


class PlannedLaunches:
    """The plans by Job and element; ``clock`` is that of durations."""

    def __init__(self, store: JobStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._entries: dict[Name, dict[str, LaunchEntry]] = {}

    def note(self, element: StoredElement, launch: int, planned: PlannedLaunch, together: frozenset[str]) -> None:
        """Note the plan for that launch of the element."""
        entries = self._entries.setdefault((element.namespace, element.job), {})
        entries[element.name] = LaunchEntry(element.uid, launch, planned, self._clock(), together)

    def forget(self, job: Name) -> None:
        """Forget the plan of the Job."""
        self._entries.pop(job, None)

    def find(self, element: StoredElement) -> LaunchEntry | None:
        """The plan for the present launch of the element, however old."""
        entry = self._entries.get((element.namespace, element.job), {}).get(element.name)
        return entry if entry and (entry.uid, entry.launch) == (element.uid, element.launch) else None

    def of(self, job: StoredJob, element: StoredElement) -> PlannedLaunch | None:
        """The plan for the present launch of the element; ``None`` if one has to be made."""
        entry = self.find(element)
        if entry is not None and self._clock() < entry.since + VALID:
            return self._after_others(element, entry)
        if element.launch == 1 and job.phase is JobPhase.SUBMITTING:
            return planned_launch(element.name, job.planned()) if job.judged else UNPLANNED
        return None

    def _after_others(self, element: StoredElement, entry: LaunchEntry) -> PlannedLaunch:
        """The plan; held while pods that are to share its node are still on another one.

        The scheduler would send the new pod to these, or let it wait for a node on which they will never be.
        """
        there: set[str] = set()
        for name in entry.together - {element.name}:
            pods = self._store.pods_of((element.namespace, name))
            there |= {pod.node for pod in pods if pod.node and not pod.terminal}
        there -= {entry.planned.node}
        if entry.planned.blocked is not None or not there:
            return entry.planned
        message = f"pods that it shares a node with have not ended on {enumerated(sorted(there), NAMED)}"
        return PlannedLaunch(blocked=ConditionState(holds=False, reason="ColocationEnding", message=message))
