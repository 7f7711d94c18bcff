"""A candidate is told at once that its Lease was written, and can do without."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest

from kubeapi.client.connection import Connection
from kubeapi.leaderelection.lease_watch import LeaseWatch
from tests.apiserver.server import ApiServer, refused
from tests.controller.test_program import LEASE, until

pytestmark = pytest.mark.integration

OTHER = LEASE.replace("/controller", "/another")


@contextlib.asynccontextmanager
async def watching(server: ApiServer) -> AsyncIterator[asyncio.Event]:
    async with Connection(server.configuration()) as connection:
        changed = asyncio.Event()
        watch = LeaseWatch(connection, changed, namespace="streams", name="controller", pause=0.05)
        task = asyncio.create_task(watch.run())
        try:
            yield changed
        finally:
            task.cancel()
            await asyncio.wait({task})


async def test_every_write_is_told_of(server: ApiServer) -> None:
    server.storage.create(LEASE, spec={"holderIdentity": "you"})
    async with watching(server) as changed:
        await asyncio.wait_for(changed.wait(), 10)  # the Lease as it is
        for holder in ("you", ""):
            changed.clear()
            server.put(LEASE, {**server.objects[LEASE], "spec": {"holderIdentity": holder}})
            await asyncio.wait_for(changed.wait(), 10)


async def test_other_leases_are_not(server: ApiServer) -> None:
    async with watching(server) as changed:
        await until(lambda: server.watching["leases"] == 1)
        server.storage.create(OTHER, spec={"holderIdentity": "you"})
        await asyncio.sleep(0.2)
        assert not changed.is_set()


async def test_a_watch_that_ends_is_followed_by_another(server: ApiServer) -> None:
    server.watch_seconds = 0.1
    async with watching(server):
        await until(lambda: len(server.asked("leases", "watch")) > 2)


async def test_a_failure_is_followed_by_another_watch_and_not_told(
    server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.answers["leases", "watch"].extend([lambda: refused(500, "etcd"), None])
    async with watching(server):
        await until(lambda: server.watching["leases"] == 1)
    assert [one.getMessage() for one in caplog.records if one.levelno > logging.INFO] == []


async def test_a_right_that_is_missing_is_told_once(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    server.answers["leases", "watch"].extend([lambda: refused(403, "Forbidden")] * 3 + [None])
    async with watching(server):
        await until(lambda: server.watching["leases"] == 1)
    assert [one.getMessage() for one in caplog.records if one.levelno > logging.INFO] == [
        "the lease is not watched, so a change of leaders takes longer: the API server answers 403: because Forbidden"
    ]
