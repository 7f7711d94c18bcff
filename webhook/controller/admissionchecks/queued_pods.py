"""``QueuedPods``: the pods of a Workload that are to be judged, with what has to be read for them."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.watch.lists import ListReader
from webhook.controller.admissionchecks.pod_sets import PodSets, PodSetUpdate, read_flavor, read_pod_sets
from webhook.controller.admissionchecks.records import CheckedWorkload
from webhook.controller.admissionchecks.workload_slice import read_slice
from webhook.placement.jobs.whole_application import PodsToJudge
from webhook.placement.text.api_kinds import RESOURCE_FLAVOR
from webhook.placement.text.keys import PREFIX
from webhook.placement.text.problem import Problem

_MAY_ASK: Final = PREFIX.encode()
"""In the JSON of every Workload whose pods ask for placement."""


class QueuedPods:
    """Reads ResourceFlavors, and Workloads that are replaced, from the API server."""

    def __init__(self, server: ListReader) -> None:
        self._server = server

    async def read(self, workload: CheckedWorkload, text: bytes) -> list[PodsToJudge] | tuple[Problem, ...] | None:
        """The pods, or what is wrong with them; ``None`` if none of them asks for placement.

        ``text`` is the Workload as it is stored. Raises :class:`ApiError`, or one of :data:`decoding.ERRORS`.
        """
        if _MAY_ASK not in text:
            return None
        pod_sets = read_pod_sets(text)
        before = await self._before(workload, text)
        pod_sets = pod_sets if before is None else pod_sets.growing(before)
        return pod_sets.pods(await self._flavors(workload, pod_sets.flavors))

    async def _before(self, workload: CheckedWorkload, text: bytes) -> PodSets | None:
        """The pod sets of the Workload that this one replaces, while their pods run; ``None`` for most."""
        own = read_slice(text)
        name = own.replaces(workload.namespace)
        if not name:
            return None
        try:
            other = await self._server.read(f"{workload.home}/{name}")
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                raise
            return None
        return read_pod_sets(other) if own.grows(read_slice(other)) else None

    async def _flavors(self, workload: CheckedWorkload, names: Sequence[str]) -> dict[str, PodSetUpdate]:
        """What the ResourceFlavors of these names add to pods."""
        home = f"/apis/{workload.api_version}/{RESOURCE_FLAVOR.resource}"
        return {name: read_flavor(await self._server.read(f"{home}/{quote(name, safe='')}")) for name in names}
