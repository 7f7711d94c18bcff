"""Claims of volumes, asked of the API server when a pod is judged that uses them (``docs/volumes.md``).

Few pods that ask for placement have claims, and a cluster may have tens of thousands of these: a watch would cost more
than the questions do. What is not answered in time stays unknown, and no pod is refused for it.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote

from msgspec import Raw

from kubeapi.client import decoding
from kubeapi.client.api_types import Page
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items
from webhook.cluster.objects.metadata import MalformedError
from webhook.cluster.objects.storage import read_claim, read_class, read_volume
from webhook.cluster.queries.lookups.kept_answers import KeptAnswers
from webhook.cluster.watch.lists import ListReader
from webhook.placement.kube.names import is_object_name
from webhook.placement.objects.volumes import Claim, ClaimName, PersistentVolume, StorageClass, Volumes
from webhook.placement.text.api_kinds import CLAIM, PERSISTENT_VOLUME, STORAGE_CLASS

SECONDS: Final = 1.0
"""For everything that one review asks."""

MOST: Final = 64
"""Claims of one review that are looked up: a node attaches few dozen volumes."""

AT_A_TIME: Final = 8
"""Reviews that ask at a time: the API server gets at most 1,024 such requests at once."""

KEPT_SECONDS: Final = 10.0
"""For which a bound claim, a volume and the classes are kept, as these hardly ever change; other claims are not."""

KEPT: Final = 4096
"""Claims and volumes that are kept: some 500 bytes each."""

_UNREADABLE: Final = (MalformedError, *decoding.ERRORS)


class VolumeLookups:
    """Reads claims, the volumes that they are bound to, and the storage classes."""

    def __init__(self, server: ListReader, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._asking = 0
        self._claims: KeptAnswers[str, Claim] = KeptAnswers(clock, KEPT_SECONDS, KEPT)
        self._volumes: KeptAnswers[str, PersistentVolume] = KeptAnswers(clock, KEPT_SECONDS, KEPT)
        self._classes: KeptAnswers[str, tuple[StorageClass, ...]] = KeptAnswers(clock, KEPT_SECONDS, KEPT)

    async def find(self, claims: Iterable[ClaimName]) -> Volumes:
        """The volumes of these claims, as far as the API server answers in time."""
        volumes = Volumes()
        if self._asking >= AT_A_TIME:
            return volumes
        self._asking += 1
        wanted = list(claims)[:MOST]
        try:
            async with asyncio.timeout(SECONDS):
                await asyncio.gather(self._list_classes(volumes), *(self._look_up(name, volumes) for name in wanted))
        except TimeoutError:
            pass
        finally:
            self._asking -= 1
        return volumes

    async def _look_up(self, name: ClaimName, volumes: Volumes) -> None:
        """Put the claim, and the volume that it is bound to."""
        namespace, claim_name = name
        if not is_object_name(claim_name):
            volumes.missing(name)
            return
        path = f"{CLAIM.path_in(quote(namespace, safe=''))}/{claim_name}"
        claim = self._claims.at(path)
        try:
            if claim is None:
                claim, _ = read_claim(Raw(await self._server.read(path)))
                if claim.volume:
                    self._claims.keep(path, claim)
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                volumes.missing(name)
            return
        except _UNREADABLE:
            return
        volumes.put_claim(claim)
        if claim.volume:
            await self._look_up_volume(claim.volume, volumes)

    async def _look_up_volume(self, name: str, volumes: Volumes) -> None:
        """Put the volume, if it can be read."""
        path = f"{PERSISTENT_VOLUME.path}/{quote(name, safe='')}"
        volume = self._volumes.at(path)
        try:
            if volume is None:
                volume, _ = read_volume(Raw(await self._server.read(path)))
                self._volumes.keep(path, volume)
        except (ApiError, *_UNREADABLE):
            return
        volumes.put_volume(volume)

    async def _list_classes(self, volumes: Volumes) -> None:
        """Put the storage classes, of which a cluster has few."""
        path = STORAGE_CLASS.path
        classes = self._classes.at(path)
        try:
            if classes is None:
                page = items.decode(Raw(await self._server.read(path)), Page)
                classes = tuple(read_class(item)[0] for item in page.items or ())
                self._classes.keep(path, classes)
        except (ApiError, *_UNREADABLE):
            return
        for each in classes:
            volumes.put_class(each)
