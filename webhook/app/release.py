"""``release``: takes the Lease of the controllers, so that none acts, then releases hosts of HostPools.

With all HostPools, it also makes the AdmissionChecks of Kueue inactive that no controller will answer any more.
If the namespace of the Lease is not known, it refuses while a controller runs. ``cli/release`` starts it, also in the
Job that the chart runs before it is uninstalled.
"""

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
from webhook.controller.admissionchecks.closed_checks import STAY, ClosedChecks
from webhook.controller.controller_pods import LABELS, end_controllers, running_controllers
from webhook.controller.program import LeaseRef
from webhook.controller.release import Freed, Release, Scope
from webhook.placement.text.problem import enumerated
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

_log: Final = logging.getLogger(__name__)

NAMED: Final = 3
"""Controller pods that a message names at most."""


class ReleaseRequest(Struct, frozen=True):
    """A request to release hosts of HostPools.

    ``end_controllers``: first delete the Deployment of the controllers. ``wait_seconds``: how long to wait for its pods
    to end, and after that as long again for the Lease.
    """

    scopes: Sequence[Scope]
    dry_run: bool = False
    end_controllers: bool = False
    wait_seconds: float = 30.0


TellFreed = Callable[[Freed], None]
"""Called with each pool, or with marks of no pool, as soon as it is released, or releasing it has failed."""


async def release(settings: Settings, wish: ReleaseRequest, tell: TellFreed) -> None:
    """Remove the marks of HostPools from nodes; a dry run only tells which, and asks for no Lease.

    With all HostPools, AdmissionChecks of Kueue become inactive as well.

    Raises FatalError if there is no cluster, if a controller still acts, which would give the hosts again, or if a list
    cannot be read. The failure of one pool is in its ``Freed``.
    """
    configuration = await asyncio.to_thread(configuration_of, settings)
    namespace = settings.lease_namespace or own_namespace()
    try:
        async with Connection(configuration) as connection:
            if wish.dry_run:
                await _run(ObjectClient(connection), wish, tell)
            elif namespace:
                await _under_lease(connection, LeaseRef(namespace, settings.lease_name), wish, tell)
            else:
                await _refuse_if_controllers_run(ObjectClient(connection))
                await _run(ObjectClient(connection), wish, tell)
    except (ApiError, LostError) as failure:
        raise FatalError(f"hosts could not be released: {failure}") from failure


async def _run(server: ObjectClient, wish: ReleaseRequest, tell: TellFreed) -> None:
    async for freed in Release(server, dry_run=wish.dry_run).run(wish.scopes):
        tell(freed)
    if Scope() in wish.scopes:
        await _close(ClosedChecks(server), wish, tell)


async def _close(checks: ClosedChecks, wish: ReleaseRequest, tell: TellFreed) -> None:
    """Make the AdmissionChecks inactive; the failure of one does not keep the others open.

    Where the controllers are deleted, failures are warnings: what Kueue does not answer must not keep the product.
    """
    try:
        open_checks = await checks.open()
    except ApiError as error:
        if not wish.end_controllers:
            raise
        _log.warning(STAY, error)
        return
    for check in open_checks:
        failure = ""
        try:
            if not wish.dry_run:
                await checks.close(check)
        except ApiError as error:
            if wish.end_controllers:
                _log.warning("AdmissionCheck %s of Kueue is left unchanged: %s", check.name, error)
                continue
            failure = str(error)
        tell(Freed(what=f"AdmissionCheck {check.name}", closed=not failure, failure=failure))


async def _refuse_if_controllers_run(reader: ObjectClient) -> None:
    """Raise FatalError if a controller runs: the Lease that it holds is not known."""
    running = await running_controllers(reader)
    if running:
        namespace = running[0].partition("/")[0]
        raise FatalError(
            f"controllers run, and would assign hosts again: {enumerated(running, NAMED)}; stop them first: "
            f"kubectl --namespace {namespace} scale deployment --selector {LABELS} --replicas 0"
        )


async def _under_lease(connection: Connection, place: LeaseRef, wish: ReleaseRequest, tell: TellFreed) -> None:
    """Release while holding the Lease of the controllers, which is given up at the end."""
    server = ObjectClient(connection)
    if wish.end_controllers:
        running = await end_controllers(server, place.namespace, place.lease, wait=wish.wait_seconds)
        if running:
            _log.warning("controllers have not ended, so the Lease decides: %s", enumerated(running, NAMED))
    election = Election(server, namespace=place.namespace, name=place.lease, identity=own_identity())
    giving = ObjectClient(connection, fence=election.check)
    try:
        async with asyncio.timeout(wish.wait_seconds) as patience:

            async def lead() -> None:
                patience.reschedule(None)
                await _run(giving, wish, tell)

            await election.run(lead)
    except TimeoutError:
        raise FatalError(await _why_no_lease(server, place, wish.wait_seconds)) from None


async def _why_no_lease(server: ObjectClient, place: LeaseRef, wait_seconds: float) -> str:
    """The text of the error: why this process did not get the Lease, and what helps."""
    hold = LeaseHold(
        server, namespace=place.namespace, name=place.lease, identity="", timing=LeaseTiming(), clock=lambda: 0.0
    )
    lease = f"the Lease {hold.name}"
    record = await hold.look()
    if record is None:
        return f"{lease} cannot be made: set --lease-namespace to an existing namespace"
    return (
        f"{lease} is held by {record.holder}, a controller that would assign hosts again, and was not released within "
        f"{wait_seconds:g} s; stop it first: kubectl --namespace {place.namespace} "
        f"scale deployment {place.lease} --replicas 0"
    )
