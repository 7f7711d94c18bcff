"""What EMCO's own examples send is taken, placed, and asked for by the objects that are made of it."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.emco_intents import EXAMPLES, HUGE, QAT, Example, Posted, amount, consumer, intent
from tests.rest.rest_server import INTENTS, RestClient
from tests.rest.test_hpa_placement import PLACEMENT, placing

pytestmark = pytest.mark.integration


def cluster(folder: Path, name: str, *cpus: int) -> None:
    """A cluster of nodes with all labels of the examples."""
    labels = {QAT: "true", HUGE: "true"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"{name}-{at}", "labels": {**labels, "kubernetes.io/hostname": f"{name}-{at}"}},
            "status": {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}},
        }
        for at, cpu in enumerate(cpus)
    ]
    (folder / name).mkdir(parents=True)
    (folder / name / "nodes.yaml").write_text(yaml.safe_dump_all(nodes))


async def post(client: RestClient, example: Example, kind: str = "application/json") -> None:
    for one in example:
        body = json.dumps(one.body).encode()
        reply = await client.post(f"{INTENTS}{one.path}", data=body, headers={"Content-Type": kind})
        assert reply.status == 201, reply.json


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
async def test_an_example_is_taken_and_placed(tmp_path: Path, example: Example, kind: str) -> None:
    cluster(tmp_path / "clusters", "edge", 64, 64)
    cluster(tmp_path / "clusters", "small", 1)
    async with placing(tmp_path, tmp_path / "clusters") as client:
        await post(client, example, kind)
        found = (await client.get(PLACEMENT)).json
    apps = {one.spec["app"] for one in example if "app" in one.spec}
    assert found["apps"].keys() == apps
    assert "refused" not in found
    assert all("edge" in one["best"] for one in found["apps"].values())


async def placed(tmp_path: Path, *example: Posted) -> Any:
    async with placing(tmp_path, tmp_path / "clusters") as client:
        await post(client, [*example])
        return (await client.get(PLACEMENT)).json


@pytest.mark.parametrize(("replicas", "fits"), [(1, True), (2, True), (3, False), (10_000, False)])
async def test_each_replica_needs_the_hardware(tmp_path: Path, replicas: int, *, fits: bool) -> None:
    cluster(tmp_path / "clusters", "edge", 8, 8)
    one = consumer("first", "one", "w", "c", replicas=replicas)
    found = await placed(tmp_path, intent("first", "a"), one, amount("first/one", "cpu", 5))
    assert ("a" in found["apps"]) is fits


async def test_replicas_of_two_intents_for_one_workload_are_the_greater_number(tmp_path: Path) -> None:
    cluster(tmp_path / "clusters", "edge", 8, 8)
    found = await placed(
        tmp_path,
        intent("first", "a"),
        consumer("first", "one", "w", "c", replicas=3),
        amount("first/one", "cpu", 5),
        intent("second", "a"),
        consumer("second", "one", "w", "c"),
    )
    assert found["refused"].keys() == {"a"}


async def test_consumers_that_cannot_be_one_pod_are_several(tmp_path: Path) -> None:
    cluster(tmp_path / "clusters", "edge", 8, 8)
    both = (
        intent("first", "a"),
        consumer("first", "one", "w", "c"),
        amount("first/one", "cpu", 5),
        consumer("first", "two", "w", "c"),
    )
    assert "a" in (await placed(tmp_path, *both, amount("first/two", "cpu", 6)))["apps"]


async def test_consumers_that_can_be_one_pod_are_one(tmp_path: Path) -> None:
    """The containers of one workload are on one node."""
    cluster(tmp_path / "clusters", "edge", 8, 8)
    found = await placed(
        tmp_path,
        intent("first", "a"),
        consumer("first", "one", "w", "c"),
        amount("first/one", "cpu", 5),
        consumer("first", "two", "w", "d"),
        amount("first/two", "cpu", 6),
    )
    assert found["refused"].keys() == {"a"}
