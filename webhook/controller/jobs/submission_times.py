"""``SubmissionTimes``: how long the submission of a Job may still take, whatever happens to the wall clock."""

from kubeapi.clock import Clock
from webhook.controller.jobstore.records import StoredJob
from webhook.placement.inventory.pool_index import Name


class SubmissionTimes:
    """``clock`` is that of durations, ``now`` the time in seconds since 1970.

    The time at which a submission began is stored in the status, for the leaders to come. A leader compares it with the
    wall clock once, when it first sees it, and then counts by its own clock.
    """

    def __init__(self, clock: Clock, now: Clock) -> None:
        self._clock = clock
        self._now = now
        self._began: dict[Name, tuple[str, float | None, float]] = {}
        """By Job, its uid, when its submission began by the wall clock, and by our own."""

    def left(self, job: StoredJob, since: float | None, limit: float) -> float:
        """Seconds until a submission that began at ``since`` (seconds since 1970) has taken ``limit`` seconds."""
        uid, stated, began = self._began.get(job.key, ("", None, 0.0))
        if (uid, stated) != (job.uid, since):
            began = self._clock() - (0.0 if since is None else max(0.0, self._now() - since))
            self._began[job.key] = (job.uid, since, began)
        return began + limit - self._clock()

    def forget(self, name: Name) -> None:
        """The Job is gone."""
        self._began.pop(name, None)
