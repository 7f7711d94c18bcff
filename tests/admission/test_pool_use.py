"""Who wants to use which HostPools, before the API server is asked whether he may."""

from typing import Any

import msgspec
import pytest

from tests.answers import refused, response
from tests.builders import Json, cluster, nodes, pod, pool, review
from tests.workload_templates import group, workload
from webhook.admission import pods
from webhook.admission import review as reviews
from webhook.admission.answer import RightsQuestion
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pool import Phase

CLUSTER = cluster(nodes(2, labels={"streams.ibm.com/hostpool": "ib"}), [pool(tags=["ib"]), pool("Other", tags=["ib"])])
CONTROLLER = {"username": "system:serviceaccount:kube-system:replicaset-controller"}
MANAGER = {"username": "system:kube-controller-manager"}
AUDIT = Policy(audit=True)
"""Nothing is refused, so that every review gets as far as the question."""
ENFORCED = Policy(verify_pods=False)
"""Pods are as submitted, which nothing has added to."""


def use(found: Json, policy: Policy = AUDIT, **fields: Any) -> RightsQuestion | None:
    kind = found["kind"]
    fields.setdefault("group", "" if kind == "Pod" else group(kind))
    question = validate(review(found, kind=kind, **fields), CLUSTER, policy).question
    assert question is None or isinstance(question, RightsQuestion)
    return question


def used(found: Json, **fields: Any) -> tuple[tuple[str, str], ...]:
    question = use(found, **fields)
    return question.pools if question else ()


def owned(kind: str, found: Json) -> Json:
    found["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": kind, "name": "o", "uid": "u", "controller": True}
    ]
    return found


def test_a_pod_uses_the_pools_that_it_names() -> None:
    found = use(pod("a: host(MyPool); b: host(Other)"))
    assert found is not None
    assert found.pools == (("mypool", "host(MyPool)"), ("other", "host(Other)"))
    assert (found.user.username, found.user.groups, found.namespace) == (
        "alice",
        ("system:authenticated",),
        "default",
    )


NOTHING = {
    "a pod that names no pool": pod('hostExlocation("x")'),
    "a pod that says nothing": pod(),
    "a node of that name": pod('host("node-a")'),
    "an unknown pool, which is refused anyway": pod("host(Unknown)"),
    "a placement that is refused anyway": pod("host("),
}


@pytest.mark.parametrize("found", NOTHING.values(), ids=NOTHING)
def test_nothing_is_used_by(found: Json) -> None:
    assert used(found) == ()


def test_a_preference_uses_the_pool_too() -> None:
    preferred = pod("host(MyPool)", annotations={"streams.ibm.com/preferred": "host"})
    assert used(preferred) == (("mypool", "host(MyPool)"),)


@pytest.mark.parametrize("phase", [Phase.FAILED, Phase.RELEASING])
def test_a_preference_uses_a_pool_that_is_closed_too(phase: Phase) -> None:
    """The pod may tolerate the taint of its hosts."""
    closed = cluster(nodes(2), [pool(tags=["ib"], phase=phase)])
    preferred = pod("host(MyPool)", annotations={"streams.ibm.com/preferred": "host"})
    question = validate(review(preferred), closed, AUDIT).question
    assert isinstance(question, RightsQuestion)
    assert question.pools == (("mypool", "host(MyPool)"),)


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob"])
def test_a_workload_uses_the_pools_of_its_pods(kind: str) -> None:
    assert used(workload(kind, "host(MyPool)")) == (("mypool", "host(MyPool)"),)


def test_a_changed_template_is_asked_about() -> None:
    old = workload("Deployment", "host(Other)")
    assert used(workload("Deployment", "host(MyPool)"), operation="UPDATE", old=old) == (("mypool", "host(MyPool)"),)


def test_a_workload_whose_pods_stay_as_they_were_is_not() -> None:
    same = workload("Deployment", "host(MyPool)")
    assert used(same, operation="UPDATE", old=same) == ()


@pytest.mark.parametrize("user", [CONTROLLER, MANAGER], ids=["an account of its own", "the account of all"])
@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"])
def test_controllers_need_no_right_for_pods_of_workloads_that_were_asked_about(kind: str, user: Json) -> None:
    assert used(pod("host(MyPool)", owner=kind), userInfo=user) == ()


def test_controllers_need_one_for_pods_of_unreviewed_kinds() -> None:
    assert used(pod("host(MyPool)", owner="Gang"), userInfo=CONTROLLER)


def test_a_made_up_owner_excuses_no_pod() -> None:
    assert used(pod("host(MyPool)", owner="ReplicaSet"))
    assert used(owned("Deployment", workload("ReplicaSet", "host(MyPool)")))


def test_an_account_of_that_name_in_another_namespace_is_not_a_controller() -> None:
    other = {"username": "system:serviceaccount:default:replicaset-controller"}
    assert used(pod("host(MyPool)", owner="ReplicaSet"), userInfo=other)


def test_a_workload_that_a_controller_made_of_one_that_was_asked_about_is_not() -> None:
    assert used(owned("Deployment", workload("ReplicaSet", "host(MyPool)")), userInfo=CONTROLLER) == ()


def test_a_workload_that_is_being_deleted_is_not() -> None:
    gone = workload("Deployment", "host(MyPool)", metadata={"deletionTimestamp": "2026-11-21T00:00:00Z"})
    assert used(gone) == ()


OTHER = {
    "an update of a pod": (pod("host(MyPool)"), {"operation": "UPDATE"}),
    "a part of a pod": (pod("host(MyPool)"), {"subresource": "status"}),
    "another kind": ({"kind": "Widget", "metadata": {}}, {"group": "example.com"}),
}


@pytest.mark.parametrize(("found", "fields"), OTHER.values(), ids=OTHER)
def test_no_right_is_asked_for(found: Json, fields: Json) -> None:
    assert used(found, **fields) == ()


MIRROR = {"kubernetes.io/config.mirror": "x"}


def test_the_image_of_a_static_pod_is_asked_about_though_nothing_else_is_checked() -> None:
    node = {"username": "system:node:node-a", "groups": ["system:nodes"]}
    assert used(pod("host(MyPool)", annotations=MIRROR), userInfo=node) == (("mypool", "host(MyPool)"),)
    assert used(pod(annotations=MIRROR), userInfo=node) == ()


TERMS = [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b" * 40]}] * 100}] * 201
MUCH = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": TERMS}}}
"""More than is judged, and so large that a workload that says it is not decoded as a whole where it is refused."""


def test_in_audit_mode_what_says_too_much_is_asked_about_too() -> None:
    replica_set = owned("Deployment", workload("ReplicaSet", "host(MyPool)", affinity=MUCH))
    assert used(pod("host(MyPool)", affinity=MUCH)) == (("mypool", "host(MyPool)"),)
    assert used(workload("Deployment", "host(MyPool)", affinity=MUCH)) == (("mypool", "host(MyPool)"),)
    assert used(replica_set, userInfo=CONTROLLER) == ()


def test_what_says_too_much_is_refused_without_a_question() -> None:
    assert use(pod("host(MyPool)", affinity=MUCH), ENFORCED) is None
    assert use(workload("Deployment", "host(MyPool)", affinity=MUCH), ENFORCED) is None


@pytest.mark.parametrize("found", [pod("host(MyPool)"), pod("host(MyPool)", owner="Gang")], ids=["alone", "owned"])
def test_the_review_and_its_user_and_pod_are_read_once(found: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    class Counting:
        def __init__(self, what: str, decoder: msgspec.json.Decoder[Any]) -> None:
            self.what, self.decoder = what, decoder

        def decode(self, text: bytes) -> Any:
            read.append(self.what)
            return self.decoder.decode(text)

    for module, name, what in ((pods, "_POD", "pod"), (reviews, "_USER", "user"), (reviews, "_FIELDS", "review")):
        monkeypatch.setattr(module, name, Counting(what, getattr(module, name)))
    question = use(found, ENFORCED, userInfo=CONTROLLER)
    assert question is not None
    question.resume(question.pools)
    assert sorted(read) == ["pod", "review", "user"]


def test_what_cannot_be_read_has_been_answered_already() -> None:
    assert use({"kind": "Pod", "spec": []}) is None
    assert use({"kind": "Deployment", "metadata": []}) is None


def test_the_refusal_names_user_pool_clause_and_right() -> None:
    found = use(pod("host(MyPool)"), ENFORCED)
    assert found is not None
    code, message = refused(found.resume(found.pools))
    assert code == 403
    assert message == (
        'metadata.annotations[streams.ibm.com/placement]: host(MyPool): user "alice" may not use HostPool mypool of '
        'namespace "default": this needs the verb use on streamshostpools.streams.ibm.com'
    )


def test_in_audit_mode_it_is_a_warning() -> None:
    found = use(pod("host(MyPool)"))
    assert found is not None
    answer = response(found.resume(found.pools))
    assert answer["allowed"]
    [warning] = answer["warnings"]
    assert warning == (
        'audit: this would be refused: host(MyPool): user "alice" may not use HostPool mypool of namespace "default": '
        "this needs the verb use on streamshostpools.streams.ibm.com"
    )
