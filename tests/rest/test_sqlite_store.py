"""The file: changes that wait are made together, reads see what was acknowledged, other files are refused."""

import asyncio
import sqlite3
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from webhook.rest.intents import EntityMetadata, IntentEntity
from webhook.rest.request_error import RequestError, refused
from webhook.rest.routes import IntentGroup
from webhook.rest.sqlite_store import SqliteStore
from webhook.rest.store import StaleTokenError, StorageError
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
    assert {file.name for file in files} == {"intents.sqlite", "intents.sqlite-wal", "intents.sqlite-shm"}
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
        with pytest.raises(StaleTokenError, match="is no token of this list"):
            await store.page(GROUP, 3, token)


async def test_a_part_ends_where_it_gets_large(store: SqliteStore) -> None:
    """So memory is bounded by bytes, whatever the number of intents."""
    for name in "abcde":
        await put(store, name, "x" * 400_000)
    page = await store.page(GROUP, 100, "")
    assert [each.metadata.name for each in page.intents] == ["a", "b", "c"]
    rest = await store.page(GROUP, 100, page.following)
    assert [each.metadata.name for each in rest.intents] == ["d", "e"]


async def test_someone_who_gave_up_waiting_hinders_nobody(store: SqliteStore) -> None:
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


def move_away(path: Path) -> None:
    path.rename(path.with_name("moved"))


def make_another(path: Path) -> None:
    path.touch()


async def test_a_file_that_is_moved_away_is_noticed(store: SqliteStore, path: Path) -> None:
    """What would be written to it then could never be found again."""
    move_away(path)
    reason = f"the file {path} was removed or replaced while it was in use: start again"
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
