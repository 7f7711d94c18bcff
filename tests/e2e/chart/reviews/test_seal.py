"""A pod that nobody changes after the webhook is reviewed once; one that somebody changes is reviewed again."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from tests.e2e.chart.counters import counted
from tests.e2e.chart.placement_pods import PLACEMENT, asking
from tests.e2e.chart.reviews.second_webhook import SecondWebhook, registered, serving
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.workloads import namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "sealed"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
JOB: Final = {"streams.ibm.com/job": "j"}
SPREAD: Final = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"a": "b"}},
}
HARDWARE: Final = {"streams.ibm.com/hpa-requirements": "- {resource: {name: cpu, requests: 2}}\n"}
AMOUNTS: Final = {"requests": {"cpu": "0.5", "memory": "1.5Gi"}, "limits": {"cpu": 1}}
NAMED: Final = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["x"]}]}
NEAR: Final[Object] = {
    "labelSelector": {"matchLabels": {"a": "b"}},
    "topologyKey": "zone",
    "namespaceSelector": {},
    "namespaces": ["other"],
}


def container(**fields: object) -> Object:
    return {"name": "main", "image": "example.invalid/main", **fields}


ONCE: Final[dict[str, Object]] = {
    "a job": pod("p", SPACE, labels=JOB),
    "a processing element": pod("p", SPACE, labels={**JOB, "streams.ibm.com/pe": "3"}),
    "a host": asking("p", SPACE),
    "groups": asking("p", SPACE, 'hostColocation("near"), hostExlocation("apart")', labels=JOB),
    "hardware": pod("p", SPACE, annotations=HARDWARE),
    "what the Streams operator notes": asking("p", SPACE, annotations={"streams.ibm.com/contentId": "17"}),
    "spread": asking("p", SPACE, spec=pod_spec(topologySpreadConstraints=[SPREAD])),
    "amounts": asking("p", SPACE, spec=pod_spec(containers=[container(resources=AMOUNTS)])),
    "ports": asking("p", SPACE, spec=pod_spec(containers=[container(ports=[{"containerPort": 8, "hostPort": 8}])])),
    "the network of its host": asking(
        "p", SPACE, spec=pod_spec(hostNetwork=True, containers=[container(ports=[{"containerPort": 8}])])),
    "a sidecar": asking("p", SPACE, spec=pod_spec(initContainers=[{**container(restartPolicy="Always"), "name": "s"}])),
    "gates": asking("p", SPACE, spec=pod_spec(schedulingGates=[{"name": "example.com/wait"}])),
    "a selector, tolerations and terms": asking("p", SPACE, spec=pod_spec(
        nodeSelector={"kubernetes.io/os": "linux"},
        tolerations=[{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 60}],
        affinity={
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": NAMED}]},
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": NEAR}]
            },
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR]},
        })),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _space(plane: ControlPlane, installed: object) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


def asked(admin: Api, one: Object) -> dict[str, int]:
    """How often each path is asked about the pod."""
    before = counted(admin, "reviews_total", "path")
    answer = admin.send("POST", PODS, one)
    assert answer.code in {201, 403}, answer.message
    after = counted(admin, "reviews_total", "path")
    return {path: number - before[path,] for (path,), number in after.items() if number != before[path,]}


@pytest.mark.parametrize("one", ONCE.values(), ids=ONCE)
def test_a_pod_that_no_other_webhook_changes_is_reviewed_once(admin: Api, one: Object) -> None:
    assert asked(admin, one) == {"/mutate": 1}


def setting(field: str, value: object) -> Callable[[Object, int], None]:
    def change(one: Object, _times: int) -> None:
        one["spec"][field] = value

    return change


def marking(one: Object, _times: int) -> None:
    one["metadata"]["labels"]["example.com/mesh"] = "on"


def taking(one: Object, _times: int) -> None:
    labels = one["metadata"]["labels"]
    one["metadata"]["labels"] = {key: value for key, value in labels.items() if "hostcolocation." not in key}


def labelling(one: Object, _times: int) -> None:
    one["metadata"]["labels"]["streams.ibm.com/hostisolation.X"] = "y"


def annotating(one: Object, _times: int) -> None:
    one["metadata"]["annotations"][PLACEMENT] = 'host("node-2")'


def renaming(one: Object, _times: int) -> None:
    """Nothing but one character is another one."""
    terms = one["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    [term] = terms["nodeSelectorTerms"]
    term["matchFields"][0]["values"] = ["node-2"]


AGAIN: Final = {
    "another host": renaming,
    "another placement": annotating,
    "another label of ours": labelling,
    "a selector": setting("nodeSelector", {"a": "b"}),
    "a toleration of everything": setting("tolerations", [{"operator": "Exists"}]),
    "another container": setting("containers", [container(), {**container(), "name": "mesh"}]),
    "other amounts": setting("containers", [container(resources={"requests": {"cpu": "2"}})]),
}


@pytest.fixture(scope="module")
def server(plane: ControlPlane, _space: None) -> Iterator[SecondWebhook]:
    with serving() as running, registered(plane.admin, running, "zzz-second", SPACE):
        yield running


@pytest.mark.parametrize("change", AGAIN.values(), ids=AGAIN)
def test_a_pod_that_another_webhook_changes_is_reviewed_again(
    admin: Api, server: SecondWebhook, change: Callable[[Object, int], None]
) -> None:
    """It first takes what we added, which we add again, and then it changes something behind our back."""
    server.asked.clear()
    server.change = lambda one, times: change(one, times) if times > 1 else taking(one, times)
    binding = {"streams.ibm.com/host-binding": "nodeAffinity"}
    one = asking("p", SPACE, 'host("node-1"), hostColocation("near")', labels=JOB, annotations=binding)
    assert asked(admin, one) == {"/mutate": 2, "/validate": 1}


def test_what_does_not_concern_us_may_be_changed(admin: Api, server: SecondWebhook) -> None:
    server.change = marking
    assert asked(admin, asking("p", SPACE, labels=JOB)) == {"/mutate": 2}
