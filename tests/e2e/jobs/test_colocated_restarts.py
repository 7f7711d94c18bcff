"""Elements that share a node run again, together, after their node was drained or lost, whoever leads meanwhile."""

import os
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.client.api import Api, Object
from tests.e2e.jobs.devices.device_nodes import cordon, device_nodes, holder, made
from tests.e2e.jobs.streams_jobs import JOBS, Jobs, conditions
from tests.e2e.nodes import create_nodes
from tests.e2e.polling import until

ROUNDS: Final = 10 if float(os.environ.get("PROPERTY_TIMES", "1")) > 1 else 3

GROUP: Final = ("grp-0", "grp-1", "grp-2")


@pytest.fixture(scope="module", autouse=True)
def nodes(admin_of_plane: Api) -> Iterator[None]:
    with device_nodes(admin_of_plane):
        yield


def submitted(jobs: Jobs, **options: object) -> str:
    """A group that runs; its node."""
    more = {"restartDeletedPod": True, **options}
    jobs.submit("grp", [holder(name, 'hostColocation("a")') for name in GROUP], processingElement=more)
    jobs.phase(JOBS, "grp", "Running")
    return together(jobs, set())


def together(jobs: Jobs, before: set[str], seconds: float = 60) -> str:
    """The one node of the whole group, once all of it runs, in pods other than these."""

    def found() -> str | None:
        pods = jobs.pods()
        nodes = {pod["spec"].get("nodeName", "") for pod in pods if pod["status"].get("phase") == "Running"}
        old = before.intersection(pod["metadata"]["uid"] for pod in pods)
        whole = len(pods) == len(GROUP) == sum(pod["status"].get("phase") == "Running" for pod in pods)
        return nodes.pop() if whole and len(nodes) == 1 and not old else None

    return until(found, "the group runs on one node", seconds)


def uids(pods: list[Object]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


def kill_the_leader(jobs: Jobs) -> None:
    """Delete the pods of the controller, without grace."""
    for pod in jobs.api.get(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]:
        if "controller" in pod["metadata"]["name"]:
            jobs.api.delete(f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}", gracePeriodSeconds="0")


def drained(jobs: Jobs, node: str) -> None:
    cordon(jobs.api, node)
    for pod in jobs.pods():
        jobs.delete_pod(pod)


def evicted_by_and_by(jobs: Jobs, node: str) -> None:
    """One pod is gone before the next is evicted, as a PodDisruptionBudget wants it; the others have to be moved.

    It is another one each time: evictions are failures, after which a pod is started later and later.
    """
    cordon(jobs.api, node)
    pod = min(
        jobs.pods(), key=lambda pod: jobs.element(pod["metadata"]["labels"]["streams.ibm.com/pe"])["status"]["restarts"]
    )
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod["metadata"]["name"]}}
    jobs.api.call("POST", f"{jobs.pod_path(pod)}/eviction", eviction)


def lost(jobs: Jobs, node: str) -> None:
    """The node is deleted, and its pods with it."""
    jobs.api.delete(f"/api/v1/nodes/{node}")
    for pod in jobs.pods():
        jobs.api.delete(jobs.pod_path(pod), gracePeriodSeconds="0")


@pytest.mark.parametrize("killed", [False, True], ids=["", "and the leader is killed"])
@pytest.mark.parametrize("happens", [drained, evicted_by_and_by, lost], ids=lambda happens: happens.__name__)
def test_a_group_runs_again_on_another_node(jobs: Jobs, happens: Callable[[Jobs, str], None], *, killed: bool) -> None:
    node = submitted(jobs)
    for _ in range(ROUNDS if not killed else ROUNDS // 2):
        before = uids(jobs.pods())
        try:
            happens(jobs, node)
            if killed:
                kill_the_leader(jobs)
            now = together(jobs, before, 120)
        finally:
            opened(jobs.api, node)
        assert now != node
        node = now


def opened(api: Api, node: str) -> None:
    """The node is there, and can be used."""
    if api.find(f"/api/v1/nodes/{node}"):
        cordon(api, node, closed=False)
    else:
        create_nodes(api, [made(node)])


def test_a_group_that_must_not_be_restarted_says_that_it_is_stranded(jobs: Jobs) -> None:
    node = submitted(jobs, restartFailedPod=False)
    cordon(jobs.api, node)
    try:
        jobs.delete_pod(jobs.running_pod("grp-0"))
        found = until(lambda: said(jobs, "False"), "it says so", 60)
    finally:
        cordon(jobs.api, node, closed=False)
    assert found["reason"] == "Stranded"
    assert found["message"] == (
        f"grp-0 finds no node: grp-1, grp-2 of its colocation run on {node}, where it cannot run, and grp-1, grp-2 "
        "must not be restarted"
    )
    together(jobs, set())
    until(lambda: said(jobs, "True"), "it is satisfiable again", 30)


def said(jobs: Jobs, status: str) -> Object | None:
    """The condition Satisfiable of the Job, if it has that status."""
    found = conditions(jobs.job("grp"))["Satisfiable"]
    return found if found["status"] == status else None
