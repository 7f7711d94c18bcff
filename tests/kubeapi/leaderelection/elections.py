"""Candidates for a lease, and what they do while they lead."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from kubeapi.leaderelection.election import Election
from kubeapi.leaderelection.lease_hold import LostError
from tests.controller.virtual_time import clock, settle

OURS = {"holderIdentity": "me", "leaseDurationSeconds": 15}
THEIRS = {"holderIdentity": "you", "leaseDurationSeconds": 15}


def candidate(leases: Any, identity: str = "me") -> Election:
    return Election(leases, namespace="streams", name="controller", identity=identity, clock=clock)


async def for_ever() -> None:
    await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def running(
    election: Election, work: Callable[[], Awaitable[object]] = for_ever
) -> AsyncIterator["asyncio.Task[object]"]:
    task = asyncio.create_task(election.run(work))
    try:
        await settle()
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, LostError):
            await task


def unreachable() -> ApiError:
    return ApiError(Cause.UNREACHABLE, "the API server does not answer: gone")


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged that somebody should read."""
    return [record.getMessage() for record in caplog.records if record.levelno > logging.INFO]
