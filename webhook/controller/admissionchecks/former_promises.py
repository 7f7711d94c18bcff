"""``FormerPromises``: the room that a former leader has promised Workloads, which a new leader keeps on."""

import contextlib
from collections.abc import AsyncIterator, Container
from typing import Final

from msgspec import Raw

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError
from kubeapi.clock import Clock
from webhook.cluster.judging.kept_room import SECONDS
from webhook.cluster.objects.metadata import MalformedError
from webhook.cluster.watch.lists import ListReader, listed
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.promised_room import PromisedRoom
from webhook.controller.admissionchecks.queued_pods import QueuedPods
from webhook.controller.admissionchecks.records import CheckedWorkload, read_workload
from webhook.controller.turn import LOOKS
from webhook.placement.inventory.pool_index import Name
from webhook.placement.text.api_kinds import KUEUE_WORKLOAD

_UNREADABLE: Final = (MalformedError, *decoding.ERRORS)


class FormerPromises:
    """Fills ``room``; ``now`` is the time in seconds since 1970. In ``excluded`` namespaces nothing is judged."""

    def __init__(
        self,
        server: ListReader,
        store: CheckStore,
        pods: QueuedPods,
        room: PromisedRoom,
        now: Clock,
        excluded: Container[str],
    ) -> None:
        self._server = server
        self._store = store
        self._pods = pods
        self._room = room
        self._now = now
        self._excluded = excluded

    async def take_over(self) -> None:
        """Keep room for the pods that have no node yet; called in turn, before anything else is promised."""
        reported: set[Name] = set()
        self._store.on_workload.append(reported.add)
        try:
            for text in [text async for text in self._stored()]:
                await self._resume(text, reported)
        finally:
            self._store.on_workload.remove(reported.add)
        await self._room.settle()

    async def _stored(self) -> AsyncIterator[bytes]:
        """The Workloads of which pods may be without nodes, as they are stored now.

        The former leader may have answered a moment ago, and a watch may be late. If Workloads cannot be listed, those
        are read that are known.
        """
        version = next((check.api_version for check in self._store.checks.values() if check.active), "")
        if not version:
            return
        try:
            promises = [
                bytes(item)
                async for item in listed(self._server, f"/apis/{version}/{KUEUE_WORKLOAD.resource}", {})
                if self._lately(_workload_in(item))
            ]
            for text in promises:
                yield text
        except ApiError:
            for workload in list(self._store.workloads.values()):
                if self._lately(workload):
                    with contextlib.suppress(ApiError):
                        yield await self._server.read(workload.path)

    def _lately(self, workload: CheckedWorkload | None) -> bool:
        """Whether the Workload has passed, and was not admitted longer ago than room is kept."""
        if workload is None or not workload.placed or not workload.passed(self._store.active):
            return False
        return abs(workload.age(self._now())) < SECONDS  # the clock of Kueue may be ahead

    async def _resume(self, text: bytes, reported: set[Name], again: int = LOOKS - 1) -> None:
        """Keep the room of that Workload.

        It is read ``again``, at most so many times, if the watch has ``reported`` it since it was read: it may be
        deleted, or have lost its quota, and no later event would give its room back.
        """
        workload = _workload_in(Raw(text))
        if workload is None or not self._lately(workload) or workload.namespace in self._excluded:
            return
        try:
            pods = await self._pods.read(workload, text)
            if again and workload.key in reported:
                reported.remove(workload.key)
                await self._resume(await self._server.read(workload.path), reported, again - 1)
                return
        except (ApiError, *_UNREADABLE):
            return
        if isinstance(pods, list):
            self._room.owe(workload, pods, passed=max(workload.age(self._now()), 0.0))


def _workload_in(item: Raw) -> CheckedWorkload | None:
    try:
        return read_workload(item)
    except _UNREADABLE:
        return None
