"""``status``: the tree of a Job, word for word."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.paths import Json
from tests.apiserver.server import ApiServer
from webhook.cli import main
from webhook.cli.commands.status import tree
from webhook.cluster.queries.job_view import ElementView, JobView, PoolView, UnknownJobError
from webhook.placement.objects.jobs.job_fusion import JobFusion, RegionWidth
from webhook.settings import Settings

DEGRADED: Final = JobView(
    namespace="default",
    name="parallel",
    phase="Degraded",
    submitted_at="2026-09-01T08:00:00Z",
    message="1 of 3 processing elements waits: parallel-2",
    host_pools=(
        PoolView("parallel-mypool", "MyPool", "Ready", tuple(f"n{number}" for number in range(10))),
        PoolView("parallel-any", "Any", "Pending", (), "no node\nat all"),
    ),
    processing_elements=(
        ElementView("parallel-0", "Running", "parallel-0-1", "n0", 1),
        ElementView("parallel-1", "Running", "parallel-1-3", "n1", 3, 2),
        ElementView("parallel-2", "Pending", "parallel-2-1", "", 1, 0, "0/3 nodes are available"),
    ),
)

TREE: Final = """\
Job default/parallel: Degraded
| 3 processing elements: 1 Pending, 2 Running
| 1 of 3 processing elements waits: parallel-2
+- HostPool parallel-mypool (MyPool): Ready, n0, n1, n2, n3, n4, n5, n6, n7 and 2 more
+- HostPool parallel-any (Any): Pending
|    no node\\nat all
+- ProcessingElement parallel-0: Running, parallel-0-1 on n0
+- ProcessingElement parallel-1: Running, parallel-1-3 on n1, 2 restarts
`- ProcessingElement parallel-2: Pending, parallel-2-1 on no node
     0/3 nodes are available
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The Jobs that the composition root was asked for."""
    seen: list[tuple[str, str]] = []

    async def job_status(_: Settings, namespace: str, name: str) -> JobView:
        await asyncio.sleep(0)
        seen.append((namespace, name))
        if name != "parallel":
            raise UnknownJobError(["parallel", "fused"] if namespace == "default" else [])
        return DEGRADED

    monkeypatch.setattr("webhook.app.status.job_status", job_status)
    monkeypatch.setattr("webhook.cli.commands.status.uvloop.run", asyncio.run)
    return seen


def test_a_tree_of_pools_and_processing_elements(
    asked: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", "parallel"]) == 0
    assert (capsys.readouterr().out, asked) == (TREE, [("default", "parallel")])


def test_a_job_without_anything_is_one_line_and_a_count() -> None:
    lines = tree(JobView(namespace="team", name="new", phase="Unknown"))
    assert [line.text for line in lines] == ["Job team/new: Unknown", "| 0 processing elements"]


def test_a_job_of_operators_says_how_they_are_fused() -> None:
    fusion = JobFusion(scheme="manual", asked=4, made=3, inside=40)
    lines = [line.text for line in tree(JobView(namespace="t", name="n", phase="Running", fusion=fusion))]
    assert "| fused (manual): 4 processing elements asked for, 3 made, 40 % of the traffic stays inside" in lines


def test_a_job_that_could_not_be_started_again_says_so() -> None:
    lines = tree(JobView(namespace="team", name="old", phase="Running", unsatisfiable='host("a[b]") cannot hold'))
    assert [line.text for line in lines][2:] == ['| could not be started again as a whole: host("a[b]") cannot hold']


def test_parallel_regions_are_shown_with_their_widths() -> None:
    regions = (RegionWidth("work", 8, 2), RegionWidth("match", 1, 1))
    lines = [line.text for line in tree(JobView("default", "parallel", "Running", parallel_regions=regions))]
    assert lines[-2:] == ["+- ParallelRegion work: 8 channels, scaled from 2", "`- ParallelRegion match: 1 channel"]


def test_a_job_of_which_some_finds_no_node_says_so() -> None:
    lines = tree(JobView(namespace="team", name="old", phase="Degraded", stranded="old-0 finds no node"))
    assert [line.text for line in lines][2:] == ["| stranded: old-0 finds no node"]


def test_what_runs_is_green_what_has_failed_is_red_and_the_rest_is_yellow() -> None:
    phases = ("Running", "Completed", "Failed", "Stopped", "Pending", "Absent")
    elements = tuple(ElementView(phase.lower(), phase) for phase in phases)
    lines = list(tree(JobView(namespace="d", name="j", phase="Running", processing_elements=elements)))
    assert lines[0].style == "green"
    assert [line.style for line in lines[2:]] == ["green", "green", "bold red", "bold red", "yellow", "yellow"]


def test_json_has_all_of_it(asked: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "parallel", "-n", "team", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert asked == [("team", "parallel")]
    assert list(found) == [
        "namespace", "name", "phase", "submittedAt", "message", "unsatisfiable", "stranded",
        "hostPools", "parallelRegions", "processingElements", "fusion",
    ]  # fmt: skip
    assert len(found["hostPools"][0]["hosts"]) == 10
    assert found["processingElements"][1] == {
        "name": "parallel-1",
        "phase": "Running",
        "pod": "parallel-1-3",
        "node": "n1",
        "launchCount": 3,
        "restarts": 2,
        "message": "",
    }


WRONG: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "a misspelt Job": (
        ("parallel-x",),
        'namespace default has no Job "parallel-x", did you mean parallel? known Jobs: fused, parallel',
    ),
    "an unknown Job": (("x",), 'namespace default has no Job "x", known Jobs: fused, parallel'),
    "another namespace": (
        ("x", "--namespace", "team"),
        "namespace team has no Job of Streams: give another one with --namespace",
    ),
    "no name": (("a/b",), "\"a/b\" is not an object name: use a-z, 0-9, '-' and '.'"),
    "two dots": (("a..b",), "\"a..b\" is not an object name: use a-z, 0-9, '-' and '.'"),
    "no namespace": (("a", "-n", ""), "\"\" is not an object name: use a-z, 0-9, '-' and '.'"),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
@pytest.mark.usefixtures("asked")
def test_wrong_use_is_2_and_a_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", *words]) == 2
    assert capsys.readouterr().err == f"streams-placement: {sentence}\n"


# The program itself


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    """An API server without objects."""
    async with ApiServer().running() as running:
        yield running


async def command(server: ApiServer, folder: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KUBERNETES_")}
    environment["KUBECONFIG"] = str(Kubeconfig(folder / "kubeconfig", server=server.url).path)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "webhook", "status", *words, stdout=pipe, stderr=pipe, env=environment
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


def put(server: ApiServer, resource: str, name: str, spec: Json, status: Json, **labels: str) -> None:
    group = "/api/v1" if resource == "pods" else "/apis/streams.ibm.com/v1"
    metadata = {"name": name, "namespace": "default", "labels": {f"streams.ibm.com/{k}": v for k, v in labels.items()}}
    server.put(f"{group}/namespaces/default/{resource}/{name}", {"metadata": metadata, "spec": spec, "status": status})


@pytest.mark.integration
async def test_a_job_is_read_from_an_api_server(server: ApiServer, tmp_path: Path) -> None:
    put(server, "streamsjobs", "parallel", {"processingElements": [{}, {}]}, {"phase": "Submitting"})
    put(server, "streamshostpools", "parallel-p", {"name": "P", "job": "parallel"}, {"phase": "Ready"})
    put(server, "streamspes", "parallel-0", {"job": "parallel"}, {"phase": "Running", "pod": "parallel-0-1"})
    put(server, "pods", "parallel-0-1", {"nodeName": "bar"}, {}, job="parallel")
    shown = (
        "Job default/parallel: Submitting\n"
        "| 2 processing elements: 1 Absent, 1 Running\n"
        "+- HostPool parallel-p (P): Ready\n"
        "+- ProcessingElement parallel-0: Running, parallel-0-1 on bar\n"
        "`- ProcessingElement parallel-1: Absent\n"
        "     the object does not exist\n"
    )
    assert await command(server, tmp_path, "parallel") == (0, shown, "")


@pytest.mark.integration
async def test_what_cannot_be_asked_is_3_and_a_sentence(server: ApiServer, tmp_path: Path) -> None:
    server.fail_lists()
    code, out, err = await command(server, tmp_path, "parallel")
    assert (code, out) == (3, "")
    assert err.startswith("streams-placement: the Job could not be read: the API server answers 500")
