"""Two Jobs at the same moment for the last room or the last hosts: one runs, the other fails with the reason.

For the last device, which may come free, the other waits.
"""

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.devices.device_slices import DRA, chip_nodes, claim_template, with_claim
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, POOLS, TEMPLATE, Jobs, conditions
from tests.e2e.jobs.test_why import why
from tests.e2e.polling import until
from tests.e2e.workloads import namespace
from tests.suite.example_count import some_of

ROUNDS: Final = some_of(25, every_day=8)
"""25 in ``make e2e-long``."""

_RACES: Final = itertools.count(1)

LARGE: Final = {"requests": {"cpu": "5"}}
"""A node has 8 cores, and six nodes are there: of two Jobs with four such elements one fits."""

WANTING: Final = [{"name": "e", "template": with_claim("one")}]
"""An element whose pod wants a device."""


@pytest.fixture
def rivals(admin: Api) -> Iterator[tuple[Jobs, Jobs]]:
    """Two namespaces of the test's own, whose tenants know nothing of each other."""
    race = next(_RACES)
    one, other = (Jobs(admin, namespace(admin, f"t-race-{race}-{which}")) for which in ("one", "other"))
    yield one, other
    clear((one, other))


def clear(rivals: tuple[Jobs, Jobs]) -> None:
    """Nothing is left of the Jobs, and nodes are nobody's."""
    for jobs in rivals:
        jobs.api.delete(jobs.path(JOBS))
    for jobs in rivals:
        jobs.api.delete(f"/api/v1/namespaces/{jobs.space}/pods", gracePeriodSeconds="0")
        jobs.gone(JOBS, ELEMENTS, POOLS)
    until(lambda: not marks(rivals[0].api), "no node is marked", 30)


def marks(api: Api) -> list[str]:
    """Nodes with a label or taint of a HostPool."""
    return [
        found["metadata"]["name"]
        for found in api.get("/api/v1/nodes")["items"]
        if any("/hostpool." in key for key in found["metadata"]["labels"])
        or any(taint["key"] == "streams.ibm.com/exclusive" for taint in found["spec"].get("taints", ()))
    ]


def together(rivals: tuple[Jobs, Jobs], submit: Callable[[Jobs], object]) -> None:
    """Submit a Job in both namespaces at the same moment."""
    start = threading.Barrier(len(rivals))

    def run(jobs: Jobs) -> None:
        start.wait()
        submit(jobs)

    with ThreadPoolExecutor(len(rivals)) as threads:
        list(threads.map(run, rivals))


def race(rivals: tuple[Jobs, Jobs], submit: Callable[[Jobs], object]) -> list[str]:
    """Submit a Job in both namespaces at the same moment; the phases once both are judged."""
    together(rivals, submit)

    def phases() -> list[str] | None:
        found = [jobs.job("j").get("status", {}).get("phase") for jobs in rivals]
        return found if set(found) <= {"Running", "Failed"} else None

    return until(phases, "both Jobs are judged", 30)


@pytest.mark.parametrize("last", ["room", "hosts"])
def test_one_wins_and_the_other_leaves_nothing(rivals: tuple[Jobs, Jobs], last: str) -> None:
    pool = {"name": "P", "tags": ["source"], "size": 2, "mode": "Exclusive"}
    on_pool = [{"name": "on", "template": TEMPLATE, "operators": [{"name": "A", "placement": "host(P)"}]}]

    def submit(jobs: Jobs) -> Object:
        if last == "hosts":
            return jobs.submit("j", on_pool, hostPools=[pool])
        return jobs.submit("j", [{"name": f"e{at}", "template": TEMPLATE, "resources": LARGE} for at in range(4)])

    for _ in range(ROUNDS):
        outcome = race(rivals, submit)
        assert sorted(outcome) == ["Failed", "Running"]
        loser = rivals[outcome.index("Failed")]
        said = conditions(loser.job("j"))["Submitted"]
        assert said["reason"] == "Unsatisfiable"
        words = "HostPool P (2 hosts, Exclusive) cannot have its hosts" if last == "hosts" else "cpu 5"
        assert words in said["message"], said["message"]
        assert not loser.pods()
        assert not any(loser.api.get(loser.path(resource))["items"] for resource in (ELEMENTS, POOLS))
        clear(rivals)


def test_one_gets_the_last_device_and_the_other_gets_it_next(rivals: tuple[Jobs, Jobs], plane: ControlPlane) -> None:
    api = rivals[0].api
    with chip_nodes(api, {"chip": 1}):
        for each in rivals:
            api.create(claim_template("one", each.space, 1))
        together(rivals, lambda jobs: until(lambda: jobs.submitted("j", WANTING), "the webhook has seen the device"))
        (first,) = until(lambda: [each for each in rivals if held(each)], "one Job has the device", 40)
        (second,) = [each for each in rivals if each is not first]
        (claim,) = held(first)
        first.phase(JOBS, "j", "Running")
        (waiting,) = until(second.pods, "the other has a pod", 40)
        assert not held(second)
        assert "nodeName" not in waiting["spec"]
        removed = why(plane, second, waiting["metadata"]["name"])["removed"]
        holder = f"ResourceClaim {first.space}/{claim['metadata']['name']}"
        few = f"has too few free devices for ResourceClaimTemplate one now: {holder} holds some"
        assert [one["reason"] for one in removed if one["nodes"] == ["chip"]] == [few]
        api.delete(first.path(JOBS))
        second.phase(JOBS, "j", "Running")
        ((result,),) = [one["status"]["allocation"]["devices"]["results"] for one in held(second)]
        assert (result["pool"], result["device"]) == ("chip", "chip-0")
        clear(rivals)


def held(jobs: Jobs) -> list[Object]:
    """The claims of the namespace that have devices."""
    claims = jobs.api.get(f"/apis/{DRA}/namespaces/{jobs.space}/resourceclaims")["items"]
    return [one for one in claims if one.get("status", {}).get("allocation")]
