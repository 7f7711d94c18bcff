"""What is added to the pod of a template is what a real API server adds to it, and so is what is refused."""

import random
from typing import Any

import msgspec
import pytest

from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.live.completed_templates import CLASSES, SPACES, limit_ranges, template
from tests.e2e.polling import until
from tests.e2e.workloads import namespace
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import Pod, PodSpec, Resources
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.kube.requests import pod_requests
from webhook.placement.pod_defaults.completed_pod import CompletedPod
from webhook.placement.pod_defaults.limit_range import with_defaults
from webhook.placement.text.problem import Problem

COUNT = 240


@pytest.fixture(scope="module")
def inventory(core: BarePlane) -> Inventory:
    """The objects by which pods are completed, on the plane and in an inventory."""
    admin = core.admin
    for space in SPACES:
        namespace(admin, space)
    made = [admin.create(one) for one in (*CLASSES, *limit_ranges())]
    found = Inventory()
    found.pod_defaults.closed = True
    loader = SnapshotLoader(found)
    loader.begin("plane")
    for one in made:
        loader.document(one)
    assert not loader.report().skipped
    until(lambda: _seen(admin), "the API server's own watches have brought all of them")
    return found


def _seen(admin: Api) -> bool:
    """Whether the API server completes pods by the last objects that were made."""
    probe: Object = {"containers": [{"name": "c", "image": "i"}], "runtimeClassName": "anywhere"}
    try:
        found = admin.create(_pod("several", probe), dryRun="All")["spec"]
    except RefusedError:
        return False
    limits = found["containers"][0].get("resources", {}).get("limits", {})
    return found["priority"] == 10 and limits == {"cpu": "1", "memory": "2Gi"}


def _pod(space: str, spec: Object) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": space}, "spec": spec}


def decisive(spec: PodSpec) -> dict[str, Any]:
    """What of a spec the API server completes, with amounts as numbers."""

    def numbers(amounts: dict[str, Any] | None) -> dict[str, int | None]:
        return {name: parse_quantity(amount) for name, amount in (amounts or {}).items()}

    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    resources = [one.resources or Resources() for one in containers]
    return {
        "containers": [(numbers(one.requests), numbers(one.limits)) for one in resources],
        "overhead": numbers(spec.overhead),
        "requests": pod_requests(spec)[0],
        "nodeSelector": spec.node_selector or {},
        "tolerations": spec.tolerations,
        "priority": (spec.priority, spec.priority_class_name, spec.preemption_policy),
    }


def wrong(found: CompletedPod) -> list[Problem]:
    assert found.spec
    return [*found.problems, *found.out_of_bounds(found.spec)]


@pytest.mark.parametrize("space", SPACES)
def test_random_templates_are_completed_as_the_api_server_completes_them(
    core: BarePlane, inventory: Inventory, space: str
) -> None:
    chance = random.Random(space)  # noqa: S311 -- the same templates in every run
    refused = 0
    for _ in range(COUNT // len(SPACES)):
        spec = template(chance)
        pod = msgspec.convert(_pod(space, spec), Pod)
        ours = inventory.pod_defaults.completed(pod, space)
        stored, refusal = _created(core.admin, _pod(space, spec))
        if stored is None:
            refused += 1
            # What is wrong with the template itself, the API server says when the workload is submitted.
            assert wrong(ours) or not _created(core.admin, _workload(spec))[0], (spec, refusal)
            continue
        assert not wrong(ours), (spec, wrong(ours))
        assert ours.spec
        # Whether a request is stated or follows from the limit is the same for all who read requests.
        assert decisive(with_defaults(ours.spec, ())) == decisive(msgspec.convert(stored, Pod).spec or PodSpec()), spec
    assert 0 < refused < COUNT // len(SPACES)


def _created(admin: Api, thing: Object) -> tuple[Object | None, str]:
    """What the API server would store, or why it would not."""
    try:
        return admin.create(thing, dryRun="All"), ""
    except RefusedError as error:
        return None, str(error)


def _workload(spec: Object) -> Object:
    labels = {"app": "x"}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "w", "namespace": "plain"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }
