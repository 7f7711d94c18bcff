"""With ``scaleUp`` pods wait for a NodePool that can make a node for them, and are refused if none can."""

import json
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.kubectl_apply import FORBIDDEN, applied, refusal
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, namespace

SPACE: Final = "autoscaled"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
APPS: Final = f"/apis/apps/v1/namespaces/{SPACE}"
MADE: Final = ("made-0", "made-1")
DEFINITIONS: Final = tuple(
    f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    for name in ("nodepools.karpenter.sh", "jobsets.jobset.x-k8s.io")
)
SECONDS: Final = 60
DEFINITION: Final = open_definition("karpenter.sh", "NodePool", "v1", scope="Cluster")
JOBSETS: Final = open_definition("jobset.x-k8s.io", "JobSet", "v1alpha2", approved="unapproved, for a test")
STORED: Final = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{SPACE}/jobsets"

POOL: Final[Object] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "fast"},
    "spec": {
        "template": {"spec": {"requirements": [{"key": "disktype", "operator": "In", "values": ["nvme"]}]}},
        "limits": {"cpu": "24"},
    },
    "status": {"resources": {"cpu": "8"}},
}


@pytest.fixture(scope="module", autouse=True)
def _scaled(upgraded: Upgraded, plane: ControlPlane) -> Iterator[None]:
    """A NodePool, and the chart with ``scaleUp``, which reviews JobSets; no controller makes anything of these."""
    namespace(plane.admin, SPACE)
    plane.admin.create(DEFINITION)
    plane.admin.create(JOBSETS)
    until(
        lambda: plane.kubectl("apply", "--filename", "-", stdin=json.dumps(POOL)).returncode == 0, "NodePools", SECONDS
    )
    upgraded({"settings": {"scaleUp": "auto"}, "workloads": {"kinds": ["JobSet"]}})
    until(lambda: plane.admin.send("GET", STORED).code == 200, "JobSets", SECONDS)
    yield
    for path in (f"{APPS}/deployments/waits", *(f"/api/v1/nodes/{name}" for name in MADE), *DEFINITIONS):
        plane.admin.delete(path)
    until(lambda: not any(map(plane.admin.find, DEFINITIONS)), "the definitions are gone", SECONDS)


def apart(name: str, replicas: int, disk: str = "nvme", cpu: str = "4") -> Object:
    """A Deployment whose pods are on nodes of their own, with such a disk."""
    labels = {"streams.ibm.com/job": name}
    annotations = {"streams.ibm.com/placement": 'hostExlocation("apart")'}
    found = deployment(name, SPACE, replicas, labels=labels, annotations=annotations)
    found["spec"]["strategy"] = {"type": "Recreate"}
    spec = found["spec"]["template"]["spec"]
    spec["nodeSelector"] = {"disktype": disk}
    spec["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return found


def pods(admin: Api, name: str) -> list[Object]:
    found: list[Object] = admin.get(PODS, labelSelector=f"app={name}")["items"]
    return found


def test_pods_wait_and_run_on_the_nodes_that_are_made(plane: ControlPlane, admin: Api) -> None:
    said = applied(plane, apart("waits", 2))
    assert "no node yet: NodePool fast can make one if its nodes have cpu 4" in said
    until(lambda: len(pods(admin, "waits")) == 2, "its pods are made", SECONDS)
    assert [one["spec"].get("nodeName") for one in pods(admin, "waits")] == [None, None]
    labels = {"disktype": "nvme", "karpenter.sh/nodepool": "fast"}
    create_nodes(admin, [node(name, labels) for name in MADE])
    until(lambda: sum(map(is_ready, pods(admin, "waits"))) == 2, "they run", SECONDS)
    assert sorted(one["spec"]["nodeName"] for one in pods(admin, "waits")) == [*MADE]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        pytest.param(
            apart("misspelt", 1, disk="nvem"),
            "NodePool fast makes no nodes with disktype=nvem (it makes nvme)",
            id="label",
        ),
        pytest.param(apart("large", 1, cpu="20"), "NodePool fast has cpu 16 left of its limits", id="size"),
    ],
)
def test_what_no_node_pool_makes_is_refused(plane: ControlPlane, found: Object, why: str) -> None:
    assert why in refusal(plane, found, FORBIDDEN)


def jobset(name: str, pods: int, disk: str = "nvme", cpu: str = "4") -> Object:
    """A JobSet with the pods of such a Deployment as its workers, and a driver that any node can run."""
    template = apart(name, pods, disk, cpu)["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    driver = {"metadata": {"labels": template["metadata"]["labels"]}, "spec": {"containers": [container]}}
    jobs = (("workers", pods, template), ("driver", 1, driver))
    spec = [
        {"name": job, "template": {"spec": {"parallelism": count, "completions": count, "template": of}}}
        for job, count, of in jobs
    ]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {"replicatedJobs": spec},
    }


@pytest.mark.parametrize(
    ("found", "why"),
    [
        pytest.param(
            jobset("set-misspelt", 1, disk="nvem"),
            "NodePool fast makes no nodes with disktype=nvem (it makes nvme)",
            id="label",
        ),
        pytest.param(jobset("set-large", 1, cpu="20"), "NodePool fast has cpu 16 left of its limits", id="size"),
        pytest.param(jobset("set-many", 9), "NodePool fast has cpu 16 left of its limits", id="count"),
    ],
)
def test_an_application_that_no_node_pool_can_run_is_refused(
    plane: ControlPlane, admin: Api, found: Object, why: str
) -> None:
    assert why in refusal(plane, found, FORBIDDEN, hook="applications")
    assert admin.find(f"{STORED}/{found['metadata']['name']}") is None


def test_an_application_that_waits_for_new_nodes_is_stored_with_a_warning(plane: ControlPlane, admin: Api) -> None:
    """How many of its workers wait depends on the nodes that were made; its driver fits on one of those there are."""
    said = applied(plane, jobset("set", 3))
    assert "Warning: no room yet for " in said
    assert "of 4 pods (job workers): node groups can make " in said
    assert "of NodePool fast" in said
    assert admin.find(f"{STORED}/set") is not None


def test_a_node_pool_that_is_deleted_makes_no_more_nodes(plane: ControlPlane) -> None:
    done = plane.kubectl("delete", "nodepool", "fast")
    assert done.returncode == 0, done.stderr

    def refused() -> bool:
        """Whether the webhook knows."""
        asked = plane.kubectl("apply", "--dry-run=server", "--filename", "-", stdin=json.dumps(apart("late", 9)))
        return "NodePool" not in asked.stderr and "cannot" in asked.stderr

    until(refused, "it is refused as if there had been none", SECONDS)
