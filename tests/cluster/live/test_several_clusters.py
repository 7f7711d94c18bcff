"""Several clusters behind API servers: contexts of a kubeconfig, and ClusterProfile objects of a hub."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.server import ApiServer, status
from tests.cluster.objects import node
from tests.golden.examples import EXAMPLES
from webhook.cli import main

pytestmark = pytest.mark.integration

PROFILES = "/apis/multicluster.x-k8s.io/v1alpha1"
APP = """
apiVersion: streams.ibm.com/v1
kind: HPAIntent
metadata: {name: shop}
spec:
  app: shop
  consumers:
  - consumer: {apiVersion: apps/v1, kind: Deployment, name: front}
    requirements: [{name: cpu, requests: 1}]
"""


@pytest.fixture
async def other() -> AsyncIterator[ApiServer]:
    async with ApiServer().running() as server:
        yield server


@pytest.fixture
def app(tmp_path: Path) -> str:
    path = tmp_path / "app.yaml"
    path.write_text(APP)
    return str(path)


def fleet(folder: Path, monkeypatch: pytest.MonkeyPatch, **servers: str) -> None:
    """A kubeconfig with a context for each of these servers."""
    config = {
        "current-context": next(iter(servers)),
        "contexts": [{"name": name, "context": {"cluster": name, "user": "u"}} for name in servers],
        "clusters": [{"name": name, "cluster": {"server": url}} for name, url in servers.items()],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    (folder / "fleet").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(folder / "fleet"))


async def answered(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    code = await asyncio.to_thread(main, ["clusters", *words, "-o", "json"])
    said = capsys.readouterr()
    return code, json.loads(said.out or "{}"), said.err


async def test_contexts_are_read_and_one_that_does_not_answer_gets_no_app(
    objects: ApiServer,
    other: ApiServer,
    app: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    objects.store("nodes", node())
    other.store("nodes", node())
    other.fail_lists()
    fleet(tmp_path, monkeypatch, hub=objects.url, other=other.url)
    code, found, _ = await answered(capsys, "-f", app, "--contexts", "edge=hub,other,gone", "--timeout", "1")
    assert code == 0
    assert found["apps"]["shop"]["allow"] == ["edge"]
    assert sorted(found["unread"]) == ["gone", "other"]
    assert found["unread"]["gone"].endswith("has no context gone)")
    assert "the cluster is not read yet" in found["unread"]["other"]


def profile(name: str, namespace: str, *servers: str) -> dict[str, Any]:
    providers = [{"name": "p", "cluster": {"server": server}} for server in servers]
    return {"metadata": {"name": name, "namespace": namespace}, "status": {"accessProviders": providers}}


async def test_profiles_are_read_with_the_credentials_of_their_name_or_server(
    objects: ApiServer,
    other: ApiServer,
    app: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    objects.store("nodes", node())
    other.store("nodes", node())
    for one in (
        profile("hub", "fleet"),
        profile("lab", "fleet", "https://elsewhere", f"{other.url}/"),
        profile("gone", "fleet", "https://10.0.0.1"),
        profile("bare", "a"),
        profile("bare", "b"),
    ):
        metadata = one["metadata"]
        objects.put(f"{PROFILES}/namespaces/{metadata['namespace']}/clusterprofiles/{metadata['name']}", one)
    fleet(tmp_path, monkeypatch, hub=objects.url, other=other.url)
    _, found, _ = await answered(capsys, "-f", app, "--profiles")
    assert found["apps"]["shop"]["allow"] == ["hub", "lab"]
    assert found["unread"] == {
        "a/bare": "no context of the kubeconfig has its name",
        "b/bare": "no context of the kubeconfig has its name",
        "gone": "no context of the kubeconfig has its name or its server https://10.0.0.1",
    }
    _, found, _ = await answered(capsys, "-f", app, "--profiles", "a")
    assert found["unread"] == {"bare": "no context of the kubeconfig has its name"}


async def test_a_hub_without_profiles_is_wrong_use_and_one_that_fails_is_trouble(
    objects: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet(tmp_path, monkeypatch, hub=objects.url)
    file = str(EXAMPLES / "apps" / "emco.yaml")
    code, _, err = await answered(capsys, "-f", file, "--profiles", "fleet")
    assert (code, err) == (2, "streams-placement: there is no ClusterProfile in namespace fleet\n")
    objects.answers["clusterprofiles", "list"].append(status(403, "not for you"))
    code, _, err = await answered(capsys, "-f", file, "--profiles")
    assert code == 3
    assert err.startswith("streams-placement: the ClusterProfiles could not be read: ")
