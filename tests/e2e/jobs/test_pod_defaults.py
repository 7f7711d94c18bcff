"""What the API server adds to pods counts in verdicts about workloads and Jobs, and what is admitted runs."""

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.jobs.streams_jobs import JOBS, TEMPLATE, Jobs
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, pod, pod_spec

MARKED = {"example.com/defaults": "yes"}
"""The label of two nodes that these tests have for themselves, with a taint and four devices."""

TAINT = {"key": "vm", "value": "yes", "effect": "NoSchedule"}
HEAVY, TOLERANT, HIGH, LOW, PATIENT = "heavy", "tolerant", "high", "low", "patient"


def cluster_object(version: str, kind: str, name: str, **fields: object) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}


CLASSES = [
    cluster_object("node.k8s.io/v1", "RuntimeClass", HEAVY, handler="h", overhead={"podFixed": {"cpu": "100"}}),
    cluster_object(
        "node.k8s.io/v1", "RuntimeClass", TOLERANT, handler="h",
        scheduling={"nodeSelector": MARKED, "tolerations": [{"key": "vm", "operator": "Exists"}]},
    ),
    cluster_object("scheduling.k8s.io/v1", "PriorityClass", HIGH, value=1000),
    cluster_object("scheduling.k8s.io/v1", "PriorityClass", LOW, value=1),
    cluster_object("scheduling.k8s.io/v1", "PriorityClass", PATIENT, value=1000, preemptionPolicy="Never"),
]  # fmt: skip


@pytest.fixture(scope="module")
def classes(plane: object, installed: object) -> Iterator[None]:  # noqa: ARG001 -- after it
    """The classes, and two nodes that only pods with a toleration get onto."""
    admin: Api = plane.admin  # type: ignore[attr-defined]  # the plane is a ControlPlane
    room = {"nvidia.com/gpu": "4"}
    made = create_nodes(admin, [node(f"vm-{at}", MARKED, taints=[TAINT], capacity=room) for at in range(2)])
    for one in CLASSES:
        admin.create(one)
    yield
    for one in CLASSES:
        admin.delete(f"/apis/{one['apiVersion']}/{one['kind'].lower()}es/{one['metadata']['name']}")
    for name in made:
        admin.delete(f"/api/v1/nodes/{name}")


SAID = {"streams.ibm.com/placement": 'hostExlocation("a")'}


def workload(space: str, name: str, spec: Object) -> Object:
    """A Deployment of a job of its own, whose pod asks for placement."""
    return deployment(name, space, spec=spec, labels={"streams.ibm.com/job": name}, annotations=SAID)


def elements(name: str, spec: Object, count: int = 1) -> list[Object]:
    return [{"name": f"{name}-{at}", "template": {"spec": spec}} for at in range(count)]


def refused(act: Callable[[], object], text: str) -> None:
    """Wait until the webhook refuses with that text: its watch may not have brought what was just created."""

    def told() -> bool:
        try:
            act()
        except RefusedError as error:
            return text in str(error)
        return False

    until(told, f"a refusal says {text}", 20)


@pytest.fixture
def limited(jobs: Jobs) -> Jobs:
    """A namespace whose containers request more than any node has."""
    item = {"type": "Container", "defaultRequest": {"cpu": "100"}}
    jobs.api.create(
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": "defaults", "namespace": jobs.space},
            "spec": {"limits": [item]},
        }
    )
    return jobs


def dry(jobs: Jobs, thing: Object) -> Callable[[], object]:
    return lambda: jobs.api.create(thing, dryRun="All")


def test_the_defaults_of_a_limit_range_count_for_workloads_and_jobs(limited: Jobs) -> None:
    refused(dry(limited, workload(limited.space, "lr", pod_spec())), "requests cpu 100 (LimitRange defaults)")
    with pytest.raises(RefusedError, match=r"requests cpu 100, memory 128Mi \(LimitRange defaults\)"):
        limited.submit("lrj", elements("lrj", TEMPLATE["spec"]))
    # A bare pod arrives with the defaults.
    bare = pod("lr-bare", limited.space, labels={"streams.ibm.com/job": "j2"}, annotations=SAID)
    with pytest.raises(RefusedError, match="requests cpu 100"):
        limited.api.create(bare)


def test_what_states_its_own_requests_runs_in_spite_of_defaults(limited: Jobs) -> None:
    refused(dry(limited, workload(limited.space, "lr", pod_spec())), "LimitRange defaults")
    own = {"containers": [{**TEMPLATE["spec"]["containers"][0], "resources": {"requests": {"cpu": "1"}}}]}
    limited.submit("lrj", elements("lrj", own))
    limited.phase(JOBS, "lrj", "Running")


def test_bounds_of_a_limit_range_are_told_when_the_workload_is_submitted(jobs: Jobs) -> None:
    item = {"type": "Container", "max": {"cpu": "2"}}
    meta = {"name": "bounds", "namespace": jobs.space}
    jobs.api.create({"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": [item]}})
    main = TEMPLATE["spec"]["containers"][0]
    large = {"containers": [{**main, "resources": {"limits": {"cpu": "3"}}}]}
    told = "spec.containers[0].resources.limits[cpu]: 3 is more than 2 (container bounds of LimitRange bounds)"
    refused(dry(jobs, workload(jobs.space, "w", large)), told)
    with pytest.raises(RefusedError, match=r"limits\[cpu\]: 3 is more than 2"):
        jobs.submit("j", elements("j", large))
    small = {"containers": [{**main, "resources": {"requests": {"cpu": "1"}}}]}
    jobs.submit("j", elements("j", small))
    jobs.phase(JOBS, "j", "Running")


@pytest.mark.usefixtures("classes")
def test_the_overhead_of_a_runtime_class_counts(jobs: Jobs) -> None:
    spec = pod_spec(runtimeClassName=HEAVY)
    refused(dry(jobs, workload(jobs.space, "rc", spec)), "have less than cpu 100")
    with pytest.raises(RefusedError, match="nodes have less than cpu 100"):
        jobs.submit("rcj", elements("rcj", spec))


@pytest.mark.usefixtures("classes")
def test_labels_and_tolerations_of_a_runtime_class_count(jobs: Jobs) -> None:
    spec = pod_spec(runtimeClassName=TOLERANT)
    jobs.api.create(workload(jobs.space, "rt", spec))
    try:
        jobs.submit("rtj", elements("rtj", spec, 2))
        jobs.phase(JOBS, "rtj", "Running")
        until(lambda: [one["spec"].get("nodeName", "")[:3] for one in jobs.pods()] == ["vm-"] * 3, "all are bound", 20)
    finally:
        jobs.api.delete(f"/apis/apps/v1/namespaces/{jobs.space}/deployments/rt")
    told = 'spec.nodeSelector[example.com/defaults]: is "no", and RuntimeClass "tolerant" selects "yes"'
    refused(dry(jobs, workload(jobs.space, "other", {**spec, "nodeSelector": {"example.com/defaults": "no"}})), told)


def test_a_class_that_comes_right_before_its_workload_counts_and_one_that_does_not_exist_is_refused(jobs: Jobs) -> None:
    with pytest.raises(RefusedError, match='there is no RuntimeClass "never"'):
        jobs.api.create(workload(jobs.space, "w", pod_spec(runtimeClassName="never")))
    with pytest.raises(RefusedError, match='there is no PriorityClass "never"'):
        jobs.submit("j", elements("j", pod_spec(priorityClassName="never")))
    for at in range(5):
        name = f"fresh-{at}"
        jobs.api.create(cluster_object("node.k8s.io/v1", "RuntimeClass", name, handler="h"))
        try:
            jobs.api.create(workload(jobs.space, name, pod_spec(runtimeClassName=name)), dryRun="All")
        finally:
            jobs.api.delete(f"/apis/node.k8s.io/v1/runtimeclasses/{name}")


def devices(count: str, **spec: object) -> Object:
    """The spec of a pod with so many devices, on a node that has some."""
    main = {**TEMPLATE["spec"]["containers"][0], "resources": {"limits": {"nvidia.com/gpu": count}}}
    return {"containers": [main], "tolerations": [{"key": "vm", "operator": "Exists"}], **spec}


@pytest.fixture
def busy(jobs: Jobs) -> Jobs:
    """All devices are in use by pods of low priority."""
    for at in range(2):
        jobs.api.create(pod(f"low-{at}", jobs.space, devices("4", priorityClassName=LOW)))
    path = f"/api/v1/namespaces/{jobs.space}/pods"
    until(lambda: all(one["spec"].get("nodeName") for one in jobs.api.get(path)["items"]), "they run")
    return jobs


@pytest.mark.usefixtures("classes")
def test_a_job_runs_that_preempts_and_one_that_does_not_is_refused(busy: Jobs) -> None:
    until(lambda: not busy.submitted("same", elements("same", devices("2", priorityClassName=LOW))), "all are known", 5)
    for name, spec in (("none", devices("2")), ("patient", devices("2", priorityClassName=PATIENT))):
        with pytest.raises(RefusedError, match=r"requests .*nvidia.com/gpu 2.* cannot hold"):
            busy.submit(name, elements(name, spec))
    with pytest.raises(RefusedError, match="processing elements? fit"):
        busy.submit("high", elements("high", devices("3", priorityClassName=HIGH), 3))
    busy.submit("high", elements("high", devices("3", priorityClassName=HIGH), 2))
    busy.phase(JOBS, "high", "Running")
    said = {one["type"]: one for one in busy.job("high")["status"]["conditions"]}["Satisfiable"]
    assert said["status"] == "True"
    assert {busy.running_pod(f"high-{at}")["spec"]["nodeName"] for at in range(2)} == {"vm-0", "vm-1"}
