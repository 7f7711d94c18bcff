"""The stored Job of a ParallelRegion that is scaled, read from the API server: the webhook watches no ParallelRegions.

Scaling is rare, and what the Job's status says of its fusion must be as new as can be.
"""

from urllib.parse import quote

import msgspec
from msgspec import Raw, Struct

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.admission.answer import RegionQuestion
from webhook.placement.kube.names import is_object_name
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.text.api_kinds import PARALLEL_REGION, STREAMS_JOB, ApiKind


class _Region(Struct, frozen=True, gc=False):
    spec: ParallelRegionSpec | None = None


class ScaledJobs:
    """Reads ParallelRegions and their Jobs one by one."""

    def __init__(self, server: ObjectClient) -> None:
        self._server = server

    async def look_up(self, question: RegionQuestion) -> tuple[ParallelRegionSpec | None, Raw | None]:
        """The spec of the region and its Job; ``None`` for what does not exist. Raises ApiError."""
        spec = question.known
        if spec is None:
            stored = await self._read(PARALLEL_REGION, question.namespace, question.name)
            spec = _spec(stored)
        return spec, await self._read(STREAMS_JOB, question.namespace, spec.job) if spec else None

    async def _read(self, kind: ApiKind, namespace: str, name: str) -> Raw | None:
        if not is_object_name(name):
            return None
        try:
            return Raw(await self._server.read(f"{kind.path_in(quote(namespace, safe=''))}/{name}"))
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                raise
            return None


def _spec(stored: Raw | None) -> ParallelRegionSpec | None:
    try:
        return None if stored is None else msgspec.json.decode(stored, type=_Region).spec
    except decoding.ERRORS:
        return None
