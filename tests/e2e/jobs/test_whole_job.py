"""A Job whose elements each fit, and do not fit together, is refused; after the fix that is named it runs."""

import re

import pytest

from tests.e2e.client.api import Object, RefusedError
from tests.e2e.jobs.streams_jobs import JOBS, TEMPLATE, Jobs
from tests.e2e.polling import until

TAGGED = {"name": "Tagged", "tags": ["source"]}
"""Three of the six nodes have the tag."""


def element(name: str, placement: str) -> Object:
    return {"name": name, "operators": [{"name": name.upper(), "placement": placement}], "template": TEMPLATE}


def apart(count: int) -> list[Object]:
    return [element(f"e{at}", 'host(Tagged), hostExlocation("t")') for at in range(count)]


def test_a_job_that_fits_only_pod_by_pod_is_refused_and_runs_after_the_named_fix(jobs: Jobs) -> None:
    with pytest.raises(RefusedError) as refused:
        jobs.submit("j", apart(4), hostPools=[TAGGED])
    text = str(refused.value)
    assert (
        'host(Tagged) and hostExlocation("t") cannot both hold: 3 of 4 processing elements fit (e0, e1, e2 and 1 more).'
    ) in text
    fix = re.search(r"label one more node (\S+)=([^\s,]+)", text)
    assert fix, text
    node = "/api/v1/nodes/node-5"
    jobs.api.patch(node, {"metadata": {"labels": {fix[1]: fix[2]}}})
    try:
        until(lambda: jobs.submitted("j", apart(4), hostPools=[TAGGED]), "the webhook has seen the label")
        jobs.phase(JOBS, "j", "Running")
        assert len({jobs.running_pod(f"e{at}")["spec"]["nodeName"] for at in range(4)}) == 4
    finally:
        jobs.api.patch(node, {"metadata": {"labels": {fix[1]: None}}})


def test_fewer_elements_as_named_run(jobs: Jobs) -> None:
    with pytest.raises(RefusedError, match="or run 3 of these 4"):
        jobs.submit("j", apart(4), hostPools=[TAGGED])
    jobs.submit("j", apart(3), hostPools=[TAGGED])
    jobs.phase(JOBS, "j", "Running")


def test_a_change_that_does_not_fit_is_refused_and_changes_nothing(jobs: Jobs) -> None:
    jobs.submit("j", apart(3), hostPools=[TAGGED])
    jobs.phase(JOBS, "j", "Running")
    with pytest.raises(RefusedError, match="3 of 4 processing elements fit"):
        jobs.api.patch(jobs.path(JOBS, "j"), {"spec": {"processingElements": apart(4)}})
    assert jobs.phase(JOBS, "j", "Running")["status"]["processingElements"] == 3


def test_two_exclusive_pools_that_need_one_node_are_refused(jobs: Jobs) -> None:
    pools = [{"name": name, "tags": ["source"], "size": 2, "mode": "Exclusive"} for name in ("One", "Two")]
    with pytest.raises(RefusedError, match="HostPool One .2 hosts, Exclusive. and HostPool Two .2 hosts, Exclusive. "
                       "cannot all have their hosts: 3 nodes are eligible"):  # fmt: skip
        jobs.submit("j", [element("a", "host(One)"), element("b", "host(Two)")], hostPools=pools)
