"""RuntimeClasses and PriorityClasses that the watch may not have brought yet: the API server is asked for each.

When a class and a workload that names it are applied together, the workload arrives milliseconds after the class.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from msgspec import Raw

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.cluster.objects.kinds import PRIORITY_CLASSES, RUNTIME_CLASSES, Kind
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.kube.names import is_object_name
from webhook.placement.pod_defaults.pod_defaults import ClassRef
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass

SECONDS: Final = 1.0
"""For an answer: a review waits for it."""

MISSING_SECONDS: Final = 1.0
"""Seconds in which a missing class is not asked for again: any user can name one."""

KEPT: Final = 1024
"""Missing classes that are remembered: some 200 bytes each."""

_KINDS: Final[Mapping[str, Kind[Any]]] = {kind.name: kind for kind in (RUNTIME_CLASSES, PRIORITY_CLASSES)}


class PodClasses:
    """Reads classes one by one."""

    def __init__(self, server: ObjectClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._clock = clock
        self._missing: dict[ClassRef, float] = {}

    async def look_up(self, named: Iterable[ClassRef]) -> tuple[list[RuntimeClass | PriorityClass], list[ClassRef]]:
        """The classes that exist, and those that do not; one that breaks rules is neither.

        Raises ApiError where that cannot be found out.
        """
        classes: list[RuntimeClass | PriorityClass] = []
        absent: list[ClassRef] = []
        for one in named:
            body = await self._read(one)
            if body is None:
                absent.append(one)
                continue
            try:
                classes += filter(None, _KINDS[one.kind].read(Raw(body))[:1])
            except (MalformedError, *decoding.ERRORS):
                continue
        return classes, absent

    async def _read(self, one: ClassRef) -> bytes | None:
        """The class as JSON; ``None`` if it does not exist."""
        if not is_object_name(one.name) or self._missing.get(one, 0.0) > self._clock():
            return None
        try:
            return await self._server.read(f"{_KINDS[one.kind].path}/{quote(one.name, safe='')}")
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                raise
            if len(self._missing) >= KEPT:
                self._missing.clear()
            self._missing[one] = self._clock() + MISSING_SECONDS
            return None
