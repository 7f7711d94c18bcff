"""``why`` of a ParallelRegion: which width fits, and why no larger one does."""

from typing import Any

import pytest

from tests.apiserver.paths import JOBS, REGIONS, Json
from tests.apiserver.server import ApiServer
from tests.cluster.live.test_why import asked, forbid, host, put, told
from tests.cluster.objects import pod
from webhook.placementreview.explanations import region_channels

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time enough for all words of a refusal on a busy machine."""
    monkeypatch.setattr(region_channels, "SECONDS", 600.0)


ROOM = {"cpu": "8", "memory": "8Gi", "pods": "110"}
SELECTOR = "streams.ibm.com/job=parallel,streams.ibm.com/pe in (parallel-1,parallel-2)"


def streams_job(most: int = 16, *, made: int = 2, **spec: Any) -> Json:
    """A Job whose region has channels of 3 CPUs, each in an element of its own."""
    elements = [{"name": "parallel-0", "operators": ["Src"]}]
    elements += [{"name": f"parallel-{at + 1}", "operators": [f"Work[{at}]"]} for at in range(made)]
    regions = [{"name": "work", "width": made, "stated": 2}]
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "parallel", "namespace": "default", "uid": "j"},
        "spec": {
            "bundle": {"name": "apps.Parallel.sab"},
            "operators": [{"name": "Src", "cost": "1"}, {"name": "Work", "region": "work", "cost": "3"}],
            "streams": [{"from": "Src", "to": "Work"}],
            "parallelRegions": [{"name": "work", "width": 2, "maxWidth": most}],
            "fusion": {"type": "channelIsolation"},
            **spec,
        },
        "status": {"fusion": {"processingElements": elements, "regions": regions}},
    }


def region(width: int = 2, message: str = "2 channels in 2 processing elements", **spec: Any) -> Json:
    conditions = [{"type": "Ready", "status": "True"}, {"type": "Scaled", "status": "True", "message": message}]
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "ParallelRegion",
        "metadata": {"name": "parallel-work", "namespace": "default", "uid": "r"},
        "spec": {"job": "parallel", "region": "work", "width": width, **spec},
        "status": {"width": 2, "selector": SELECTOR, "conditions": conditions} if message else {},
    }


def roomy(name: str) -> Json:
    """A node of 8 CPUs."""
    found: Json = host(name)
    found["status"] |= {"allocatable": ROOM, "capacity": ROOM}
    return found


def running(server: ApiServer, made: int = 2) -> None:
    """Two nodes of 8 CPUs; Src and two channels run on the first one."""
    for name in ("node-a", "node-b"):
        server.store("nodes", roomy(name))
    for at in range(made + 1):
        labels = {"streams.ibm.com/job": "parallel", "streams.ibm.com/pe": f"parallel-{at}"}
        containers = [{"name": "c", "resources": {"requests": {"cpu": "3" if at else "1"}}}]
        spec = {"containers": containers, "nodeName": "node-a"}
        server.store("pods", pod(f"parallel-{at}-x", spec=spec, phase="Running", labels=labels))


async def test_the_width_that_fits_and_why_no_more(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    running(server)
    put(server, JOBS, streams_job())
    put(server, REGIONS, region())
    code, out, err = await asked(capfd, "stpr/parallel-work")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "ParallelRegion default/parallel-work: 2 channels in 2 processing elements",
        "  asks for width 2 of parallel region work of Job parallel",
        "  scaled to 2 today it would be admitted",
        "  channels: at most 4 fit now; 2 are made, and the Job allows 16",
        "  5 channels would be refused:",
        "    Work: cost 3 cannot hold: no fusion of 6 operators fits on the cluster.",
        "    Nearest fix: add a node with cpu 3 free, or drop Work: cost 3.",
        "  pod parallel-1-x: Running on node-a",
        "  pod parallel-2-x: Running on node-a",
    ]
    found = await told(capfd, "stpr", "parallel-work")
    beyond = found["channels"].pop("beyond")
    assert beyond.endswith("Nearest fix: add a node with cpu 3 free, or drop Work: cost 3.")
    assert found["channels"] == {"asked": 2, "made": 2, "most": 16, "fit": 4, "proved": True}


async def test_a_width_that_does_not_fit(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    running(server)
    put(server, JOBS, streams_job(most=6))
    put(server, REGIONS, region(6, "still 2 channels in 2 processing elements: 6 do not fit"))
    code, out, _ = await asked(capfd, "stpr/parallel-work")
    assert code == 1
    assert out.splitlines()[0].endswith(": still 2 channels in 2 processing elements: 6 do not fit")
    assert out.splitlines()[2] == "  scaled to 6 today it would be refused"
    assert "  channels: at most 4 fit now; 2 are made, and the Job allows 6" in out.splitlines()


async def test_all_channels_that_the_job_allows_may_fit(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    running(server)
    put(server, JOBS, streams_job(most=4))
    put(server, REGIONS, region())
    found = await told(capfd, "stpr/parallel-work")
    assert found["channels"] == {"asked": 2, "made": 2, "most": 4, "fit": 4, "proved": True, "beyond": ""}


async def test_more_channels_may_exist_than_fit(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    """The pods of three wait: the node has gone that they ran on."""
    server.store("nodes", roomy("node-a"))
    put(server, JOBS, streams_job(made=3))
    put(server, REGIONS, region(3))
    _, out, _ = await asked(capfd, "stpr/parallel-work")
    assert "  warning: 3 channels of it exist, and at most 2 fit now" in out.splitlines()


@pytest.mark.parametrize(
    ("job", "spec"),
    [
        (None, {}),
        (streams_job(), {"job": "../other"}),
        (streams_job(), {"job": 7}),
        (streams_job(), {"region": "other"}),
        ({**streams_job(), "status": {}}, {}),
        ({**streams_job(), "spec": {"parallelRegions": [{"name": "work"}]}}, {}),
        (streams_job(operators=[]), {}),
        ({**streams_job(), "spec": 7}, {}),
    ],
    ids=["no Job", "no name", "no text", "no region", "not fused", "no operators", "no operator", "not a Job"],
)
async def test_without_its_job_nothing_is_known(
    server: ApiServer, capfd: pytest.CaptureFixture[str], job: Json | None, spec: Json
) -> None:
    running(server)
    if job is not None:
        put(server, JOBS, job)
    put(server, REGIONS, region(message="", **spec))
    code, out, _ = await asked(capfd, "stpr/parallel-work")
    assert code == 0
    assert out.splitlines()[0] == "ParallelRegion default/parallel-work: not reconciled by a controller yet"
    assert "  the current admission verdict cannot be determined" in out.splitlines()


async def test_a_job_that_may_not_be_read_is_named(server: ApiServer, capfd: pytest.CaptureFixture[str]) -> None:
    running(server)
    put(server, REGIONS, region())
    forbid(server, "streamsjobs")
    _, out, _ = await asked(capfd, "stpr/parallel-work")
    assert "  you may not list streamsjobs.streams.ibm.com: results that depend on them are left out" in out
