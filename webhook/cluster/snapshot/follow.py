"""A snapshot that is read again when its files change."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

from webhook.cluster.objects.report import Report
from webhook.cluster.objects.sink import Sink
from webhook.cluster.snapshot.folder import FolderSignature, signature
from webhook.cluster.snapshot.snapshot import read_snapshot

I = TypeVar("I", bound=Sink)  # noqa: E741 stands for Inventory

INTERVAL = 2.0
"""Seconds between two looks at the folder; a change is read after two looks that saw the same."""


async def follow(
    folder: Path, interval: float, on_change: Callable[[], Awaitable[object]], *, known: FolderSignature | None = None
) -> NoReturn:
    """Await ``on_change`` whenever the folder's files differ from ``known`` (default: from now), until cancelled.

    It is called once the files have looked the same twice, ``interval`` seconds apart: half-written ones do not count.
    """
    before = await asyncio.to_thread(signature, folder)
    known = before if known is None else known
    while True:
        await asyncio.sleep(interval)
        now = await asyncio.to_thread(signature, folder)
        if now == before and now != known:
            known = now
            await on_change()
        before = now


class SnapshotCluster(Generic[I]):
    """A folder of files as a cluster: ``inventory`` is what they said when they were last read.

    ``make`` builds an empty inventory. A new one is filled for every reading and takes the place of the old one as a
    whole, so nobody ever sees half a cluster. ``tell`` learns how every reading by :meth:`run` ended.
    """

    def __init__(
        self,
        folder: Path,
        make: Callable[[], I],
        *,
        tell: Callable[[Report | Exception], object] = lambda _: None,
        interval: float = INTERVAL,
    ) -> None:
        self.folder = folder
        self.inventory: I = make()
        self.report: Report | None = None
        self._make = make
        self._tell = tell
        self._interval = interval
        self._known: FolderSignature = ()
        self._closed = threading.Event()

    @property
    def synced(self) -> bool:
        """Whether the folder has been read at least once."""
        return self.report is not None

    def reason(self) -> str | None:
        """Why nothing can be decided now; ``None`` if it can."""
        return None if self.synced else "the snapshot is not read yet"

    def ages(self) -> dict[str, float]:
        """Nothing: files have no age that matters."""
        return {}

    def load(self) -> Report:
        """Read the folder now; raises :class:`SnapshotError` and changes nothing if it cannot serve as a cluster."""
        return self._take(*self._read(lambda: False))

    async def run(self) -> NoReturn:
        """Read the folder unless that is done, then again after every change, until cancelled.

        Raises :class:`SnapshotError` if the first reading fails; after that the last good inventory stays.
        """
        self._closed.clear()
        try:
            if not self.synced:
                self._tell(self._take(*await asyncio.to_thread(self._read, self._closed.is_set)))
            await follow(self.folder, self._interval, self._read_again, known=self._known)
        finally:
            self._closed.set()

    async def _read_again(self) -> None:
        try:
            self._tell(self._take(*await asyncio.to_thread(self._read, self._closed.is_set)))
        except Exception as error:  # noqa: BLE001 whatever it is, the last good inventory answers, and ``tell`` gets it
            self._tell(error)

    def _read(self, abandoned: Callable[[], bool]) -> tuple[FolderSignature, I, Report]:
        # The signature is taken first: what changes while the files are read is seen as a change afterwards.
        known, inventory = signature(self.folder), self._make()
        return known, inventory, read_snapshot(self.folder, inventory, abandoned=abandoned)

    def _take(self, known: FolderSignature, inventory: I, report: Report) -> Report:
        self._known, self.inventory, self.report = known, inventory, report
        return report
