"""Writes the condition Active of AdmissionChecks: Kueue admits nothing by a check without it."""

from typing import Final

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.conditions import condition_in, merged_conditions
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.reconciler_settings import SOON
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.objects.condition import UNKNOWN, ConditionState

ACTIVE: Final = "Active"

WORKS: Final = ConditionState(holds=True, reason=ACTIVE, message="pod sets are judged before a Workload is admitted")
PARAMETERS: Final = ConditionState(
    holds=False, reason="BadParametersRef", message="spec.parameters: this controller takes none, so remove them"
)


class CheckReports:
    """The reconciler of AdmissionChecks, called by one worker; ``now`` is the time in seconds since 1970."""

    def __init__(self, server: ObjectEditor, store: CheckStore, now: Clock) -> None:
        self._server = server
        self._store = store
        self._now = now

    async def reconcile(self, name: str) -> float | None:
        """Write the condition of that AdmissionCheck if it differs; returns the seconds until the next pass, if any.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        check = self._store.checks.get(name)
        if check is None or check.deleting:
            return None
        wanted = PARAMETERS if check.parameters else WORKS
        if condition_in(check.conditions, ACTIVE, UNKNOWN) == wanted:
            return None
        conditions = merged_conditions(check.conditions, {ACTIVE: wanted}, check.generation, timestamp(self._now()))
        body = {"metadata": {"resourceVersion": check.version}, "status": {"conditions": conditions}}
        try:
            await self._server.merge_patch(f"{check.path}/status", body)
        except ApiError as failure:
            if failure.cause is not Cause.CONFLICT:
                raise
            return SOON
        return None
