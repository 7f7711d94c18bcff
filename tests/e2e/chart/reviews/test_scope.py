"""Which objects reach the webhook and which never do, by the counters of its processes."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import pytest

from tests.e2e.chart.placement_pods import PLACEMENT, asking, reviews
from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.client.api import JSON_PATCH, Api, Object, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.workloads import deployment, namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "scope"
INJECTED: Final = "scope-injected"
POOLS: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools"
DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
JOBS: Final = f"/apis/batch/v1/namespaces/{SPACE}/jobs"
TEMPLATES: Final = f"/api/v1/namespaces/{SPACE}/podtemplates"
CRON_JOBS: Final = f"/apis/batch/v1/namespaces/{SPACE}/cronjobs"
EVERYTHING: Final = {"tolerations": [{"operator": "Exists"}]}
ONE_THING: Final = {"tolerations": [{"key": "x", "operator": "Exists"}]}
PE: Final = {"streams.ibm.com/job": "j", "streams.ibm.com/pe": "p"}
ASKS: Final = {PLACEMENT: 'host("node-1")'}

Action: TypeAlias = Callable[[Api], Any]


@pytest.fixture(scope="module", autouse=True)
def _spaces(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    admin = plane.admin
    namespace(admin, SPACE)
    namespace(admin, INJECTED, **{"streams.ibm.com/inject": "enabled"})
    admin.create(pod("there", SPACE))
    admin.create(deployment("plain", SPACE, replicas=0))
    admin.create(deployment("asks", SPACE, replicas=0, annotations=ASKS))
    admin.create(deployment("tolerates", SPACE, replicas=0, spec=pod_spec(**EVERYTHING)))
    suspended = cron_job("suspended", **ASKS)
    suspended["spec"]["suspend"] = suspended["spec"]["jobTemplate"]["spec"]["suspend"] = True
    admin.create(suspended)
    waiting = job("suspended", **ASKS)
    waiting["spec"]["suspend"] = True
    admin.create(waiting)
    running = job("runs", **ASKS)
    running["spec"]["parallelism"] = 0  # so that no pod of it is reviewed while the tests count
    admin.create(running)
    admin.create(pod_template("plain"))
    admin.create(pod_template("asks", annotations=ASKS))
    admin.call("POST", POOLS, pool("there"))


def created(thing: Object) -> Action:
    return lambda api: api.create(thing, dryRun="All")


def changed(path: str, change: Object) -> Action:
    return lambda api: api.patch(f"{path}?dryRun=All", change)


def tolerating_more() -> Action:
    change = [{"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}]
    path = f"/api/v1/namespaces/{SPACE}/pods/there?dryRun=All"
    return lambda api: api.patch(path, change, content=JSON_PATCH)


def pool(name: str) -> Object:
    meta = {"name": name, "namespace": SPACE}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": meta, "spec": {"size": 1}}


def daemon(name: str, space: str) -> Object:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "0", "controller": True}
    return pod(name, space, pod_spec(**EVERYTHING), ownerReferences=[owner])


def mirror(name: str) -> Object:
    return asking(name, SPACE, spec=pod_spec(nodeName="node-1"), annotations={"kubernetes.io/config.mirror": "x"})


def static(name: str, **metadata: Any) -> Object:
    """The image of a static pod of node-1, which asks for nothing."""
    mirrored = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    return pod(name, SPACE, pod_spec(nodeName="node-1", **EVERYTHING), **mirrored, **metadata)


def job(name: str, **annotations: str) -> Object:
    template = {"metadata": {"annotations": annotations}, "spec": pod_spec(restartPolicy="Never")}
    meta = {"name": name, "namespace": SPACE}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}}


def cron_job(name: str, **annotations: str) -> Object:
    spec = {"schedule": "0 0 * * *", "jobTemplate": {"spec": job(name, **annotations)["spec"]}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name, "namespace": SPACE}, "spec": spec}


def itself(thing: Object, **annotations: str) -> Object:
    """The workload with annotations of its own."""
    return {**thing, "metadata": {**thing["metadata"], "annotations": annotations}}


def of_runs(**annotations: str) -> Object:
    """A CronJob with annotations of its Jobs."""
    found = cron_job("c")
    found["spec"]["jobTemplate"]["metadata"] = {"annotations": annotations}
    return found


def controller(**template: Any) -> Object:
    """A ReplicationController."""
    spec = {"replicas": 1, "selector": {"app": "r"}, "template": deployment("r", SPACE, **template)["spec"]["template"]}
    meta = {"name": "r", "namespace": SPACE}
    return {"apiVersion": "v1", "kind": "ReplicationController", "metadata": meta, "spec": spec}


def pod_template(name: str = "t", **template: Any) -> Object:
    """A PodTemplate, which has no spec."""
    found = deployment(name, SPACE, **template)["spec"]["template"]
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": name, "namespace": SPACE},
        "template": found,
    }


def refused(action: Action) -> Action:
    """The same, of something that the webhook refuses."""

    def tried(api: Api) -> None:
        with pytest.raises(RefusedError):
            action(api)

    return tried


def owned(thing: Object, kind: str) -> Object:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "x", "uid": "0", "controller": True}
    return {**thing, "metadata": {**thing["metadata"], "ownerReferences": [owner]}}


def daemon_set() -> Object:
    """A DaemonSet of others whose pods tolerate everything."""
    found = deployment("d", SPACE, spec=pod_spec(**EVERYTHING))
    del found["spec"]["replicas"]
    return {**found, "kind": "DaemonSet"}


def replica_set() -> Object:
    return {**deployment("r", SPACE, annotations=ASKS), "kind": "ReplicaSet"}


LEASE: Final = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "probe", "namespace": "kube-node-lease"},
    "spec": {"holderIdentity": "x"},
}
CONFIG_MAP: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "kube-system"}}
BINDING: Final = {
    "apiVersion": "v1",
    "kind": "Binding",
    "metadata": {"name": "there"},
    "target": {"kind": "Node", "name": "node-1"},
}
READY: Final = {"status": {"conditions": [{"type": "Probe", "status": "True"}]}}

# Pods once: what /mutate has sealed is reviewed again only if somebody has changed it since (test_seal.py).
REVIEWED: Final[dict[str, tuple[Action, int]]] = {
    "a pod that asks": (created(asking("p", SPACE)), 1),
    "a pod that asks and says that it is a static one": (created(mirror("p")), 1),
    "a pod of a job": (created(pod("p", SPACE, labels={"streams.ibm.com/job": "j"})), 1),
    "a processing element": (created(pod("p", SPACE, labels=PE)), 1),
    "any pod of a namespace that asks": (created(pod("p", INJECTED)), 1),
    "a pod that asks in a namespace that asks": (created(asking("p", INJECTED)), 1),
    "a host pool": (lambda api: api.call("POST", f"{POOLS}?dryRun=All", pool("new")), 1),
    "a host pool whose spec changes": (changed(f"{POOLS}/there", {"spec": {"elastic": True}}), 1),
    "a Deployment whose pods ask": (created(deployment("d", SPACE, annotations=ASKS)), 1),
    "a Deployment that is scaled by itself": (changed(f"{DEPLOYMENTS}/asks", {"spec": {"replicas": 1}}), 1),
    "a ReplicaSet of its own": (created(replica_set()), 1),
    "a ReplicaSet that a user says is a Deployment's": (created(owned(replica_set(), "Deployment")), 1),
    "a batch Job whose pods ask": (created(job("j", **ASKS)), 1),
    "a CronJob whose pods ask": (created(cron_job("c", **ASKS)), 1),
    "a ReplicationController whose pods ask": (created(controller(annotations=ASKS)), 1),
    "a PodTemplate whose pods ask": (created(pod_template(annotations=ASKS)), 1),
    "a PodTemplate whose pods ask for no node there is": (
        refused(created(pod_template(annotations={PLACEMENT: 'host("nowhere")'}))), 1),
    "a PodTemplate that asks in the wrong place": (refused(created(itself(pod_template(), **ASKS))), 1),
    "a PodTemplate that begins to ask": (
        changed(f"{TEMPLATES}/plain", {"template": {"metadata": {"annotations": ASKS}}}), 1),
    "a PodTemplate that begins to ask in the wrong place": (
        refused(changed(f"{TEMPLATES}/plain", {"metadata": {"annotations": ASKS}})), 1),
    "a PodTemplate of others with a node, which no scheduler sees": (
        created(pod_template(spec=pod_spec(nodeName="node-1"))), 1),
    "a PodTemplate of others that tolerates everything": (created(pod_template(spec=pod_spec(**EVERYTHING))), 1),
    "a PodTemplate of a namespace that asks": (
        created({**pod_template(), "metadata": {"name": "t", "namespace": INJECTED}}), 1),
    "a suspended Job that is to run": (changed(f"{JOBS}/suspended", {"spec": {"suspend": False}}), 1),
    "a suspended CronJob that is to run": (changed(f"{CRON_JOBS}/suspended", {"spec": {"suspend": False}}), 1),
    "a CronJob whose runs are to run": (
        changed(f"{CRON_JOBS}/suspended", {"spec": {"jobTemplate": {"spec": {"suspend": False}}}}), 1),
    "a Deployment that asks for its pods in the wrong place": (
        refused(created(itself(deployment("d", SPACE), **ASKS))), 1),
    "a Job that asks in the wrong place": (refused(created(itself(job("j"), **ASKS))), 1),
    "a CronJob that asks in the wrong place": (refused(created(itself(cron_job("c"), **ASKS))), 1),
    "a CronJob that asks in another wrong place": (refused(created(of_runs(**ASKS))), 1),
    "a ReplicationController that asks in the wrong place": (refused(created(itself(controller(), **ASKS))), 1),
    "a Deployment that begins to ask in the wrong place": (
        refused(changed(f"{DEPLOYMENTS}/plain", {"metadata": {"annotations": {PLACEMENT: "x"}}})), 1),
    "a Deployment that also asks in the right place": (
        created(itself(deployment("d", SPACE, annotations=ASKS), **ASKS)), 1),
    "a Deployment of others with a node, which no scheduler sees": (
        created(deployment("d", SPACE, spec=pod_spec(nodeName="node-1"))), 1),
    "a Deployment of others that tolerates everything": (
        created(deployment("d", SPACE, spec=pod_spec(**EVERYTHING))), 1),
    "the same in a namespace that asks": (created(deployment("d", INJECTED, spec=pod_spec(**EVERYTHING))), 1),
    "a Deployment that begins to tolerate everything": (
        changed(f"{DEPLOYMENTS}/plain", {"spec": {"template": {"spec": EVERYTHING}}}), 1),
    "a node that is cordoned": (changed("/api/v1/nodes/node-1", {"spec": {"unschedulable": True}}), 1),
    "a node that is labelled": (changed("/api/v1/nodes/node-1", {"metadata": {"labels": {"a": "b"}}}), 1),
    "the same through its status": (changed("/api/v1/nodes/node-1/status", {"metadata": {"labels": {"a": "b"}}}), 1),
    "a node that is deleted": (lambda api: api.call("DELETE", "/api/v1/nodes/node-1?dryRun=All"), 1),
}  # fmt: skip

LEFT_ALONE: Final[dict[str, Action]] = {
    "a pod that does not ask": created(pod("p", SPACE)),
    "a pod with other annotations": created(pod("p", SPACE, annotations={"example.com/placement": "x"})),
    "a pod that tolerates one thing": created(pod("p", SPACE, pod_spec(**ONE_THING))),
    "a pod of somebody with the right, which tolerates everything": created(pod("p", SPACE, pod_spec(**EVERYTHING))),
    "a pod of somebody with the right, which has a node": created(pod("p", SPACE, pod_spec(nodeName="node-1"))),
    "a pod that somebody with the right lets tolerate everything": tolerating_more(),
    "a pod of kube-system": created(pod("p", "kube-system", pod_spec(**EVERYTHING))),
    "a pod of kube-system with a node": created(pod("p", "kube-system", pod_spec(nodeName="node-1"))),
    "a pod of our own namespace": created(pod("p", NAMESPACE)),
    "a pod that is labelled": changed(f"/api/v1/namespaces/{SPACE}/pods/there", {"metadata": {"labels": {"a": "b"}}}),
    "the status of a pod": changed(f"/api/v1/namespaces/{SPACE}/pods/there/status", READY),
    "a host pool that is labelled": changed(f"{POOLS}/there", {"metadata": {"labels": {"a": "b"}}}),
    "the status of a host pool": changed(f"{POOLS}/there/status", {"status": {"phase": "Ready"}}),
    "a Deployment whose pods do not ask": created(deployment("d", SPACE)),
    "a Deployment that is scaled down": changed(f"{DEPLOYMENTS}/asks", {"spec": {"replicas": 0}}),
    "a Deployment that is labelled": changed(f"{DEPLOYMENTS}/asks", {"metadata": {"labels": {"a": "b"}}}),
    "a Deployment of others that is scaled": changed(f"{DEPLOYMENTS}/plain", {"spec": {"replicas": 1}}),
    "a Deployment of others with annotations": created(itself(deployment("d", SPACE), **{"example.com/a": "b"})),
    "a Deployment that the Streams operator annotates": created(
        itself(deployment("d", SPACE), **{"streams.ibm.com/contentId": "x"})),
    "a Deployment of others that tolerates one thing": created(deployment("d", SPACE, spec=pod_spec(**ONE_THING))),
    "a DaemonSet of somebody with the right, which tolerates everything": created(daemon_set()),
    "a Deployment of others that tolerates everything, labelled": changed(
        f"{DEPLOYMENTS}/tolerates", {"metadata": {"labels": {"a": "b"}}}),
    "a PodTemplate whose pods do not ask": created(pod_template()),
    "a PodTemplate that is labelled": changed(f"{TEMPLATES}/asks", {"metadata": {"labels": {"a": "b"}}}),
    "a PodTemplate of others that changes": changed(
        f"{TEMPLATES}/plain", {"template": {"metadata": {"annotations": {"a": "b"}}}}),
    "a Job that is suspended": changed(f"{JOBS}/runs", {"spec": {"suspend": True}}),
    "a node's lease": created(LEASE),
    "a lock of the control plane": created(CONFIG_MAP),
    "a node that is annotated": changed("/api/v1/nodes/node-1", {"metadata": {"annotations": {"a": "b"}}}),
    "a new node": created({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}}),
    "a binding": lambda api: api.send("POST", f"/api/v1/namespaces/{SPACE}/pods/there/binding", BINDING),
    "the status of a node": changed("/api/v1/nodes/node-1/status", READY),
    "a deletion": lambda api: api.call("DELETE", f"/api/v1/namespaces/{SPACE}/pods/there?dryRun=All"),
}  # fmt: skip


@pytest.mark.parametrize(("action", "times"), REVIEWED.values(), ids=REVIEWED.keys())
def test_the_webhook_is_asked_about(admin: Api, action: Action, times: int) -> None:
    before = reviews(admin)
    action(admin)
    assert reviews(admin) - before == times


@pytest.mark.parametrize("action", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_the_webhook_is_never_asked_about(admin: Api, action: Action) -> None:
    before = reviews(admin)
    action(admin)
    assert reviews(admin) == before


def editing(plane: ControlPlane, name: str) -> Api:
    """The API server as somebody sees it who may make workloads and pods in the namespace."""
    group = "rbac.authorization.k8s.io"
    role = {"apiGroup": group, "kind": "ClusterRole", "name": "edit"}
    subject = {"apiGroup": group, "kind": "User", "name": plane.identities[name].user}
    meta = {"name": name, "namespace": SPACE}
    binding = {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": meta}
    plane.admin.create({**binding, "roleRef": role, "subjects": [subject]})
    return plane.api(name)


@pytest.fixture(scope="module")
def user(plane: ControlPlane) -> Api:
    return editing(plane, "user")


@pytest.fixture(scope="module")
def controllers(plane: ControlPlane) -> Api:
    """Kubernetes' controllers under one name."""
    return editing(plane, "controllers")


OF_TENANTS: Final[dict[str, Action]] = {
    "a pod with a node, which no scheduler sees": created(pod("p", SPACE, pod_spec(nodeName="node-1"))),
    "a pod that tolerates everything": created(pod("p", SPACE, pod_spec(**EVERYTHING))),
    "a pod that he calls a DaemonSet's": created(daemon("p", SPACE)),
    "a pod with a node that he calls a static one": created(static("p")),
    "a pod that begins to tolerate everything": tolerating_more(),
    "a DaemonSet that tolerates everything": created(daemon_set()),
}


@pytest.mark.parametrize("action", OF_TENANTS.values(), ids=OF_TENANTS)
def test_whoever_has_no_right_to_tolerate_exclusive_hosts_is_looked_at(user: Api, admin: Api, action: Action) -> None:
    before = reviews(admin)
    action(user)
    assert reviews(admin) - before == 1


MADE: Final[dict[str, Action]] = {
    "a ReplicaSet of a Deployment": created(owned(replica_set(), "Deployment")),
    "a Job of a CronJob": created(owned(job("j", **ASKS), "CronJob")),
    "a pod of a DaemonSet, which tolerates everything": created(daemon("p", SPACE)),
}


@pytest.mark.parametrize("action", MADE.values(), ids=MADE.keys())
def test_what_controllers_make_was_asked_about_before(controllers: Api, admin: Api, action: Action) -> None:
    before = reviews(admin)
    action(controllers)
    assert reviews(admin) == before


def test_static_pods_of_a_kubelet_are_left_alone(plane: ControlPlane, admin: Api) -> None:
    """A kubelet shows each of them as a pod that its node owns."""
    uid = admin.get("/api/v1/nodes/node-1")["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": uid, "controller": True}
    before = reviews(admin)
    plane.api("node").create(static("static", ownerReferences=[owner]), dryRun="All")
    assert reviews(admin) == before


def test_a_host_pool_that_goes_is_not_held_back(admin: Api) -> None:
    made = pool("going")
    made["metadata"]["finalizers"] = ["example.com/keep"]
    admin.call("POST", POOLS, made)
    admin.delete(f"{POOLS}/going")
    before = reviews(admin)
    admin.patch(f"{POOLS}/going", {"metadata": {"finalizers": None}})
    assert (reviews(admin), admin.find(f"{POOLS}/going")) == (before, None)
