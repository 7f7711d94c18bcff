"""``SnapshotCluster``: an inventory that is read from a folder of files, and read again when the files change."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

from kubeapi.client.decoding import inspect_types
from webhook.cluster.objects.report import Report
from webhook.cluster.objects.sink import Sink
from webhook.cluster.snapshot.folder import FolderSignature, signature
from webhook.cluster.snapshot.snapshot import read_snapshot

I = TypeVar("I", bound=Sink)  # noqa: E741 stands for Inventory

INTERVAL = 2.0
"""Seconds between two looks at the folder; a change is read after two looks that found the same files."""


async def follow(
    folder: Path, interval: float, on_change: Callable[[], Awaitable[object]], *, known: FolderSignature | None = None
) -> NoReturn:
    """Await ``on_change`` whenever the folder's files differ from ``known`` (default: the files now), until cancelled.

    ``on_change`` is called after two looks, ``interval`` seconds apart, that found the same files, so that files are
    not read while they are being written.
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
    """Serves the files of a folder as a cluster: ``inventory`` is what the files said when they were last read.

    ``make`` returns an empty inventory. A new inventory is filled for every reading, and replaces the old one when it
    is complete. ``tell`` is called with the report, or the error, of every reading by :meth:`run`.
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
        inspect_types()  # before a thread reads the folder beside the event loop

    @property
    def synced(self) -> bool:
        """Whether the folder has been read at least once."""
        return self.report is not None

    def reason(self) -> str | None:
        """Why decisions cannot be made on the inventory now; ``None`` if they can."""
        return None if self.synced else "the snapshot is not read yet"

    def ages(self) -> dict[str, float]:
        """Seconds since each resource was last heard about: empty, because files do not age."""
        return {}

    def load(self) -> Report:
        """Read the folder now; raises :class:`SnapshotError` and changes nothing if it cannot serve as a cluster."""
        return self._take(*self._read(lambda: False))

    async def run(self) -> NoReturn:
        """Read the folder unless it has been read, then again after every change, until cancelled.

        Raises :class:`SnapshotError` if the first reading fails. If a later one fails, the last good inventory stays.
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
        except Exception as error:  # noqa: BLE001 after any error the last good inventory stays, and ``tell`` is called
            self._tell(error)

    def _read(self, abandoned: Callable[[], bool]) -> tuple[FolderSignature, I, Report]:
        # The signature is taken before the files are read, so that a change during the reading is found afterwards.
        known, inventory = signature(self.folder), self._make()
        return known, inventory, read_snapshot(self.folder, inventory, abandoned=abandoned)

    def _take(self, known: FolderSignature, inventory: I, report: Report) -> Report:
        self._known, self.inventory, self.report = known, inventory, report
        return report
