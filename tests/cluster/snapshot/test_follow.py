"""A snapshot is read again when its files have changed, and stays what it was when that fails."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.cluster.objects import Recorder, node
from webhook.cluster.objects.report import Report, SnapshotError
from webhook.cluster.snapshot.follow import SnapshotCluster, follow
from webhook.placement.objects.node import Node

INTERVAL = 0.02
LIMIT = 5.0
"""Seconds that anything here may take."""


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.json").write_text(json.dumps(node(name)))


class Followed:
    """A cluster that is being followed, and what it told."""

    def __init__(self, folder: Path, make: Callable[[], Recorder] = Recorder) -> None:
        self.told: list[Report | Exception] = []
        self.news = asyncio.Event()
        self.cluster = SnapshotCluster(folder, make, tell=self.tell, interval=INTERVAL)

    def tell(self, outcome: Report | Exception) -> None:
        self.told.append(outcome)
        self.news.set()

    async def until_told(self, times: int) -> None:
        async with asyncio.timeout(LIMIT):
            while len(self.told) < times:
                self.news.clear()
                await self.news.wait()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.cluster.run())
        try:
            await self.until_told(1)
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def test_a_cluster_is_empty_and_not_synced_before_it_is_read(tmp_path: Path) -> None:
    cluster = SnapshotCluster(tmp_path, Recorder)
    assert (cluster.synced, cluster.report, cluster.inventory.nodes) == (False, None, {})


def test_a_folder_can_be_read_without_being_followed(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    cluster = SnapshotCluster(tmp_path, Recorder)
    assert (cluster.load(), cluster.synced, [*cluster.inventory.nodes]) == (cluster.report, True, ["node-a"])


def test_a_folder_that_cannot_be_read_leaves_the_cluster_as_it_was(tmp_path: Path) -> None:
    cluster = SnapshotCluster(tmp_path, Recorder)
    with pytest.raises(SnapshotError):
        cluster.load()
    assert not cluster.synced


async def test_running_reads_the_folder_first(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    followed = Followed(tmp_path)
    async with followed.running():
        assert followed.told == [followed.cluster.report]


async def test_running_fails_when_the_first_reading_does(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="holds no Node"):
        await SnapshotCluster(tmp_path, Recorder).run()


async def test_a_changed_folder_is_read_into_a_new_inventory(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    followed = Followed(tmp_path)
    async with followed.running():
        old = followed.cluster.inventory
        write(tmp_path, "node-b")
        await followed.until_told(2)
    assert ([*old.nodes], [*followed.cluster.inventory.nodes]) == (["node-a"], ["node-a", "node-b"])


async def test_a_removed_file_takes_its_objects_along(tmp_path: Path) -> None:
    write(tmp_path, "node-a", "node-b")
    followed = Followed(tmp_path)
    async with followed.running():
        (tmp_path / "node-a.json").unlink()
        await followed.until_told(2)
    assert [*followed.cluster.inventory.nodes] == ["node-b"]


async def test_a_change_between_loading_and_running_is_seen(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    followed = Followed(tmp_path)
    followed.cluster.load()
    write(tmp_path, "node-b")
    async with followed.running():
        assert [*followed.cluster.inventory.nodes] == ["node-a", "node-b"]


async def test_a_folder_that_cannot_be_read_again_keeps_the_old_inventory(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    followed = Followed(tmp_path)
    async with followed.running():
        (tmp_path / "node-a.json").write_text("{")
        await followed.until_told(2)
    assert str(followed.told[1]).startswith(f"the folder {tmp_path} holds no Node")
    assert [*followed.cluster.inventory.nodes] == ["node-a"]


async def test_any_other_failure_to_read_again_keeps_the_old_inventory_too(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    makers = iter([Recorder, Recorder])

    def make() -> Recorder:
        maker = next(makers, None)
        if maker is None:
            raise RuntimeError("out of order")
        return maker()

    followed = Followed(tmp_path, make)
    async with followed.running():
        write(tmp_path, "node-b")
        await followed.until_told(2)
    assert (repr(followed.told[1]), [*followed.cluster.inventory.nodes]) == ("RuntimeError('out of order')", ["node-a"])


async def test_a_folder_is_read_after_a_failure_when_it_changes_again(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    followed = Followed(tmp_path)
    async with followed.running():
        (tmp_path / "node-a.json").unlink()
        await followed.until_told(2)
        write(tmp_path, "node-b")
        await followed.until_told(3)
    assert [*followed.cluster.inventory.nodes] == ["node-b"]


async def test_files_that_keep_changing_are_read_when_they_rest(tmp_path: Path) -> None:
    changes: list[str] = []
    seen = asyncio.Event()

    async def changed() -> None:
        changes.append((tmp_path / "a.json").read_text())
        seen.set()

    task = asyncio.create_task(follow(tmp_path, INTERVAL, changed))
    for size in range(20):
        (tmp_path / "a.json").write_text("x" * size)
        await asyncio.sleep(INTERVAL / 4)
    await asyncio.wait_for(seen.wait(), LIMIT)
    await asyncio.sleep(4 * INTERVAL)
    task.cancel()
    assert changes == ["x" * 19]


async def test_an_unchanged_folder_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    followed = Followed(tmp_path)
    async with followed.running():
        await asyncio.sleep(5 * INTERVAL)
    assert len(followed.told) == 1


async def test_a_cancelled_reading_stops_at_the_next_file(tmp_path: Path) -> None:
    write(tmp_path, "node-a", "node-b")
    begun, done = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    class Slow(Recorder):
        def set_node(self, node: Node) -> None:
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(done.wait(), loop).result(LIMIT)
            super().set_node(node)

    slow = Slow()
    cluster = SnapshotCluster(tmp_path, lambda: slow)
    task = asyncio.create_task(cluster.run())
    await asyncio.wait_for(begun.wait(), LIMIT)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    done.set()
    await loop.shutdown_default_executor()
    assert ([*slow.nodes], cluster.synced) == (["node-a"], False)


async def test_a_cluster_can_be_run_again_after_it_was_cancelled(tmp_path: Path) -> None:
    write(tmp_path, "node-a")
    followed = Followed(tmp_path)
    async with followed.running():
        pass
    write(tmp_path, "node-b")
    async with followed.running():
        await followed.until_told(2)
    assert len(followed.cluster.inventory.nodes) == 2
