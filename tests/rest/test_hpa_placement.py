"""``GET .../hpa-placement``: which of several clusters can take the apps of a deployment intent group."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from tests.golden.examples import EXAMPLES
from tests.rest.rest_server import GROUP, INTENTS, RestClient, consumer, intent, requirement, serving
from webhook.app import hpa_placement
from webhook.app.hpa_placement import HpaPlacement, HpaPlacementAnswer, cluster_sources
from webhook.rest.openapi import openapi_document
from webhook.rest.rest_settings import RestSettings
from webhook.rest.storage.sqlite_store import SqliteStore

pytestmark = pytest.mark.integration

PLACEMENT = f"{GROUP}/hpa-placement"


@contextlib.asynccontextmanager
async def placing(folder: Path, clusters: Path | None = EXAMPLES / "clusters") -> AsyncIterator[RestClient]:
    """A client of a server that knows these clusters."""
    settings = RestSettings(clusters=clusters)
    store = SqliteStore(folder / "intents.sqlite")
    placement = HpaPlacement(store, settings, cluster_sources(settings))
    try:
        async with serving(store, queries={"hpa-placement": placement.query}) as client:
            yield client
    finally:
        placement.close()


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[RestClient]:
    async with placing(tmp_path) as client:
        yield client


async def create(client: RestClient, app: str, *consumers: tuple[str, list[dict[str, Any]]]) -> None:
    """An intent of an app, with consumers and their requirements."""
    name = f"{app}-hpa-intent"
    assert (await client.post(INTENTS, intent(name, app=app))).status == 201
    for workload, requirements in consumers:
        path = f"{INTENTS}/{name}/hpa-resource-consumers"
        assert (await client.post(path, consumer(workload))).status == 201
        for at, one in enumerate(requirements):
            reply = await client.post(f"{path}/{workload}/resource-requirements", requirement(f"r-{at}", **one))
            assert reply.status == 201, reply.json


CPU = {"mandatory": True, "allocatable": True, "name": "cpu"}
MEMORY = {"mandatory": True, "allocatable": True, "name": "memory", "units": "MB"}
GPU = {"mandatory": False, "weight": 9, "allocatable": True, "name": "nvidia.com/gpu", "limits": 1}
QAT = {"mandatory": True, "allocatable": True, "name": "intel.com/qat", "requests": 1, "limits": 1}


async def create_design(client: RestClient) -> None:
    """The usage example of the HPA design."""
    core = [CPU | {"requests": 4, "limits": 4}, MEMORY | {"requests": 1000, "limits": 1000}, GPU]
    server = [CPU | {"requests": 1, "limits": 2}, MEMORY | {"requests": 200}]
    await create(client, "fwall", ("core-fwall", core), ("api-server", server))
    await create(client, "analytics", ("ai-model", [CPU | {"requests": 2}]), ("logger", [QAT]))


async def test_the_apps_of_the_design_get_their_lists(api: RestClient) -> None:
    await create_design(api)
    reply = await api.get(PLACEMENT)
    assert reply.status == 200
    assert reply.json == {
        "apps": {
            "analytics": {"replicationCount": 1, "deny": ["edge-2"], "best": ["edge-1"]},
            "fwall": {
                "replicationCount": 1,
                "allow": ["edge-1", "edge-2"],
                "best": ["edge-1"],
                "weights": {"edge-1": 9},
            },
        },
        "clusters": ["edge-1", "edge-2", "edge-3", "edge-4"],
        "contention": [{"apps": ["analytics", "fwall"], "clusters": ["edge-3"]}],
    }


async def test_the_answer_is_what_the_document_says(api: RestClient, tmp_path: Path) -> None:
    await create_design(api)
    query = HpaPlacement(SqliteStore(tmp_path / "other"), RestSettings(), None).query
    document = openapi_document({"hpa-placement": query.operation}, query.schemas)
    schema = {"$ref": f"#/components/schemas/{HpaPlacementAnswer.__name__}", "components": document["components"]}
    OAS31Validator(schema).validate((await api.get(f"{PLACEMENT}?replicationCount=4")).json)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("2", {"analytics": 2, "fwall": 2}),
        ("analytics:3", {"analytics": 3, "fwall": 1}),
        ("", {"analytics": 1, "fwall": 1}),
    ],
)
async def test_a_parameter_says_on_how_many_clusters(api: RestClient, text: str, counts: dict[str, int]) -> None:
    await create_design(api)
    found = (await api.get(f"{PLACEMENT}?replicationCount={text}")).json
    assert {name: one["replicationCount"] for name, one in found["apps"].items()} == counts


async def test_an_app_that_too_few_clusters_can_take_is_refused_in_the_answer(api: RestClient) -> None:
    await create_design(api)
    reply = await api.get(f"{PLACEMENT}?replicationCount=fwall:4")
    assert reply.status == 200
    assert list(reply.json["apps"]) == ["analytics"]
    assert reply.json["refused"]["fwall"].startswith("App fwall: 3 of 4 clusters can take it, 4 are needed.")


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("count=2", 'unknown parameter "count": use one of replicationCount'),
        ("replicationCount=x", '"x" is neither a number from 1 to 1000 nor app:number,app:number'),
        ("replicationCount=0", '"0" is neither a number from 1 to 1000 nor app:number,app:number'),
        ("replicationCount=fwall:1001", '"fwall:1001" is neither a number from 1 to 1000 nor app:number,app:number'),
        ("replicationCount=fwal:2", 'unknown app "fwal" (did you mean fwall?)'),
    ],
)
async def test_wrong_parameters_are_refused(api: RestClient, query: str, rule: str) -> None:
    await create_design(api)
    reply = await api.get(f"{PLACEMENT}?{query}")
    assert reply.status == 400
    assert rule in reply.json["detail"]


async def test_a_group_without_intents_has_no_apps(api: RestClient) -> None:
    reply = await api.get(PLACEMENT)
    assert (reply.status, reply.json["apps"]) == (200, {})


async def test_without_clusters_the_query_says_what_is_missing(tmp_path: Path) -> None:
    async with placing(tmp_path, None) as client:
        reply = await client.get(PLACEMENT)
    assert reply.status == 501
    assert "start hpa-api with --clusters or --contexts" in reply.json["detail"]


async def test_clusters_are_read_again(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    (fleet / "a").mkdir(parents=True)
    async with placing(tmp_path, fleet) as client:
        await create(client, "app", ("w", [CPU | {"requests": 1}]))
        assert "holds no Node" in (await client.get(PLACEMENT)).json["unread"]["a"]
        (fleet / "a" / "nodes.yaml").write_bytes((EXAMPLES / "clusters" / "edge-1" / "nodes.yaml").read_bytes())
        assert (await client.get(PLACEMENT)).json["apps"]["app"]["deny"] == []
        (fleet / "a" / "nodes.yaml").unlink()
        (fleet / "a").rmdir()
        reply = await client.get(PLACEMENT)
        assert reply.status == 503
        assert "has no folders" in reply.json["detail"]


async def test_a_group_of_too_many_intents_is_refused(api: RestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hpa_placement, "_PAGE", 1)
    await create_design(api)
    assert (await api.get(PLACEMENT)).status == 200
    monkeypatch.setattr(hpa_placement, "APP_LIMIT", 1)
    reply = await api.get(PLACEMENT)
    assert (reply.status, reply.errors) == (409, [("hpa-intents", "the group has more than 1 HPA intents")])


async def test_stored_intents_that_cannot_be_judged_are_a_conflict(
    api: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_design(api)

    def wrong(*_: object) -> object:
        raise ValueError("the intent is broken")

    monkeypatch.setattr(hpa_placement, "read_apps", wrong)
    reply = await api.get(PLACEMENT)
    assert (reply.status, reply.errors) == (409, [("hpa-intents", "the intent is broken")])


async def test_one_query_is_worked_on_at_a_time(api: RestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    now, most, lock = 0, 0, threading.Lock()
    whole = hpa_placement.placed

    def placed(*arguments: Any) -> Any:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        found = whole(*arguments)
        now -= 1
        return found

    monkeypatch.setattr(hpa_placement, "placed", placed)
    await create(api, "app", ("w", [CPU | {"requests": 1}]))
    replies = await asyncio.gather(*(api.get(PLACEMENT) for _ in range(8)))
    assert [reply.status for reply in replies] == [200] * 8
    assert most == 1


def test_settings_name_the_clusters(tmp_path: Path) -> None:
    assert cluster_sources(RestSettings()) is None
    found = cluster_sources(RestSettings(contexts="a,b=c"))
    assert found is not None
    assert [(one.name, one.settings.context) for one in found()] == [("a", "a"), ("b", "c")]
    with pytest.raises(ValueError, match="has no folders"):
        cluster_sources(RestSettings(clusters=tmp_path))
