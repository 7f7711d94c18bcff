"""Jobs that only prefer where their elements run, and elements that share a host beside nodes of one host name."""

from collections.abc import Iterator

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.jobs.devices.device_nodes import device_nodes
from tests.e2e.jobs.streams_jobs import JOBS, TEMPLATE, Jobs
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from webhook.placement.text import keys

TWINS = ("twin-a", "twin-b")
"""Nodes of one host name, to which the scheduler would rather take a pod than to the third of their rack."""


@pytest.fixture(scope="module", autouse=True)
def nodes(admin_of_plane: Api) -> Iterator[None]:
    labels = {"rack": "twins"}
    large = [node(name, {**labels, keys.HOSTNAME: "twin"}, capacity={"cpu": "64", "memory": "256Gi"}) for name in TWINS]
    with device_nodes(admin_of_plane):
        create_nodes(admin_of_plane, [*large, node("single", labels, capacity={"cpu": "4", "memory": "8Gi"})])
        yield
        for name in (*TWINS, "single"):
            admin_of_plane.delete(f"/api/v1/nodes/{name}")


def element(name: str, placement: str, *, preferred: str = "", **selector: str) -> Object:
    """An element with a placement, some of which may be only preferred, on nodes with these labels."""
    told = {"annotations": {keys.PREFERRED: preferred}} if preferred else {}
    template = {"metadata": told, "spec": {**TEMPLATE["spec"], "nodeSelector": selector}}
    return {"name": name, "operators": [{"name": f"Op{name[-1]}", "placement": placement}], "template": template}


def test_an_element_runs_on_the_host_of_an_exclusive_pool_that_it_only_prefers(jobs: Jobs) -> None:
    on_a = {keys.HOSTNAME: "a"}
    own = {"name": "Own", "size": 1, "mode": "Exclusive", "selector": {"matchLabels": on_a}}
    jobs.submit("soft", [element("soft-0", "host(Own)", preferred="host", **on_a)], hostPools=[own])
    jobs.phase(JOBS, "soft", "Running")
    assert jobs.running_pod("soft-0")["spec"]["nodeName"] == "a"


def test_a_job_may_prefer_a_pool_that_does_not_exist(jobs: Jobs) -> None:
    jobs.submit("soft", [element("soft-0", "host(Nope)", preferred="host")])
    jobs.phase(JOBS, "soft", "Running")


def test_a_group_keeps_off_nodes_that_share_a_host_name(jobs: Jobs) -> None:
    together = [element(f"near-{at}", 'hostColocation("near")', rack="twins") for at in range(3)]
    jobs.submit("near", together)
    jobs.phase(JOBS, "near", "Running")
    hosts = until(lambda: {pod["spec"].get("nodeName") for pod in jobs.pods()}, "the pods are bound")
    assert hosts == {"single"}


def test_an_isolated_element_may_have_a_token_that_no_other_has(jobs: Jobs) -> None:
    alone = element("alone-0", 'hostIsolation, hostColocation("mine")')
    jobs.submit("alone", [alone, element("alone-1", 'hostExlocation("x")')])
    jobs.phase(JOBS, "alone", "Running")
    assert len({pod["spec"]["nodeName"] for pod in jobs.pods()}) == 2
