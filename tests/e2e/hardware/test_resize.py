"""The cpu of a worker with CPU binding cannot be resized; its memory can, as long as the QoS class stays the same."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.tenant import by_policy, tenant
from tests.e2e.client.api import MERGE, STRATEGIC, Answer, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import container, made_of, pods
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod
from webhook.placement.text import keys

SPACE: Final = "resized"
PODS: Final = pods(SPACE)

TWO: Final = {"cpu": "2", "memory": "1Gi"}
SMALL: Final = {"cpu": "100m", "memory": "64Mi"}
KEPT: Final = f"cpu cannot be changed: {keys.BIND} gives this pod exclusive cores; create a new pod"
CLASS: Final = (
    'Pod "bound" is invalid: spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing'
)


@pytest.fixture(scope="module")
def user(installed: object, plane: ControlPlane) -> Iterator[Api]:  # noqa: ARG001 -- after it
    """Somebody who may do anything to these pods."""
    yield tenant(plane, SPACE)
    done = plane.kubectl("delete", "pods", "--all", "--namespace", SPACE, "--timeout=240s")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def bound(user: Api) -> str:
    """A worker that is bound, with a sidecar beside it and one that starts before it."""
    return started(user, "bound", {keys.BIND: "true", keys.CONTAINER: "worker"})


@pytest.fixture(scope="module", params=["false", None], ids=["bound: false", "nothing said"])
def free(user: Api, request: pytest.FixtureRequest) -> str:
    """A worker that is not."""
    said = {} if request.param is None else {keys.BIND: request.param}
    return started(user, f"free-{request.param or 'unsaid'}".lower(), said)


def started(user: Api, name: str, annotations: dict[str, str]) -> str:
    """The path of such a pod when it runs, and says what its containers have, as kubelets that can resize do."""
    first = {**container("proxy", requests=SMALL, limits=SMALL), "restartPolicy": "Always"}
    spec = made_of(
        container("worker", requests=TWO, limits=TWO),
        container("sidecar", requests=SMALL, limits=SMALL),
        initContainers=[first],
    )
    user.create(pod(name, SPACE, spec, annotations=annotations))
    path = f"{PODS}/{name}"
    until(lambda: is_ready(user.get(path)), f"{name} is ready", 60)
    found = user.get(path)
    has = {one["name"]: one["resources"] for one in found["spec"]["containers"]}
    statuses = [{**one, "resources": has[one["name"]]} for one in found["status"]["containerStatuses"]]
    (state,) = {one["name"]: one["state"] for one in statuses if one["name"] == "worker"}.values()
    own = {"name": "proxy", "image": first["image"], "imageID": "", "ready": True, "restartCount": 0, "started": True}
    proxy = {**own, "state": state, "resources": first["resources"]}
    user.patch(f"{path}/status", {"status": {"containerStatuses": statuses, "initContainerStatuses": [proxy]}})
    return path


def resized(user: Api, path: str, name: str, kind: str = "containers", **resources: Any) -> Answer:
    """What ``kubectl patch --subresource resize`` would be told; nothing is changed."""
    change = {"spec": {kind: [{"name": name, "resources": resources}]}}
    return user.send("PATCH", f"{path}/resize?dryRun=All", change, content=STRATEGIC)


def refusal(part: str) -> str:
    """What the policy says about a part of the pod whose cpu would change."""
    return by_policy('pods "bound"', "protected", f"{part}: {KEPT}")


def both(**amounts: str) -> Object:
    return {"requests": amounts, "limits": amounts}


CHANGED: Final[dict[str, tuple[str, str, Object]]] = {
    "more cores": ("containers", "worker", both(cpu="3")),
    "fewer cores": ("containers", "worker", both(cpu="1")),
    "more cores and memory": ("containers", "worker", both(cpu="3", memory="2Gi")),
    "a part of a core": ("containers", "worker", both(cpu="1500m")),
    "more for the sidecar": ("containers", "sidecar", both(cpu="200m")),
    "more for the one that starts before": ("initContainers", "proxy", both(cpu="200m")),
}


@pytest.mark.parametrize(("kind", "name", "change"), CHANGED.values(), ids=CHANGED.keys())
def test_the_cores_of_a_bound_worker_cannot_be_resized(
    user: Api, bound: str, kind: str, name: str, change: Object
) -> None:
    answer = resized(user, bound, name, kind, **change)
    assert (answer.code, answer.message) == (403, refusal(f"container {name}"))


@pytest.mark.usefixtures("bound")
def test_kubectl_prints_why(plane: ControlPlane) -> None:
    change = json.dumps({"spec": {"containers": [{"name": "worker", "resources": both(cpu="3")}]}})
    where = ("bound", "--namespace", SPACE, "--subresource", "resize", "--patch", change)
    done = plane.kubectl("patch", "pod", *where, user="user")
    assert (done.returncode, done.stderr) == (1, f"Error from server (Forbidden): {refusal('container worker')}\n")


@pytest.mark.parametrize("part", ["requests", "limits"])
def test_nor_one_of_requests_and_limits(user: Api, bound: str, part: str) -> None:
    """The API server looks first: it lets no pod change its class."""
    answer = resized(user, bound, "worker", **{part: {"cpu": "1" if part == "requests" else "3"}})
    assert (answer.code, answer.message) == (422, CLASS)


def test_it_makes_no_difference_to_say_that_it_was_never_bound(user: Api, bound: str) -> None:
    change = {
        "metadata": {"annotations": {keys.BIND: None}},
        "spec": {"containers": [{"name": "worker", "resources": both(cpu="3")}]},
    }
    answer = user.send("PATCH", f"{bound}/resize", change, content=STRATEGIC)
    assert (answer.code, answer.message) == (403, refusal("container worker"))


def test_nor_to_replace_all_of_it(user: Api, bound: str) -> None:
    found = user.get(bound)
    found["spec"]["containers"][0]["resources"] = both(cpu="3", memory="1Gi")
    found["metadata"]["annotations"] = {}
    answer = user.send("PUT", f"{bound}/resize", found)
    assert (answer.code, answer.message) == (403, refusal("container worker"))


def test_resources_of_the_pod_as_a_whole_cannot_come_in_between(user: Api, admin: Api, bound: str) -> None:
    """Beside them the kubelet would not count those of containers."""
    node = f"/api/v1/nodes/{user.get(bound)['spec']['nodeName']}"
    admin.patch(f"{node}/status", {"status": {"declaredFeatures": ["InPlacePodLevelResourcesVerticalScaling"]}})
    change = {"spec": {"resources": both(cpu="4", memory="4Gi")}}
    answer = user.send("PATCH", f"{bound}/resize?dryRun=All", change, content=MERGE)
    assert (answer.code, answer.message) == (403, refusal("the pod as a whole"))


SAME: Final[dict[str, Object]] = {
    "the same": both(cpu="2"),
    "the same in thousandths": both(cpu="2000m"),
    "more memory": both(memory="2Gi"),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME.keys())
def test_a_bound_worker_can_be_given(user: Api, bound: str, change: Object) -> None:
    answer = resized(user, bound, "worker", **change)
    assert answer.code == 200, answer.message


def test_all_that_would_change_is_named(user: Api, bound: str) -> None:
    change = {"containers": [{"name": name, "resources": both(cpu="3")} for name in ("worker", "sidecar")]}
    answer = user.send("PATCH", f"{bound}/resize?dryRun=All", {"spec": change}, content=STRATEGIC)
    assert (answer.code, answer.message) == (403, refusal("container worker, container sidecar"))


def test_memory_whose_request_would_not_be_its_limit_is_refused_by_the_api_server(user: Api, bound: str) -> None:
    answer = resized(user, bound, "worker", limits={"memory": "2Gi"})
    assert (answer.code, answer.message) == (422, CLASS)


def test_workers_that_are_not_bound_can_be_resized(user: Api, free: str) -> None:
    answer = resized(user, free, "worker", **both(cpu="3"))
    assert answer.code == 200, answer.message
