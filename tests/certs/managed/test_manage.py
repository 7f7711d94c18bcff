"""The whole program against a cluster that fails in every way, with real processes, real TLS and real signals."""

import asyncio
import contextlib
import signal
import time
from datetime import UTC, datetime

import pytest

from tests.certs.managed.fake import LEASE, MUTATING, SECRET, VALIDATING, FakeCluster, until, webhooks
from tests.certs.managed.manage_process import (
    Finished,
    end,
    held,
    holder,
    is_another,
    is_consistent,
    is_served_to_all,
    leader,
    manager,
    take_away,
)
from tests.certs.samples import DAY

pytestmark = pytest.mark.integration


def test_it_makes_everything_and_gives_the_lease_back(finished: Finished) -> None:
    code, messages = finished.code, finished.messages
    assert (code, messages[1], messages[-1]) == (0, "leading", "asked to stop")
    assert is_consistent(finished.cluster)
    assert holder(finished.cluster) == ""


async def test_three_that_start_at_once_agree_on_one_authority(cluster: FakeCluster) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(3):
            await stack.enter_async_context(manager(cluster, traced=False))
        await until(lambda: is_consistent(cluster))
        first = held(cluster).bundle
        await asyncio.sleep(1)
    assert held(cluster).bundle == first
    assert len([one for one in cluster.writes() if one.path == SECRET.rpartition("/")[0]]) == 1


@pytest.mark.parametrize(
    ("method", "path", "count"),
    [
        pytest.param("PUT", SECRET, 1, id="staged"),
        pytest.param("PATCH", MUTATING, 1, id="trusted by one of two"),
        pytest.param("PATCH", VALIDATING, 1, id="trusted by both"),
        pytest.param("PUT", SECRET, 2, id="put to use"),
        pytest.param("PUT", SECRET, 3, id="old one dropped"),
        pytest.param("PATCH", MUTATING, 2, id="old one dropped by one of two"),
    ],
)
async def test_killed_during_a_rotation_the_next_one_finishes_it(
    method: str, path: str, count: int, made: FakeCluster
) -> None:
    """The change that it is killed at still takes place; without it, the kill would be one after the change before."""
    async with leader(made, traced=False) as first:
        before = held(made)
        points: list[str] = []
        served: list[bool] = []

        async def kill(asked: str, where: str) -> None:
            served.append(is_served_to_all(made))
            if (asked, where) == (method, path):
                points.append(asked)
                if len(points) == count:
                    first.kill()

        made.fault = kill
        take_away(made, "authority.key")
        async with asyncio.timeout(15):
            await first.wait()
    assert len(points) == count
    made.storage.remove(LEASE)  # other tests wait until it is free
    async with manager(made, traced=False):
        await until(lambda: is_another(made, before))
    assert all(served)


async def test_what_others_destroy_is_restored(made: FakeCluster) -> None:
    async with leader(made, traced=False):
        first = held(made)
        made.put(MUTATING, webhooks("a", "b", bundle=""))
        await until(lambda: is_consistent(made), 2)
        assert held(made).bundle == first.bundle
        began = time.monotonic()
        made.storage.remove(SECRET)
        made.put(VALIDATING, webhooks("c"))
        await until(lambda: is_another(made, first))
        assert time.monotonic() - began < 15
        second = held(made)
        made.storage.remove(MUTATING)
        take_away(made, "authority.key")
        await until(lambda: is_another(made, second))
        assert MUTATING not in made.objects


async def test_a_cluster_in_trouble_is_outlived(cluster: FakeCluster) -> None:
    """Every seventh answer is an error, every fifth comes late."""
    count = 0

    async def trouble(_method: str, _path: str) -> int | None:
        nonlocal count
        count += 1
        if count % 5 == 0:
            await asyncio.sleep(0.3)
        return (500, 503, 429, 409)[count % 4] if count % 7 == 0 else None

    cluster.fault = trouble
    async with manager(cluster) as process:
        await until(lambda: is_consistent(cluster), 30)
        process.send_signal(signal.SIGHUP)
        code, _ = await end(process)
    assert code == 0


async def test_months_later_leaf_and_authority_are_others(made: FakeCluster) -> None:
    async with leader(made, traced=False):
        first = held(made)
        made.moment = datetime.now(UTC) + 250 * DAY
        await until(lambda: held(made).leaf != first.leaf and is_consistent(made))
        second = held(made)
        assert second.bundle == first.bundle
        made.moment = datetime.now(UTC) + 2500 * DAY
        await until(lambda: is_another(made, second))


async def test_a_leader_that_was_paused_for_too_long_ends_without_a_change(made: FakeCluster) -> None:
    async with leader(made) as first:
        before = holder(made)
        first.send_signal(signal.SIGSTOP)
        async with manager(made, traced=False):
            await until(lambda: holder(made) != before)
            after, writes = holder(made), len(made.writes(SECRET))
            first.send_signal(signal.SIGCONT)
            code, messages = await end(first)
            assert holder(made) == after
    assert code == 3
    assert messages[-1].startswith("the lease pair ")
    assert len(made.writes(SECRET)) == writes


async def test_a_leader_whose_renewals_hang_ends_before_another_may_lead(made: FakeCluster) -> None:
    async with leader(made) as process:
        renewed = time.monotonic()

        async def hang(_method: str, path: str) -> None:
            if path == LEASE:
                await asyncio.sleep(20)

        made.fault = hang
        code, messages = await end(process)
    assert (code, messages[-1]) == (3, "the lease pair was not renewed in time")
    # Two thirds of 3 s after the last renewal; a request that was under way is given up after 1 s, the last one, too.
    assert time.monotonic() - renewed < 5


async def test_a_leader_whose_lease_is_anothers_ends_and_leaves_it_alone(made: FakeCluster) -> None:
    async with leader(made) as process:
        made.put(LEASE, {**made.objects[LEASE], "spec": {**made.objects[LEASE]["spec"], "holderIdentity": "you"}})
        code, messages = await end(process)
    assert (code, messages[-1], holder(made)) == (3, "the lease pair is another's now", "you")


async def test_trouble_with_the_lease_is_said_every_time_and_names_the_request(made: FakeCluster) -> None:
    async def down(_method: str, path: str) -> int | None:
        return 503 if path == LEASE else None

    async with leader(made) as process:
        made.fault = down
        _, messages = await end(process)
    said = [message for message in messages if message.startswith("the API server answers 503 to ")]
    assert said[0] == f"the API server answers 503 to PUT {LEASE}: made to fail"
    assert len(said) > 1
    assert [*messages[:2], *said, "the lease pair was not renewed in time"] == messages


async def test_a_lease_that_was_deleted_is_made_again_without_a_word(made: FakeCluster) -> None:
    async with leader(made) as process:
        before = holder(made)
        made.storage.remove(LEASE)
        await until(lambda: holder(made) == before)
        process.send_signal(signal.SIGTERM)
        code, messages = await end(process)
    assert (code, messages[1:], holder(made)) == (0, ["leading", "asked to stop"], "")


async def test_a_namespace_that_does_not_exist_is_said(cluster: FakeCluster) -> None:
    leases = LEASE.rpartition("/")[0]

    async def no_namespace(method: str, _path: str) -> int | None:
        return 404 if method == "POST" else None

    cluster.fault = no_namespace
    async with manager(cluster) as process:
        await until(lambda: any((one.method, one.path) == ("POST", leases) for one in cluster.seen))
        process.send_signal(signal.SIGTERM)
        code, messages = await end(process)
    assert (code, messages[1], messages[-1]) == (
        0, f"the API server answers 404 to POST {leases}: made to fail", "asked to stop",
    )  # fmt: skip


async def test_a_second_signal_does_not_keep_the_lease_from_being_given_back(made: FakeCluster) -> None:
    async with leader(made) as process:
        stopped = False

        async def again(_method: str, path: str) -> None:
            if stopped and path == LEASE:
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.2)

        made.fault = again
        stopped = True
        process.send_signal(signal.SIGTERM)
        code, messages = await end(process)
    assert (code, messages[-1], holder(made)) == (0, "asked to stop", "")


async def test_the_secret_of_another_owner_is_left_alone(cluster: FakeCluster) -> None:
    foreign = cluster.put(SECRET, {"metadata": {"name": "pair"}, "data": {"tls.crt": "eA=="}})
    async with manager(cluster) as process:
        code, messages = await end(process)
    assert (code, messages[-1]) == (
        1,
        (
            "the Secret holds tls.crt of another owner: name another one, or give this one the annotation "
            'streams.ibm.com/managed-certificates: "true" if it may be overwritten'
        ),
    )
    assert cluster.objects[SECRET] == foreign
    assert holder(cluster) == ""


def test_no_log_holds_a_secret(finished: Finished) -> None:
    contents = held(finished.cluster).contents().values()
    secrets = [line for value in contents for line in value.decode().splitlines()[1:-1]]
    assert [one for one in secrets if one in "\n".join(finished.messages)] == []
