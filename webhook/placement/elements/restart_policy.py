"""The restart policy of a processing element whose pod has ended (Streams instance operator)."""

import enum
from typing import Final

from msgspec import Struct

from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.objects.jobs.job_spec import ElementOptions, ElementSpec, restartable


class LaunchOutcome(enum.StrEnum):
    """How a launch ended."""

    COMPLETED = "Completed"
    """Exit code 0."""
    FAILED = "Failed"
    """Another exit code, a probe that failed, an eviction, a preemption, or a node that is lost."""
    DELETED = "Deleted"
    """The pod was deleted before it ended."""


class RestartPolicy(Struct, frozen=True, gc=False):
    """The four restart options of one processing element, with what ``restartFailedPod: null`` means for it."""

    delete_failed: bool = True
    completed: bool = False
    deleted: bool = False
    failed: bool = True

    def restarts(self, pod: ElementPod) -> bool:
        """Whether a pod that has ended, or is gone, is followed by another launch.

        A pod that ended while it was being deleted is restarted by the row of its end, or else by that of deleted pods.
        """
        outcome = outcome_of(pod)
        if outcome is LaunchOutcome.DELETED:
            return self.deleted
        return (self.completed if outcome is LaunchOutcome.COMPLETED else self.failed) or (
            pod.deleting and self.deleted
        )


def restart_policy(element: ElementSpec, options: ElementOptions) -> RestartPolicy:
    """The policy of an element whose effective options these are."""
    failed = options.restart_failed_pod
    return RestartPolicy(
        delete_failed=options.delete_failed_pod is not False,
        completed=bool(options.restart_completed_pod),
        deleted=bool(options.restart_deleted_pod),
        failed=restartable(element) if failed is None else failed,
    )


def outcome_of(pod: ElementPod) -> LaunchOutcome:
    """How a pod ended that is terminal, or gone.

    A pod that was evicted has failed even if its container, asked to end, ended well.
    """
    if pod.disruption or pod.phase == "Failed":
        return LaunchOutcome.FAILED
    return LaunchOutcome.COMPLETED if pod.phase == "Succeeded" else LaunchOutcome.DELETED


LONG: Final = 600.0
"""Seconds after which a pod that ran so long has no failures any more (Kubernetes, ``kuberuntime``, twice the longest
delay)."""

_FIRST: Final = 10.0
_LONGEST: Final = 300.0
"""The second restart waits so many seconds, each later one twice as many, up to the longest (Kubernetes,
``kubelet.go``, ``backOffPeriod`` and ``MaxContainerBackOff``)."""

_DOUBLINGS: Final = 5
"""Doublings after which the delay is the longest."""


def delay(failures: int) -> float:
    """Seconds before the restart after so many consecutive ends; the first restart is at once."""
    return 0.0 if failures < 2 else min(_LONGEST, _FIRST * 2.0 ** min(failures - 2, _DOUBLINGS))  # noqa: PLR2004
