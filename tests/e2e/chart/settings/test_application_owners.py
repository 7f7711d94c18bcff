"""A tenant's pod that claims to be of a FlinkDeployment, by owner and labels, is a plain pod: it does not wait."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.exclusive import exclusive_pool
from tests.e2e.chart.kubectl_apply import denied
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.chart.settings.test_applications import refused_anew
from tests.e2e.chart.tenant import tenant
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.polling import until
from tests.e2e.workloads import pod_spec

SPACE: Final = "owners"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
WAITS: Final = "streams.ibm.com/waits"
OPERATOR: Final = "kubernetes-admin"
"""The user of this plane that plays the operator: the chart names it in ``workloads.accounts``."""

DEFINITION: Final = open_definition("flink.apache.org", "FlinkDeployment", "v1beta1")

TOO_LARGE: Final = pod_spec()
TOO_LARGE["containers"][0]["resources"] = {"requests": {"cpu": "5000"}}


def flink(name: str, slots: int) -> Object:
    metadata = {
        "labels": {"streams.ibm.com/job": name},
        "annotations": {"streams.ibm.com/placement": 'hostExlocation("slots")'},
    }
    return {
        "apiVersion": "flink.apache.org/v1beta1",
        "kind": "FlinkDeployment",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {
            "taskManager": {"podTemplate": {"metadata": metadata}, "resource": {"cpu": 0.1}},
            "jobManager": {"resource": {"cpu": 0.1}},
            "job": {"parallelism": slots},
        },
    }


@pytest.fixture(scope="module")
def user(upgraded: Upgraded, plane: ControlPlane) -> Iterator[Api]:
    """Somebody with every right on the pods of the namespace, where FlinkDeployments are reviewed."""
    jane = tenant(plane, SPACE)
    upgraded({"workloads": {"kinds": ["FlinkDeployment"], "accounts": [OPERATOR]}})
    plane.admin.create(DEFINITION)
    until(lambda: refused_anew(plane, flink("probe", 99)), "the kind is served and reviewed", 60)
    with exclusive_pool(plane.admin, SPACE):
        yield jane


@pytest.fixture(scope="module")
def owner(user: Api, admin: Api) -> Object:
    """A reference to a FlinkDeployment that was judged, and is stored."""
    del user
    uid = admin.create(flink("count", 1))["metadata"]["uid"]
    return {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "name": "count", "uid": uid}


@pytest.fixture(scope="module")
def admin(plane: ControlPlane) -> Api:
    return plane.admin


def task_manager(owner: Object, spec: Object = TOO_LARGE, **metadata: Any) -> Object:
    """A pod as the JobManager of Flink makes it; no node is large enough for it now."""
    labels = {
        "app": "count",
        "component": "taskmanager",
        "type": "flink-native-kubernetes",
        "streams.ibm.com/job": "count",
    }
    return asking("p", SPACE, 'hostExlocation("slots")', spec, labels=labels, ownerReferences=[owner], **metadata)


def test_the_operator_s_pod_waits(admin: Api, owner: Object) -> None:
    made = admin.create(task_manager(owner), dryRun="All")
    assert made["metadata"]["annotations"][WAITS]


def test_a_tenant_s_pod_with_the_same_owner_and_labels_is_refused(user: Api, owner: Object) -> None:
    answer = user.send("POST", f"{PODS}?dryRun=All", task_manager(owner))
    assert answer.code == 403
    assert answer.message.startswith(f"{denied('pods')}requests cpu 5k cannot hold: 0 of 3 nodes can run this pod.")


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"uid": "11111111-1111-1111-1111-111111111111"}, id="of another uid"),
        pytest.param({"name": "nothing"}, id="that does not exist"),
        pytest.param({"apiVersion": "flink.apache.org/v1"}, id="of a version that is not served"),
        pytest.param({"kind": "FlinkSessionJob"}, id="of a kind that is not reviewed"),
    ],
)
def test_nor_does_a_pod_of_an_owner_that_is_made_up_wait(admin: Api, owner: Object, changed: dict[str, str]) -> None:
    """Also where the operator creates it: the account alone creates other pods, too."""
    assert admin.send("POST", f"{PODS}?dryRun=All", task_manager({**owner, **changed})).code == 403


def test_as_an_application_s_pod_none_gets_onto_exclusive_hosts(user: Api, admin: Api, owner: Object) -> None:
    everything = task_manager(owner, pod_spec(tolerations=[{"operator": "Exists"}]))
    for api in (user, admin):
        answer = api.send("POST", f"{PODS}?dryRun=All", everything)
        assert (answer.code, "exclusive to another HostPool" in answer.message) == (403, True)
