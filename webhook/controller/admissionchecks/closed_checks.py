"""``ClosedChecks``: AdmissionChecks of this controller become inactive when no controller is left to answer them.

A ClusterQueue with a check that is not active is not active either: Kueue says so in its conditions, and gives out no
quota that would be held while nothing answers. A controller that is installed again makes the checks active.
"""

import logging
import time
from typing import Final

import msgspec
from msgspec import Struct

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.cluster.watch.lists import listed
from webhook.controller.admissionchecks.check_reports import ACTIVE
from webhook.controller.admissionchecks.records import PlacementCheck, read_check
from webhook.controller.conditions import condition_in, merged_conditions
from webhook.controller.object_editor import ObjectWriter
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.objects.condition import UNKNOWN, ConditionState
from webhook.placement.text.api_kinds import ADMISSION_CHECK

_log: Final = logging.getLogger(__name__)

CLOSED: Final = ConditionState(
    holds=False,
    reason="ControllerUninstalled",
    message="streams-placement was uninstalled: install it again, or take this check out of all ClusterQueues",
)

STAY: Final = "AdmissionChecks of Kueue are left unchanged: %s"
"""The warning where they cannot be listed, with the failure."""

TRIES: Final = 10
"""Attempts of one write: Kueue writes another condition now and then."""


class _ServedVersion(Struct, frozen=True, rename="camel"):
    group_version: str = ""


class _ServedGroup(Struct, frozen=True):
    versions: tuple[_ServedVersion, ...] | None = None


class ClosedChecks:
    """Makes the AdmissionChecks of this controller inactive through ``server``; ``now`` is the time since 1970."""

    def __init__(self, server: ObjectWriter, now: Clock = time.time) -> None:
        self._server = server
        self._now = now

    async def open(self) -> list[PlacementCheck]:
        """The checks that count as answered; none where Kueue is not served, or its checks may not be listed.

        The latter is logged. Raises :class:`ApiError` for what may work later.
        """
        try:
            path = await self._served()
            checks = [] if path is None else [read_check(item) async for item in listed(self._server, path, {})]
        except ApiError as failure:
            if failure.cause is not Cause.FORBIDDEN:
                raise
            _log.warning(STAY, failure)
            return []
        return [check for check in checks if check is not None and not check.deleting and not _closed(check)]

    async def close(self, check: PlacementCheck) -> None:
        """Make the check inactive; raises :class:`ApiError` where that fails."""
        wanted: PlacementCheck | None = check
        for _ in range(TRIES):
            if wanted is None or _closed(wanted):
                return
            now = timestamp(self._now())
            conditions = merged_conditions(wanted.conditions, {ACTIVE: CLOSED}, wanted.generation, now)
            body = {"metadata": {"resourceVersion": wanted.version}, "status": {"conditions": conditions}}
            try:
                await self._server.merge_patch(f"{wanted.path}/status", body)
            except ApiError as failure:
                if failure.cause is Cause.MISSING:
                    return
                if failure.cause is not Cause.CONFLICT:
                    raise
                wanted = read_check(msgspec.Raw(await self._server.read(wanted.path)))
            else:
                return
        raise ApiError(Cause.BUSY, "it keeps being changed by other clients")

    async def _served(self) -> str | None:
        """The path of all AdmissionChecks in the best version that the API server serves; ``None`` if it has none."""
        try:
            text = await self._server.read(f"/apis/{ADMISSION_CHECK.group}")
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                raise
            return None
        try:
            group = msgspec.json.decode(text, type=_ServedGroup)
        except decoding.ERRORS as error:
            raise ApiError(Cause.UNREADABLE, f"its versions cannot be read: {decoding.reason(error)}") from None
        served = {one.group_version for one in group.versions or ()}
        kinds = zip(ADMISSION_CHECK.api_versions, ADMISSION_CHECK.paths, strict=True)
        return next((path for version, path in kinds if version in served), None)


def _closed(check: PlacementCheck) -> bool:
    return not condition_in(check.conditions, ACTIVE, UNKNOWN).holds
