"""The whole program against a cluster that fails in every way, with real processes, real TLS and real signals."""

import asyncio
import base64
import contextlib
import json
import signal
import sys
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from certs.certificate import issued
from certs.managed.bundle import read_bundle
from certs.managed.holding import Holding
from certs.managed.secret import read_secret
from tests.certs.managed.fake import LEASE, MUTATING, SECRET, VALIDATING, FakeCluster, until, webhooks
from tests.certs.samples import DAY

PROGRAM = Path(sys.executable).with_name("streams-placement-certs")
FLAGS = [
    *("--namespace", "ns", "--service", "web", "--secret", "pair", "--mutating", "m", "--validating", "v"),
    *("--interval", "0.5", "--propagation", "1", "--adoption", "1", "--lease-seconds", "3"),
]

pytestmark = pytest.mark.integration


@contextlib.asynccontextmanager
async def manager(cluster: FakeCluster) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        PROGRAM, "manage", *FLAGS, "--kubeconfig", str(cluster.kubeconfig()), stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def end(process: asyncio.subprocess.Process) -> tuple[int | None, list[str]]:
    """The exit code, and the messages of the log."""
    async with asyncio.timeout(15):
        _, errors = await process.communicate()
    return process.returncode, [json.loads(line)["message"] for line in errors.splitlines()]


def held(cluster: FakeCluster) -> Holding:
    return read_secret(cluster.objects[SECRET]) if SECRET in cluster.objects else Holding()


def bundles(cluster: FakeCluster) -> set[bytes]:
    documents = [cluster.objects[path] for path in (MUTATING, VALIDATING) if path in cluster.objects]
    entries = [entry["clientConfig"].get("caBundle") for document in documents for entry in document["webhooks"]]
    return {base64.b64decode(entry or "") for entry in entries}


def is_consistent(cluster: FakeCluster) -> bool:
    own = held(cluster)
    return own.issuer is not None and own.following is None and bundles(cluster) == {own.issuer.certificate_pem}


def is_another(cluster: FakeCluster, before: Holding) -> bool:
    return is_consistent(cluster) and held(cluster).bundle != before.bundle


def is_served_to_all(cluster: FakeCluster) -> bool:
    leaf = held(cluster).leaf
    assert leaf is not None
    return all(any(issued(one, leaf.certificate) for one in read_bundle(bundle)) for bundle in bundles(cluster))


def take_away(cluster: FakeCluster, key: str) -> None:
    data = {name: value for name, value in cluster.objects[SECRET]["data"].items() if name != key}
    cluster.put(SECRET, {**cluster.objects[SECRET], "data": data})


def holder(cluster: FakeCluster) -> str:
    return str(cluster.objects.get(LEASE, {"spec": {}})["spec"].get("holderIdentity", ""))


async def test_it_makes_everything_and_gives_the_lease_back(cluster: FakeCluster) -> None:
    async with manager(cluster) as process:
        await until(lambda: is_consistent(cluster))
        process.send_signal(signal.SIGTERM)
        code, messages = await end(process)
    assert (code, messages[1], messages[-1]) == (0, "leading", "asked to stop")
    assert holder(cluster) == ""


async def test_three_that_start_at_once_agree_on_one_authority(cluster: FakeCluster) -> None:
    async with manager(cluster), manager(cluster), manager(cluster):
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
    method: str, path: str, count: int, cluster: FakeCluster
) -> None:
    """The change that it is killed at still takes place; without it, the kill would be one after the change before."""
    async with manager(cluster) as first:
        await until(lambda: is_consistent(cluster))
        before = held(cluster)
        points: list[str] = []
        served: list[bool] = []

        async def kill(asked: str, where: str) -> None:
            served.append(is_served_to_all(cluster))
            if (asked, where) == (method, path):
                points.append(asked)
                if len(points) == count:
                    first.kill()

        cluster.fault = kill
        take_away(cluster, "authority.key")
        async with asyncio.timeout(15):
            await first.wait()
    assert len(points) == count
    del cluster.objects[LEASE]  # other tests wait until it is free
    async with manager(cluster):
        await until(lambda: is_another(cluster, before))
    assert all(served)


async def test_what_somebody_destroys_is_restored(cluster: FakeCluster) -> None:
    async with manager(cluster):
        await until(lambda: is_consistent(cluster))
        first = held(cluster)
        cluster.put(MUTATING, webhooks("a", "b", bundle=""))
        await until(lambda: is_consistent(cluster), 2)
        assert held(cluster).bundle == first.bundle
        began = time.monotonic()
        del cluster.objects[SECRET]
        cluster.put(VALIDATING, webhooks("c"))
        await until(lambda: is_another(cluster, first))
        assert time.monotonic() - began < 15
        second = held(cluster)
        del cluster.objects[MUTATING]
        take_away(cluster, "authority.key")
        await until(lambda: is_another(cluster, second))
        assert MUTATING not in cluster.objects


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
        process.send_signal(signal.SIGTERM)
        code, _ = await end(process)
    assert code == 0


async def test_months_later_leaf_and_authority_are_others(cluster: FakeCluster) -> None:
    async with manager(cluster):
        await until(lambda: is_consistent(cluster))
        first = held(cluster)
        cluster.moment = datetime.now(UTC) + 250 * DAY
        await until(lambda: held(cluster).leaf != first.leaf and is_consistent(cluster))
        second = held(cluster)
        assert second.bundle == first.bundle
        cluster.moment = datetime.now(UTC) + 2500 * DAY
        await until(lambda: is_another(cluster, second))


async def test_a_leader_that_was_paused_for_too_long_ends_without_a_change(cluster: FakeCluster) -> None:
    async with manager(cluster) as first:
        await until(lambda: is_consistent(cluster))
        before = holder(cluster)
        first.send_signal(signal.SIGSTOP)
        async with manager(cluster):
            await until(lambda: holder(cluster) != before)
            after, writes = holder(cluster), len(cluster.writes(SECRET))
            first.send_signal(signal.SIGCONT)
            code, messages = await end(first)
            assert holder(cluster) == after
    assert code == 3
    assert messages[-1].startswith("the lease pair ")
    assert len(cluster.writes(SECRET)) == writes


async def test_a_leader_whose_renewals_hang_ends_before_another_may_lead(cluster: FakeCluster) -> None:
    async with manager(cluster) as process:
        await until(lambda: is_consistent(cluster))
        renewed = time.monotonic()

        async def hang(_method: str, path: str) -> None:
            if path == LEASE:
                await asyncio.sleep(20)

        cluster.fault = hang
        code, messages = await end(process)
    assert (code, messages[-1]) == (3, "the lease pair was not renewed in time")
    # Two thirds of 3 s after the last renewal; a request that was under way is given up after 1 s, the last one, too.
    assert time.monotonic() - renewed < 5


async def test_a_secret_of_somebody_else_is_left_alone(cluster: FakeCluster) -> None:
    foreign = cluster.put(SECRET, {"metadata": {"name": "pair"}, "data": {"tls.crt": "eA=="}})
    async with manager(cluster) as process:
        code, messages = await end(process)
    assert (code, messages[-1]) == (
        1,
        (
            "the Secret holds tls.crt of somebody else: name another one, or give this one the annotation "
            'streams.ibm.com/managed-certificates: "true" if it may be overwritten'
        ),
    )
    assert cluster.objects[SECRET] == foreign
    assert holder(cluster) == ""


async def test_no_log_holds_a_secret(cluster: FakeCluster) -> None:
    async with manager(cluster) as process:
        await until(lambda: is_consistent(cluster))
        process.send_signal(signal.SIGTERM)
        _, messages = await end(process)
    secrets = [line for value in held(cluster).contents().values() for line in value.decode().splitlines()[1:-1]]
    assert [one for one in secrets if one in "\n".join(messages)] == []
