"""From a Job to its pools, processing elements and pods; what is refused; time-outs, changes and deletion."""

from typing import Any

import pytest

from tests.e2e.client.api import Object, RefusedError
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, POOLS, TEMPLATE, Jobs, conditions, elements
from tests.e2e.polling import until

BUNDLE = {"name": "apps.parallel.Parallel.sab"}


def element(name: str, placement: str | None = None, **options: Any) -> Object:
    operators = [{"name": f"Op{name.replace('-', '')}", **({"placement": placement} if placement else {})}]
    return {"name": name, "operators": operators, "template": TEMPLATE, **options}


def test_a_job_becomes_pools_elements_and_pods(jobs: Jobs) -> None:
    pools = [{"name": "Source", "tags": ["source"], "size": 2}, {"name": "All"}]
    three = [element("a", "host(Source[0])"), element("b", "host(Source[1])"), element("c", "host(All)")]
    made = jobs.submit("parallel", three, hostPools=pools)
    job = jobs.phase(JOBS, "parallel", "Running")
    counts = {name: job["status"][name] for name in ("processingElements", "running", "readyPools", "pools")}
    assert counts == {"processingElements": 3, "running": 3, "readyPools": 2, "pools": 2}
    assert conditions(job)["Ready"]["status"] == "True"
    owned = [jobs.element(name) for name in "abc"] + jobs.api.get(jobs.path(POOLS))["items"]
    assert {one["metadata"]["ownerReferences"][0]["uid"] for one in owned} == {made["metadata"]["uid"]}
    nodes = {one["metadata"]["labels"]["streams.ibm.com/pe"]: one["spec"]["nodeName"] for one in jobs.pods()}
    assert {nodes["a"], nodes["b"]} <= {"node-0", "node-1", "node-2"}
    assert nodes["a"] != nodes["b"]
    assert jobs.element("a")["status"]["node"] == nodes["a"]


def test_elements_without_a_template_run_the_runtime(jobs: Jobs) -> None:
    jobs.submit("parallel", [{}, {"buildType": "release", "resources": {"requests": {"cpu": "2"}}}], bundle=BUNDLE)
    jobs.phase(JOBS, "parallel", "Running")
    containers = {one["metadata"]["labels"]["streams.ibm.com/pe"]: one["spec"]["containers"][0] for one in jobs.pods()}
    assert [containers[name]["image"].rpartition(":")[2] for name in ("parallel-0", "parallel-1")] == [
        "debug", "release",
    ]  # fmt: skip
    requests = [containers[name]["resources"]["requests"] for name in ("parallel-0", "parallel-1")]
    assert requests == [{"cpu": "100m", "memory": "128Mi"}, {"cpu": "2"}]


def test_the_jobs_resources_are_divided(jobs: Jobs) -> None:
    jobs.submit("j", elements("a", "b", "c"), resources={"requests": {"cpu": "1"}, "limits": {"cpu": "3"}})
    jobs.phase(JOBS, "j", "Running")
    found = [one["spec"]["containers"][0]["resources"] for one in jobs.pods()]
    assert found == [{"requests": {"cpu": "333m"}, "limits": {"cpu": "1"}}] * 3


def test_several_tokens_of_one_element_share_a_host(jobs: Jobs) -> None:
    """A group that only the Job knows; its pods are made right after it, in whatever order."""
    jobs.submit(
        "j",
        [
            element("a", 'hostColocation("x")'),
            element("b", 'hostColocation("x"), hostColocation("y")'),
            element("c", 'hostColocation("y")'),
            element("d", 'hostExlocation("z"), hostColocation("y")'),
        ],
    )
    jobs.phase(JOBS, "j", "Running")
    assert len({one["spec"]["nodeName"] for one in jobs.pods()}) == 1


def test_an_isolated_element_is_alone(jobs: Jobs) -> None:
    jobs.submit("j", [element("a"), element("b", "hostIsolation"), element("c")])
    jobs.phase(JOBS, "j", "Running")
    nodes = {one["metadata"]["labels"]["streams.ibm.com/pe"]: one["spec"]["nodeName"] for one in jobs.pods()}
    assert nodes["b"] not in {nodes["a"], nodes["c"]}


REFUSED: dict[str, tuple[Object, str]] = {
    "two kinds of fusion": ({"fusion": {"automatic": True, "manual": 2}}, "spec.fusion"),
    "no elements by fusion": ({"fusion": {"manual": 0}}, "spec.fusion.manual"),
    "two sources": ({"bundle": {"name": "a", "file": {"path": "/a"}, "http": {"url": "https://x"}}}, "spec.bundle"),
    "a secret for no URL": ({"bundle": {"name": "a", "github": {"secret": "s"}}}, "spec.bundle.github"),
    "two threading models": ({"threadingModel": {"manual": True, "automatic": True}}, "spec.threadingModel"),
    "an element twice": ({"processingElements": elements("a", "a")}, "spec.processingElements"),
    "an operator twice": (
        {"processingElements": elements("a", "b", operators=[{"name": "Op"}])},
        "spec.processingElements[1].operators[0]",
    ),
    "too many elements": ({"processingElements": [{"template": TEMPLATE}] * 1001}, "spec.processingElements"),
    "a request over its limit": (
        {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, "processingElements": elements("a")},
        "spec.resources.requests[cpu]",
    ),
    "nothing for each": (
        {"resources": {"requests": {"cpu": "1m"}}, "processingElements": elements("a", "b")},
        "spec.resources.requests[cpu]",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "named"), REFUSED.values(), ids=REFUSED.keys())
def test_a_job_that_makes_no_sense_is_refused(jobs: Jobs, spec: Object, named: str) -> None:
    with pytest.raises(RefusedError) as refused:
        jobs.submit("j", spec.pop("processingElements", []), **spec)
    assert (refused.value.code, named in refused.value.message) == (422, True), refused.value.message


def test_a_pool_that_does_not_exist_is_refused(jobs: Jobs) -> None:
    with pytest.raises(RefusedError) as refused:
        jobs.submit("j", [element("a", "host(P)")])
    assert (refused.value.code, 'the Job declares no HostPool "P"' in refused.value.message) == (403, True)


def test_unknown_fields_are_refused_where_kubectl_asks_for_it(jobs: Jobs) -> None:
    job = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"bundles": {}}}
    answer = jobs.api.send("POST", f"{jobs.path(JOBS)}?fieldValidation=Strict", job)
    assert (answer.code, 'unknown field "spec.bundles"' in answer.message) == (400, True), answer.message


def test_an_element_of_no_job_is_refused(jobs: Jobs) -> None:
    lone = {
        "apiVersion": "streams.ibm.com/v1", "kind": "ProcessingElement", "metadata": {"name": "pe"},
        "spec": {"job": "nowhere", "template": TEMPLATE},
    }  # fmt: skip
    answer = jobs.api.send("POST", jobs.path(ELEMENTS), lone)
    assert (answer.code, 'this namespace has no Job "nowhere"' in answer.message) == (403, True), answer.message


NEVER: Object = {
    **TEMPLATE,
    "spec": {**TEMPLATE["spec"], "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}]},
}
"""A template whose pods cannot be scheduled, for a reason that only the scheduler knows."""


def test_a_submission_that_takes_too_long_is_undone(jobs: Jobs) -> None:
    two = [element("a"), {**element("b"), "template": NEVER}]
    jobs.submit("j", two, hostPools=[{"name": "P", "size": 1}], submissionTimeOutInSeconds=5)
    job = jobs.phase(JOBS, "j", "Failed")
    assert "b" in conditions(job)["Submitted"]["message"], job["status"]
    jobs.gone(ELEMENTS, POOLS)
    events = jobs.api.get(f"/apis/events.k8s.io/v1/namespaces/{jobs.space}/events")["items"]
    assert [one for one in events if one["regarding"]["kind"] == "Job" and one["type"] == "Warning"]


def test_a_failed_job_is_submitted_again_when_it_changes(jobs: Jobs) -> None:
    jobs.submit("j", [{**element("a"), "template": NEVER}], submissionTimeOutInSeconds=3)
    jobs.phase(JOBS, "j", "Failed")
    change = {"spec": {"submissionTimeOutInSeconds": 60, "processingElements": [element("a")]}}
    jobs.api.patch(jobs.path(JOBS, "j"), change)
    jobs.phase(JOBS, "j", "Running")


def test_elements_are_added_changed_and_removed(jobs: Jobs) -> None:
    jobs.submit("j", [element("a"), element("b"), element("c")])
    jobs.phase(JOBS, "j", "Running")
    before = {name: jobs.running_pod(name)["metadata"]["uid"] for name in "abc"}
    changed = [element("a"), {**element("b"), "runtimeTraceLevel": "DEBUG"}, element("d")]
    jobs.api.patch(jobs.path(JOBS, "j"), {"spec": {"processingElements": changed}})
    jobs.running_pod("d")
    jobs.running_pod("b", other_than=before["b"])
    until(lambda: not jobs.pods("c") and jobs.api.find(jobs.path(ELEMENTS, "c")) is None, "c is gone")
    assert jobs.running_pod("a")["metadata"]["uid"] == before["a"]
    assert jobs.phase(JOBS, "j", "Running")["status"]["processingElements"] == 3


def test_a_deleted_element_is_made_again_while_it_can_be_restarted(jobs: Jobs) -> None:
    lasting = {**element("b"), "operators": [{"name": "B", "restartable": False}]}
    jobs.submit("j", [element("a"), lasting])
    jobs.phase(JOBS, "j", "Running")
    first = {name: jobs.element(name)["metadata"]["uid"] for name in "ab"}
    for name in "ab":
        jobs.api.delete(jobs.path(ELEMENTS, name))
    until(lambda: _made_again(jobs, first["a"]), "a is made again")
    jobs.running_pod("a")
    assert jobs.api.find(jobs.path(ELEMENTS, "b")) is None


def _made_again(jobs: Jobs, uid: str) -> bool:
    found = jobs.api.find(jobs.path(ELEMENTS, "a"))
    return found is not None and found["metadata"]["uid"] != uid


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_a_deleted_job_leaves_nothing(jobs: Jobs, policy: str) -> None:
    pools = [{"name": "P", "size": 1, "mode": "Exclusive"}]
    jobs.submit("j", [element("a", "host(P)")], hostPools=pools)
    job = jobs.phase(JOBS, "j", "Running")
    host = jobs.pods()[0]["spec"]["nodeName"]
    assert job["status"]["readyPools"] == 1
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
    jobs.api.call("DELETE", jobs.path(JOBS, "j"), options)
    jobs.gone(JOBS, ELEMENTS, POOLS)
    taints = jobs.api.get(f"/api/v1/nodes/{host}")["spec"].get("taints", [])
    assert [one for one in taints if one["key"] == "streams.ibm.com/exclusive"] == []


def test_orphans_go_on(jobs: Jobs) -> None:
    jobs.submit("j", [element("a")])
    jobs.phase(JOBS, "j", "Running")
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Orphan"}
    jobs.api.call("DELETE", jobs.path(JOBS, "j"), options)
    until(lambda: jobs.api.find(jobs.path(JOBS, "j")) is None, "the job is gone")
    assert jobs.running_pod("a")


def test_a_completed_job_says_so(jobs: Jobs) -> None:
    jobs.submit("j", [element("a"), element("b")])
    jobs.phase(JOBS, "j", "Running")
    for name in "ab":
        jobs.end(jobs.running_pod(name), "Succeeded", 0)
    assert jobs.phase(JOBS, "j", "Completed")["status"]["completed"] == 2


def test_a_job_with_an_element_that_failed_is_degraded(jobs: Jobs) -> None:
    jobs.submit("j", [element("a", restartFailedPod=False), element("b")])
    jobs.phase(JOBS, "j", "Running")
    jobs.end(jobs.running_pod("a"), "Failed", 7)
    job = jobs.phase(JOBS, "j", "Degraded")
    assert "a" in conditions(job)["Ready"]["message"]


def test_a_quota_that_refuses_pods_is_told(jobs: Jobs) -> None:
    jobs.api.create({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": jobs.space},
        "spec": {"hard": {"pods": "1"}},
    })  # fmt: skip
    until(
        lambda: jobs.api.get(f"/api/v1/namespaces/{jobs.space}/resourcequotas/few")["status"].get("hard"),
        "the quota is known",
    )
    jobs.submit("j", [element("a"), element("b")])
    told = until(
        lambda: [
            one for name in "ab"
            if (found := jobs.api.find(jobs.path(ELEMENTS, name))) and "status" in found
            for one in [conditions(found).get("PodCreated", {})] if one.get("status") == "False"
        ],
        "the quota's words are in a condition",
    )  # fmt: skip
    assert "exceeded quota" in told[0]["message"]
    jobs.api.delete(f"/api/v1/namespaces/{jobs.space}/resourcequotas/few")
    jobs.phase(JOBS, "j", "Running", 60)
