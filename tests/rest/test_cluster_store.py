"""Intents as objects: names, what is read from objects that people have edited, retries, and trouble of the cluster."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as some

from kubeapi.client.connection import Connection
from tests.apiserver.server import ApiServer, Seen, refused, status
from webhook.placement.kube.names import LABEL_VALUE
from webhook.placement.objects.intent import read_intent
from webhook.placement.text import keys
from webhook.rest.intents import (
    Change,
    ConsumerEntity,
    ConsumerWorkload,
    DeviceWish,
    EntityMetadata,
    HardwareWish,
    IntentEntity,
    RequirementEntity,
)
from webhook.rest.request_error import RequestError
from webhook.rest.routes import NAME, IntentGroup
from webhook.rest.storage import cluster_store
from webhook.rest.storage.cluster_store import ATTEMPTS, ClusterStore, NamespaceMap
from webhook.rest.storage.intent_objects import (
    StoredHPAIntent,
    UnusableObjectError,
    entity_of,
    group_label,
    object_name,
    object_of,
)
from webhook.rest.storage.store import StaleTokenError, StorageError

GROUP = IntentGroup("my-proj1", "my-capp1", "v1.0", "my-dig1")
INTENT = IntentEntity(EntityMetadata("fwall"), "a")
PATH = f"/apis/streams.ibm.com/v1/namespaces/edge/streamshpaintents/{object_name(GROUP, 'fwall')}"
NAMES = some.from_regex(NAME, fullmatch=True)


def stored(thing: dict[str, Any]) -> StoredHPAIntent:
    return msgspec.json.decode(json.dumps(thing), type=StoredHPAIntent)


# Names


@given(some.tuples(NAMES, NAMES, NAMES, NAMES), NAMES)
def test_names_of_objects_are_names_of_kubernetes(names: tuple[str, str, str, str], intent: str) -> None:
    name = object_name(IntentGroup(*names), intent)
    assert len(name) <= 63
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert name[0] != "-" != name[-1]
    assert LABEL_VALUE.fullmatch(group_label(IntentGroup(*names)))


def test_intents_that_look_alike_have_objects_of_their_own() -> None:
    alike = [
        (IntentGroup("a", "b", "c", "d"), "e"),
        (IntentGroup("a", "b", "c", "d"), "E"),
        (IntentGroup("a", "b", "c", "d-e"), "e"),
        (IntentGroup("ab", "", "c", "d"), "e"),
        (IntentGroup("a", "b", "c", "D"), "e"),
        (IntentGroup("a", "bc", "", "d"), "e"),
        (IntentGroup("a", "b", "c", "d"), "e_"),
        (IntentGroup("a", "b", "c", "d"), "e."),
    ]
    assert len({object_name(group, name) for group, name in alike}) == len(alike)
    assert object_name(*alike[0]) == "e-" + object_name(*alike[0]).partition("-")[2]


NOTES = some.text(max_size=8)
METADATA = some.builds(EntityMetadata, NAMES, NOTES, NOTES, NOTES)
AMOUNTS = some.builds(
    HardwareWish,
    some.just("cpu"),
    some.booleans(),
    some.none() | some.integers(1, 10),
    some.just(value=True),
    some.integers(1, 9),
    some.none() | some.just("9"),
)
LABELS = some.builds(
    HardwareWish,
    some.just("disk"),
    some.booleans(),
    some.none(),
    some.just(value=False),
    value=some.sampled_from(["", "ssd"]),
)
DEVICES = some.builds(
    HardwareWish,
    mandatory=some.booleans(),
    allocatable=some.just(value=True),
    device=some.builds(DeviceWish, claim=some.just("shared"))
    | some.builds(DeviceWish, template=some.just("two-gpus"))
    | some.builds(DeviceWish, device_class=some.just("gpu"), count=some.integers(1, 32)),
)
REQUIREMENTS = some.builds(RequirementEntity, METADATA, AMOUNTS | LABELS | DEVICES)
WORKLOADS = some.builds(
    ConsumerWorkload, some.just("apps/v1"), some.just("Deployment"), NAMES, some.none() | some.just("c")
)


def several(entities: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    """Up to three of different names."""
    return some.lists(entities, max_size=3, unique_by=lambda each: each.metadata.name).map(tuple)


CONSUMERS = some.builds(ConsumerEntity, METADATA, WORKLOADS, several(REQUIREMENTS))
INTENTS = some.builds(IntentEntity, METADATA, NAMES, several(CONSUMERS))


@given(some.builds(IntentGroup, NAMES, NAMES, NAMES, NAMES), INTENTS)
def test_an_object_has_all_of_its_intent_and_the_webhook_can_use_it(group: IntentGroup, entity: IntentEntity) -> None:
    made = json.loads(msgspec.json.encode(object_of(group, entity)))
    assert entity_of(stored(made), group) == entity
    assert not read_intent("edge", "x", made["spec"]).problems


# Objects that people have edited


def there(intent: IntentEntity = INTENT) -> dict[str, Any]:
    """The object of an intent as it is stored."""
    made: dict[str, Any] = json.loads(msgspec.json.encode(object_of(GROUP, intent)))
    made["metadata"]["namespace"] = "edge"
    return made


def edited(spec: Any) -> StoredHPAIntent:
    return stored(there() | {"spec": spec})


def test_every_spelling_of_an_object_is_read() -> None:
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w", "container": "c"}
    spec = {
        "appName": "b",
        "consumers": [
            {
                "consumer": workload,
                "requirements": [
                    {"name": "cpu", "limits": 1},
                    {"name": "cpu", "limits": 1, "container": "d"},
                    {"name": "mine", "spec": {"resource": {"key": "disk", "value": "ssd"}, "weight": 2}},
                    {"device": {"claim": "shared"}},
                    {"metadata": {"name": "theirs", "description": "d"}, "spec": {"name": "memory", "requests": "1Gi"}},
                ],
            }
        ],
    }
    found = entity_of(edited(spec), GROUP)
    (consumer,) = found.consumers
    assert (found.app, consumer.metadata.name, consumer.consumer.container) == ("b", "w", "c")
    assert [(each.metadata.name, each.spec.name) for each in consumer.requirements] == [
        ("cpu", "cpu"), ("cpu-2", "cpu"), ("mine", "disk"), ("device", None), ("theirs", "memory"),
    ]  # fmt: skip
    assert consumer.requirements[1].spec.container == "d"
    assert consumer.requirements[2].spec == HardwareWish("disk", weight=2, value="ssd")
    assert consumer.requirements[3].spec == HardwareWish(device=DeviceWish(claim="shared"))
    assert consumer.requirements[4].metadata.description == "d"
    assert entity_of(edited(None), GROUP).app == ""


def test_a_requirement_for_nothing_spoils_its_object() -> None:
    spec = {"consumers": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "requirements": [{"limits": 1}]}]}
    with pytest.raises(UnusableObjectError, match="its spec cannot be read: Object missing required field `name`"):
        entity_of(edited(spec), GROUP)


# The store


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer().running() as server:
        yield server


@pytest.fixture
async def store(api: ApiServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ClusterStore]:
    monkeypatch.setattr(cluster_store, "_BACKOFF", 0.0)
    async with Connection(api.configuration()) as connection:
        yield ClusterStore(connection, NamespaceMap("edge"))


def app(word: str) -> Change:
    return lambda _: IntentEntity(EntityMetadata("fwall"), word)


async def test_a_change_is_made_again_after_a_conflict(api: ApiServer, store: ClusterStore) -> None:
    await store.change(GROUP, "fwall", app(""))
    faster = 3

    async def meddle(seen: Seen) -> None:
        nonlocal faster
        if seen.method == "PATCH" and faster:
            faster -= 1
            api.storage.change(PATH, {"spec": {"app": api.objects[PATH]["spec"]["app"] + "x"}})

    api.before = meddle

    def longer(known: IntentEntity | None) -> IntentEntity:
        assert known is not None
        return IntentEntity(known.metadata, f"{known.app}y")

    after = await store.change(GROUP, "fwall", longer)
    assert after is not None
    assert after.app == api.objects[PATH]["spec"]["app"] == "xxxy"


async def test_a_change_is_given_up_after_conflict_upon_conflict(api: ApiServer, store: ClusterStore) -> None:
    await store.change(GROUP, "fwall", app(""))
    api.answers["streamshpaintents", "PATCH"].extend([lambda: refused(409, "Conflict")] * ATTEMPTS)
    with pytest.raises(StorageError, match="other clients keep changing this HPA intent: try again"):
        await store.change(GROUP, "fwall", app("b"))
    assert await store.change(GROUP, "fwall", app("b")) is not None


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_what_another_replica_deletes_meanwhile_is_made_or_is_gone(
    api: ApiServer, store: ClusterStore, method: str
) -> None:
    await store.change(GROUP, "fwall", app(""))

    async def meddle(seen: Seen) -> None:
        if seen.method == method:
            api.storage.remove(PATH)

    api.before = meddle
    await store.change(GROUP, "fwall", app("b") if method == "PATCH" else (lambda _: None))
    assert (PATH in api.objects) is (method == "PATCH")


async def test_two_that_create_one_intent_know_of_each_other(api: ApiServer, store: ClusterStore) -> None:
    async def meddle(seen: Seen) -> None:
        if seen.method == "POST" and PATH not in api.objects:
            api.put(PATH, there())

    api.before = meddle

    def create(known: IntentEntity | None) -> IntentEntity:
        if known is not None:
            raise RequestError(409, ())
        return INTENT

    with pytest.raises(RequestError):
        await store.change(GROUP, "fwall", create)


async def test_an_object_that_is_being_deleted_is_gone(api: ApiServer, store: ClusterStore) -> None:
    made = there()
    made["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
    api.put(PATH, made)
    assert await store.read(GROUP, "fwall") is None
    assert (await store.page(GROUP, 5, "")).intents == ()
    with pytest.raises(StorageError, match="other clients keep changing this HPA intent"):
        await store.change(GROUP, "fwall", app("b"))


@pytest.mark.parametrize(
    ("metadata", "spec", "reason"),
    [
        ({"annotations": None}, {}, f"its annotation {keys.EMCO} was not written by this interface"),
        ({"annotations": {keys.EMCO: "{"}}, {}, f"its annotation {keys.EMCO} was not written by this interface"),
        (
            {"annotations": {keys.EMCO: f'{{"x": {"[" * 5000}{"]" * 5000}}}'}},
            {},
            f"its annotation {keys.EMCO} was not written by this interface",
        ),
        (
            {"annotations": there(IntentEntity(EntityMetadata("x")))["metadata"]["annotations"]},
            {},
            f"its annotation {keys.EMCO} and its name stand for different HPA intents",
        ),
        ({}, {"consumers": [3]}, "its spec cannot be read: 'int' object has no attribute 'get'"),
        ({}, {"consumers": 3}, "its spec cannot be read: 'int' object is not iterable"),
        ({}, {"consumers": [{}]}, "its spec cannot be read: Object missing required field `apiVersion`"),
        (
            {},
            {"consumers": [{"consumer": {"name": "w"}}]},
            "its spec cannot be read: Object missing required field `apiVersion`",
        ),
    ],
)  # fmt: skip
async def test_an_object_that_is_spoilt_is_named_and_others_are_listed(
    api: ApiServer, store: ClusterStore, caplog: pytest.LogCaptureFixture, metadata: Any, spec: Any, reason: str
) -> None:
    await store.change(GROUP, "other", lambda _: IntentEntity(EntityMetadata("other"), "a"))
    made = there()
    api.put(PATH, {**made, "metadata": made["metadata"] | metadata, "spec": spec})
    with pytest.raises(StorageError) as failed:
        await store.read(GROUP, "fwall")
    who = f"HPAIntent {object_name(GROUP, 'fwall')} was changed by another client"
    assert (str(failed.value), failed.value.status) == (f"{who}, and cannot be used: {reason}", 409)
    assert [each.metadata.name for each in (await store.page(GROUP, 5, "")).intents] == ["other"]
    assert f"an HPAIntent is left out of a list: {reason}" in caplog.text


async def test_intents_of_other_groups_and_hands_are_not_listed(api: ApiServer, store: ClusterStore) -> None:
    await store.change(GROUP, "fwall", app("a"))
    await store.change(IntentGroup("my-proj1", "my-capp1", "v1.1", "my-dig1"), "fwall", app("b"))
    api.put(PATH.replace("fwall", "by-hand"), {"metadata": {"name": "by-hand"}, "spec": {}})
    assert [each.app for each in (await store.page(GROUP, 5, "")).intents] == ["a"]


NOWHERE = 'project-name: "my-proj1" needs namespace edge with HPAIntents'


def answer(code: int, text: str, reason: str = "") -> Any:
    return lambda: status(code, text, reason=reason)


@pytest.mark.parametrize(
    ("given", "code", "text"),
    [
        (answer(422, "spec is odd"), 400, "HPAIntent: the cluster refuses it: spec is odd"),
        (answer(403, "exceeded quota"), 403, "HPAIntent: the cluster does not allow it: exceeded quota"),
        (
            answer(404, "there is no namespace edge", "NotFound"),
            404,
            f"{NOWHERE}, and the cluster says: there is no namespace edge",
        ),
        (answer(500, "etcd is slow"), 503, "the API server answers 500: etcd is slow"),
    ],
)
async def test_what_the_cluster_says_of_a_creation(
    api: ApiServer, store: ClusterStore, given: Any, code: int, text: str
) -> None:
    api.answers["streamshpaintents", "POST"].append(given)
    with pytest.raises((RequestError, StorageError)) as failed:
        await store.change(GROUP, "fwall", app("a"))
    assert (failed.value.status, str(failed.value)) == (code, text)


async def test_answers_that_cannot_be_read(api: ApiServer, store: ClusterStore) -> None:
    for _ in range(2):
        api.answers["streamshpaintents", "GET"].append(lambda: web.Response(text="<html>"))
        api.answers["streamshpaintents", "list"].append(lambda: web.Response(text="<html>"))
    with pytest.raises(StorageError, match="the API server's answer cannot be read"):
        await store.read(GROUP, "fwall")
    with pytest.raises(StorageError, match="the API server's list cannot be read"):
        await store.page(GROUP, 5, "")


async def test_an_api_server_in_trouble_while_it_is_read(api: ApiServer, store: ClusterStore) -> None:
    api.answers["streamshpaintents", "GET"].append(answer(500, "etcd is slow"))
    with pytest.raises(StorageError, match="the API server answers 500: etcd is slow"):
        await store.read(GROUP, "fwall")


async def test_tokens_of_lists(api: ApiServer, store: ClusterStore) -> None:
    api.answers["streamshpaintents", "page"].extend(
        [answer(410, "too old"), answer(400, "continue key is not valid"), answer(500, "down")]
    )
    with pytest.raises(StaleTokenError, match="is too old: begin the list again") as stale:
        await store.page(GROUP, 5, "t")
    assert stale.value.status == 410
    with pytest.raises(StaleTokenError, match="is not a token of this list") as wrong:
        await store.page(GROUP, 5, "t")
    assert wrong.value.status == 400
    with pytest.raises(StorageError, match="down"):
        await store.page(GROUP, 5, "t")


async def test_ready_as_long_as_the_api_server_answers(
    api: ApiServer, store: ClusterStore, caplog: pytest.LogCaptureFixture
) -> None:
    assert store.ready() == "the API server has not answered yet"
    watching = asyncio.create_task(store.watch(0.01))
    api.answers["streamshpaintents", "look"].extend([answer(403, "no rights to all"), answer(503, "down")])
    seen: list[str | None] = []
    async with asyncio.timeout(5):
        while len(seen) < 3:
            if store.ready() not in seen:
                seen.append(store.ready())
            await asyncio.sleep(0)
    watching.cancel()
    await asyncio.wait({watching})
    assert seen == ["the API server has not answered yet", None, "the API server answers 503: down"]
    assert "not ready: the API server answers 503: down" in caplog.text
    await store.close()


def test_namespaces_of_projects() -> None:
    assert NamespaceMap("edge").of(GROUP) == "edge"
    assert NamespaceMap("{project}").of(GROUP) == "my-proj1"
    assert NamespaceMap("emco-{project}").of(GROUP) == "emco-my-proj1"
    with pytest.raises(RequestError) as refusal:
        NamespaceMap("{project}").of(IntentGroup("My.Project", "c", "v", "d"))
    rule = "\"My.Project\" makes the namespace My.Project, but a namespace has up to 63 of a-z, 0-9 and '-'"
    assert str(refusal.value) == f"project-name: {rule}"
    for pattern in ("", "Edge", "{project}.x", "-", "{projects}"):
        with pytest.raises(ValueError, match="it must be a namespace"):
            NamespaceMap(pattern)
