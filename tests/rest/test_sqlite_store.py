"""The file: changes that wait are made together, reads see what was acknowledged, other files are refused."""

import asyncio
import contextlib
import errno
import os
import resource
import sqlite3
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from webhook.rest.intents import EntityMetadata, IntentEntity
from webhook.rest.request_error import RequestError, refused
from webhook.rest.routes import IntentGroup
from webhook.rest.storage import sqlite_store
from webhook.rest.storage.disk_reserve import DiskReserve
from webhook.rest.storage.sqlite_store import SqliteStore, open_file
from webhook.rest.storage.store import StaleTokenError, StorageError
from webhook.server.fatal_error import FatalError

GROUP = IntentGroup("p", "c", "v", "d")


def entity(name: str, app: str = "a") -> IntentEntity:
    return IntentEntity(EntityMetadata(name), app)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "intents.sqlite"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    found = SqliteStore(path)
    yield found
    await found.close()


async def put(store: SqliteStore, name: str, app: str = "a", group: IntentGroup = GROUP) -> None:
    await store.change(group, name, lambda _: entity(name, app))


async def test_what_is_stored_is_there_for_the_next_process(path: Path) -> None:
    first = SqliteStore(path)
    await put(first, "i")
    await first.close()
    second = SqliteStore(path)
    assert await second.read(GROUP, "i") == entity("i")
    await second.close()


async def test_only_the_owner_may_read_the_file(store: SqliteStore, path: Path) -> None:
    await put(store, "i")
    files = list(path.parent.iterdir())
    assert {file.name for file in files} == {f"intents.sqlite{end}" for end in ("", "-wal", "-shm", "-reserve")}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert store.ready() is None


async def test_changes_at_the_same_time_do_not_lose_each_other(path: Path) -> None:
    """Two processes on one file count as two stores do: each has connections and a thread of its own."""
    stores = [SqliteStore(path), SqliteStore(path)]
    await put(stores[0], "i", "")

    def longer(stored: IntentEntity | None) -> IntentEntity:
        assert stored is not None
        return entity("i", f"{stored.app}x")

    await asyncio.gather(*(stores[number % 2].change(GROUP, "i", longer) for number in range(200)))
    for store in stores:
        assert await store.read(GROUP, "i") == entity("i", "x" * 200)
        await store.close()


async def test_a_change_that_is_refused_does_not_hinder_others(store: SqliteStore) -> None:
    def refuse(_: IntentEntity | None) -> IntentEntity:
        raise refused(409, "metadata.name", "is taken")

    found = await asyncio.gather(
        put(store, "a"), store.change(GROUP, "b", refuse), put(store, "c"), return_exceptions=True
    )
    assert [type(each) for each in found] == [type(None), RequestError, type(None)]
    assert [each.metadata.name for each in (await store.page(GROUP, 9, "")).intents] == ["a", "c"]


async def test_a_mistake_in_one_change_ends_neither_the_thread_nor_the_others(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    def mistaken(_: IntentEntity | None) -> IntentEntity:
        raise KeyError("a field that is always there")

    outcomes = await asyncio.gather(
        put(store, "before"), store.change(GROUP, "i", mistaken), put(store, "after"), return_exceptions=True
    )
    assert [type(each) for each in outcomes] == [type(None), KeyError, type(None)]
    assert caplog.messages == ["a change cannot be stored"]
    await put(store, "later")
    assert [each.metadata.name for each in (await store.page(GROUP, 9, "")).intents] == ["after", "before", "later"]


async def test_a_change_that_removes_nothing_is_nothing(store: SqliteStore) -> None:
    assert await store.change(GROUP, "i", lambda _: None) is None
    assert await store.read(GROUP, "i") is None


async def test_lists_come_in_parts(store: SqliteStore) -> None:
    for name in ("b", "a", "d", "c"):
        await put(store, name)
    await put(store, "other", group=IntentGroup("p", "c", "v", "e"))
    page = await store.page(GROUP, 3, "")
    assert [each.metadata.name for each in page.intents] == ["a", "b", "c"]
    page = await store.page(GROUP, 3, page.following)
    assert ([each.metadata.name for each in page.intents], page.following) == (["d"], "")
    for token in ("!", "YQ==", "\u00e9", "x"):
        with pytest.raises(StaleTokenError, match="is not a token of this list"):
            await store.page(GROUP, 3, token)


async def test_a_part_ends_where_it_gets_large(store: SqliteStore) -> None:
    """So memory is bounded by bytes, whatever the number of intents."""
    for name in "abcde":
        await put(store, name, "x" * 400_000)
    page = await store.page(GROUP, 100, "")
    assert [each.metadata.name for each in page.intents] == ["a", "b", "c"]
    rest = await store.page(GROUP, 100, page.following)
    assert [each.metadata.name for each in rest.intents] == ["d", "e"]


async def test_a_request_that_gave_up_waiting_blocks_no_other(store: SqliteStore) -> None:
    impatient = asyncio.ensure_future(put(store, "a"))
    await asyncio.sleep(0)
    impatient.cancel()
    await put(store, "b")
    assert await store.read(GROUP, "b") == entity("b")


async def test_a_full_store_says_so_and_can_be_emptied(path: Path) -> None:
    store = SqliteStore(path, size_limit=60_000)
    found = await asyncio.gather(
        *(put(store, f"i{number}", "x" * 9_000) for number in range(9)), return_exceptions=True
    )
    failed = [each for each in found if isinstance(each, StorageError)]
    assert {(str(each), each.status) for each in failed} == {
        ("the store is full: delete what is not needed any more", 507)
    }
    assert 0 < len(failed) < 9
    stored = (await store.page(GROUP, 9, "")).intents
    assert len(stored) + len(failed) == 9
    await store.change(GROUP, stored[0].metadata.name, lambda _: None)
    await put(store, "again", "x" * 8_000)
    await store.close()


@contextlib.contextmanager
def a_full_disk(size: int) -> Iterator[None]:
    """No file may have more bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def filled(store: SqliteStore, count: int, size: int = 9_000) -> set[tuple[str, int]]:
    """What is said of changes that could not be made, while so many intents of that size are created."""
    given = (put(store, f"i{number}", "x" * size) for number in range(count))
    found = await asyncio.gather(*given, return_exceptions=True)
    return {(str(each), each.status) for each in found if isinstance(each, StorageError)}


async def test_on_a_full_disk_deleting_works(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(sqlite_store, "_LOOK_SECONDS", 0.05)
    store = SqliteStore(path, reserve=64 << 10)
    await put(store, "first", "x" * 9_000)
    assert store.ready() is None
    with a_full_disk(300_000):
        assert await filled(store, 40) == {("the store is full: delete what is not needed any more", 507)}
        assert store.ready() == "the store is full: only reading and deleting work"
        for entity in (await store.page(GROUP, 99, "")).intents:
            await store.change(GROUP, entity.metadata.name, lambda _: None)
        assert (await store.page(GROUP, 99, "")).intents == ()
        await asyncio.sleep(0.2)
        assert store.ready() is not None
    while store.ready() is not None:  # noqa: ASYNC110 -- the thread of the store finds out
        await asyncio.sleep(0.05)
    await put(store, "again", "x" * 9_000)
    await store.close()
    said = [record.getMessage() for record in caplog.records if record.name == "webhook.rest.storage.sqlite_store"]
    assert said == [
        "the store is full: only reading and deleting work",
        "the store has room again",
    ]
    assert not any(record.exc_info for record in caplog.records)


async def test_the_reserve_is_given_to_what_is_deleted(path: Path) -> None:
    """A disk whose last bytes are in the reserve."""
    reserve = DiskReserve(path, 1 << 20)
    assert reserve.take()
    file = path.with_name("intents.sqlite-reserve")
    sizes = [file.stat().st_size]
    while reserve.give():
        sizes.append(file.stat().st_size)
    assert sizes == [1 << 20, 512 << 10, 256 << 10, 0]
    with a_full_disk(300_000):
        assert not reserve.take()
        assert file.stat().st_size == 300_000
    assert reserve.take()
    file.unlink()
    assert not reserve.give()
    file.parent.joinpath("intents.sqlite-reserve").mkdir()
    assert not reserve.take()


async def test_a_disk_that_fails_does_not_end_the_thread_that_makes_changes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(path, size_limit=60_000, reserve=0)

    def failing(*_: object) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "ftruncate", failing)
    async with asyncio.timeout(5):  # nothing is changed without the thread
        assert len(await filled(store, 30, 3_000)) == 1
        assert await store.change(GROUP, "i0", lambda _: None) is None
        await store.close()


async def test_a_store_that_is_opened_on_a_full_disk_gets_the_reserve(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await SqliteStore(path, reserve=64 << 10).close()
    opened = []

    def full_at_first(*given: Any) -> sqlite3.Connection:
        opened.append(path.with_name("intents.sqlite-reserve").stat().st_size)
        if opened[-1]:
            raise FatalError("the store cannot be used: database or disk is full")
        return open_file(*given)

    monkeypatch.setattr(sqlite_store, "open_file", full_at_first)
    store = SqliteStore(path, reserve=64 << 10)
    assert opened == [64 << 10, 0, 0]
    assert store.ready() is None
    await store.close()


async def test_a_store_as_large_as_it_may_be_is_full(path: Path) -> None:
    store = SqliteStore(path, size_limit=60_000, reserve=0)
    assert len(await filled(store, 30, 3_000)) == 1
    assert store.ready() == "the store is full: only reading and deleting work"
    for entity in (await store.page(GROUP, 6, "")).intents:
        await store.change(GROUP, entity.metadata.name, lambda _: None)
    assert store.ready() is None
    await store.close()


def move_away(path: Path) -> None:
    path.rename(path.with_name("moved"))


def make_another(path: Path) -> None:
    path.touch()


async def test_a_file_that_is_moved_away_is_noticed(store: SqliteStore, path: Path) -> None:
    """What would be written to it then could never be found again."""
    move_away(path)
    reason = "the file of the store was removed or replaced while it was in use: start again"
    assert store.ready() == reason
    with pytest.raises(StorageError, match="was removed or replaced"):
        await put(store, "i")
    with pytest.raises(StorageError, match="was removed or replaced"):
        await store.read(GROUP, "i")
    make_another(path)
    assert store.ready() == reason


async def test_what_cannot_be_read_is_an_error_of_storage(store: SqliteStore, path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("INSERT INTO intents VALUES ('p', 'c', 'v', 'd', 'i', '{')")
    other.close()
    with pytest.raises(StorageError, match="the store cannot be read: Input data was truncated"):
        await store.read(GROUP, "i")
    with pytest.raises(StorageError, match="the store cannot be read: Input data was truncated"):
        await put(store, "i")


async def test_a_lock_that_stays_is_an_error_of_the_change_alone(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store._writing.execute("PRAGMA busy_timeout = 10")  # noqa: SLF001 -- five seconds otherwise
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="the change may not have been stored: database is locked"):
        await put(store, "i")
    assert await store.read(GROUP, "i") is None
    other.execute("ROLLBACK")
    other.close()
    await put(store, "i")
    monkeypatch.undo()


def other_program(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE x (y)")
    other.close()


def newer(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA application_id = 1397770313")
        other.execute("PRAGMA user_version = 2")
    other.close()


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (other_program, "is a file of another program; give --store a new file"),
        (newer, "has version 2, and this program knows version 1"),
        (lambda path: path.write_text("no database" * 100), "cannot be used: file is not a database"),
        (lambda path: path.mkdir(), "cannot be opened: Is a directory"),
        (lambda path: path.symlink_to(path.with_name("nowhere") / "x"), "cannot be opened: No such file or directory"),
    ],
    ids=["another program", "a newer version", "no database", "a folder", "no folder"],
)
async def test_files_that_cannot_be_used(path: Path, prepare: object, reason: str) -> None:
    prepare(path)  # type: ignore[operator]  # one of those above
    with pytest.raises(FatalError) as fatal:
        SqliteStore(path)
    assert str(fatal.value) == f"the store {path} {reason}"


async def test_a_file_system_without_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite keeps a file of this name in memory, where there is no write-ahead log, as on a network disk."""
    monkeypatch.chdir(tmp_path)
    reason = "the store :memory: cannot be used: its file system has no shared memory"
    with pytest.raises(FatalError, match=reason):
        SqliteStore(Path(":memory:"))
