"""``/validate`` of pods: finished ones, and changes to them."""

from typing import Any

import pytest

from tests.answers import patched, refused, response
from tests.builders import (
    BY_DAEMON_SETS,
    GATES,
    UID,
    Json,
    cluster,
    job,
    node,
    nodes,
    owner_reference,
    pod,
    pool,
    review,
)
from webhook.admission.answer import Outcome
from webhook.admission.mutate import Known, mutate
from webhook.admission.opt_in import MIRROR
from webhook.admission.validate import CHECKS, GUARDS, validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.request.memo import Memo
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import REVIEWED

POLICY = Policy()

TWO = cluster(nodes(2))

CLOSED = cluster(
    [node("node-a", taints=[Taint(keys.EXCLUSIVE, "default.closed", "NoSchedule")]), node("node-b")],
    pools=[pool("Closed", size=1, mode="Exclusive", assigned=["node-a"])],
)


def finished(found: Json, inventory: Inventory = TWO) -> Json:
    """The pod after ``/mutate``."""
    return patched(found, mutate(review(found), inventory, POLICY))


FINISHED: dict[str, tuple[Json, Inventory]] = {
    "nothing": (pod(), TWO),
    "host": (pod('host("node-a")'), TWO),
    "host of a ReplicaSet": (pod('host("node-a")', owner="ReplicaSet"), TWO),
    "gated": (pod('host("node-a")', schedulingGates=GATES), TWO),
    "exclusive pool": (pod("host(Closed)"), CLOSED),
    "colocation": (pod('hostColocation("t")'), TWO),
    "group": (
        pod('hostColocation("a"), hostColocation("b")'),
        cluster(nodes(1), jobs=[job({"parallel-0": 'hostColocation("a"), hostColocation("b")'})]),
    ),
    "exlocation": (pod('hostExlocation("t")'), TWO),
    "isolation": (pod("hostIsolation"), TWO),
    "beside isolation": (pod(), cluster(nodes(1), jobs=[job({"parallel-1": "hostIsolation"})])),
    "elastic pool without a node": (
        pod("host(MyPool)"),
        cluster(nodes(1), pools=[pool(tags=["x"], elastic=True)]),
    ),
}


@pytest.mark.parametrize(("found", "inventory"), FINISHED.values(), ids=FINISHED.keys())
def test_what_mutate_made_is_valid(found: Json, inventory: Inventory) -> None:
    answer = validate(review(finished(found, inventory)), inventory, POLICY)
    assert (response(answer), answer.outcome) == ({"uid": UID, "allowed": True}, Outcome.ALLOWED)


def test_a_pod_that_was_undone_is_refused() -> None:
    assert refused(validate(review(pod('hostExlocation("t")')), TWO, POLICY)) == (
        403,
        (
            "metadata: lacks labels that its clauses require: something removed what the placement webhook had added\n"
            "spec: lacks podAntiAffinity that its clauses require: "
            "something removed what the placement webhook had added"
        ),
    )


def test_an_installation_may_not_verify_pods() -> None:
    assert response(validate(review(pod('hostExlocation("t")')), TWO, Policy(verify_pods=False)))["allowed"]


def test_a_pod_that_is_being_deleted_is_left_alone() -> None:
    found = pod("host(")
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert response(validate(review(found), TWO, POLICY))["allowed"]


KUBELET = {"username": "system:node:node-a", "groups": ["system:nodes", "system:authenticated"]}


def test_a_static_pod_is_left_alone_if_its_kubelet_shows_it() -> None:
    found = pod("host(", annotations={MIRROR: "x"})
    assert response(validate(review(found, userInfo=KUBELET), TWO, POLICY))["allowed"]


def test_any_other_pod_that_says_it_is_a_static_one_is_a_pod() -> None:
    found = pod("host(", annotations={MIRROR: "x"})
    assert refused(validate(review(found), TWO, POLICY))[0] == 422


def test_a_clause_that_a_later_webhook_broke_is_refused_with_its_problem() -> None:
    assert refused(validate(review(pod("Host(x)")), TWO, POLICY)) == (
        422,
        'metadata.annotations[streams.ibm.com/placement]: unknown clause "Host" (did you mean host?)\n  Host(x)\n  ^',
    )


def test_an_unknown_pool_is_refused_as_forbidden() -> None:
    assert refused(validate(review(pod("host(Gone)")), TWO, POLICY))[0] == 403


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"nodeName": "node-a"}, "spec.nodeName: the node is exclusive to another HostPool", id="by its name"
        ),
        pytest.param(
            {"tolerations": [{"operator": "Exists"}]},
            "spec.tolerations[0]: "
            "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool",
            id="by tolerating everything",
        ),
    ],
)
@pytest.mark.parametrize(
    ("owner", "user", "allowed"),
    [
        pytest.param(None, "alice", False, id="bare"),
        pytest.param("ReplicaSet", "system:serviceaccount:kube-system:replicaset-controller", False, id="replica"),
        pytest.param("DaemonSet", BY_DAEMON_SETS["username"], True, id="daemon"),
        pytest.param("DaemonSet", "system:kube-controller-manager", True, id="daemon, where all share one account"),
        pytest.param("DaemonSet", "alice", False, id="called a daemon"),
        pytest.param("DaemonSet", "system:serviceaccount:team-a:daemon-set-controller", False, id="by a namesake"),
        pytest.param("DaemonSet", "system:serviceaccount:kube-system:replicaset-controller", False, id="by another"),
        pytest.param(None, BY_DAEMON_SETS["username"], False, id="of no DaemonSet"),
    ],
)
def test_only_daemons_get_onto_exclusive_hosts(
    spec: dict[str, Any], message: str, owner: str | None, user: str, *, allowed: bool
) -> None:
    found = pod(job=None, pe=None, owner=owner, **spec)
    answer = validate(review(found, userInfo={"username": user}), CLOSED, POLICY)
    assert response(answer)["allowed"] is allowed
    if not allowed:
        assert refused(answer) == (403, message)


@pytest.mark.parametrize("user", [None, 5, {"username": 5}, {}], ids=["nobody", "a number", "no name", "nothing"])
def test_who_is_not_named_makes_no_daemons(user: object) -> None:
    found = pod(job=None, pe=None, owner="DaemonSet", nodeName="node-a")
    assert not response(validate(review(found, userInfo=user), CLOSED, POLICY))["allowed"]


def test_a_daemon_set_of_another_group_is_none_of_kubernetes() -> None:
    found = pod(job=None, pe=None, nodeName="node-a")
    found["metadata"]["ownerReferences"] = [owner_reference("DaemonSet", "example.com/v1")]
    answer = validate(review(found, userInfo=BY_DAEMON_SETS), CLOSED, POLICY)
    assert refused(answer) == (403, "spec.nodeName: the node is exclusive to another HostPool")


@pytest.mark.parametrize(
    "toleration",
    [
        pytest.param({"operator": "Exists"}, id="every pool's"),
        pytest.param({"operator": "Equal", "value": "default.closed"}, id="one pool's"),
    ],
)
@pytest.mark.parametrize("name", ["parallel", None], ids=["of a job", "of nobody"])
def test_a_pod_cannot_bring_the_toleration_of_exclusive_hosts(toleration: Json, name: str | None) -> None:
    found = pod(job=name, pe=None, tolerations=[{"key": keys.EXCLUSIVE, **toleration}])
    assert refused(validate(review(found), CLOSED, POLICY))[1] == (
        "spec.tolerations[0]: "
        "only the webhook tolerates streams.ibm.com/exclusive: name the exclusive HostPool with host(...) instead"
    )


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(pod(job=None, pe=None, nodeSelector={"a": "b"}), id="that no node fits"),
        pytest.param(pod(job=None, pe=None, labels={keys.ISOLATION + "X": "x"}), id="with a label that counts nothing"),
    ],
)
def test_a_pod_that_did_not_opt_in_is_none_of_our_business(found: Json) -> None:
    assert response(validate(review(found), TWO, POLICY)) == {"uid": UID, "allowed": True}


_FIELDS = [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]
_TERMS = {"nodeSelectorTerms": [{"matchFields": _FIELDS}]}
_TO_A = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _TERMS}}
"""The affinity by which the controller of DaemonSets sends a pod to one node."""


def test_a_daemon_that_tolerates_everything_is_not_kept_from_an_exclusive_host() -> None:
    found = pod(job=None, pe=None, owner="DaemonSet", affinity=_TO_A, tolerations=[{"operator": "Exists"}])
    assert response(mutate(review(found, userInfo=BY_DAEMON_SETS), CLOSED, POLICY))["allowed"]


def test_a_kept_ruling_about_a_daemon_is_not_that_of_who_is_only_called_one() -> None:
    known = Known(Memo())
    found = pod(owner="DaemonSet", tolerations=[{"operator": "Exists"}])
    bodies = [review(found, userInfo=user) for user in (BY_DAEMON_SETS, {"username": "eve"})]
    answers = [response(mutate(body, CLOSED, POLICY, known))["allowed"] for body in (*bodies, *bodies)]
    assert answers == [True, False, True, False]


def test_an_owner_that_is_not_a_controller_excuses_no_pod() -> None:
    found = pod(nodeName="node-a")
    found["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "d"}]
    assert not response(validate(review(found), CLOSED, POLICY))["allowed"]


IGNORED = {
    "DELETE": {"operation": "DELETE"},
    "CONNECT": {"operation": "CONNECT"},
    "unknown operation": {"operation": "FROB"},
    "another kind": {"kind": "Node"},
    "another group": {"group": "example.com"},
    "creation of a binding": {"subresource": "binding"},
    "ephemeral containers": {"operation": "UPDATE", "subresource": "ephemeralcontainers"},
    "creation of a status": {"subresource": "status"},
}


@pytest.mark.parametrize("fields", IGNORED.values(), ids=IGNORED.keys())
def test_everything_else_is_allowed(fields: dict[str, str]) -> None:
    answer = validate(review(pod("host("), **fields), TWO, POLICY)
    assert response(answer) == {"uid": UID, "allowed": True}


def test_the_kinds_that_are_checked_are_those_that_are_listed() -> None:
    checked = {(group, kind) for group, kind, _, _ in (*CHECKS, *GUARDS)}
    assert checked == {(kind.group, kind.name) for kind in REVIEWED}
