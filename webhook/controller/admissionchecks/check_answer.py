"""A verdict as the state of an admission check: Ready, Retry or Rejected, with a message of one line."""

from typing import Any, Final

from msgspec import Struct

from webhook.controller.admissionchecks.records import READY, CheckState
from webhook.controller.admissionchecks.workload_judge import WorkloadVerdict
from webhook.controller.conditions import shortened
from webhook.placement.text.problem import counted

RETRY: Final = "Retry"
REJECTED: Final = "Rejected"

SOONEST: Final = 10
"""Seconds after which Kueue queues a Workload again that cannot run now; twice as many after each further time."""

LATEST: Final = 300
"""The most seconds."""

_DOUBLINGS: Final = 5

PATIENT: Final = 3
"""Times that a Workload is told to retry because time ran out, which may be for a busy machine. Then it passes."""

UNDECIDED: Final = "no decision in time on whether all pods can run at the same time"

NOTHING_ASKED: Final = "nothing is judged: no pod set asks for placement"
EXCLUDED: Final = "nothing is judged: the webhook does not review pods of this namespace"
RUNS: Final = "nothing is judged: the Workload is admitted already"


class CheckReply(Struct, frozen=True):
    """The ``state`` of a check, with its ``message``; ``wait`` are the seconds until Kueue may try again."""

    state: str
    message: str
    wait: int | None = None

    def entry(self, check: CheckState, now: str) -> dict[str, Any]:
        """The entry of ``status.admissionChecks`` in place of that one, at the time ``now``."""
        entry: dict[str, Any] = {"name": check.name, "state": self.state, "message": shortened(self.message)}
        counts = {"retryCount": check.retry_count, "requeueAfterSeconds": self.wait}
        stated = {field: count for field, count in counts.items() if count is not None}
        return {**entry, "lastTransitionTime": now, **stated}


def ready(message: str) -> CheckReply:
    """The check has passed."""
    return CheckReply(READY, message)


def rejected(message: str) -> CheckReply:
    """The check cannot pass."""
    return CheckReply(REJECTED, message)


def answer_of(verdict: WorkloadVerdict, retries: int, *, audit: bool) -> CheckReply:
    """The answer by that verdict, for a Workload that was told to retry so many times."""
    now = verdict.now
    if now.undecided and retries < PATIENT and not audit:
        return CheckReply(RETRY, UNDECIDED, _delay(retries))
    if not now.refused:
        pods = sum(now.group.counts) if now.group and now.answer and now.answer.placed else 0
        said = [f"{counted(pods, 'pod')} can run at the same time"] if pods else []
        return ready("; ".join([*said, *now.warnings]))
    if audit:
        return ready(f"audit: this would be {'retried' if verdict.later else 'rejected'}: {now.headline}")
    if not verdict.later:
        return rejected(now.headline)
    return CheckReply(RETRY, now.headline, _delay(retries))


def _delay(retries: int) -> int:
    """Seconds until the next try, after so many."""
    return min(SOONEST << min(retries, _DOUBLINGS), LATEST)
