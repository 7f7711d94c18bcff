"""The leader at work on a cluster that is not kind to it."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from certs.managed import keeper as module
from certs.managed.action import Idle, WriteBundle, WriteSecret
from certs.managed.api import OUTDATED, Api
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.keeper import Keeper, ManagedObjects
from certs.managed.logs import log_to_standard_error
from certs.managed.secret import MARK, ForeignError, read_secret
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from kubeapi.leaderelection.election import Election
from kubeapi.leaderelection.lease_hold import LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming
from tests.certs.managed.fake import LEASE, MUTATING, SECRET, VALIDATING, FakeCluster, until, webhooks
from tests.certs.managed.manage_process import client_of, take_away
from tests.certs.managed.rotation_samples import SERVICE, terms
from tests.certs.samples import DAY

pytestmark = pytest.mark.integration

OBJECTS = ManagedObjects(SERVICE, "pair", (("mutating", "m"), ("validating", "v")))


class FakeClock:
    """Every look takes place two minutes after the one before: nobody has to wait."""

    def __init__(self) -> None:
        self.moment = 0.0

    def __call__(self) -> float:
        self.moment += 120
        return self.moment


@pytest.fixture
async def leading(client: ObjectClient) -> AsyncIterator[Election]:
    """A candidate that is elected, and renews the Lease too seldom to be noticed."""
    timing = LeaseTiming.in_proportion(600, jitter=0.0)
    election = Election(client, namespace="ns", name="pair", identity="me", timing=timing)
    task = asyncio.create_task(election.run(asyncio.Event().wait, tell=pytest.fail))
    await until(lambda: election.leading)
    yield election
    task.cancel()
    await asyncio.wait({task})


@pytest.fixture
async def api(cluster: FakeCluster, leading: Election) -> AsyncIterator[Api]:
    """As ``manage`` makes it: what is written passes the fence of the election."""
    async with client_of(cluster, fence=leading.check) as client:
        yield Api(client)


@pytest.fixture
def keeper(api: Api, leading: Election) -> Keeper:
    return Keeper(api, leading, OBJECTS, terms(adoption=60), clock=FakeClock())


async def settle(keeper: Keeper) -> list[str]:
    """Turns until nothing is left to do; what was done."""
    done = []
    for _ in range(20):
        action = await keeper.turn()
        if action == Idle():
            return done
        done.append(action.reason if isinstance(action, WriteSecret) else type(action).__name__)
    pytest.fail(f"no end in sight: {done}")


def held(cluster: FakeCluster) -> CertificateSecret:
    return read_secret(cluster.objects[SECRET])


def bundles(cluster: FakeCluster) -> set[bytes]:
    entries = [entry for path in (MUTATING, VALIDATING) for entry in cluster.objects[path]["webhooks"]]
    return {base64.b64decode(entry["clientConfig"].get("caBundle") or "") for entry in entries}


def is_consistent(cluster: FakeCluster) -> bool:
    own = held(cluster)
    return own.issuer is not None and own.following is None and bundles(cluster) == {own.issuer.certificate_pem}


async def test_an_empty_cluster_gets_everything(keeper: Keeper, cluster: FakeCluster) -> None:
    assert await settle(keeper) == [
        "there was no usable authority",
        "WriteBundle",
        "Idle",
        "next-authority.crt is trusted everywhere",
    ]
    assert is_consistent(cluster)


async def test_nothing_but_bundles_changes_in_a_configuration(keeper: Keeper, cluster: FakeCluster) -> None:
    await settle(keeper)
    webhook = cluster.objects[MUTATING]["webhooks"][1]
    del webhook["clientConfig"]["caBundle"]
    assert webhook == webhooks("a", "b")["webhooks"][1]


async def test_done_is_done(keeper: Keeper, cluster: FakeCluster) -> None:
    await settle(keeper)
    before = len(cluster.writes())
    assert await settle(keeper) == []
    assert len(cluster.writes()) == before


async def test_a_wiped_bundle_is_restored_in_one_turn(keeper: Keeper, cluster: FakeCluster) -> None:
    await settle(keeper)
    cluster.put(MUTATING, webhooks("a", "b", bundle=""))
    assert isinstance(await keeper.turn(), WriteBundle)
    assert is_consistent(cluster)


async def test_a_deleted_configuration_is_never_made_again(keeper: Keeper, cluster: FakeCluster) -> None:
    await settle(keeper)
    cluster.storage.remove(MUTATING)
    assert await settle(keeper) == []
    assert MUTATING not in cluster.objects
    cluster.put(MUTATING, webhooks("a"))
    assert await settle(keeper) == ["WriteBundle"]
    assert is_consistent(cluster)


async def test_a_deleted_secret_is_made_again_while_the_old_leaf_stays_trusted(
    keeper: Keeper, cluster: FakeCluster
) -> None:
    await settle(keeper)
    old = held(cluster).bundle
    cluster.storage.remove(SECRET)
    for _ in range(2):
        await keeper.turn()
    assert set(old) < set(held(cluster).bundle)
    assert bundles(cluster) == {held(cluster).contents()["ca.crt"]}
    await settle(keeper)
    assert is_consistent(cluster)
    assert set(old).isdisjoint(held(cluster).bundle)


async def test_of_two_that_make_a_secret_one_wins(api: Api, leading: Election, cluster: FakeCluster) -> None:
    keepers = [Keeper(api, leading, OBJECTS, terms(), clock=FakeClock()) for _ in range(2)]
    outcomes = await asyncio.gather(*(keeper.turn() for keeper in keepers), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ApiError", "WriteSecret"]
    assert [outcome.cause in OUTDATED for outcome in outcomes if isinstance(outcome, ApiError)] == [True]
    for keeper in keepers:
        await settle(keeper)
    assert is_consistent(cluster)


async def test_removing_the_authoritys_key_changes_the_authority(keeper: Keeper, cluster: FakeCluster) -> None:
    await settle(keeper)
    old = held(cluster).authority
    take_away(cluster, "authority.key")
    done = await settle(keeper)
    assert [step for step in done if step != "Idle"] == [
        "there was no usable authority",
        "WriteBundle",
        "next-authority.crt is trusted everywhere",
        "only authority.crt is in use",
        "WriteBundle",
    ]
    assert is_consistent(cluster)
    assert old is not None
    assert old.certificate not in held(cluster).bundle


async def test_time_is_the_api_servers(keeper: Keeper, cluster: FakeCluster) -> None:
    await settle(keeper)
    cluster.moment = datetime.now(UTC) + 61 * DAY
    assert await settle(keeper) == ["tls.crt was due for renewal"]


async def test_an_authority_is_changed_in_its_last_third(keeper: Keeper, cluster: FakeCluster) -> None:
    await settle(keeper)
    cluster.moment = datetime.now(UTC) + 250 * DAY
    assert "authority.crt was due for renewal" in await settle(keeper)
    assert is_consistent(cluster)


async def test_the_secret_of_another_owner_is_refused(keeper: Keeper, cluster: FakeCluster) -> None:
    cluster.put(SECRET, {"metadata": {"name": "pair"}, "data": {"tls.crt": "eA=="}})
    with pytest.raises(ForeignError, match=MARK):
        await keeper.turn()


async def test_a_configuration_that_cannot_be_changed_does_not_keep_others_from_it(
    keeper: Keeper, cluster: FakeCluster
) -> None:
    async def forbidden(method: str, path: str) -> int | None:
        return 403 if (method, path) == ("PATCH", MUTATING) else None

    await keeper.turn()
    cluster.fault = forbidden
    with pytest.raises(ApiError, match=f"403 to PATCH {MUTATING}"):
        await keeper.turn()
    entry = cluster.objects[VALIDATING]["webhooks"][0]
    assert base64.b64decode(entry["clientConfig"]["caBundle"]) == held(cluster).contents()["ca.crt"]


async def test_a_leader_without_its_lease_changes_nothing(
    keeper: Keeper, leading: Election, cluster: FakeCluster
) -> None:
    cluster.put(LEASE, {**cluster.objects[LEASE], "spec": {"holderIdentity": "you"}})
    with pytest.raises(LostError):
        await leading.renew()
    before = len(cluster.writes())
    with pytest.raises(LostError):
        await keeper.turn()
    assert len(cluster.writes()) == before


async def test_a_paused_leader_that_goes_on_changes_nothing(keeper: Keeper, cluster: FakeCluster) -> None:
    """What it wanted to write was decided before another leader wrote."""

    async def meanwhile(method: str, path: str) -> None:
        if method == "PUT" and path == SECRET:
            cluster.put(SECRET, cluster.objects[SECRET])

    await keeper.turn()
    cluster.fault = meanwhile
    with pytest.raises(ApiError, match="409 to PUT") as failed:
        await settle(keeper)
    assert failed.value.cause in OUTDATED
    assert held(cluster).authority is None


async def test_a_configuration_that_changed_meanwhile_is_not_changed(keeper: Keeper, cluster: FakeCluster) -> None:
    async def meanwhile(method: str, path: str) -> None:
        if method == "PATCH":
            cluster.put(path, cluster.objects[path])

    await keeper.turn()
    cluster.fault = meanwhile
    with pytest.raises(ApiError, match="409 to PATCH") as failed:
        await keeper.turn()
    assert failed.value.cause in OUTDATED
    assert bundles(cluster) == {b""}


@contextlib.asynccontextmanager
async def running(keeper: Keeper, *, interval: float = 0.2) -> AsyncIterator[asyncio.Task[Any]]:
    task = asyncio.create_task(keeper.run(interval))
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, LostError, ForeignError):
            await task


async def test_it_goes_on_after_trouble(
    keeper: Keeper, cluster: FakeCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    async def trouble(method: str, _path: str) -> int | None:
        return 500 if method != "GET" and len(cluster.seen) < 8 else None

    log_to_standard_error()
    cluster.fault = trouble
    async with running(keeper):
        await until(lambda: SECRET in cluster.objects and is_consistent(cluster))
    assert "answers 500 to POST" in capsys.readouterr().err


async def test_a_conflict_makes_it_look_whose_the_lease_is(keeper: Keeper, cluster: FakeCluster) -> None:
    async def taken(method: str, path: str) -> int | None:
        if method == "POST" and path != LEASE.rpartition("/")[0]:
            spec = {**cluster.objects[LEASE]["spec"], "holderIdentity": "you"}
            cluster.put(LEASE, {**cluster.objects[LEASE], "spec": spec})
            return 409
        return None

    cluster.fault = taken
    async with running(keeper) as task:
        with pytest.raises(LostError) as lost:
            await asyncio.wait_for(task, 5)
    assert lost.value.taken


async def test_a_conflict_while_the_lease_is_ours_is_tried_again(keeper: Keeper, cluster: FakeCluster) -> None:
    async def once(method: str, _path: str) -> int | None:
        return 409 if method == "POST" and not cluster.writes(LEASE) else None

    cluster.fault = once
    async with running(keeper):
        await until(lambda: SECRET in cluster.objects and is_consistent(cluster))


async def test_a_fight_with_another_program_is_not_a_race(
    keeper: Keeper, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody wipes whatever is written; after a streak there is a rest after every step."""
    monkeypatch.setattr(module, "PAUSE", 0.0)
    await settle(keeper)

    async def wiped(method: str, path: str) -> None:
        if method == "GET" and path == MUTATING:
            cluster.put(MUTATING, webhooks("a", bundle=""))

    cluster.fault = wiped
    before = len(cluster.writes(MUTATING))
    async with running(keeper, interval=30):
        await until(lambda: len(cluster.writes(MUTATING)) - before >= module.STREAK)
        await asyncio.sleep(0.2)
    assert len(cluster.writes(MUTATING)) - before == module.STREAK


async def test_every_step_is_said_and_no_key(keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    log_to_standard_error()
    await settle(keeper)
    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["message"] for line in lines] == [
        "wrote the Secret pair: there was no usable authority",
        "wrote the caBundle of mutating/m",
        "wrote the caBundle of validating/v",
        "wrote the Secret pair: next-authority.crt is trusted everywhere",
    ]
