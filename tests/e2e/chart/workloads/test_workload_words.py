"""Workloads whose pods would be refused, and workloads with annotations that do not reach their pods."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.exclusive import exclusive_pool
from tests.e2e.chart.kubectl_apply import FORBIDDEN, INVALID, applied, denied, of_kind, refusal, refused
from tests.e2e.chart.placement_pods import PLACEMENT, asking
from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.chart.tenant import by_policy, tenant
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "workload-words"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
APART: Final = 'hostExlocation("apart")'
EVERYTHING: Final = {"tolerations": [{"operator": "Exists"}]}
OURS: Final = {"tolerations": [{"key": "streams.ibm.com/exclusive", "operator": "Exists"}]}

OPEN_TO_ALL: Final = (
    "spec.tolerations[0]: a toleration of everything would let the pod onto hosts that are exclusive to another "
    "HostPool\n"
)
ONLY_THE_WEBHOOK: Final = (
    "spec.tolerations: only the webhook tolerates streams.ibm.com/exclusive: "
    "name the exclusive HostPool with host(...) instead"
)
LOST: Final = (
    "metadata.annotations[streams.ibm.com/placement]: a {kind}'s own annotations do not reach its pods: "
    "write it in {where}.metadata.annotations\n"
)


@pytest.fixture(scope="module", autouse=True)
def user(installed: object, plane: ControlPlane) -> Api:  # noqa: ARG001 -- after it
    """Somebody with every right on the pods of the namespace."""
    return tenant(plane, SPACE)


@pytest.fixture
def _exclusive(admin: Api) -> Iterator[None]:
    with exclusive_pool(admin, SPACE):
        yield


def asks(name: str, replicas: int = 1, spec: Object | None = None, **annotations: str) -> Object:
    """A Deployment of pods of a job of their own."""
    labels = {"streams.ibm.com/job": name}
    return deployment(name, SPACE, replicas, spec=spec, labels=labels, annotations={PLACEMENT: APART, **annotations})


def of_others(name: str, **spec: Any) -> Object:
    """A Deployment of pods that ask for nothing."""
    return deployment(name, SPACE, spec=pod_spec(**spec))


# Ways round exclusive hosts


@pytest.mark.usefixtures("_exclusive")
@pytest.mark.parametrize("kind", ["Deployment", "Job", "CronJob", "ReplicationController", "PodTemplate"])
def test_a_workload_that_tolerates_everything_is_refused_as_its_pods_are(plane: ControlPlane, kind: str) -> None:
    found = asks("open", spec=pod_spec(**EVERYTHING))
    whole = found if kind == "Deployment" else of_kind(kind, found)
    single = asking("open", SPACE, APART, pod_spec(**EVERYTHING), labels={"streams.ibm.com/job": "open"})
    assert (refusal(plane, whole), refusal(plane, single, hook="pods")) == (OPEN_TO_ALL, OPEN_TO_ALL)


@pytest.mark.usefixtures("_exclusive")
def test_so_is_one_whose_pods_ask_for_nothing(plane: ControlPlane, user: Api) -> None:
    whole = refusal(plane, of_others("plain", **EVERYTHING), hook="workload-guard")
    single = user.send("POST", PODS, pod("plain", SPACE, pod_spec(**EVERYTHING))).message
    assert (whole, single) == (OPEN_TO_ALL, denied("guard") + OPEN_TO_ALL.rstrip())


@pytest.mark.usefixtures("_exclusive")
def test_so_is_one_that_names_the_host(plane: ControlPlane) -> None:
    found = of_others("named", nodeName="node-3")
    assert refusal(plane, found, hook="workload-guard") == "spec.nodeName: the node is exclusive to another HostPool\n"


@pytest.mark.usefixtures("_exclusive")
def test_a_daemon_set_of_a_user_with_the_right_may_tolerate_everything(plane: ControlPlane) -> None:
    found = of_kind("DaemonSet", of_others("daemons", **EVERYTHING))
    assert plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(found)).returncode == 0


def test_where_no_host_is_exclusive_everybody_may(plane: ControlPlane) -> None:
    found = asks("everybody", spec=pod_spec(**EVERYTHING))
    assert plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(found)).returncode == 0


# What the API server refuses of pods by itself


def test_a_workload_that_tolerates_our_taint_is_refused_as_its_pods_are(plane: ControlPlane, user: Api) -> None:
    whole = refused(plane, of_others("ours", **OURS))
    single = user.send("POST", PODS, pod("ours", SPACE, pod_spec(**OURS))).message
    assert by_policy('deployments.apps "ours"', "templates", ONLY_THE_WEBHOOK) in whole
    assert by_policy('pods "ours"', "created", ONLY_THE_WEBHOOK) in single


@pytest.mark.parametrize("kind", ["ReplicationController", "PodTemplate"])
def test_so_is_what_is_not_a_workload_of_apps(plane: ControlPlane, kind: str) -> None:
    assert ONLY_THE_WEBHOOK in refused(plane, of_kind(kind, of_others("ours", **OURS)))


def test_so_is_a_cron_job(plane: ControlPlane) -> None:
    assert ONLY_THE_WEBHOOK in refused(plane, of_kind("CronJob", of_others("ours", **OURS)))


def test_a_daemon_set_of_a_user_with_the_right_may_tolerate_our_taint(plane: ControlPlane) -> None:
    found = of_kind("DaemonSet", of_others("daemons", **OURS))
    assert plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(found)).returncode == 0


@pytest.mark.parametrize("space", ["kube-system", NAMESPACE])
def test_a_workload_in_a_namespace_without_the_webhook_is_refused_as_its_pods_are(
    plane: ControlPlane, space: str
) -> None:
    said = (
        "this pod asks for hosts, but the webhook of streams-placement has not reviewed it: "
        f"namespace {space} is excluded, use another one"
    )
    whole = refused(plane, deployment("unheard", space, annotations={PLACEMENT: APART}))
    single = refused(plane, asking("unheard", space, APART))
    assert by_policy('deployments.apps "unheard"', "templates", said) in whole
    assert by_policy('pods "unheard"', "created", said) in single


def test_a_workload_that_asks_for_nothing_is_none_of_our_business_there(admin: Api) -> None:
    admin.create(deployment("plain", "kube-system"), dryRun="All")


# Annotations of the workload itself

KINDS: Final[dict[str, tuple[str, str]]] = {
    "Deployment": ("Deployment", "spec.template"),
    "StatefulSet": ("StatefulSet", "spec.template"),
    "DaemonSet": ("DaemonSet", "spec.template"),
    "ReplicaSet": ("ReplicaSet", "spec.template"),
    "Job": ("Job", "spec.template"),
    "CronJob": ("CronJob", "spec.jobTemplate.spec.template"),
    "ReplicationController": ("ReplicationController", "spec.template"),
    "PodTemplate": ("PodTemplate", "template"),
}


@pytest.mark.parametrize(("kind", "where"), KINDS.values(), ids=KINDS)
def test_an_annotation_of_the_workload_itself_is_refused(plane: ControlPlane, kind: str, where: str) -> None:
    found = of_kind(kind, of_others("lost"))
    found["metadata"] = {**found["metadata"], "annotations": {PLACEMENT: APART}}
    assert refusal(plane, found, INVALID) == LOST.format(kind=kind, where=where)


def test_so_is_one_of_the_jobs_of_a_cron_job(plane: ControlPlane) -> None:
    found = of_kind("CronJob", of_others("lost"))
    found["spec"]["jobTemplate"]["metadata"] = {"annotations": {PLACEMENT: APART}}
    assert refusal(plane, found, INVALID) == (
        "spec.jobTemplate.metadata.annotations[streams.ibm.com/placement]: the annotations of a CronJob's Jobs do not "
        "reach their pods: write it in spec.jobTemplate.spec.template.metadata.annotations\n"
    )


def test_an_existing_deployment_cannot_be_annotated(plane: ControlPlane) -> None:
    applied(plane, of_others("there"))
    said = f"{PLACEMENT}={APART}"
    done = plane.kubectl("annotate", "deployment/there", said, "--namespace", SPACE)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.partition(denied("workloads"))[2] == LOST.format(kind="Deployment", where="spec.template")


def test_what_the_template_says_as_well_runs_with_all_that_controllers_copy(admin: Api, plane: ControlPlane) -> None:
    """A Deployment's annotations are copied to its ReplicaSets, a CronJob's to its Jobs."""
    found = asks("both")
    found["metadata"]["annotations"] = {PLACEMENT: APART}
    assert applied(plane, found) == ""
    sets = f"/apis/apps/v1/namespaces/{SPACE}/replicasets"
    until(lambda: any(map(is_ready, admin.get(PODS, labelSelector="app=both")["items"])), "its pod runs", 60)
    [copied] = admin.get(sets, labelSelector="app=both")["items"]
    assert copied["metadata"]["annotations"][PLACEMENT] == APART


def test_a_refusal_of_a_pool_tells_the_pool_first(plane: ControlPlane) -> None:
    found = asks("gone", **{PLACEMENT: "host(Gone)"})
    assert 'this namespace has no HostPool "Gone"' in refusal(plane, found, FORBIDDEN)
