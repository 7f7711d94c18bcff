"""An upgrade from the previous version with pools, pods and Jobs in place and load running, and the way back."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

from tests.e2e.chart.installation import PORT, install, kubelet
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.pools import create_pool, exclusive, hostpool
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.streams_jobs import JOBS, POOLS, Jobs, elements
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.upgrade import previous_version
from tests.e2e.workloads import namespace

pytestmark = pytest.mark.early

SPACE: Final = "team"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
PAUSE: Final = 0.05
"""Seconds between two requests of the load."""

VALUES: Final = {"service": {"port": PORT}, "replicas": 2}
_CLONE: Final = Path(__file__).resolve().parents[3]


class Standing(Struct, frozen=True):
    """What runs, and what it has: pods with uid and node, hosts of pools, phases."""

    pods: dict[str, tuple[str, str]]
    pools: dict[str, tuple[str, list[str]]]
    jobs: dict[str, str]


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of both versions, ``previous`` and ``current``: the tags of their images."""
    folder = tmp_path_factory.mktemp("versions")
    previous_version.write(folder / "previous")
    (folder / "current").symlink_to(_CLONE)
    return folder


@pytest.fixture(scope="module")
def plane(trees: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with eight nodes, in which nothing is installed; made when the history is known to be there."""
    assert trees.exists()
    with ControlPlane(tmp_path_factory.mktemp("upgrade")) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in range(8)])
        namespace(running.admin, SPACE)
        yield running


@pytest.fixture(scope="module")
def running(plane: ControlPlane, trees: Path) -> Iterator[Kubelet]:
    """The previous version, installed, with something of every kind in place."""
    with kubelet(plane, {"PYTHONPATH": f"{trees}/{{tag}}"}) as pods:
        install(plane, pods, values("previous"), trees / "previous" / "charts" / "streams-placement")
        settle(plane.admin)
        yield pods


def values(tag: str) -> dict[str, Any]:
    return {**VALUES, "image": {"tag": tag}}


def settle(api: Api) -> None:
    """Pools of each kind, a Job of Streams, a Deployment and a pod by itself, all of which run."""
    create_pool(api, hostpool("shared", SPACE, size=2))
    create_pool(api, exclusive("own", SPACE, 1))
    jobs = Jobs(api, SPACE)
    until(lambda: {phase for phase, _ in standing(api).pools.values()} == {"Ready"}, "pools are ready", 40)
    jobs.submit("parallel", elements("a", "b"))
    labels = {"app": "web", "streams.ibm.com/job": "web"}
    template = {
        "metadata": {"labels": labels, "annotations": {"streams.ibm.com/placement": 'hostExlocation("apart")'}},
        "spec": {"containers": [{"name": "main", "image": "example.invalid/main"}]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    api.call("POST", f"/apis/apps/v1/namespaces/{SPACE}/deployments", web)
    api.call("POST", PODS, asking("alone", SPACE, "host(shared)"))
    until(lambda: len(standing(api).pods) == 5 and all_run(api), "all pods run", 60)
    jobs.phase(JOBS, "parallel", "Running")


def all_run(api: Api) -> bool:
    return all(pod["status"].get("phase") == "Running" for pod in api.get(PODS)["items"])


def standing(api: Api) -> Standing:
    """What there is now."""

    def each(resource: str) -> list[Object]:
        found: list[Object] = api.get(f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/{resource}")["items"]
        return found

    def status(one: Object) -> Object:
        found: Object = one.get("status", {})
        return found

    return Standing(
        {p["metadata"]["name"]: (p["metadata"]["uid"], p["spec"].get("nodeName", "")) for p in api.get(PODS)["items"]},
        {
            one["metadata"]["name"]: (
                status(one).get("phase", ""),
                [host["name"] for host in status(one).get("hosts", [])],
            )
            for one in each(POOLS)
        },
        {one["metadata"]["name"]: status(one).get("phase", "") for one in each(JOBS)},
    )


def under_load(api: Api, change: Callable[[], object]) -> list[tuple[int, str]]:
    """Answers other than 201 to pods that ask for placement all the time while the change is made."""
    answers: list[tuple[int, str]] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            answer = api.send("POST", f"{PODS}?dryRun=All", asking("p", SPACE, "host(shared)"))
            answers.append((answer.code, answer.message))
            time.sleep(PAUSE)

    client = threading.Thread(target=ask)
    client.start()
    try:
        change()
    finally:
        over.set()
        client.join()
    say(f"{len(answers)} pods were asked for meanwhile")
    assert len(answers) > 20
    return [answer for answer in answers if answer[0] != 201]


def replaced(plane: ControlPlane, tag: str) -> bool:
    """Whether all of the chart's pods are of that version."""
    pods = plane.admin.get(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
    return {pod["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in pods} == {tag}


def test_an_upgrade_loses_nothing_and_refuses_no_pod(plane: ControlPlane, running: Kubelet) -> None:
    before = standing(plane.admin)

    def upgrade() -> None:
        """What ``docs/upgrading.md`` says."""
        defined = plane.kubectl("apply", "--server-side", "--force-conflicts", "--filename", str(CHART / "crds"))
        assert defined.returncode == 0, defined.stderr
        where = ("--namespace", NAMESPACE, "--reset-then-reuse-values", "--set", "image.tag=current", "--wait")
        done = plane.helm("upgrade", RELEASE, str(CHART), *where, "--timeout", "240s")
        assert done.returncode == 0, f"{done.stderr}\n{running.logs()[-4000:]}"
        until(lambda: replaced(plane, "current"), "all processes are of the new version", 40)

    assert under_load(plane.admin, upgrade) == []
    time.sleep(3)  # the new controllers look at everything once
    assert standing(plane.admin) == before


def test_the_new_version_decides(plane: ControlPlane, running: Kubelet) -> None:
    assert running.workers
    refused = plane.admin.send("POST", f"{PODS}?dryRun=All", asking("p", SPACE, 'host("nowhere")'))
    assert (refused.code, 'host("nowhere") cannot hold' in refused.message) == (403, True)
    tested = plane.helm("test", RELEASE, "--namespace", NAMESPACE, "--timeout", "240s")
    assert tested.returncode == 0, f"{tested.stdout}{tested.stderr}\n{running.logs()[-4000:]}"
    jobs = Jobs(plane.admin, SPACE)
    jobs.submit("later", elements("z"))
    jobs.phase(JOBS, "later", "Running")
    plane.admin.delete(jobs.path(JOBS, "later"))
    until(lambda: "later" not in json.dumps(list(standing(plane.admin).pods)) and not jobs.pods("z"), "it is gone", 40)


def test_the_way_back_loses_nothing(plane: ControlPlane, running: Kubelet) -> None:
    before = standing(plane.admin)

    def back() -> None:
        done = plane.helm("rollback", RELEASE, "--namespace", NAMESPACE, "--wait", "--timeout", "240s")
        assert done.returncode == 0, f"{done.stderr}\n{running.logs()[-4000:]}"
        until(lambda: replaced(plane, "previous"), "all processes are of the previous version", 40)

    assert under_load(plane.admin, back) == []
    time.sleep(3)
    assert standing(plane.admin) == before
