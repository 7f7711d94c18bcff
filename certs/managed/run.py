"""``manage`` from the first request to the last."""

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from certs.managed.access import Access
from certs.managed.api import Api, FailureError
from certs.managed.keeper import Keeper, Place
from certs.managed.lease import REQUEST_SHARE, Lease
from certs.managed.logs import LOG
from certs.managed.observed import RotationPolicy


@dataclass(frozen=True, slots=True)
class Management:
    """What ``manage`` is asked for."""

    place: Place
    terms: RotationPolicy
    lease: str
    lease_seconds: int
    interval: float
    """Seconds between two looks when there is nothing to do."""


async def manage(asked: Management, access: Access) -> None:
    """Stand for election, lead, and keep the certificates until a signal says stop; the Lease is given back then.

    Raises:
        LostError: the Lease is another's; what this process knows is out of date.
        ForeignError: the Secret is somebody else's.
    """
    async with Api(access, seconds=asked.lease_seconds * REQUEST_SHARE) as api:
        identity = f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"
        lease = Lease(
            api,
            namespace=asked.place.service.namespace,
            name=asked.lease,
            identity=identity,
            duration=asked.lease_seconds,
        )
        leading = asyncio.create_task(_lead(api, lease, asked))
        with _ended_by_signals(leading):
            try:
                await leading
            except asyncio.CancelledError:
                LOG.info("asked to stop")
            finally:
                with contextlib.suppress(FailureError):  # the others see for themselves, only later
                    await lease.release()


async def _lead(api: Api, lease: Lease, asked: Management) -> None:
    LOG.info("waiting for the lease %s as %s", asked.lease, lease.identity)
    await lease.acquire(LOG.warning)
    LOG.info("leading")
    keeper = Keeper(api, lease, asked.place, asked.terms)
    tasks = (asyncio.create_task(lease.keep(LOG.warning)), asyncio.create_task(keeper.run(asked.interval)))
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def _ended_by_signals(task: asyncio.Task[None]) -> Iterator[None]:
    """SIGTERM, SIGINT and SIGHUP, unless whoever started the program (nohup) has ignored the last, end the task."""
    loop = asyncio.get_running_loop()
    hung_up = (signal.SIGHUP,) if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else ()
    numbers = (signal.SIGTERM, signal.SIGINT, *hung_up)
    for number in numbers:
        loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
