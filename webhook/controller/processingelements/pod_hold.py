"""Why no pod may be created for a processing element now: its Job, or a HostPool of the Job, is not there."""

from collections.abc import Iterator

from webhook.controller.jobstore.records import StoredElement, StoredJob
from webhook.controller.jobstore.store import JobStore
from webhook.placement.objects.condition import ConditionState
from webhook.placement.text.problem import counted, enumerated

NAMED = 3
"""HostPools that a message names."""


def pod_hold(element: StoredElement, store: JobStore) -> ConditionState | None:
    """The reason in words; ``None`` if a pod may be created."""
    job = store.jobs.all.get((element.namespace, element.job))
    if job is None:
        return _on_hold("JobMissing", f"Job {element.job} does not exist")
    return next(_reasons(element, job, store), None)


def _reasons(element: StoredElement, job: StoredJob, store: JobStore) -> Iterator[ConditionState]:
    if element.owner is not None and element.owner_uid != job.uid:
        yield _on_hold("JobReplaced", f"its Job was deleted, and Job {element.job} is another one")
    if job.deleting:
        yield _on_hold("JobDeleting", f"Job {element.job} is being deleted")
    if job.options is None:
        yield _on_hold("JobInvalid", f"Job {element.job}: {job.fault}")
    if job.undone:
        yield _on_hold("SubmissionFailed", f"the submission of Job {element.job} has failed")
    missing = [pool for pool in job.pools if not _exists(job, pool, store)]
    if missing:
        names = f"{counted(len(missing), 'HostPool')} of the Job: {enumerated(missing, NAMED)}"
        yield _on_hold("WaitingForPools", f"it waits for {names}")


def _exists(job: StoredJob, name: str, store: JobStore) -> bool:
    pool = store.pools.all.get((job.namespace, name))
    return pool is not None and pool.owner_uid == job.uid


def _on_hold(reason: str, message: str) -> ConditionState:
    return ConditionState(holds=False, reason=reason, message=message)
