"""What each operation answers about intents, consumers and requirements, over a real server and a real file."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rest.rest_server import (
    CONSUMERS,
    CORE,
    FWALL,
    INTENTS,
    NOTES,
    REQUIREMENTS,
    RestClient,
    consumer,
    intent,
    requirement,
    serving,
)
from webhook.rest.api import _DELETIONS, _PART
from webhook.rest.intents import Change, ConsumerEntity, ConsumerWorkload, EntityMetadata, IntentEntity
from webhook.rest.routes import IntentGroup
from webhook.rest.storage.sqlite_store import SqliteStore
from webhook.rest.storage.store import IntentPage

pytestmark = pytest.mark.integration

CPU = f"{REQUIREMENTS}/core-fwall-cpu-requirement"
GROUP_NAMES = "my-proj1/my-capp1/v1.0/my-dig1"
GROUP = IntentGroup("my-proj1", "my-capp1", "v1.0", "my-dig1")

OF_CORE = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "core-fwall", "container-name": "palo-alto-e3000"}
SHOWN_CONSUMER = {"metadata": {"name": "core-fwall"} | NOTES, "spec": {"consumer": OF_CORE}}
SHOWN_INTENT = {
    "metadata": {"name": "fwall-hpa-intent"} | NOTES,
    "spec": {"app": "fwall", "appName": "fwall", "resourceConsumers": []},
}
SHOWN_REQUIREMENT = {
    "metadata": {"name": "core-fwall-cpu-requirement"} | NOTES,
    "spec": {"name": "cpu", "mandatory": True, "allocatable": True, "requests": 4, "limits": 4},
}


async def test_what_is_created_is_answered_with_its_place(client: RestClient) -> None:
    reply = await client.post(INTENTS, intent())
    assert (reply.status, reply.json, reply.headers["Location"]) == (201, SHOWN_INTENT, FWALL)
    reply = await client.post(CONSUMERS, consumer())
    assert (reply.status, reply.json, reply.headers["Location"]) == (201, SHOWN_CONSUMER, CORE)
    reply = await client.post(REQUIREMENTS, requirement())
    assert (reply.status, reply.json, reply.headers["Location"]) == (201, SHOWN_REQUIREMENT, CPU)


async def test_elements_are_read_by_path_and_by_parameter(client: RestClient) -> None:
    await client.create_all()
    whole = {**SHOWN_INTENT, "spec": {**SHOWN_INTENT["spec"], "resourceConsumers": [SHOWN_CONSUMER]}}  # type: ignore[dict-item]
    for path in (FWALL, f"{INTENTS}?intent=fwall-hpa-intent", f"{FWALL}/"):
        assert (await client.get(path)).json == whole
    for path in (CORE, f"{CONSUMERS}?consumer=core-fwall"):
        assert (await client.get(path)).json == SHOWN_CONSUMER
    for parameter in ("resource", "requirement"):
        reply = await client.get(f"{REQUIREMENTS}?{parameter}=core-fwall-cpu-requirement")
        assert reply.json == SHOWN_REQUIREMENT
    assert (await client.get(CPU)).json == SHOWN_REQUIREMENT


async def test_lists(client: RestClient) -> None:
    assert (await client.get(INTENTS)).json == []
    await client.create_all()
    await client.post(INTENTS, intent("analytics", app="analytics"))
    assert [each["metadata"]["name"] for each in (await client.get(INTENTS)).json] == ["analytics", "fwall-hpa-intent"]
    assert (await client.get(CONSUMERS)).json == [SHOWN_CONSUMER]
    assert (await client.get(REQUIREMENTS)).json == [SHOWN_REQUIREMENT]


async def test_another_group_has_intents_of_its_own(client: RestClient) -> None:
    await client.create_all()
    other = INTENTS.replace("v1.0", "v1.1")
    assert (await client.get(other)).json == []
    assert (await client.post(other, intent())).status == 201


async def test_a_put_replaces(client: RestClient) -> None:
    await client.create_all()
    changed = requirement("core-fwall-cpu-requirement", name="cpu", requests=2, mandatory=False, weight=3)
    reply = await client.put(CPU, changed)
    shown = {"name": "cpu", "mandatory": False, "weight": 3, "allocatable": True, "requests": 2}
    assert (reply.status, reply.json["spec"]) == (200, shown)
    assert (await client.get(CPU)).json["spec"] == shown
    assert (await client.delete(CPU)).status == 204
    reply = await client.put(CORE, consumer(container="palo-alto-e3000"))
    assert (reply.status, reply.json) == (200, SHOWN_CONSUMER)
    assert (await client.delete(CORE)).status == 204
    reply = await client.put(FWALL, intent(app="firewall"))
    assert (reply.status, reply.json["spec"]["appName"]) == (200, "firewall")


async def test_what_is_deleted_is_gone(client: RestClient) -> None:
    await client.create_all()
    for path in (CPU, CORE, FWALL):
        reply = await client.delete(path)
        assert (reply.status, reply.json) == (204, None)
        assert (await client.get(path)).status == 404
        assert (await client.delete(path)).status == 404


async def test_what_has_children_stays(client: RestClient) -> None:
    await client.create_all()
    why = "cannot be deleted while it has 1 resource consumer (core-fwall): delete these first"
    reply = await client.delete(FWALL)
    assert (reply.status, reply.errors) == (409, [("hpa-intent-name", f"HPA intent fwall-hpa-intent {why}")])
    reply = await client.put(CORE, consumer())
    why = "cannot be changed while it has 1 resource requirement (core-fwall-cpu-requirement): delete these first"
    assert (reply.status, reply.errors) == (409, [("consumer-name", f"resource consumer core-fwall {why}")])


async def test_a_list_is_deleted_as_a_whole(client: RestClient) -> None:
    await client.create_all()
    await client.post(INTENTS, intent("other"))
    await client.post(CONSUMERS, consumer("more"))
    for path, left in ((REQUIREMENTS, CORE), (CONSUMERS, FWALL), (INTENTS, INTENTS)):
        reply = await client.delete(path)
        assert (reply.status, reply.json) == (204, None)
        assert (await client.get(left)).status == 200
        assert (await client.get(path)).json == []
        assert (await client.delete(path)).status == 204


async def test_of_a_list_in_which_one_has_children_nothing_is_deleted(client: RestClient) -> None:
    await client.create_all()
    await client.post(INTENTS, intent("a-first"))
    await client.post(CONSUMERS, consumer("a-first"))
    why = "cannot be deleted while it has 2 resource consumers (core-fwall, a-first): delete these first"
    reply = await client.delete(INTENTS)
    assert (reply.status, reply.errors) == (409, [("hpa-intent-name", f"HPA intent fwall-hpa-intent {why}")])
    reply = await client.delete(CONSUMERS)
    why = "cannot be deleted while it has 1 resource requirement (core-fwall-cpu-requirement): delete these first"
    assert (reply.status, reply.errors) == (409, [("consumer-name", f"resource consumer core-fwall {why}")])
    assert len((await client.get(INTENTS)).json) == len((await client.get(CONSUMERS)).json) == 2


async def test_a_list_is_deleted_if_its_elements_are_what_the_client_knows(client: RestClient) -> None:
    await client.post(INTENTS, intent())
    assert (await client.delete(INTENTS, headers={"If-Match": '"old"'})).status == 412
    tag = (await client.get(FWALL)).headers["ETag"]
    assert (await client.delete(INTENTS, headers={"If-Match": tag})).status == 204


async def test_a_list_below_what_is_missing_is_not_deleted(client: RestClient) -> None:
    assert (await client.delete(CONSUMERS)).status == 404
    await client.post(INTENTS, intent())
    assert (await client.delete(REQUIREMENTS)).status == 404


async def test_more_intents_than_are_deleted_at_a_time(client: RestClient) -> None:
    for number in range(_DELETIONS + 2):
        await client.post(INTENTS, intent(f"i{number}"))
    assert (await client.delete(INTENTS)).status == 204
    assert (await client.get(INTENTS)).json == []


def stored_intent(name: str, *consumers: str) -> Change:
    """Stores an intent with these consumers."""
    workload = ConsumerWorkload("apps/v1", "StatefulSet", "core-fwall")
    entities = tuple(ConsumerEntity(EntityMetadata(each), workload) for each in consumers)
    return lambda _: IntentEntity(EntityMetadata(name), "fwall", entities)


class Shared(SqliteStore):
    """A store of which somebody else changes one intent as soon as a part of a list has been read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.meanwhile: dict[str, Change] = {}

    async def page(self, group: IntentGroup, limit: int, token: str) -> IntentPage:
        page = await super().page(group, limit, token)
        while self.meanwhile:
            await self.change(group, *self.meanwhile.popitem())
        return page

    async def fill(self, *names: str) -> None:
        """Store intents without consumers."""
        await asyncio.gather(*(self.change(GROUP, name, stored_intent(name)) for name in names))


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[tuple[Shared, RestClient]]:
    store = Shared(tmp_path / "intents.sqlite")
    async with serving(store) as client:
        yield store, client


NUMBERED = [f"i{number:03}" for number in range(_PART + 2)]


async def test_more_intents_than_are_listed_at_a_time(shared: tuple[Shared, RestClient]) -> None:
    store, client = shared
    await store.fill(*NUMBERED)
    assert (await client.delete(INTENTS)).status == 204
    assert (await client.get(INTENTS)).json == []


async def test_the_last_of_many_intents_keeps_all_if_it_has_children(shared: tuple[Shared, RestClient]) -> None:
    store, client = shared
    await store.fill(*NUMBERED)
    await store.change(GROUP, NUMBERED[-1], stored_intent(NUMBERED[-1], "core-fwall"))
    reply = await client.delete(INTENTS)
    why = "cannot be deleted while it has 1 resource consumer (core-fwall): delete these first"
    assert (reply.status, reply.errors) == (409, [("hpa-intent-name", f"HPA intent {NUMBERED[-1]} {why}")])
    assert [each["metadata"]["name"] for each in (await client.get(INTENTS)).json] == NUMBERED


async def test_a_list_is_deleted_though_another_request_deleted_one_of_it(shared: tuple[Shared, RestClient]) -> None:
    store, client = shared
    await store.fill("a", "b", "c")
    store.meanwhile["b"] = lambda _: None
    assert (await client.delete(INTENTS)).status == 204
    assert (store.meanwhile, (await client.get(INTENTS)).json) == ({}, [])


async def test_what_another_request_gave_children_meanwhile_stays(shared: tuple[Shared, RestClient]) -> None:
    store, client = shared
    await store.fill("a", "b", "c")
    store.meanwhile["b"] = stored_intent("b", "core-fwall")
    reply = await client.delete(INTENTS)
    why = "cannot be deleted while it has 1 resource consumer (core-fwall): delete these first"
    assert (reply.status, reply.errors) == (409, [("hpa-intent-name", f"HPA intent b {why}")])
    assert (await client.get(f"{INTENTS}/b/hpa-resource-consumers/core-fwall")).status == 200


async def test_a_name_is_taken_once(client: RestClient) -> None:
    await client.create_all()
    for path, body, rule in (
        (INTENTS, intent(), 'there is an HPA intent "fwall-hpa-intent" already'),
        (CONSUMERS, consumer(), 'there is a resource consumer "core-fwall" already'),
        (REQUIREMENTS, requirement(), 'there is a resource requirement "core-fwall-cpu-requirement" already'),
    ):
        reply = await client.post(path, body)
        assert (reply.status, reply.errors) == (409, [("metadata.name", rule)])


async def test_what_is_missing_is_named(client: RestClient) -> None:
    await client.create_all()
    no_intent = f'"nope": deployment intent group {GROUP_NAMES} has no such HPA intent'
    nope = f"{INTENTS}/nope/hpa-resource-consumers"
    for method, path, body in (
        ("GET", f"{INTENTS}/nope", None),
        ("DELETE", f"{INTENTS}/nope", None),
        ("PUT", f"{INTENTS}/nope", intent("nope")),
        ("GET", nope, None),
        ("POST", nope, consumer()),
        ("GET", f"{nope}/core-fwall", None),
        ("POST", f"{nope}/core-fwall/resource-requirements", requirement()),
    ):
        reply = await client.ask(method, path, body)
        assert (reply.status, reply.errors) == (404, [("hpa-intent-name", no_intent)])
    reply = await client.get(f"{CONSUMERS}/core-fwal")
    rule = '"core-fwal": HPA intent fwall-hpa-intent has no such resource consumer, did you mean core-fwall?'
    assert (reply.status, reply.errors) == (404, [("consumer-name", rule)])
    reply = await client.post(f"{CONSUMERS}/x/resource-requirements", requirement())
    rule = '"x": HPA intent fwall-hpa-intent has no such resource consumer; it has core-fwall'
    assert (reply.status, reply.errors) == (404, [("consumer-name", rule)])
    await client.delete(CPU)
    reply = await client.get(CPU)
    rule = '"core-fwall-cpu-requirement": resource consumer core-fwall has no such resource requirement; it has none'
    assert (reply.status, reply.errors) == (404, [("requirement-name", rule)])


async def test_a_put_does_not_rename(client: RestClient) -> None:
    await client.create_all()
    reply = await client.put(CPU, requirement("other"))
    rule = '"other" is not the name in the path, core-fwall-cpu-requirement; a new name is a new element'
    assert (reply.status, reply.errors) == (400, [("metadata.name", rule)])
