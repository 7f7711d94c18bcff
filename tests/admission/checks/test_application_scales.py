"""The subresource ``scale`` of other operators' applications: more pods than fit are a warning, never a refusal."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.admission.checks.test_applications import APART, POLICY, THREE, template, whole
from tests.answers import refused, response, warnings
from tests.builders import GIB, NAMESPACE, Json, bound_pod, cluster, nodes, pool, review
from webhook.admission.answer import Answer, ReferenceQuestion
from webhook.admission.checks.applications import LEFT_OUT, REFUSED, WAIT
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.nodegroups.node_group import NodeGroup

LWS: Final = {"group": "leaderworkerset.x-k8s.io", "resource": "leaderworkersets", "version": "v1"}
FLINK: Final = {"group": "flink.apache.org", "resource": "flinkdeployments", "version": "v1beta1"}


def leaders(replicas: int, placement: str | None = APART, **metadata: Any) -> Json:
    """Groups of a leader and a worker."""
    spec = {"replicas": replicas, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template(placement)}}
    own = {"name": "serve", "namespace": NAMESPACE, **metadata}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": own, "spec": spec}


def scale(replicas: object) -> Json:
    return {"metadata": {"name": "serve", "namespace": NAMESPACE}, "spec": {"replicas": replicas}}


UNREADABLE: Final = {"size": 2, "workerTemplate": template(nodeName=7)}


def asked(new: object, old: object = 1, inventory: Inventory = THREE, *, resource: Json = LWS, **fields: Any) -> Answer:
    """The answer to a scale from the old number to the new one, without what it depends on."""
    of = {"kind": "Scale", "group": "autoscaling", "subResource": "scale", "name": "serve", "resource": resource}
    operation = fields.pop("operation", "UPDATE")
    policy = fields.pop("policy", POLICY)
    return validate(review(scale(new), operation, old=scale(old), **{**of, **fields}), inventory, policy)


def read(answer: Answer, found: Json | None) -> Answer:
    """The answer once the object was read."""
    assert isinstance(answer.question, ReferenceQuestion)
    return answer.question.resume(found)


def settled(answer: Answer) -> bool:
    """Whether the scale is allowed, with nothing more to be asked or said."""
    return response(answer)["allowed"] and answer.question is None and not warnings(answer)


def test_more_than_fits_is_allowed_with_a_warning() -> None:
    answer = whole(read(asked(2), leaders(1)))
    assert response(answer)["allowed"]
    assert warnings(answer) == [f"{WAIT}: {APART} cannot hold: 3 of 4 pods fit (leader, worker)."]


def test_the_object_is_read_in_the_version_that_is_scaled() -> None:
    question = asked(2).question
    assert isinstance(question, ReferenceQuestion)
    path = f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{NAMESPACE}/leaderworkersets/serve"
    assert question.reference.path == path


def test_what_fits_is_allowed_without_a_word() -> None:
    mine = [bound_pod(f"node-{at}", pe=at) for at in "ab"]
    answer = whole(read(asked(2, inventory=cluster(nodes(4), pods=mine)), leaders(1)))
    assert response(answer)["allowed"]
    assert warnings(answer) == []


def test_a_number_that_the_object_did_not_state_is_made() -> None:
    managers = {"podTemplate": template(), "resource": {"cpu": 1}}
    found = {
        "apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment",
        "metadata": {"name": "serve", "namespace": NAMESPACE},
        "spec": {"mode": "standalone", "podTemplate": template(), "taskManager": managers},
    }  # fmt: skip
    answer = whole(read(asked(3, resource=FLINK), found))
    assert warnings(answer) == [f"{WAIT}: {APART} cannot hold: 3 of 4 pods fit (jobManager, taskManager)."]
    del found["spec"]["taskManager"]
    assert warnings(whole(read(asked(9, resource=FLINK), found)))[0].startswith(f"{WAIT}: ")


def test_fewer_pods_are_not_looked_at() -> None:
    assert settled(asked(2, 2))
    assert settled(asked(1, 5))


def test_what_it_was_counts_as_none_if_it_cannot_be_read() -> None:
    assert isinstance(asked(1, "two").question, ReferenceQuestion)


def test_a_scale_that_cannot_be_read_is_refused() -> None:
    assert refused(asked("two"))[0] == 422


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"name": "../x"}, id="no name"),
        pytest.param({"namespace": "../x"}, id="no namespace"),
        pytest.param({"resource": {**LWS, "version": "v2"}}, id="a version without a file"),
        pytest.param({"resource": {**LWS, "resource": "deployments", "group": "apps"}}, id="of another kind"),
        pytest.param({"resource": {"group": "ray.io", "resource": "rayclusters", "version": "v1"}}, id="has no scale"),
        pytest.param({"resource": "leaderworkersets"}, id="unreadable"),
        pytest.param({"operation": "CREATE"}, id="another operation"),
    ],
)
def test_what_names_no_application_is_allowed(fields: Json) -> None:
    assert settled(asked(2, **fields))


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(None, id="cannot be read"),
        pytest.param(leaders(1, deletionTimestamp="now"), id="is being deleted"),
        pytest.param(leaders(1, None), id="asks for nothing"),
        pytest.param(leaders(5), id="had more"),
        pytest.param({**leaders(1), "spec": {"replicas": 1, "leaderWorkerTemplate": UNREADABLE}}, id="is not readable"),
    ],
)
def test_nothing_is_said_of_an_object(found: Json | None) -> None:
    answer = read(asked(2), found)
    assert settled(answer if answer.question is None else whole(answer))


def test_a_mistake_is_named() -> None:
    [said] = warnings(whole(read(asked(2), leaders(1, "host("))))
    assert said.startswith(f"{REFUSED}: 2 of 2 components cannot run even by themselves (leader, worker):")


@pytest.mark.parametrize(
    ("settings", "waits", "mistaken"),
    [
        pytest.param({}, WAIT, REFUSED, id="as by default"),
        pytest.param({"unsatisfiable_pods": "refuse"}, LEFT_OUT, REFUSED, id="no pod waits"),
        pytest.param(
            {"audit": True},
            "audit: some of the pods would wait",
            "audit: pods of this application would be refused",
            id="audit",
        ),
        pytest.param(
            {"audit": True, "unsatisfiable_pods": "refuse"},
            "audit: some of the pods would be refused",
            "audit: pods of this application would be refused",
            id="audit of a cluster in which no pod waits",
        ),
    ],
)
def test_the_warning_says_what_becomes_of_the_pods(settings: Json, waits: str, mistaken: str) -> None:
    policy = replace(POLICY, **settings)
    answer = whole(read(asked(2, policy=policy), leaders(1)))
    [said] = warnings(answer)
    assert answer.rules == ()  # metrics would count them as those of a refusal
    assert said == f"{waits}: {APART} cannot hold: 3 of 4 pods fit (leader, worker)."
    [said] = warnings(whole(read(asked(2, policy=policy), leaders(1, "host("))))
    assert said.startswith(f"{mistaken}: 2 of 2 components cannot run even by themselves (leader, worker):")


def test_no_right_to_use_pools_is_asked_for() -> None:
    """Who submitted the application had it; an autoscaler has none."""
    pooled = cluster(nodes(3), [pool("MyPool", hosts=("node-0", "node-1"))])
    answer = whole(read(asked(2, inventory=pooled), leaders(1, f"host(MyPool), {APART}")))
    assert [one.partition(":")[0] for one in warnings(answer)] == [WAIT]


def test_a_suspended_one_gets_the_warning_of_a_suspended_one() -> None:
    found = {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "serve", "namespace": NAMESPACE},
        "spec": {
            "runPolicy": {"suspend": True},
            "pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": template()}},
        },
    }  # fmt: skip
    torch = {"group": "kubeflow.org", "resource": "pytorchjobs", "version": "v1"}
    [said] = warnings(whole(read(asked(4, resource=torch), found)))
    assert said.startswith(f"not yet: {APART} cannot hold: 3 of 4 pods fit")


def test_growth_that_new_nodes_help_says_which() -> None:
    """It is a warning as well, and where groups make too few nodes some of the pods wait."""
    inventory = cluster(nodes(3))
    inventory.node_groups.put(NodeGroup("NodePool", "p", offers={"cpu": 8000, "memory": 32 * GIB}, count=1))
    policy = replace(POLICY, scale_up="auto")
    answer = whole(read(asked(2, inventory=inventory, policy=policy), leaders(1)))
    assert response(answer)["allowed"]
    assert warnings(answer) == [
        "no room yet for 1 of 4 pods (worker): node groups can make 1 node of NodePool p"
    ]  # fmt: skip
    answer = whole(read(asked(3, inventory=inventory, policy=policy), leaders(1)))
    assert warnings(answer) == [f"{WAIT}: {APART} cannot hold: 3 of 6 pods fit (leader, worker)."]
