"""Pods of applications of other operators wait, by their chain of owners and the account that creates them."""

import base64
import json
from typing import Any, Final

import jsonpatch
import pytest
from msgspec.structs import replace

from tests.answers import refused, response, warnings
from tests.builders import GIB, NAMESPACE, Json, cluster, nodes, pool, review
from webhook.admission.answer import Answer, OwnersQuestion, PodOwner
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pool import Phase

OPERATOR: Final = "system:serviceaccount:ray-system:kuberay-operator"
POLICY: Final = Policy(
    kinds=application_kinds(), reviewed=frozenset({("ray.io", "RayCluster")}), operator_accounts=frozenset({OPERATOR})
)
REFERENCE: Final = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "demo", "uid": "u-1", "controller": True}
ONE: Final = cluster(nodes(1))
WHY: Final = "requests cpu 40 cannot hold: 0 of 1 node can run this pod."


def pod(cpu: str = "40", owners: Any = (REFERENCE,), placement: str = "") -> Json:
    metadata = {"generateName": "demo-", "namespace": NAMESPACE, "labels": {"streams.ibm.com/job": "ray"}}
    said = {"annotations": {"streams.ibm.com/placement": placement}} if placement else {}
    container = {"name": "ray", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, **said, "ownerReferences": owners},
        "spec": {"containers": [container]},
    }  # fmt: skip


def asked(found: Json, user: str = OPERATOR, policy: Policy = POLICY) -> Answer:
    return mutate(review(found, userInfo={"username": user}), ONE, policy)


def test_a_pod_that_no_node_can_run_is_refused_unless_its_owners_are_known() -> None:
    answer = asked(pod())
    assert refused(answer)[1].startswith(WHY)
    question = answer.question
    assert isinstance(question, OwnersQuestion)
    assert (question.user, question.namespace) == (OPERATOR, NAMESPACE)
    assert question.owners == (PodOwner("ray.io/v1", "RayCluster", "demo", "u-1"),)


def test_one_of_an_application_is_patched_and_waits() -> None:
    question = asked(pod()).question
    assert isinstance(question, OwnersQuestion)
    answer = question.resume()
    assert (answer.waits, answer.question, bool(response(answer)["patch"])) == ("controlled", None, True)
    assert any(one.startswith(f"no node yet: {WHY}") for one in warnings(answer))


def test_what_no_change_of_the_cluster_makes_right_is_refused_even_so() -> None:
    assert asked(pod(placement="host(")).question is None
    question = asked(pod(placement='host("10.1.2.3")')).question
    assert isinstance(question, OwnersQuestion)
    assert refused(question.resume())[0] == 403


def test_one_that_a_node_can_run_takes_no_question() -> None:
    answer = asked(pod("1"))
    assert (response(answer)["allowed"], answer.question) == (True, None)


@pytest.mark.parametrize(
    ("user", "is_asked"),
    [
        pytest.param(OPERATOR, True, id="the operator"),
        pytest.param(f"system:serviceaccount:{NAMESPACE}:spark", True, id="an account of the namespace"),
        pytest.param("jane", False, id="a user"),
        pytest.param("system:serviceaccount:elsewhere:kuberay-operator", False, id="an account elsewhere"),
        pytest.param("", False, id="no user"),
    ],
)
def test_only_accounts_that_may_create_such_pods_are_asked_about(user: str, *, is_asked: bool) -> None:
    assert isinstance(asked(pod(), user).question, OwnersQuestion) is is_asked


@pytest.mark.parametrize("owners", [(), None], ids=repr)
def test_a_pod_without_owners_is_a_plain_pod(owners: object) -> None:
    assert asked(pod(owners=owners)).question is None


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(Policy(kinds=POLICY.kinds, operator_accounts=POLICY.operator_accounts), id="no kind is reviewed"),
        pytest.param(
            Policy(reviewed=POLICY.reviewed, operator_accounts=POLICY.operator_accounts, unsatisfiable_pods="refuse"),
            id="no pod waits",
        ),
    ],
)
def test_without_such_applications_nothing_is_asked(policy: Policy) -> None:
    assert asked(pod(), policy=policy).question is None


FAILED: Final = cluster(nodes(3), [pool(size=3, phase=Phase.FAILED)])


def test_a_pod_that_waits_is_admitted_when_it_is_reviewed_once_more() -> None:
    """A pool that has failed is an error for a plain pod; one of an application waits for the hosts of the pool."""
    body = review(pod("1", placement="host(MyPool)"), userInfo={"username": OPERATOR})
    question = mutate(body, FAILED, POLICY).question
    assert isinstance(question, OwnersQuestion)
    patch = json.loads(base64.b64decode(response(question.resume())["patch"]))
    made = jsonpatch.apply_patch(pod("1", placement="host(MyPool)"), patch)
    answer = validate(review(made, userInfo={"username": OPERATOR}), FAILED, POLICY)
    assert refused(answer)[0] == 403
    again = answer.question
    assert isinstance(again, OwnersQuestion)
    assert response(again.resume())["allowed"]
    assert validate(review(made, userInfo={"username": "jane"}), FAILED, POLICY).question is None


def test_of_thousands_of_owners_few_are_asked_about_and_none_that_cannot_exist() -> None:
    """An answer is kept with the references, which any user can write."""
    endless = {**REFERENCE, "name": "n" * 1_000_000}
    assert asked(pod(owners=[endless])).question is None
    question = asked(pod(owners=[endless, *({**REFERENCE, "uid": f"u-{at}"} for at in range(1000))])).question
    assert isinstance(question, OwnersQuestion)
    assert [owner.uid for owner in question.owners] == ["u-0", "u-1", "u-2", "u-3", "u-4"]


def test_one_that_a_new_node_could_run_waits_for_it_whoever_creates_it() -> None:
    """No owner is asked about, and the patch keeps the pod eligible on the new node: it names no node there is."""
    inventory = cluster(nodes(1))
    inventory.node_groups.put(NodeGroup("NodePool", "large", offers={"cpu": 64000, "memory": 256 * GIB}))
    scaling, found = replace(POLICY, scale_up="auto", host_binding="nodeName"), pod(placement='hostExlocation("x")')
    answer = mutate(review(found, userInfo={"username": OPERATOR}), inventory, scaling)
    assert (answer.waits, answer.question) == ("scale-up", None)
    assert warnings(answer) == ["no node yet: NodePool large can make one"]
    made = jsonpatch.apply_patch(found, json.loads(base64.b64decode(response(answer)["patch"])))
    assert "nodeName" not in made["spec"]
    assert set(made["spec"]["affinity"]) == {"podAntiAffinity"}
