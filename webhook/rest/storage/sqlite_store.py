"""``SqliteStore``: intents in one SQLite file, which several processes of one machine may share.

Changes are made by one thread. All changes that wait are made in one transaction, because what a durable change costs
is the flush to the disk at its end (group commit). The file is in WAL mode, so reading never waits for that; a read of
one row takes some microseconds, less than handing it to a thread, and is done on the event loop.

A full disk, or a file that may not grow, stops changes that need space. Changes that make what is stored smaller still
work: they may use the reserve.
"""

import asyncio
import base64
import binascii
import contextlib
import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from webhook.rest.intents import Change, IntentEntity
from webhook.rest.request_error import RequestError
from webhook.rest.routes import IntentGroup
from webhook.rest.storage.disk_reserve import ROOM, DiskReserve
from webhook.rest.storage.disk_reserve import SIZE as RESERVE
from webhook.rest.storage.store import IntentPage, StaleTokenError, StorageError
from webhook.server.fatal_error import FatalError

SIZE_LIMIT: Final = 1 << 30
"""Bytes of the file: more than a million intents; a client that creates without end must not fill the disk."""

BATCH: Final = 256
"""Changes in one transaction, so that none waits long for others."""

_PAGE_BYTES: Final = 1 << 20
"""Bytes of stored intents after which a page of a list ends."""

_APPLICATION: Final = 0x53504849
"""The application id in the header of the file (``SPHI``), by which files of other programs are recognized."""

_VERSION: Final = 1
"""The version of the tables."""

_WRITE_SECONDS: Final = 5.0
_READ_SECONDS: Final = 1.0
"""Seconds to wait for a lock that another process holds; reading waits only while another process opens the file for
the first time or repairs it."""

_FULL_STATUS: Final = 507
"""Insufficient Storage (RFC 4918)."""

_LOOK_SECONDS: Final = 5.0
"""Seconds after which a full store looks again whether there is space."""

_SPARE_PAGES: Final = 256
"""Pages that a change that needs no space may use beyond the size of the file: twice the largest intent."""

_FULL: Final = "the store is full: only reading and deleting work"
"""Why the store is not ready, although it answers."""

_TABLE: Final = """
CREATE TABLE intents (
    project TEXT NOT NULL, composite_app TEXT NOT NULL, version TEXT NOT NULL, intent_group TEXT NOT NULL,
    name TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (project, composite_app, version, intent_group, name)
)
"""
_OF_GROUP: Final = "project = ? AND composite_app = ? AND version = ? AND intent_group = ?"
_ONE: Final = f"{_OF_GROUP} AND name = ?"
_READ: Final = f"SELECT body FROM intents WHERE {_ONE}"  # noqa: S608 -- constants of this module
_LIST: Final = f"SELECT name, body FROM intents WHERE {_OF_GROUP} AND name > ? ORDER BY name"  # noqa: S608 -- the same
_WRITE: Final = "INSERT OR REPLACE INTO intents VALUES (?, ?, ?, ?, ?, ?)"
_DELETE: Final = f"DELETE FROM intents WHERE {_ONE}"  # noqa: S608 -- constants of this module

_DECODE: Final = msgspec.json.Decoder(IntentEntity).decode
_ENCODE: Final = msgspec.json.Encoder().encode

_log = logging.getLogger(__name__)

Outcome = IntentEntity | Exception | None
"""What a change led to: the stored intent, ``None`` if it was removed, or why it was not made."""

_Read = TypeVar("_Read")


class _PendingChange(Struct, eq=False):
    """A change that waits for the thread; ``done`` gets what is stored, or an exception.

    ``shrinks``: what is stored becomes smaller by it, or is removed; known as soon as the change has been tried.
    """

    group: IntentGroup
    name: str
    change: Change
    done: asyncio.Future[IntentEntity | None]
    shrinks: bool = False


class SqliteStore:
    """Intents in the file at ``path``, which is made if it is not there. Belongs to the running event loop.

    The constructor raises :class:`FatalError` if the file cannot be used.
    """

    def __init__(self, path: Path, *, size_limit: int = SIZE_LIMIT, reserve: int = RESERVE) -> None:
        self._path = path
        self._size_limit = size_limit
        self._loop = asyncio.get_running_loop()
        self._pending: queue.SimpleQueue[_PendingChange | None] = queue.SimpleQueue()
        self._reserve = DiskReserve(path, reserve)
        self._writing = self._opened(_WRITE_SECONDS)
        self._reading = self._opened(_READ_SECONDS)
        self._full = False
        self._look()
        self._inode = path.stat().st_ino
        self._thread = threading.Thread(target=self._write_until_closed, name="intent-writer", daemon=True)
        self._thread.start()

    async def read(self, group: IntentGroup, name: str) -> IntentEntity | None:
        """The intent as it is stored now."""
        return self._guarded(lambda: _read(self._reading, group, name))

    async def page(self, group: IntentGroup, limit: int, token: str) -> IntentPage:
        """A part of the list, in the order of the names; the token is the last name of the part before."""
        after = _name_of(token)

        def read() -> IntentPage:
            entities: list[IntentEntity] = []
            size, last = 0, ""
            with contextlib.closing(self._reading.execute(_LIST, (*_key(group), after))) as rows:
                for name, body in rows:
                    if len(entities) == limit or size > _PAGE_BYTES:
                        return IntentPage(tuple(entities), _token_of(last))
                    entities.append(_DECODE(body))
                    size, last = size + len(body), name
            return IntentPage(tuple(entities))

        return self._guarded(read)

    async def change(self, group: IntentGroup, name: str, change: Change) -> IntentEntity | None:
        """Have the thread make the change; returns when it is on the disk."""
        pending = _PendingChange(group, name, change, self._loop.create_future())
        self._pending.put(pending)
        return await pending.done

    def ready(self) -> str | None:
        """Why the file cannot be used any more, or takes nothing more."""
        return self._lost() or (_FULL if self._full else None)

    async def close(self) -> None:
        """Make the changes that wait, and close the file."""
        self._pending.put(None)
        await asyncio.to_thread(self._thread.join)
        self._reading.close()
        self._writing.close()

    def _lost(self) -> str | None:
        """Why the file cannot be used any more: it was moved or replaced."""
        try:
            same = self._path.stat().st_ino == self._inode
        except OSError:
            same = False
        return None if same else "the file of the store was removed or replaced while it was in use: start again"

    def _opened(self, seconds: float) -> sqlite3.Connection:
        """A connection to the file; on a full disk even opening takes space, which the reserve gives."""
        try:
            return open_file(self._path, seconds, self._size_limit)
        except FatalError:
            if not self._reserve.give():
                raise
        return self._opened(seconds)

    def _guarded(self, work: Callable[[], _Read]) -> _Read:
        """Read from the file and return the result; raises :class:`StorageError` if the file cannot be read."""
        if (reason := self._lost()) is not None:
            raise StorageError(reason)
        try:
            return work()
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            _log.error("the store cannot be read: %s", error)
            raise StorageError(f"the store cannot be read: {error}") from error

    def _write_until_closed(self) -> None:
        """Make the changes that wait, batch by batch; the body of the thread."""
        closed = False
        while not closed:
            try:
                batch = [self._pending.get(timeout=_LOOK_SECONDS if self._full else None)]
            except queue.Empty:
                self._look()
                continue
            while len(batch) < BATCH and not self._pending.empty():
                batch.append(self._pending.get())
            changes = [each for each in batch if each is not None]
            closed = len(changes) < len(batch)
            outcomes = self._outcomes(changes)
            if self._full:
                self._look()
            self._loop.call_soon_threadsafe(_deliver, changes, outcomes)

    def _outcomes(self, changes: Sequence[_PendingChange]) -> list[Outcome]:
        """Make the changes in one transaction; if that fails, each in its own, so that only the one at fault fails."""
        if (reason := self._lost()) is not None:
            return [StorageError(reason) for _ in changes]
        try:
            return self._committed(changes)
        except Exception as error:  # noqa: BLE001 -- a mistake in one change must not end the thread for all others
            if len(changes) > 1:
                return [self._outcomes([each])[0] for each in changes]
            if isinstance(error, sqlite3.Error):
                return [self._despite(error, changes[0])]
            _log.exception("a change cannot be stored")
            return [error]

    def _despite(self, error: sqlite3.Error, change: _PendingChange) -> Outcome:
        """The outcome of a change that could not be stored: if the disk is full, one that frees space is retried."""
        name = error.sqlite_errorname
        if name != "SQLITE_FULL" and not (name.startswith("SQLITE_IOERR") and not self._reserve.take()):
            _log.error("a change cannot be stored: %s", error)
            return StorageError(f"the change may not have been stored: {error}")
        self._fill(full=True)
        while change.shrinks and self._make_room():
            with contextlib.suppress(sqlite3.Error):
                return self._committed([change])[0]
        return StorageError("the store is full: delete what is not needed any more", status=_FULL_STATUS)

    def _make_room(self) -> bool:
        """Let the file grow a little, and give the disk a part of the reserve; returns whether that made a difference.

        What the log holds is copied into the file, so that the log starts empty.
        """
        pages = self._pages("page_count") + _SPARE_PAGES
        allowed = self._pages("max_page_count")
        given = self._reserve.give()
        with contextlib.suppress(sqlite3.Error):
            self._writing.execute(f"PRAGMA max_page_count = {pages}")
            self._writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return given or pages > allowed

    def _look(self) -> None:
        """Fill the reserve, and see whether disk and file have room; a file that is locked is looked at later."""
        with contextlib.suppress(sqlite3.Error):
            page_size = self._pages("page_size")
            limit = self._size_limit // page_size
            self._writing.execute(f"PRAGMA max_page_count = {limit}")
            used = self._pages("page_count") - self._pages("freelist_count")
            room = min(ROOM, self._size_limit // 4) // page_size
            self._fill(full=not self._reserve.take() or used + room > limit)

    def _fill(self, *, full: bool) -> None:
        """Note whether the store is full; a line in the log when that changes."""
        if full and not self._full:
            _log.warning(_FULL)
        if self._full and not full:
            _log.info("the store has room again")
        self._full = full

    def _pages(self, pragma: str) -> int:
        """A number that SQLite keeps about the file."""
        return int(self._writing.execute(f"PRAGMA {pragma}").fetchone()[0])

    def _committed(self, changes: Sequence[_PendingChange]) -> list[Outcome]:
        """Make the changes in one transaction; returns when they are on the disk. Raises what prevented that."""
        self._writing.execute("BEGIN IMMEDIATE")
        try:
            outcomes = [self._applied(each) for each in changes]
            self._writing.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # SQLite has rolled back by itself after some errors
                self._writing.execute("ROLLBACK")
            raise
        return outcomes

    def _applied(self, pending: _PendingChange) -> Outcome:
        """Make one change within the transaction; an exception of its operation is its outcome."""
        try:
            stored = _read(self._writing, pending.group, pending.name)
            after = pending.change(stored)
        except RequestError as refusal:
            return refusal
        except msgspec.MsgspecError as error:
            return StorageError(f"the store cannot be read: {error}")
        key = (*_key(pending.group), pending.name)
        body = b"" if after is None else _ENCODE(after)
        pending.shrinks = stored is not None and len(body) < len(_ENCODE(stored))
        if body:
            self._writing.execute(_WRITE, (*key, body))
        elif stored is not None:
            self._writing.execute(_DELETE, key)
        return after


def open_file(path: Path, seconds: float, size_limit: int) -> sqlite3.Connection:
    """A connection to the file, which is made if it is not there; raises :class:`FatalError` if it cannot be used.

    ``seconds`` is how long a lock of another process is waited for, ``size_limit`` the bytes that the file may have.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FatalError(f"the store {path} cannot be opened: {reason}") from error
    try:
        _prepare(connection, path)
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {size_limit // page_size}")
    except sqlite3.Error as error:
        connection.close()
        raise FatalError(f"the store {path} cannot be used: {error}") from error
    except FatalError:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Set the modes of the connection, and make the table in a new file."""
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        raise FatalError(f"the store {path} cannot be used: its file system has no shared memory (a network disk?)")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if (application, version) == (0, 0) and not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    elif application != _APPLICATION:
        raise FatalError(f"the store {path} is a file of another program; give --store a new file")
    elif version != _VERSION:
        raise FatalError(f"the store {path} has version {version}, and this program knows version {_VERSION}")
    connection.execute("COMMIT")


def _read(connection: sqlite3.Connection, group: IntentGroup, name: str) -> IntentEntity | None:
    row = connection.execute(_READ, (*_key(group), name)).fetchone()
    return None if row is None else _DECODE(row[0])


def _key(group: IntentGroup) -> tuple[str, str, str, str]:
    return group.project, group.composite_app, group.version, group.name


def _deliver(changes: Sequence[_PendingChange], outcomes: Sequence[Outcome]) -> None:
    """Tell those who wait; one may have given up."""
    for pending, outcome in zip(changes, outcomes, strict=True):
        if pending.done.done():
            continue
        if isinstance(outcome, Exception):
            pending.done.set_exception(outcome)
        else:
            pending.done.set_result(outcome)


def _token_of(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _name_of(token: str) -> str:
    """The name in a token; raises :class:`StaleTokenError` if the token was not made by :func:`_token_of`."""
    try:
        name = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except (binascii.Error, ValueError):
        name = ""
    if token and _token_of(name) != token:
        raise StaleTokenError("is not a token of this list")
    return name
