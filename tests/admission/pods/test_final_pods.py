"""What ``/validate`` would say of the final pod is said of its workload, word for word."""

from typing import Any

import pytest

from tests.admission.submitted_workloads import submitted
from tests.answers import patched, refused, response, warnings
from tests.builders import BY_DAEMON_SETS, NAMESPACE, Json, bound_pod, cluster, node, pool, review
from tests.workload_templates import workload
from webhook.admission.checks.templates import pods_of
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placementreview.explanations.explanation import explain

POLICY = Policy()
APART = 'hostExlocation("a")'
EVERYTHING = {"operator": "Exists"}
TAINT = Taint(keys.EXCLUSIVE, "default.closed", "NoSchedule")
CLOSED = cluster(
    [node("node-a", taints=[TAINT]), node("node-b"), node("node-c")],
    [pool("Closed", size=1, mode="Exclusive", assigned=["node-a"]), pool("Open", size=1, assigned=["node-b"])],
    [bound_pod("node-c", labels={keys.EXLOCATION + keys.digest("a"): "a"})],
)
OPEN_TO_ALL = "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
BY_TOLERATION = 403, f"spec.tolerations[0]: {OPEN_TO_ALL}"
BY_NAME = 403, "spec.nodeName: the node is exclusive to another HostPool"
OURS = (
    "spec.tolerations[0]: only the webhook tolerates streams.ibm.com/exclusive: "
    "name the exclusive HostPool with host(...) instead"
)

NOT_YOURS = (
    422,
    (
        f"metadata.labels[{keys.SEAL}]: only the webhook writes this label; leave it out, or copy the annotations of "
        "its pod as well"
    ),
)


def of_others(kind: str = "Deployment", **spec: Any) -> Json:
    """A workload of pods that ask for nothing."""
    return workload(kind, job=None, pe=None, **spec)


def final(found: Json, policy: Policy = POLICY) -> tuple[int, str] | None:
    """The refusal of the pod that the workload's controller makes, changed by ``/mutate`` first; ``None`` if none."""
    [pod] = [one.pod for one in pods_of(found)]
    maker = BY_DAEMON_SETS if found["kind"] == "DaemonSet" else {"username": "somebody"}
    changed = mutate(review(pod, userInfo=maker), CLOSED, policy)
    if not response(changed)["allowed"]:
        return refused(changed)
    stored = validate(review(patched(pod, changed), userInfo=maker), CLOSED, policy)
    return None if response(stored)["allowed"] else refused(stored)


def whole(found: Json, policy: Policy = POLICY) -> tuple[int, str] | None:
    """The refusal of the workload."""
    answer = submitted(found, CLOSED, policy)
    return None if response(answer)["allowed"] else refused(answer)


REFUSED: dict[str, tuple[Json, tuple[int, str]]] = {
    "everything tolerated": (workload(placement=APART, tolerations=[EVERYTHING]), BY_TOLERATION),
    "everything tolerated of the effect": (
        workload(placement=APART, tolerations=[{**EVERYTHING, "effect": "NoSchedule"}]), BY_TOLERATION),
    "everything tolerated, for nothing but a job": (workload(tolerations=[EVERYTHING]), BY_TOLERATION),
    "everything tolerated, by a Job": (workload("Job", APART, tolerations=[EVERYTHING]), BY_TOLERATION),
    "everything tolerated, by a CronJob": (workload("CronJob", APART, tolerations=[EVERYTHING]), BY_TOLERATION),
    "everything tolerated, by who asks for nothing": (of_others(tolerations=[EVERYTHING]), BY_TOLERATION),
    "a node of others by name": (of_others(nodeName="node-a"), BY_NAME),
    "both": (
        of_others(nodeName="node-a", tolerations=[EVERYTHING]), (403, f"{BY_NAME[1]}\n{BY_TOLERATION[1]}")),
    "our taint tolerated": (
        workload(placement=APART, tolerations=[{"key": keys.EXCLUSIVE, "operator": "Exists"}]), (422, OURS)),
    "our taint tolerated, by who asks for nothing": (
        of_others(tolerations=[{"key": keys.EXCLUSIVE, "value": "default.closed"}]), (422, OURS)),
    "a label of ours by hand": (
        workload(labels={keys.WORKER: "true"}),
        (
            422,
            (
                "metadata.labels[streams.ibm.com/worker]: only the webhook writes this label; "
                "map the workers by the annotation streams.ibm.com/kubernetes.worker.mapping.uniform instead"
            ),
        )),
    "a seal, by who asks for nothing": (of_others(labels={keys.SEAL: "1"}), NOT_YOURS),
    "a seal without a value": (of_others(labels={keys.SEAL: ""}), NOT_YOURS),
    "a seal, where everything is tolerated": (
        of_others(labels={keys.SEAL: "1"}, tolerations=[EVERYTHING]), NOT_YOURS),
    "a seal, by a CronJob": (of_others("CronJob", labels={keys.SEAL: "1"}), NOT_YOURS),
    "a seal, by a DaemonSet": (of_others("DaemonSet", labels={keys.SEAL: "1"}), NOT_YOURS),
    "a seal, by who runs no pod yet": (of_others(count=0, labels={keys.SEAL: "1"}), NOT_YOURS),
    "an unknown annotation": (
        workload(annotations={f"{keys.PREFIX}x": ""}),
        (422, "metadata.annotations[streams.ibm.com/x]: unknown annotation")),
}  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), REFUSED.values(), ids=REFUSED)
def test_a_workload_whose_pods_are_refused_is_refused_in_their_words(found: Json, expected: tuple[int, str]) -> None:
    assert (whole(found), final(found)) == (expected, expected)


NO_NODE: dict[str, Json] = {
    "an exclusive host by name": workload(placement=APART, nodeName="node-a"),
    "no node": workload(placement='host("gone")', tolerations=[EVERYTHING]),
    "no such pool": workload(placement="host(Gone)", tolerations=[EVERYTHING]),
    "a mistake": workload(placement="Host(x)", tolerations=[EVERYTHING]),
}


@pytest.mark.parametrize("found", NO_NODE.values(), ids=NO_NODE)
def test_so_is_one_whose_pods_are_refused_before(found: Json) -> None:
    assert whole(found) == final(found) != BY_TOLERATION
    assert whole(found) is not None


ADMITTED: dict[str, Json] = {
    "nothing": workload(),
    "everything tolerated that evicts": workload(tolerations=[{**EVERYTHING, "effect": "NoExecute"}]),
    "everything tolerated on hosts of its own": workload(placement="host(Closed)", tolerations=[EVERYTHING]),
    "everything tolerated where others are kept away": workload(placement="host(Open)", tolerations=[EVERYTHING]),
    "everything tolerated by a DaemonSet": workload("DaemonSet", APART, tolerations=[EVERYTHING]),
    "everything tolerated by a DaemonSet of others": of_others("DaemonSet", tolerations=[EVERYTHING]),
    "our taint tolerated by a DaemonSet of a job, which a policy asks about": workload(
        "DaemonSet", tolerations=[{"key": keys.EXCLUSIVE, "operator": "Exists"}]
    ),
    "an exclusive host by a DaemonSet of others": of_others("DaemonSet", nodeName="node-a"),
    "another node by name": of_others(nodeName="node-b"),
    "what the webhook writes, by hand": workload(annotations={keys.INJECTED: "{}"}),
    "a seal, by who asks": workload(placement=APART, labels={keys.SEAL: "1"}),
    "one thing tolerated": of_others(tolerations=[{"key": "x", "operator": "Exists"}]),
}


@pytest.mark.parametrize("found", ADMITTED.values(), ids=ADMITTED)
def test_a_workload_whose_pods_are_stored_is_admitted(found: Json) -> None:
    assert (whole(found), final(found)) == (None, None)


@pytest.mark.parametrize(
    "found",
    [workload(placement=APART, tolerations=[EVERYTHING]), of_others(tolerations=[EVERYTHING])],
    ids=["asking", "asking for nothing"],
)
def test_in_audit_mode_it_is_only_said(found: Json) -> None:
    answer = submitted(found, CLOSED, Policy(audit=True))
    assert response(answer)["allowed"]
    assert warnings(answer) == [f"audit: this would be refused: {BY_TOLERATION[1]}"]


@pytest.mark.parametrize(
    "found",
    [workload(placement=APART, count=0, tolerations=[EVERYTHING]), of_others(count=0, tolerations=[EVERYTHING])],
    ids=["asking", "asking for nothing"],
)
def test_what_runs_no_pod_yet_is_only_warned(found: Json) -> None:
    assert warnings(submitted(found, CLOSED)) == [f"not yet: {BY_TOLERATION[1]}"]


def test_what_asks_for_nothing_is_not_noted_in_the_audit_log() -> None:
    assert response(submitted(of_others(nodeName="node-b"), CLOSED)).keys() == {"uid", "allowed"}


def test_an_exclusive_host_is_kept_where_finished_pods_are_not_verified() -> None:
    lax = Policy(verify_pods=False)
    for found in (workload(placement=APART, tolerations=[EVERYTHING]), of_others(tolerations=[EVERYTHING])):
        assert (whole(found, lax), final(found, lax)) == (BY_TOLERATION, BY_TOLERATION)


def test_a_pod_that_was_given_the_toleration_later_is_refused_in_the_same_words() -> None:
    [pod] = [one.pod for one in pods_of(workload(placement=APART))]
    stored = patched(pod, mutate(review(pod), CLOSED, POLICY))
    stored["spec"]["tolerations"] = [EVERYTHING]
    assert refused(validate(review(stored, namespace=NAMESPACE), CLOSED, POLICY)) == BY_TOLERATION


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (workload(placement=APART, tolerations=[EVERYTHING]), BY_TOLERATION),
        (of_others(tolerations=[EVERYTHING]), BY_TOLERATION),
        (of_others(labels={keys.SEAL: "1"}), NOT_YOURS),
        (of_others(labels={keys.SEAL: "1"}, tolerations=[EVERYTHING]), NOT_YOURS),
    ],
    ids=["asking", "asking for nothing", "sealed", "sealed and tolerant"],
)
def test_explain_says_the_same_without_a_doubt(found: Json, expected: tuple[int, str]) -> None:
    [described] = pods_of(found)
    told = explain("w.yaml", found, described, World(CLOSED, POLICY))
    assert (told.code, told.message, told.warnings) == (*expected, [])
