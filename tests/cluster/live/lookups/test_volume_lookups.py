"""What is found out about the claims of a pod, from an API server that is slow, odd, or has none of them."""

import asyncio
from typing import Any

import msgspec
import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.cluster.test_storage import ON_A, TERMS, claim, storage_class, volume
from tests.fake_clock import FakeClock
from webhook.cluster.queries.lookups import volume_lookups
from webhook.cluster.queries.lookups.volume_lookups import AT_A_TIME, KEPT_SECONDS, MOST, VolumeLookups
from webhook.placement.objects.volumes import UNREAD, Claim, PersistentVolume, StorageClass

CLAIMS = "/api/v1/namespaces/apps/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
NAME = ("apps", "c")
BOUND = Claim("apps", "c", "v")


class Server:
    """Objects by path; ``asked`` are the paths that were read."""

    def __init__(self, **objects: Any) -> None:
        self.objects: dict[str, Any] = {CLASSES: {"items": [storage_class()]}, **objects}
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()

    async def read(self, path: str) -> bytes:
        self.asked.append(path)
        await self.open.wait()
        found = self.objects.get(path)
        if isinstance(found, ApiError):
            raise found
        if found is None:
            raise ApiError(Cause.MISSING, "the API server answers 404: Not Found")
        return found if isinstance(found, bytes) else msgspec.json.encode(found)


def bound() -> Server:
    """A server that has a claim, bound to a volume of a node."""
    return Server(
        **{
            f"{CLAIMS}/c": claim(volumeName="v"),
            f"{VOLUMES}/v": volume(nodeAffinity={"required": {"nodeSelectorTerms": ON_A}}),
        }
    )


async def test_a_bound_claim_is_found_with_its_volume() -> None:
    found = await VolumeLookups(bound()).find([NAME])
    assert (found.claim(NAME), found.volume("v"), found.class_named("fast")) == (
        BOUND,
        PersistentVolume("v", TERMS),
        StorageClass("fast"),
    )


async def test_a_claim_that_there_is_not_is_missing() -> None:
    found = await VolumeLookups(Server()).find([NAME])
    assert found.claim(NAME) is None


@pytest.mark.parametrize("name", ["../nodes", "a..b"])
async def test_a_name_that_no_claim_can_have_is_not_asked_for(name: str) -> None:
    server = Server()
    found = await VolumeLookups(server).find([("apps", name)])
    assert (found.claim(("apps", name)), server.asked) == (None, [CLASSES])


@pytest.mark.parametrize(
    "answer",
    [ApiError(Cause.FORBIDDEN, "no"), b"<html>", {"metadata": {}}],
    ids=["forbidden", "unreadable", "malformed"],
)
@pytest.mark.parametrize("path", [f"{CLAIMS}/c", f"{VOLUMES}/v", CLASSES], ids=["claim", "volume", "classes"])
async def test_what_cannot_be_read_is_not_known(path: str, answer: object) -> None:
    server = bound()
    server.objects[path] = {"items": [answer]} if path == CLASSES and isinstance(answer, dict) else answer
    found = await VolumeLookups(server).find([NAME])
    known = (found.claim(NAME), found.volume("v"), found.class_named("fast"))
    volume_known = PersistentVolume("v", TERMS)
    unread = {f"{CLAIMS}/c": (UNREAD, None), f"{VOLUMES}/v": (BOUND, None), CLASSES: (BOUND, volume_known)}
    assert known == (*unread[path], None if path == CLASSES else StorageClass("fast"))


async def test_what_seldom_changes_is_not_asked_for_again_for_a_while() -> None:
    clock = FakeClock()
    server = bound()
    lookups = VolumeLookups(server, clock=clock)
    for _ in range(2):
        assert (await lookups.find([NAME])).claim(NAME) == BOUND
    assert len(server.asked) == 3
    clock.now += KEPT_SECONDS
    await lookups.find([NAME])
    assert len(server.asked) == 6


async def test_what_is_asked_for_all_the_time_is_read_anew_as_often() -> None:
    """A StatefulSet's claim that was deleted is made again with the same name, and bound to another volume."""
    clock = FakeClock()
    server = bound()
    lookups = VolumeLookups(server, clock=clock)
    for _ in range(2):
        await lookups.find([NAME])
        clock.now += KEPT_SECONDS / 2
    server.objects |= {f"{CLAIMS}/c": claim(volumeName="w"), f"{VOLUMES}/w": volume("w"), CLASSES: {"items": []}}
    found = await lookups.find([NAME])
    assert (found.claim(NAME), found.class_named("fast")) == (Claim("apps", "c", "w"), None)


async def test_a_claim_that_is_not_bound_is_asked_for_each_time() -> None:
    server = Server(**{f"{CLAIMS}/c": claim()})
    lookups = VolumeLookups(server)
    for _ in range(2):
        await lookups.find([NAME])
    assert server.asked.count(f"{CLAIMS}/c") == 2


async def test_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_lookups, "KEPT", 1)
    server = Server(**{f"{CLAIMS}/{name}": claim(name, volumeName="v") for name in "ab"}, **{f"{VOLUMES}/v": volume()})
    lookups = VolumeLookups(server)
    for name in ("a", "b", "a"):
        await lookups.find([("apps", name)])
    assert server.asked.count(f"{CLAIMS}/a") == 2


async def test_only_so_many_claims_are_looked_up() -> None:
    server = Server()
    await VolumeLookups(server).find([("apps", f"c-{at}") for at in range(MOST + 1)])
    assert len(server.asked) == MOST + 1  # and the classes


async def test_only_so_many_reviews_ask_at_a_time() -> None:
    server = bound()
    server.open.clear()
    lookups = VolumeLookups(server)
    asking = [asyncio.create_task(lookups.find([NAME])) for _ in range(AT_A_TIME)]
    await asyncio.sleep(0)
    assert (await lookups.find([NAME])).claim(NAME) is UNREAD
    server.open.set()
    assert [found.claim(NAME) for found in await asyncio.gather(*asking)] == [BOUND] * AT_A_TIME
    assert (await lookups.find([NAME])).claim(NAME) == BOUND


async def test_what_comes_too_late_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_lookups, "SECONDS", 0.01)
    server = bound()
    server.open.clear()
    assert (await VolumeLookups(server).find([NAME])).claim(NAME) is UNREAD
