"""``release``: makes sure that no controller acts (by Lease, or none runs), then releases hosts of HostPools."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from kubeapi.client.service_account import own_namespace
from kubeapi.leaderelection.election import Election, own_identity
from kubeapi.leaderelection.lease_hold import LeaseHold, LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming
from webhook.app.cluster_source import configuration_of
from webhook.controller.controller_pods import LABELS, candidates, end_candidates
from webhook.controller.program import LeaseRef
from webhook.controller.release import Freed, Release, Scope
from webhook.placement.text.problem import enumerated
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

_log: Final = logging.getLogger(__name__)

NAMED: Final = 3
"""Controllers that a message names."""


class ReleaseRequest(Struct, frozen=True):
    """What is to be released. ``wait`` is how many seconds a controller that acts is waited for."""

    scopes: Sequence[Scope]
    dry_run: bool = False
    end_controllers: bool = False
    wait: float = 30.0


TellFreed = Callable[[Freed], None]
"""Told of every pool, as soon as it is done."""


async def release(settings: Settings, wish: ReleaseRequest, tell: TellFreed) -> None:
    """Give hosts back; FatalError without a cluster, or while a controller acts, which would give them again."""
    configuration = await asyncio.to_thread(configuration_of, settings)
    namespace = settings.lease_namespace or own_namespace()
    try:
        async with Connection(configuration) as connection:
            if wish.dry_run:
                await _run(Release(ObjectClient(connection), dry_run=True), wish, tell)
            elif namespace:
                await _led(connection, LeaseRef(namespace, settings.lease_name), wish, tell)
            else:
                await _alone(ObjectClient(connection))
                await _run(Release(ObjectClient(connection)), wish, tell)
    except (ApiError, LostError) as failure:
        raise FatalError(f"hosts could not be given back: {failure}") from failure


async def _run(release: Release, wish: ReleaseRequest, tell: TellFreed) -> None:
    async for freed in release.run(wish.scopes):
        tell(freed)


async def _alone(reader: ObjectClient) -> None:
    """Raise FatalError if a controller runs: the Lease that it holds is not known."""
    running = await candidates(reader)
    if running:
        namespace = running[0].partition("/")[0]
        raise FatalError(
            f"controllers run, and would give hosts again: {enumerated(running, NAMED)}; stop them first: "
            f"kubectl --namespace {namespace} scale deployment --selector {LABELS} --replicas 0"
        )


async def _led(connection: Connection, place: LeaseRef, wish: ReleaseRequest, tell: TellFreed) -> None:
    """Release while holding the Lease of the controllers, which is given up at the end."""
    server = ObjectClient(connection)
    if wish.end_controllers:
        left = await end_candidates(server, place.namespace, place.lease, wait=wish.wait)
        if left:
            _log.warning("controllers have not ended, so the Lease decides: %s", enumerated(left, NAMED))
    election = Election(server, namespace=place.namespace, name=place.lease, identity=own_identity())
    giving = Release(ObjectClient(connection, fence=election.check))
    try:
        async with asyncio.timeout(wish.wait) as patience:

            async def lead() -> None:
                patience.reschedule(None)
                await _run(giving, wish, tell)

            await election.run(lead)
    except TimeoutError:
        raise FatalError(await _why_not(server, place, wish.wait)) from None


async def _why_not(server: ObjectClient, place: LeaseRef, wait: float) -> str:
    """Why the Lease could not be had, and what helps."""
    hold = LeaseHold(
        server, namespace=place.namespace, name=place.lease, identity="", timing=LeaseTiming(), clock=lambda: 0.0
    )
    lease = f"the Lease {hold.name}"
    record = await hold.look()
    if record is None:
        return f"{lease} cannot be made: give --lease-namespace of a namespace that there is"
    return (
        f"{lease} is held by {record.holder}, a controller that would give hosts again, and was not free within "
        f"{wait:g} s; stop it first: kubectl --namespace {place.namespace} scale deployment {place.lease} --replicas 0"
    )
