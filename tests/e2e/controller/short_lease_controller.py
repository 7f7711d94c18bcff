"""A controller with a Lease of short duration, so that many crashes can be tested; to be run as a module.

Nothing else about it is different: its settings come from the environment, and it ends with code 3 when it has lost
the Lease, as the command does.
"""

import asyncio
import logging
import os
import sys
from typing import Final

from kubeapi.client.configuration import find_configuration
from kubeapi.leaderelection.lease_hold import LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from webhook.app.cluster_source import ReadingLog
from webhook.controller.program import Controller, LeaseRef
from webhook.controller.reconciler_settings import ReconcilerSettings, Replacement
from webhook.server import logs
from webhook.server.metrics import Metrics
from webhook.settings import Settings, policy_of

LEASE: Final = "E2E_LEASE"
"""Variable with the seconds of the Lease, whole ones as the API wants: 5 unless it is set.

A busy machine may keep a process waiting for a second or two, and a controller that loses its Lease ends.
"""

REPLACING: Final = "E2E_REPLACING"
"""Variable with the seconds after which hosts are replaced that cannot be used; then also those without their tags."""

LOST: Final = 3


async def main() -> int:
    """Run it; the exit code."""
    after = float(os.environ.get(REPLACING) or 0)
    rules = ReconcilerSettings(policy_of(Settings()), Replacement(after, unlabelled=bool(after)))
    place = LeaseRef(NAMESPACE, f"{RELEASE}-controller")
    tell = ReadingLog(Metrics("controller").cluster_failures())
    lease = int(os.environ.get(LEASE) or 5)
    timing = LeaseTiming(lease=lease, deadline=lease * 0.75, retry=lease * 0.1)
    try:
        await Controller(find_configuration(), rules, place, timing=timing, tell=tell).run()
    except LostError as error:
        logging.getLogger(__name__).warning("ends: %s", error)
        return LOST
    return 0


if __name__ == "__main__":
    logs.configure("info")
    sys.exit(asyncio.run(main()))
