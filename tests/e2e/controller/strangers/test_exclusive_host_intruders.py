"""No other pod runs on an exclusive host that the controller has given to a pool, whatever is written into it."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.builders import typed
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.tenant import by_policy, refusal, tenant
from tests.e2e.client.api import JSON_PATCH, Api, Object
from tests.e2e.controller.pools import create_pool, exclusive, hosts, pools, wait_for, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod, pod_spec
from webhook.admission.seal import seal
from webhook.placement.text.keys import EXCLUSIVE, JOB, SEAL
from webhook.placement.text.keys import exclusive as exclusive_value

OWNER: Final = "owner"
SPACE: Final = "round"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
POOL: Final = f"{pools(OWNER)}/mine"
GUARD: Final = 'admission webhook "guard.placement.streams.ibm.com" denied the request: '
DECIDED: Final = 'admission webhook "pods.placement.streams.ibm.com" denied the request: '
NOT_YOURS: Final = "only the webhook writes this label; leave it out, or copy the annotations of its pod as well"
LATER: Final = 'admission webhook "tolerations.placement.streams.ibm.com" denied the request: '
ADDED: Final = (
    "a toleration of streams.ibm.com/exclusive cannot be added to a pod: name the HostPool when you create it"
)
OURS: Final = {"key": EXCLUSIVE, "operator": "Exists"}
EVERYTHING: Final = {"operator": "Exists"}


@pytest.fixture(scope="module")
def user(plane: ControlPlane, installed: Kubelet) -> Iterator[Api]:
    """Somebody with every right on the pods of another namespace; one of them runs."""
    del installed
    admin = plane.admin
    admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OWNER}})
    wait_for(admin, create_pool(admin, exclusive("mine", OWNER, 2, name="P")))
    other = tenant(plane, SPACE)
    other.create(pod("plain", SPACE))
    until(lambda: is_ready(other.get(f"{PODS}/plain")), "it runs")
    until(lambda: other.send("POST", f"{PODS}?dryRun=All", pod("p", SPACE, onto(admin))).code == 403, "all know")
    yield other
    admin.delete(POOL)
    wait_until_gone(admin, POOL)


def onto(admin: Api) -> Object:
    """A pod's spec that names the first host of the pool."""
    return pod_spec(nodeName=hosts(admin.get(POOL))[0])


def test_a_pod_that_names_the_host_is_refused(user: Api, admin: Api) -> None:
    answer = user.send("POST", PODS, pod("p", SPACE, onto(admin)))
    assert (answer.code, answer.message) == (403, f"{GUARD}spec.nodeName: the node is exclusive to another HostPool")


def test_a_pod_that_says_it_is_a_static_one_is_refused(user: Api, admin: Api) -> None:
    """The annotation of static pods, which any user can write, is believed of kubelets alone."""
    answer = user.send("POST", PODS, pod("p", SPACE, onto(admin), annotations={"kubernetes.io/config.mirror": "x"}))
    assert (answer.code, answer.message) == (403, f"{GUARD}spec.nodeName: the node is exclusive to another HostPool")


def test_one_that_tolerates_the_taint_is_refused_as_well(user: Api, admin: Api) -> None:
    spec = pod_spec(nodeName=onto(admin)["nodeName"], tolerations=[OURS])
    answer = user.send("POST", PODS, pod("p", SPACE, spec, annotations={"kubernetes.io/config.mirror": "x"}))
    assert answer.code == 403


@pytest.mark.parametrize("fits", [True, False], ids=["fits", "does not fit"])
def test_a_pod_with_a_seal_that_its_user_wrote_is_refused(user: Api, *, fits: bool) -> None:
    """Anybody can compute one that fits; a pod that asks for nothing has none."""
    plain = pod("p", SPACE, pod_spec(tolerations=[EVERYTHING]))
    forged = pod("p", SPACE, plain["spec"], labels={SEAL: seal(typed(plain), {}, ()) if fits else "1"})
    answer = user.send("POST", f"{PODS}?dryRun=All", forged)
    assert (answer.code, answer.message) == (422, f"{DECIDED}metadata.labels[{SEAL}]: {NOT_YOURS}")


def test_static_pods_of_the_host_itself_are_shown(plane: ControlPlane, admin: Api) -> None:
    """Whatever they tolerate: a node becomes ready with these."""
    node = admin.get("/api/v1/nodes/node-1")["metadata"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": node["uid"], "controller": True}
    mirrored = {"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}
    spec = pod_spec(nodeName="node-1", tolerations=[EVERYTHING, OURS])
    assert plane.api("node").send("POST", f"{PODS}?dryRun=All", pod("static", SPACE, spec, **mirrored)).code == 201


def test_a_pod_that_tolerates_the_taint_is_refused(user: Api) -> None:
    answer = user.send("POST", PODS, pod("p", SPACE, pod_spec(tolerations=[OURS])))
    assert answer.code == 403
    assert "spec.tolerations: only the webhook tolerates streams.ibm.com/exclusive" in answer.message


def test_a_pod_that_tolerates_the_taint_of_the_pool_is_refused(user: Api) -> None:
    own = {"key": EXCLUSIVE, "value": exclusive_value(OWNER, "mine"), "effect": "NoSchedule"}
    answer = user.send(
        "POST", PODS, asking("p", SPACE, "host($default)", pod_spec(tolerations=[own]), labels={JOB: "j"})
    )
    assert answer.code == 422
    assert "spec.tolerations[0]: only the webhook tolerates streams.ibm.com/exclusive" in answer.message


def test_a_pod_that_tolerates_everything_is_refused(user: Api) -> None:
    answer = user.send("POST", PODS, pod("p", SPACE, pod_spec(tolerations=[EVERYTHING])))
    said = "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
    assert (answer.code, answer.message) == (403, f"{GUARD}spec.tolerations[0]: {said}")


def test_a_pod_that_names_the_pool_of_another_namespace_is_refused(user: Api) -> None:
    answer = user.send("POST", PODS, asking("p", SPACE, "host(P)", labels={JOB: "j"}))
    assert answer.code == 403
    assert 'this namespace has no HostPool "P" that the pod may use' in answer.message


@pytest.mark.parametrize(
    ("toleration", "said"),
    [
        (OURS, by_policy('pods "plain"', "protected", f"spec.tolerations: {ADDED}")),
        (EVERYTHING, f"{LATER}spec.tolerations[2]: {ADDED}"),
    ],
    ids=["the taint", "everything"],
)
def test_a_pod_that_runs_cannot_begin_to_tolerate(user: Api, toleration: Object, said: str) -> None:
    change = [{"op": "add", "path": "/spec/tolerations/-", "value": toleration}]
    assert refusal(user, f"{PODS}/plain", "PATCH", f"{PODS}/plain", change, JSON_PATCH) == said


def test_pods_of_the_pool_run_on_its_hosts_all_the_while(admin: Api) -> None:
    admin.create(asking("own", OWNER, "host(P)", labels={JOB: "j"}))
    path = f"/api/v1/namespaces/{OWNER}/pods/own"
    until(lambda: is_ready(admin.get(path)), "it runs")
    assert admin.get(path)["spec"]["nodeName"] in hosts(admin.get(POOL))
    admin.delete(path, gracePeriodSeconds="0")
