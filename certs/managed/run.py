"""``manage``: joins client, leader election and keeper, and runs them until a signal asks to stop.

``command`` starts it, once in the life of the process.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from certs.managed.api import ANSWER_LIMIT, Api, worded
from certs.managed.keeper import Keeper, ManagedObjects
from certs.managed.logs import LOG
from certs.managed.observed import RotationPolicy
from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from kubeapi.leaderelection.election import Election
from kubeapi.leaderelection.lease_hold import LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming

AGENT: Final = "streams-placement-certs"
"""The ``User-Agent``: audit logs tell this program from the controller."""


@dataclass(frozen=True, slots=True)
class Management:
    """The settings of ``manage``: the objects, the policy of rotation, and the Lease."""

    objects: ManagedObjects
    policy: RotationPolicy
    lease: str
    """The name of the Lease, in the namespace of the Service."""
    lease_seconds: int
    """Seconds for which the Lease is valid after a renewal."""
    interval: float
    """The longest pause in seconds between two looks at the objects."""


async def manage(settings: Management, configuration: Configuration) -> None:
    """Wait for the Lease and keep the certificates until a signal asks to stop; then the Lease is given back.

    Raises:
        LostError: another process holds the Lease, or it was not renewed in time.
        ForeignError: the Secret holds certificates of another program.
    """
    timing = LeaseTiming.in_proportion(settings.lease_seconds, jitter=0.0)
    seconds = timing.request
    # The time-out of a request also bounds the reading of credentials and the opening of the connection.
    connection = Connection(configuration, connect_seconds=seconds, credential_seconds=seconds, agent=AGENT)
    async with connection:
        election = Election(
            ObjectClient(connection, seconds=seconds, limit=ANSWER_LIMIT),
            namespace=settings.objects.service.namespace,
            name=settings.lease,
            identity=f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}",
            timing=timing,
        )
        client = ObjectClient(connection, fence=election.check, seconds=seconds, limit=ANSWER_LIMIT)
        keeper = Keeper(Api(client), election, settings.objects, settings.policy)
        await _run_as_candidate(election, keeper, settings)


async def _run_as_candidate(election: Election, keeper: Keeper, settings: Management) -> None:
    """Be a candidate, and the leader after the election, until a signal asks to stop."""

    async def lead() -> NoReturn:
        LOG.info("leading")
        await keeper.run(settings.interval)

    LOG.info("waiting for the lease %s as %s", settings.lease, election.identity)
    leading = asyncio.create_task(election.run(lead, tell=_log_failure))
    with _ended_by_signals(leading):
        try:
            await leading
        except asyncio.CancelledError:
            LOG.info("asked to stop")
        except LostError as lost:
            reason = "is another's now" if lost.taken else "was not renewed in time"
            raise LostError(f"the lease {settings.lease} {reason}", taken=lost.taken) from None


def _log_failure(failure: ApiError) -> None:
    """Log that a request about the Lease failed.

    A Lease that was deleted is not logged, because it is made again. If making it fails as MISSING, the namespace does
    not exist, which is logged.
    """
    deleted = failure.cause is Cause.MISSING and failure.request is not None and failure.request.method == "PUT"
    if not deleted:
        LOG.warning("%s", worded(failure))


@contextlib.contextmanager
def _ended_by_signals(task: asyncio.Task[NoReturn]) -> Iterator[None]:
    """Cancel the task at SIGTERM, SIGINT or SIGHUP; not at SIGHUP if the process ignores it already (``nohup``)."""

    def end() -> None:
        if not task.cancelling():  # a second signal must not interrupt giving back the Lease
            task.cancel()

    loop = asyncio.get_running_loop()
    hung_up = (signal.SIGHUP,) if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else ()
    numbers = (signal.SIGTERM, signal.SIGINT, *hung_up)
    for number in numbers:
        loop.add_signal_handler(number, end)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
