"""Jobs of Streams that the watch may not have brought yet: the API server is asked when a pod or element names one.

The controller makes processing elements and pods right after their Job, or right after a change of it, so these may be
reviewed before the watch has delivered the Job.
"""

import time
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from msgspec import Raw

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.admission.answer import JobRef
from webhook.cluster.objects.kinds import JOBS
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.kube.names import is_object_name
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.text.api_kinds import STREAMS_JOB

SECONDS: Final = 1.0
"""For the answer: a review waits for it."""

MISSING_SECONDS: Final = 1.0
"""Seconds for which a missing Job is not asked for again: every user can name one in a pod."""

KEPT: Final = 1024
"""Missing Jobs that are remembered: some 200 bytes each."""


class StreamsJobs:
    """Reads Jobs one by one."""

    def __init__(self, server: ObjectClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._clock = clock
        self._missing: dict[JobRef, float] = {}

    async def look_up(self, job: JobRef) -> StreamsJob | None:
        """The Job; ``None`` if it does not exist or breaks rules. Raises ApiError if the API server does not say."""
        # The label of a pod may hold other texts than names.
        if not is_object_name(job.name) or self._missing.get(job, 0.0) > self._clock():
            return None
        try:
            body = await self._server.read(f"{STREAMS_JOB.path_in(quote(job.namespace, safe=''))}/{job.name}")
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                raise
            if len(self._missing) >= KEPT:
                self._missing.clear()
            self._missing[job] = self._clock() + MISSING_SECONDS
            return None
        try:
            return JOBS.read(Raw(body))[0]
        except (MalformedError, *decoding.ERRORS):
            return None
