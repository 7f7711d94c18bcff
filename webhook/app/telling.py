"""What is said of a cluster while it is read, and what its first reading leaves in memory."""

import gc
import logging
from collections.abc import Callable, Iterator
from typing import Final

from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects.report import Finding, Report

_log = logging.getLogger(__package__)

YOUNG: Final = 20_000
"""New containers before the garbage collector looks at them: reviews make no cycles, and the default of 700 would look
every ten reviews."""


def tell_reading(outcome: Report | Exception) -> None:
    """Say how a reading of the snapshot went."""
    if isinstance(outcome, Exception):
        _log.error("the snapshot was not read again, the last one stays: %s", outcome)
        return
    _log.info("snapshot: %s", outcome)
    for line in unused(outcome):
        _log.warning("snapshot: %s", line)
    settle()


def unused(report: Report) -> Iterator[str]:
    """A line for each object that was skipped and each part that was left out, and one for those not named."""
    yield from map(str, (*report.skipped, *report.noted))
    more = report.skipped_count - len(report.skipped) + report.noted_count - len(report.noted)
    if more:
        yield f"and {more} more that are not named"


def listener(tell: Callable[[str], object]) -> Callable[[Report | Finding | ApiError], None]:
    """Tells a person what the watches could not use and what goes wrong; kinds that are not installed are no news."""

    def hear(outcome: Report | Finding | ApiError) -> None:
        missing = isinstance(outcome, ApiError) and outcome.cause is Cause.MISSING
        if not missing and not isinstance(outcome, Report):
            tell(f"cluster: {outcome}")

    return hear


class Settling:
    """Says what the watches tell, and settles once everything has been listed."""

    def __init__(self) -> None:
        self._settled = False

    def __call__(self, outcome: Report | Finding | ApiError) -> None:
        """Say it."""
        if not isinstance(outcome, Report):
            _log.warning("cluster: %s", outcome)
            return
        _log.info("cluster: %s", outcome)
        if not self._settled:
            self._settled = True
            settle()


def settle() -> None:
    """Keep what was just read out of the garbage collector's way: it stays, and there is much of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
