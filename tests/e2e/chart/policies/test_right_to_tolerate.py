"""Tolerating exclusive hosts takes a right; the role ``edit``, which may create DaemonSets, does not include it."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.exclusive import NODE, exclusive_pool
from tests.e2e.chart.kubectl_apply import denied, of_kind
from tests.e2e.chart.rendering import RELEASE
from tests.e2e.chart.tenant import by_policy
from tests.e2e.client.api import JSON_PATCH, Answer, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, is_ready, namespace, pod, pod_spec

SPACE: Final = "tolerate"
ALONE: Final = "kube-system"
"""A namespace that is left alone."""
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
DAEMONS: Final = f"/apis/apps/v1/namespaces/{SPACE}/daemonsets"
OURS: Final[Object] = {"key": "streams.ibm.com/exclusive", "operator": "Exists"}
EVERYTHING: Final[Object] = {"operator": "Exists"}
_GROUP: Final = "rbac.authorization.k8s.io"

NO_RIGHT: Final = (
    "spec.template.spec.tolerations: tolerating streams.ibm.com/exclusive needs the verb tolerate on "
    "streamshostpools.streams.ibm.com in the whole cluster, which user jane does not have"
)
NOT_ALL: Final = (
    "spec.template.spec.tolerations[0]: a toleration of everything would let the pods onto exclusive hosts, "
    "which takes the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster: "
    "name the taints that are meant, or choose other nodes"
)


@pytest.fixture(scope="module")
def user(installed: object, plane: ControlPlane) -> Iterator[Api]:  # noqa: ARG001 -- after it
    """Somebody with the role ``edit`` in two namespaces."""
    namespace(plane.admin, SPACE)
    for space in (SPACE, ALONE):
        bind(plane, "RoleBinding", "edit", "edit-tolerate", space)
    yield plane.api("user")
    plane.admin.delete(DAEMONS)
    plane.admin.delete(f"/apis/{_GROUP}/v1/namespaces/{ALONE}/rolebindings/edit-tolerate")


def bind(plane: ControlPlane, kind: str, role: str, name: str, space: str = "") -> None:
    """Give jane a ClusterRole, in one namespace or in all."""
    subject = {"apiGroup": _GROUP, "kind": "User", "name": plane.identities["user"].user}
    meta = {"name": name, **({"namespace": space} if space else {})}
    ref = {"apiGroup": _GROUP, "kind": "ClusterRole", "name": role}
    plane.admin.create(
        {"apiVersion": f"{_GROUP}/v1", "kind": kind, "metadata": meta, "roleRef": ref, "subjects": [subject]}
    )


@pytest.fixture
def _exclusive(user: Api, admin: Api) -> Iterator[None]:
    del user
    with exclusive_pool(admin, SPACE):
        yield


def daemons(name: str, *tolerations: Object, space: str = SPACE, **spec: Any) -> Object:
    return of_kind("DaemonSet", deployment(name, space, spec=pod_spec(tolerations=list(tolerations), **spec)))


def tried(user: Api, made: Object) -> Answer:
    kinds = {"DaemonSet": "apis/apps/v1", "Pod": "api/v1"}
    path = f"/{kinds[made['kind']]}/namespaces/{made['metadata']['namespace']}/{made['kind'].lower()}s?dryRun=All"
    return user.send("POST", path, made)


# The taint by its key

TAINT: Final[dict[str, Object]] = {
    "of any pool": OURS,
    "of one pool": {"key": OURS["key"], "value": "team-a.own", "effect": "NoSchedule"},
    "for a while": {"key": OURS["key"], "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9},
}


@pytest.mark.parametrize("toleration", TAINT.values(), ids=TAINT)
def test_a_daemon_set_that_tolerates_the_taint_is_refused(user: Api, toleration: Object) -> None:
    answer = tried(user, daemons("d", toleration))
    assert (answer.code, answer.message) == (403, by_policy('daemonsets.apps "d"', "templates", NO_RIGHT))


def test_one_that_is_there_cannot_begin_to(user: Api) -> None:
    user.create(daemons("begins"))
    change = {"spec": {"template": {"spec": {"tolerations": [OURS]}}}}
    answer = user.send("PATCH", f"{DAEMONS}/begins", change, content="application/merge-patch+json")
    assert (answer.code, answer.message) == (403, by_policy('daemonsets.apps "begins"', "templates", NO_RIGHT))


def test_one_that_tolerates_it_already_is_rolled_out_as_before(user: Api, admin: Api) -> None:
    """It may be older than the rule; what is not new is nobody's offence."""
    admin.create(daemons("older", OURS))
    change = {"spec": {"template": {"metadata": {"annotations": {"example.com/restarted": "now"}}}}}
    changed = user.patch(f"{DAEMONS}/older", change)
    assert changed["metadata"]["generation"] == 2

    def renewed() -> bool:
        found = admin.get(PODS, labelSelector="app=older")["items"]
        new = [one for one in found if "example.com/restarted" in one["metadata"].get("annotations", {})]
        return len(new) == len(found) > 0 and all(map(is_ready, new))

    until(renewed, "its pods are new", 60)


def test_a_pod_that_tolerates_it_is_refused(user: Api) -> None:
    answer = tried(user, pod("p", SPACE, pod_spec(tolerations=[OURS])))
    assert answer.code == 403
    assert "have the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster" in answer.message


@pytest.mark.parametrize("toleration", [OURS, EVERYTHING], ids=["the taint", "everything"])
@pytest.mark.usefixtures("_exclusive")
def test_agents_of_a_namespace_that_is_left_alone_are_never_asked(user: Api, toleration: Object) -> None:
    answers = [tried(user, made) for made in (daemons("d", toleration, space=ALONE), alone(toleration))]
    assert [(answer.code, answer.message) for answer in answers] == [(201, "")] * 2


def alone(toleration: Object) -> Object:
    return pod("p", ALONE, pod_spec(tolerations=[toleration]))


# Everything


@pytest.mark.usefixtures("_exclusive")
def test_a_daemon_set_that_tolerates_everything_is_refused_while_hosts_are_exclusive(user: Api) -> None:
    answer = tried(user, daemons("d", EVERYTHING))
    assert (answer.code, answer.message) == (403, f"{denied('daemons')}{NOT_ALL}")


@pytest.mark.usefixtures("_exclusive")
def test_one_that_is_there_cannot_begin_to_tolerate_everything(user: Api) -> None:
    user.create(daemons("all"))
    change = {"spec": {"template": {"spec": {"tolerations": [EVERYTHING]}}}}
    answer = user.send("PATCH", f"{DAEMONS}/all", change, content="application/merge-patch+json")
    assert (answer.code, answer.message) == (403, f"{denied('daemons')}{NOT_ALL}")


@pytest.mark.usefixtures("_exclusive")
def test_one_that_chose_other_nodes_cannot_do_without(user: Api) -> None:
    user.create(daemons("elsewhere", EVERYTHING, nodeSelector={"kubernetes.io/hostname": "node-1"}))
    change = {"spec": {"template": {"spec": {"nodeSelector": None}}}}
    answer = user.send("PATCH", f"{DAEMONS}/elsewhere", change, content="application/merge-patch+json")
    assert (answer.code, answer.message) == (403, f"{denied('daemons')}{NOT_ALL}")


ADVICE: Final[dict[str, Object]] = {
    "names the taints that are meant": daemons("d", {"key": "dedicated", "operator": "Exists"}),
    "chooses other nodes": daemons("d", EVERYTHING, nodeSelector={"kubernetes.io/hostname": "node-1"}),
    "tolerates everything of another effect": daemons("d", {**EVERYTHING, "effect": "PreferNoSchedule"}),
}


@pytest.mark.usefixtures("_exclusive")
@pytest.mark.parametrize("made", ADVICE.values(), ids=ADVICE)
def test_one_is_not_refused_that(user: Api, made: Object) -> None:
    answer = tried(user, made)
    assert (answer.code, answer.message) == (201, "")


def test_an_agent_that_tolerates_everything_is_welcome_where_no_host_is_exclusive(user: Api) -> None:
    answer = tried(user, daemons("d", EVERYTHING))
    assert (answer.code, answer.message, answer.warnings) == (201, "", ())


@pytest.mark.usefixtures("_exclusive")
def test_one_that_was_there_before_is_rolled_out_as_before(user: Api, admin: Api) -> None:
    user.delete(f"{DAEMONS}/before")
    admin.create(daemons("before", EVERYTHING))
    change = {"spec": {"template": {"metadata": {"annotations": {"example.com/restarted": "now"}}}}}
    assert user.patch(f"{DAEMONS}/before", change)["metadata"]["generation"] == 2
    until(lambda: on_host(admin, "before"), "it has a pod on the exclusive host", 60)


def on_host(admin: Api, name: str) -> bool:
    found = admin.get(PODS, labelSelector=f"app={name}")["items"]
    return any(one["spec"].get("nodeName") == NODE for one in found)


# The right


@pytest.fixture(scope="module")
def trusted(user: Api, plane: ControlPlane) -> Iterator[Api]:
    """The same user, with the right in the whole cluster."""
    bind(plane, "ClusterRoleBinding", f"{RELEASE}-tolerate", "jane-tolerates")
    until(lambda: tried(user, daemons("d", OURS)).code == 201, "the right counts")
    yield user
    plane.admin.delete(f"/apis/{_GROUP}/v1/clusterrolebindings/jane-tolerates")
    until(lambda: tried(user, daemons("d", OURS)).code == 403, "it counts no more")


def test_the_right_in_one_namespace_is_not_enough(user: Api, plane: ControlPlane) -> None:
    """Hosts belong to no namespace: who may do anything in his own would be let onto those of all others."""
    bind(plane, "RoleBinding", "cluster-admin", "jane-is-admin-here", SPACE)
    try:
        until(lambda: user.send("GET", f"/api/v1/namespaces/{SPACE}/secrets").code == 200, "she may do anything")
        assert tried(user, daemons("d", OURS)).code == 403
    finally:
        plane.admin.delete(f"/apis/{_GROUP}/v1/namespaces/{SPACE}/rolebindings/jane-is-admin-here")


@pytest.mark.usefixtures("_exclusive")
@pytest.mark.parametrize(
    "made",
    [
        daemons("d", OURS),
        daemons("d", EVERYTHING),
        pod("p", SPACE, pod_spec(tolerations=[OURS])),
        pod("p", SPACE, pod_spec(tolerations=[EVERYTHING])),
        pod("p", SPACE, pod_spec(tolerations=[EVERYTHING], nodeName=NODE)),
    ],
    ids=["a DaemonSet, the taint", "a DaemonSet, everything", "the taint", "everything", "kubectl debug node"],
)
def test_who_has_the_right_may_create(trusted: Api, made: Object) -> None:
    answer = tried(trusted, made)
    assert (answer.code, answer.message) == (201, "")


@pytest.mark.usefixtures("_exclusive")
@pytest.mark.parametrize(
    ("name", "toleration"), [("later", OURS), ("later-all", EVERYTHING)], ids=["the taint", "everything"]
)
def test_who_has_the_right_may_let_a_pod_tolerate_later(trusted: Api, name: str, toleration: Object) -> None:
    trusted.create(pod(name, SPACE))
    change = [{"op": "add", "path": "/spec/tolerations/-", "value": toleration}]
    answer = trusted.send("PATCH", f"{PODS}/{name}?dryRun=All", change, content=JSON_PATCH)
    assert answer.code == 200, answer.message


def test_a_deployment_takes_no_right_for_it_is_others_who_make_its_pods(trusted: Api, plane: ControlPlane) -> None:
    del trusted
    made = deployment("w", SPACE, spec=pod_spec(tolerations=[OURS]))
    done = plane.kubectl("apply", "--dry-run=server", "-f", "-", user="user", stdin=json.dumps(made))
    assert "only the webhook tolerates streams.ibm.com/exclusive" in done.stderr
