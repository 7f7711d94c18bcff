"""``/validate`` of applications of other operators: judged whole when they are submitted, before they have pods."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.answers import refused, response, warnings
from tests.builders import GIB, JOB, NAMESPACE, Json, bound_pod, cluster, nodes, pool, review
from tests.placement.planning.at_once import AtOnce
from webhook.admission.answer import (
    Answer,
    ClassQuestion,
    ReferenceQuestion,
    RightsQuestion,
    VolumesQuestion,
    WholeQuestion,
)
from webhook.admission.validate import guard, validate
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.search.solver import finished

POLICY = Policy(kinds=application_kinds())
APART = 'hostExlocation("a")'
THREE = cluster(nodes(3))
BOTH = f"{APART} cannot hold: 3 of 4 pods fit (head, worker small)."
FIX = (
    f"Nearest fix: add a node with cpu 200m, memory 256Mi free, or drop {APART} (all 4 would fit), or run 3 of these 4."
)


def template(placement: str | None = APART, *, requests: Json | None = None, **spec: Any) -> Json:
    container = {"name": "main", "image": "i", **({"resources": {"requests": requests}} if requests else {})}
    metadata: Json = {"labels": {"streams.ibm.com/job": JOB}}
    if placement is None:
        metadata = {}
    elif placement:
        metadata["annotations"] = {"streams.ibm.com/placement": placement}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def ray(
    workers: object = 3,
    head: Json | None = None,
    worker: Json | None = None,
    annotations: Json | None = None,
    **spec: Any,
) -> Json:
    group = {"groupName": "small", "replicas": workers, "template": worker or template(), **spec.pop("group", {})}
    return {
        "apiVersion": "ray.io/v1", "kind": "RayCluster",
        "metadata": {"name": "demo", "namespace": NAMESPACE, "annotations": annotations or {}},
        "spec": {"headGroupSpec": {"template": head or template()}, "workerGroupSpecs": [group], **spec},
    }  # fmt: skip


def submitted(
    found: object,
    inventory: Inventory = THREE,
    policy: Policy = POLICY,
    *,
    old: object = None,
    group: str = "ray.io",
    **fields: Any,
) -> Answer:
    """The answer, without what it depends on."""
    kind = found["kind"] if isinstance(found, dict) else "RayCluster"
    body = review(found, "CREATE" if old is None else "UPDATE", old=old, kind=kind, group=group, **fields)
    return validate(body, inventory, policy)


def whole(answer: Answer) -> Answer:
    """The answer once the whole application is judged."""
    question = answer.question
    assert isinstance(question, WholeQuestion)
    return finished(question.resume(AtOnce()))


def judged(found: object, inventory: Inventory = THREE, policy: Policy = POLICY, **fields: Any) -> Answer:
    return whole(submitted(found, inventory, policy, **fields))


def test_one_that_cannot_run_at_a_time_is_refused_with_components_and_fix() -> None:
    assert refused(judged(ray())) == (403, f"{BOTH}\n{FIX}")


def test_one_that_fits_is_allowed() -> None:
    assert response(judged(ray(2))) == {"uid": response(judged(ray(2)))["uid"], "allowed": True}


def test_one_that_asks_for_nothing_is_not_even_decoded() -> None:
    answer = submitted(ray(99, template(None), template(None)))
    assert (response(answer)["allowed"], answer.question) == (True, None)


def test_one_that_only_mentions_the_product_is_allowed() -> None:
    mentions = template(None, nodeSelector={"hostpool.streams.ibm.com/blue": "true"})
    answer = submitted(ray(99, template(None), mentions))
    assert (response(answer)["allowed"], answer.question) == (True, None)


@pytest.mark.parametrize(
    "found",
    [
        [{"streams.ibm.com/": 1}],
        {
            "kind": "RayCluster",
            "metadata": {"deletionTimestamp": "now", "annotations": {"streams.ibm.com/placement": "x"}},
        },
    ],
)
def test_what_is_not_an_object_or_is_being_deleted_is_allowed(found: object) -> None:
    answer = submitted(found)
    assert (response(answer)["allowed"], answer.question) == (True, None)


@pytest.mark.parametrize("fields", [{"subResource": "status"}, {"subResource": "scale"}])
def test_subresources_are_not_judged(fields: Json) -> None:
    answer = submitted(ray(), **fields)
    assert (response(answer)["allowed"], answer.question) == (True, None)


def test_without_the_kind_nothing_is_judged() -> None:
    answer = submitted(ray(), policy=Policy())
    assert (response(answer)["allowed"], answer.question) == (True, None)


def test_the_guard_judges_none() -> None:
    assert guard(review(ray(), "CREATE", kind="RayCluster", group="ray.io"), THREE, POLICY).question is None


def test_deletions_are_not_judged() -> None:
    assert (
        validate(review(None, "DELETE", old=ray(), kind="RayCluster", group="ray.io"), THREE, POLICY).question is None
    )


def test_a_component_that_cannot_run_at_all_is_named() -> None:
    code, message = refused(judged(ray(1, worker=template('host("nowhere")'))))
    assert code == 403
    assert (
        message.splitlines()[0] == 'component worker small: host("nowhere") cannot hold: 0 of 3 nodes can run this pod.'
    )


def test_several_such_components_are_all_named() -> None:
    code, message = refused(judged(ray(1, template("host("), template('host("nowhere")'))))
    assert (code, message.splitlines()[0]) == (
        422, "2 of 2 components cannot run even by themselves (head, worker small):"
    )  # fmt: skip


def test_what_cannot_be_decoded_is_named_with_its_path() -> None:
    where = "spec.workerGroupSpecs[0].template.spec.nodeName"
    assert refused(submitted(ray(1, worker=template(nodeName=7)))) == (
        422, f'{where}: 7 is a whole number, expected a text: write it in quotes, "7"'
    )  # fmt: skip


def test_more_instances_than_are_judged_are_refused() -> None:
    groups = [{"groupName": f"g{at}", "template": template()} for at in range(201)]
    assert refused(submitted(ray(workerGroupSpecs=groups))) == (
        422, "spec.workerGroupSpecs: has 201 entries, at most 200 are judged"
    )  # fmt: skip


def test_components_count_together_for_room() -> None:
    big = template("", requests={"cpu": "5"})
    code, message = refused(judged(ray(3, big, big)))
    assert (code, message.splitlines()[0]) == (
        403,
        "requests cpu 5 and requests cpu 5, memory 256Mi cannot both hold: 3 of 4 pods fit (head, worker small).",
    )


def test_an_isolated_component_keeps_the_others_away() -> None:
    isolated = template("head: hostIsolation")
    code, message = refused(judged(ray(1, isolated), cluster(nodes(1))))
    assert code == 403
    assert "hostIsolation" in message


def test_an_annotation_of_the_object_counts_for_all_and_warns_where_to_write_it() -> None:
    plain = template("")
    own = {"streams.ibm.com/placement": APART}
    lost = (
        "metadata.annotations[streams.ibm.com/placement]: counts for all components here, but a RayCluster's own "
        "annotations do not reach its pods: write it in spec.headGroupSpec.template.metadata.annotations and the like"
    )
    answer = judged(ray(3, plain, plain, own))
    assert refused(answer) == (403, f"{BOTH}\n{FIX}")
    assert warnings(judged(ray(2, plain, plain, own))) == [lost]


def test_only_the_fewest_of_an_elastic_component_are_judged() -> None:
    elastic = ray(1, enableInTreeAutoscaling=True, group={"minReplicas": 1, "maxReplicas": 5})
    most = "at the maximum (worker small: 5), not all can run at the same time now"
    assert warnings(judged(elastic)) == [f"only the minimum number of pods was judged: {most}"]


def test_nothing_is_said_of_the_most_if_they_fit_or_are_too_many_to_judge() -> None:
    few = ray(1, enableInTreeAutoscaling=True, group={"minReplicas": 1, "maxReplicas": 2})
    many = ray(1, enableInTreeAutoscaling=True, group={"minReplicas": 1, "maxReplicas": 10**6})
    assert warnings(judged(few)) == warnings(judged(many)) == []


def test_pods_that_there_may_never_be_refuse_nothing() -> None:
    none = {"minReplicas": 0, "maxReplicas": 2}
    growing = ray(0, enableInTreeAutoscaling=True, worker=template('host("nowhere")'), group=none | {"replicas": 1})
    assert response(judged(growing))["allowed"]


def test_more_pods_than_are_placed_together_are_refused_where_they_lack_room_by_themselves() -> None:
    assert "of 20000 pods fit" in response(judged(ray(20_000)))["status"]["message"]


def test_without_time_nothing_is_decided() -> None:
    class NoTime(AtOnce):
        def left(self) -> float:
            return 0

    question = submitted(ray()).question
    assert isinstance(question, WholeQuestion)
    answer = finished(question.resume(NoTime()))
    assert warnings(answer) == [
        "no decision in time on whether all components can run at the same time: some of their pods may have to wait"
    ]


class Unsolved(AtOnce):
    """Has time to look at components, and none to place them."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def left(self) -> float:
        self.looks += 1
        return 1 if self.looks <= 2 else 0


def test_what_is_not_placed_in_time_is_not_decided() -> None:
    question = submitted(ray(2)).question
    assert isinstance(question, WholeQuestion)
    assert warnings(finished(question.resume(Unsolved()))) == [
        "no decision in time on whether all components can run at the same time: some of their pods may have to wait"
    ]


def test_pods_of_lower_priority_make_room() -> None:
    low = [PodInfo(f"low-{at}", "other", f"node-{at}", {"cpu": 8 * 10**9, "pods": 1}, priority=-5) for at in "abc"]
    found = judged(
        ray(2, template("", requests={"cpu": "5"}), template("", requests={"cpu": "5"})), cluster(nodes(3), pods=low)
    )
    assert response(found)["allowed"]
    assert warnings(found)


def test_one_that_is_suspended_gets_a_warning() -> None:
    assert warnings(judged(ray(suspend=True))) == [f"not yet: {BOTH}"]


def test_a_mistake_is_refused_even_if_it_is_suspended() -> None:
    assert refused(judged(ray(1, template("host("), suspend=True)))[0] == 422


def test_in_audit_mode_a_refusal_is_a_warning() -> None:
    answer = judged(ray(), policy=Policy(kinds=POLICY.kinds, audit=True))
    assert warnings(answer) == [f"audit: this would be refused: {BOTH}"]


def test_where_nodes_may_come_a_lack_of_room_is_a_warning() -> None:
    assert warnings(judged(ray(), policy=Policy(kinds=POLICY.kinds, elastic=True)))[-1] == f"no room yet: {BOTH}"


def test_jobs_that_follow_others_are_judged_by_themselves() -> None:
    def job(name: str, count: int, **fields: Any) -> Json:
        return {
            "name": name,
            "template": {"spec": {"parallelism": count, "completions": count, "template": template()}},
            **fields,
        }

    after = [{"name": "first", "status": "Complete"}]
    spec = {"replicatedJobs": [job("first", 3), job("then", 3, dependsOn=after)]}
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "s"}, "spec": spec}
    assert response(judged(jobset, group="jobset.x-k8s.io"))["allowed"]
    spec["replicatedJobs"][1] = job("then", 4, dependsOn=after)
    assert refused(judged(jobset, group="jobset.x-k8s.io")) == (
        403, f"{APART} cannot hold: 3 of 4 pods fit (job then).\n{FIX.replace(' with cpu 200m, memory 256Mi free', '')}"
    )  # fmt: skip


def test_a_change_that_demands_no_more_is_allowed() -> None:
    for new in (ray(5), ray(4)):
        answer = submitted(new, old=ray(5))
        assert (response(answer)["allowed"], answer.question) == (True, None)


@pytest.mark.parametrize(
    "old", [ray(4), ray(5, worker=template('host("x")')), ray(5, suspend=True), ray(5, workerGroupSpecs=[]), []]
)
def test_a_change_that_demands_more_is_judged(old: object) -> None:
    assert refused(judged(ray(5), old=old))[0] == 403


def test_a_change_of_components_with_one_name_is_judged() -> None:
    twin = {"groupName": "small", "replicas": 1, "template": template()}
    assert isinstance(
        submitted(ray(workerGroupSpecs=[twin]), old=ray(workerGroupSpecs=[twin, twin])).question, WholeQuestion
    )


def test_its_own_pods_make_room_for_a_change_of_pods_of_a_job() -> None:
    mine = [bound_pod(f"node-{at}", pe=at) for at in "abc"]
    busy = cluster(nodes(3), pods=mine)
    assert response(judged(ray(2), busy, old=ray(1)))["allowed"]


def test_pods_without_a_job_cannot_be_told_from_others_in_a_change() -> None:
    big = template("", requests={"cpu": "5"})
    big["metadata"] = {"annotations": {"streams.ibm.com/host-binding": "nodeAffinity"}}
    answer = judged(ray(3, big, big), old=ray(1, big, big))
    assert warnings(answer)[-1].startswith(
        "not all can run at the same time beside the pods that run now: "
        "requests cpu 5 and requests cpu 5, memory 256Mi cannot both hold"
    )


def blue_green(parallelism: int, placement: str = APART, **metadata: Any) -> Json:
    podded = {
        "metadata": {"labels": {"streams.ibm.com/job": JOB}, "annotations": {"streams.ibm.com/placement": placement}}
    }
    spec = {
        "podTemplate": podded | metadata,
        "jobManager": {},
        "taskManager": {"resource": {"cpu": 3}},
        "job": {"parallelism": parallelism},
    }
    return {
        "apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkBlueGreenDeployment",
        "metadata": {"name": "demo", "namespace": NAMESPACE}, "spec": {"template": {"spec": spec}},
    }  # fmt: skip


ALL_BUSY = cluster(nodes(3), pods=[bound_pod(f"node-{at}", pe=at, requests={"cpu": 6000}) for at in "abc"])


def test_a_change_of_a_blue_green_deployment_starts_beside_the_pods_that_run() -> None:
    """Nodes have 8 cores: six for a pod that runs, and three for one that comes."""
    answer = judged(blue_green(2), ALL_BUSY, old=blue_green(1), group="flink.apache.org")
    assert response(answer)["allowed"]
    assert warnings(answer) == [
        (
            "not all can run at the same time beside the pods that run now: requests cpu 3 cannot hold: 0 of 2 pods "
            "fit (taskManager)."
        )
    ]


def test_a_change_of_a_blue_green_deployment_that_fits_beside_has_no_warning() -> None:
    one = cluster(nodes(3), pods=[bound_pod("node-a", requests={"cpu": 6000})])
    assert warnings(judged(blue_green(2), one, old=blue_green(1), group="flink.apache.org")) == []


def test_a_change_of_a_blue_green_deployment_that_never_fits_is_refused() -> None:
    answer = judged(blue_green(3), ALL_BUSY, old=blue_green(1), group="flink.apache.org")
    assert refused(answer)[1].startswith(f"{APART} cannot hold: 3 of 4 pods fit")


def test_pods_of_a_blue_green_deployment_without_a_job_cannot_be_told_from_others() -> None:
    without = {"metadata": {"annotations": {"streams.ibm.com/host-binding": "nodeAffinity"}}}
    old, new = blue_green(1, **without), blue_green(2, **without)
    answer = judged(new, ALL_BUSY, old=old, group="flink.apache.org")
    assert [one.partition(": ")[0] for one in warnings(answer)][-1] == (
        "not all can run at the same time beside the pods that run now"
    )


def test_the_right_to_use_pools_is_asked_first() -> None:
    pooled = cluster(nodes(3), [pool("MyPool", hosts=("node-0", "node-1"))])
    answer = submitted(ray(1, worker=template("host(MyPool)")), pooled)
    question = answer.question
    assert isinstance(question, RightsQuestion)
    assert question.pools == (("mypool", "host(MyPool)"),)
    assert isinstance(question.then, WholeQuestion)
    assert refused(question.resume(question.pools))[0] == 403


def test_classes_and_claims_are_asked_for() -> None:
    claiming = template(
        priorityClassName="unknown", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    )
    question = submitted(ray(1, worker=claiming)).question
    assert isinstance(question, ClassQuestion)
    volumes = question.resume(question.known).question
    assert isinstance(volumes, VolumesQuestion)
    assert volumes.claims == ((NAMESPACE, "data"),)
    assert isinstance(volumes.resume(None).question, WholeQuestion)
    assert isinstance(volumes.resume(THREE.volumes).question, WholeQuestion)


def test_conditions_left_to_the_scheduler_are_warned_of() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    near = template("", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    assert any(
        "is left to the scheduler: some pods may have to wait" in one for one in warnings(judged(ray(1, worker=near)))
    )


def test_warnings_of_components_name_them() -> None:
    answer = judged(ray(1, template(f"{APART}, partitionIsolation"), template(f"{APART}, partitionIsolation")))
    assert [one for one in warnings(answer) if one.startswith("component head: ")]


def workflow(placement: str, items: int = 1, requests: Json | None = None, **spec: Any) -> Json:
    leaf = {
        "name": "leaf",
        "metadata": template(placement)["metadata"],
        "container": {"image": "i", "resources": {"requests": requests or {"cpu": "1"}}},
    }
    loop = {"name": "main", "steps": [[{"name": "s", "template": "leaf", "withItems": [1] * items}]]}
    return {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w", "namespace": NAMESPACE},
        "spec": {"entrypoint": "main", "templates": [loop, leaf], **spec},
    }  # fmt: skip


def test_a_template_of_a_workflow_that_no_node_can_run_is_refused() -> None:
    code, text = refused(judged(workflow(APART, requests={"cpu": "1000"}), group="argoproj.io"))
    assert (code, text.partition("\n")[0]) == (403, "requests cpu 1k cannot hold: 0 of 1 pod fits (template leaf).")


def test_steps_of_a_workflow_run_as_nodes_get_free() -> None:
    assert warnings(judged(workflow(APART, 3), group="argoproj.io")) == []
    most = "only the minimum number of pods was judged: at the maximum (template leaf: 4), "
    assert warnings(judged(workflow(APART, 4), group="argoproj.io")) == [f"{most}not all can run at the same time now"]


def test_a_workflow_whose_pods_may_change_is_allowed_with_a_warning() -> None:
    found = workflow('host("nowhere")', podSpecPatch="{}")
    said = ["spec.podSpecPatch may change the pods, which were not judged"]
    assert warnings(judged(found, group="argoproj.io")) == said


def test_an_object_that_runs_in_another_cluster_is_allowed_with_a_warning() -> None:
    """MultiKueue takes it there; here it would be refused."""
    found = ray(9, managedBy="kueue.x-k8s.io/multikueue")
    said = "spec.managedBy is kueue.x-k8s.io/multikueue: another controller creates the pods, which were not judged"
    assert warnings(judged(found)) == [said]
    plain = ray(managedBy="kueue.x-k8s.io/multikueue", worker=template(None), head=template(None))
    assert submitted(plain).question is None


def runtime(requests: Json | None = None) -> Json:
    own = {"spec": {"containers": [{"name": "node", "resources": {"requests": requests or {"cpu": "1"}}}]}}
    trainer = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    jobs = [{"name": "node", "template": {"metadata": trainer, "spec": {"template": own}}}]
    return {"spec": {"mlPolicy": {}, "template": {"spec": {"replicatedJobs": jobs}}}}


def train(nodes: int, placement: str | None = APART, **ref: Any) -> Json:
    own = {"name": "node", "template": {"spec": {"template": {"metadata": template(placement)["metadata"]}}}}
    patch = {"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [own]}}}}
    spec = {"runtimeRef": {"name": "torch", **ref}, "trainer": {"numNodes": nodes}, "runtimePatches": [patch]}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
        "metadata": {"name": "t", "namespace": NAMESPACE}, "spec": spec,
    }  # fmt: skip


def referring(found: Json, runtime: Json | None, **fields: Any) -> Answer:
    """The answer once the runtime was read, or was not there."""
    question = submitted(found, group="trainer.kubeflow.org", **fields).question
    assert isinstance(question, ReferenceQuestion)
    return question.resume(runtime)


def test_a_train_job_is_judged_by_its_runtime() -> None:
    assert refused(whole(referring(train(4), runtime())))[1].startswith(
        f"{APART} cannot hold: 3 of 4 pods fit (job node)."
    )
    assert warnings(whole(referring(train(3), runtime()))) == []


def test_without_its_runtime_a_train_job_is_allowed_with_a_warning() -> None:
    said = "spec.runtimeRef: ClusterTrainingRuntime torch cannot be read, so its pods were not judged"
    assert warnings(whole(referring(train(4), None))) == [said]
    other = submitted(train(4, kind="Other"), group="trainer.kubeflow.org")
    assert warnings(whole(other)) == [said.replace("ClusterTrainingRuntime", "Other")]


def test_nothing_is_read_for_a_train_job_that_asks_for_nothing() -> None:
    plain = train(4, None)
    plain["spec"]["trainer"]["env"] = [{"name": "streams.ibm.com/placement"}]
    answer = submitted(plain, group="trainer.kubeflow.org")
    assert (response(answer)["allowed"], answer.question) == (True, None)


def test_a_train_job_is_judged_again_if_it_has_more_nodes() -> None:
    assert referring(train(2), runtime(), old=train(3)).question is None
    grown = warnings(whole(referring(train(4), runtime(), old=train(3))))
    assert (grown, refused(whole(referring(train(4), runtime(), old=train(3))))[0]) == ([], 403)


GROUP = NodeGroup("NodePool", "p", offers={"cpu": 8000, "memory": 32 * GIB}, count=1)
SCALING = replace(POLICY, scale_up="auto")


def growing(group: NodeGroup = GROUP) -> Inventory:
    """Three nodes, and a group that makes one more."""
    inventory = cluster(nodes(3))
    inventory.node_groups.put(group)
    return inventory


def test_one_that_new_nodes_help_is_allowed_with_a_warning() -> None:
    answer = judged(ray(), growing(), SCALING)
    assert response(answer)["allowed"]
    assert warnings(answer) == ["no room yet for 1 of 4 pods (head): node groups can make 1 node of NodePool p"]
    assert answer.promise is None  # it has no uid


def test_one_that_needs_more_nodes_than_groups_make_is_refused_with_their_reasons() -> None:
    """In audit mode the first line is a warning."""
    code, message = refused(judged(ray(4), growing(), SCALING))
    assert (code, message.splitlines()[0]) == (403, f"{APART} cannot hold: 3 of 5 pods fit (head, worker small).")
    assert "  NodePool p makes only 1 more node with cpu 8, memory 32Gi, which is not enough" in message.splitlines()
    assert message.splitlines()[-1].startswith("Nearest fix: ")
    audited = judged(ray(4), growing(), replace(SCALING, audit=True))
    assert warnings(audited) == [f"audit: this would be refused: {message.splitlines()[0]}"]


def test_a_suspended_one_that_new_nodes_help_is_told_of_these() -> None:
    answer = judged(ray(suspend=True), growing(), SCALING)
    assert warnings(answer)[0].startswith("no room yet for 1 of 4 pods (head)")
    assert warnings(judged(ray(4, suspend=True), growing(), SCALING))[0].startswith("not yet: ")


def test_the_most_pods_are_compared_with_the_nodes_there_are() -> None:
    """Of an elastic application the fewest pods wait for new nodes."""
    elastic = ray(1, enableInTreeAutoscaling=True, group={"minReplicas": 3, "maxReplicas": 9})
    first, second = warnings(judged(elastic, growing(), SCALING))
    assert first.startswith("no room yet for 1 of 4 pods (head)")
    assert second.startswith("only the minimum number of pods was judged: at the maximum (worker small: 9)")
