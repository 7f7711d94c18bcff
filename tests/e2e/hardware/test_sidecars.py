"""Another webhook adds a sidecar to a worker with CPU binding: one without limits would cost the worker its cores."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.counters import counted
from tests.e2e.chart.reviews.second_webhook import Change, SecondWebhook, registered, serving
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import asked, container, made_of, resources, space
from tests.e2e.workloads import pod
from webhook.placement.text import keys

pytestmark = pytest.mark.usefixtures("order")

SPACE: Final = "sidecars"

# Configurations run in the order of their names; ours begins with "zz-".
AFTER: Final = pytest.param("zzz-mesh", id="after us")
ORDERS: Final = [pytest.param("aa-mesh", id="before us"), AFTER]

WORKER: Final = container("worker", requests={"cpu": "2", "memory": "1Gi"})
SMALL: Final = {"cpu": "100m", "memory": "64Mi"}

CAUGHT: Final = (
    'admission webhook "pods.placement.streams.ibm.com" denied the request: '
    f'metadata.annotations[{keys.BIND}]: container "sidecar" has no cpu limit; '
    "kubelets assign exclusive cores only if every container has cpu and memory limits equal to its requests"
)

SHARED: Final = 'the 2 cpus of container "worker" are not exclusive: container "sidecar" has no cpu limit'


@pytest.fixture(scope="module")
def server(installed: object, plane: ControlPlane) -> Iterator[SecondWebhook]:  # noqa: ARG001 -- after it
    with space(plane, SPACE), serving() as running:
        yield running


@pytest.fixture(params=ORDERS)
def order(server: SecondWebhook, admin: Api, request: pytest.FixtureRequest) -> Iterator[None]:
    with registered(admin, server, request.param, SPACE):
        yield


def adding(**resources: Any) -> Change:
    """Add a sidecar with such resources, once."""

    def add(one: Object, _times: int) -> None:
        containers = one["spec"]["containers"]
        if len(containers) == 1:
            containers.append(container("sidecar", **resources))

    return add


def bound(value: str = "true") -> Object:
    return pod("w", SPACE, made_of(WORKER), annotations={keys.BIND: value, keys.CONTAINER: "worker"})


@pytest.mark.parametrize("resources", [{}, {"requests": SMALL}], ids=["nothing", "requests alone"])
def test_a_sidecar_without_limits_is_refused_by_name(admin: Api, server: SecondWebhook, resources: Object) -> None:
    server.change = adding(**resources)
    answer = asked(admin, bound())
    assert (answer.code, answer.message) == (422, CAUGHT)


@pytest.mark.parametrize("order", [AFTER], indirect=True)
def test_one_that_comes_after_us_is_caught_when_we_are_asked_again(admin: Api, server: SecondWebhook) -> None:
    before = counted(admin, "reviews_total", "path", "outcome")
    server.change = adding()
    assert asked(admin, bound()).code == 422
    answered = counted(admin, "reviews_total", "path", "outcome") - before
    assert answered == {("/mutate", "patched"): 1, ("/mutate", "denied"): 1}


def test_a_sidecar_with_limits_is_admitted_and_the_worker_has_its_cores(admin: Api, server: SecondWebhook) -> None:
    server.change = adding(limits=SMALL)
    answer = asked(admin, bound())
    assert answer.code == 201, answer.message
    assert [one["name"] for one in answer.body["spec"]["containers"]] == ["worker", "sidecar"]
    own = {"cpu": "2", "memory": "1Gi"}
    assert resources(answer.body, "worker") == {"requests": own, "limits": own}
    assert answer.body["status"]["qosClass"] == "Guaranteed"


def test_a_worker_that_is_not_bound_may_have_any(admin: Api, server: SecondWebhook) -> None:
    server.change = adding()
    answer = asked(admin, bound("false"))
    assert (answer.code, answer.warnings) == (201, ())


def test_cores_that_are_only_required_are_admitted_with_a_warning(admin: Api, server: SecondWebhook) -> None:
    server.change = adding()
    both = "requests: 2, limits: 2"
    text = (
        f"[{{name: cpu, {both}, container-name: worker}}, {{name: memory, {both}, units: Gi, container-name: worker}}]"
    )
    answer = asked(admin, pod("w", SPACE, made_of(container("worker")), annotations={keys.HARDWARE: text}))
    assert (answer.code, answer.warnings) == (201, (SHARED,))
