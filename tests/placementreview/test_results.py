"""Results of manifests: which count for others, what is said of each kind, and what a user cannot say."""

from typing import Any

import msgspec
import pytest

from tests.builders import node
from tests.placementreview.asked import NOTHING, asked
from tests.placementreview.test_what_if import asking, cluster
from webhook.admission.answer import Answer
from webhook.admission.responses import errored
from webhook.app.application_kinds import application_kinds
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.node_shapes import node_shapes
from webhook.placement.pod_defaults.limit_range import LimitRange, LimitRangeItem
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.text import keys
from webhook.placementreview.results import submitted_form
from webhook.placementreview.review import CandidateNodes, ReviewResult

STREAMS = "streams.ibm.com/v1"
TAINTS = [Taint("secret", "", "PreferNoSchedule")]
BIG = '[{"name": "big", "resources": {"cpu": "64", "memory": "1Ti", "pods": "110"}}]'
UNREADABLE = {"spec": {"containers": 3}}


def one(inventory: Inventory, *manifests: dict[str, Any], **fields: Any) -> ReviewResult:
    """The last result."""
    return asked(inventory, *manifests, **fields).results[-1]


def hostpool(name: str = "pool", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": STREAMS, "kind": "HostPool", "metadata": {"name": name}, "spec": spec}


def deployment(replicas: int, placement: str, job: str = "", name: str = "web", cpu: str = "1") -> dict[str, Any]:
    labels = {"app": name, **({keys.JOB: job} if job else {})}
    template = {
        "metadata": {"labels": labels, "annotations": {keys.PLACEMENT: placement}},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def job(*placements: str, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "streams-runtime", "image": "example.invalid/runtime"}]}}
    elements = [
        {"name": f"pe-{at}", "template": template, "operators": [{"name": f"Op{at}", "placement": each}]}
        for at, each in enumerate(placements)
    ]
    spec = {"processingElements": elements, **spec}
    return {"apiVersion": STREAMS, "kind": "Job", "metadata": {"name": "whole"}, "spec": spec}


def test_a_hostpool_counts_for_the_pods_after_it() -> None:
    pod = asking(placement="host(pool)")
    assert one(cluster(node()), pod).verdict == "Refused"
    assert one(cluster(node()), hostpool(size=1, mode="Shared"), pod).verdict == "Admitted"
    assert one(cluster(node()), hostpool(size=2, mode="Shared"), pod).verdict == "Refused"


def test_a_hostpool_says_nothing_of_its_hosts() -> None:
    status = {"phase": "Ready", "hosts": [{"index": 0, "name": "node-b", "uid": "uid-of-node-b"}]}
    lying = {**hostpool(size=1, mode="Shared", tags=["none"]), "status": status}
    result = one(cluster(node(), node("node-b")), lying)
    assert (result.verdict, result.candidates and result.candidates.count) == ("Refused", 0)
    assert result.nearest_fix


def test_what_the_api_server_writes_is_left_out() -> None:
    metadata = {"name": "p", "uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z", "labels": {"a": "b"}}
    given = {**asking(), "metadata": metadata, "status": {"phase": "Failed"}}
    found = submitted_form(given, "team")
    assert found["metadata"] == {"name": "p", "labels": {"a": "b"}, "namespace": "team"}
    assert "status" not in found


def test_a_hostpool_that_cannot_be_applied_is_left_out_in_audit_mode() -> None:
    wrong, pod = hostpool(size=1, mode="Wrong"), asking(placement="host(pool)")
    first, last = asked(cluster(node()), wrong, pod, policy=Policy(audit=True)).results
    assert (first.verdict, last.verdict) == ("Admitted", "Admitted")
    assert {text.partition(":")[0] for text in (*first.warnings, *last.warnings)} == {"audit"}
    assert first.candidates is None


def test_a_hostpool_whose_nodes_may_come_waits() -> None:
    assert one(cluster(node()), hostpool(size=2, mode="Shared"), policy=Policy(elastic=True)).verdict == "Waiting"


def test_an_intent_counts_for_the_pods_after_it() -> None:
    inventory = cluster(node())
    inventory.intents.enable("default")
    consumer = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "container-name": "main"}
    hardware = {"mandatory": True, "allocatable": True, "name": "cpu", "requests": 90, "limits": 90}
    requirements = [{"name": "cores", "spec": hardware}]
    spec = {"app": "web", "consumers": [{"name": "web", "consumer": consumer, "requirements": requirements}]}
    intent = {"apiVersion": STREAMS, "kind": "HPAIntent", "metadata": {"name": "i"}, "spec": spec}
    plain = deployment(1, "partitionIsolation")
    del plain["spec"]["template"]["metadata"]["annotations"]
    assert one(inventory, plain).verdict == "NotJudged"
    first, last = asked(inventory, intent, plain).results
    assert (first.kind, first.verdict, first.candidates) == ("HPAIntent", "Admitted", None)
    assert last.verdict == "Refused"
    assert one(inventory, plain).verdict == "NotJudged"


def test_a_workload_is_judged_beside_earlier_ones_of_its_job() -> None:
    both = deployment(1, 'hostExlocation("a")', "j"), deployment(1, 'hostExlocation("a")', "j", name="db")
    first, last = asked(cluster(node()), *both).results
    assert (first.verdict, first.fit, last.verdict, last.fit) == ("Admitted", 1, "Refused", 1)
    assert last.smallest_set
    assert last.nearest_fix
    assert last.message


def test_replicas_that_fit_are_counted() -> None:
    result = one(cluster(node(), node("node-b")), deployment(3, 'hostExlocation("a")', "j"))
    assert (result.verdict, result.replicas, result.fit) == ("Refused", 3, 2)
    assert result.smallest_set == ('hostExlocation("a")', "replicas 3")


def test_a_refused_job_has_one_result() -> None:
    found = asked(cluster(node()), job('hostExlocation("a")', 'hostExlocation("a")')).results
    assert [result.verdict for result in found] == ["Refused"]
    assert found[0].smallest_set == ('hostExlocation("a")',)


def test_a_job_that_breaks_a_rule_has_no_smallest_set() -> None:
    result = one(cluster(node()), job("host(nowhere)"))
    assert (result.verdict, result.smallest_set) == ("Refused", ())


@pytest.mark.parametrize("elements", [True, 3, "pe", {"name": "pe"}])
def test_a_job_with_elements_of_another_type_is_refused(elements: object) -> None:
    found = asked(cluster(node()), job(processingElements=elements), plan=True).results
    assert [result.verdict for result in found] == ["Refused"]


def test_an_admitted_job_has_results_of_its_components() -> None:
    pools = [{"name": "P", "mode": "Shared", "size": 1}]
    found = asked(cluster(node()), job("host(P)", "host(P)", hostPools=pools)).results
    assert [(result.component, result.verdict) for result in found] == [
        ("", "Admitted"),
        ("HostPool whole-p", "Admitted"),
        ("processing element pe-0", "Admitted"),
        ("processing element pe-1", "Admitted"),
    ]
    assert (found[0].replicas, found[0].fit) == (2, 2)


@pytest.mark.parametrize(
    "manifest",
    [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}},
        {"apiVersion": "example.com/v1", "kind": "Ring", "metadata": {"name": "r"}, "spec": {"template": UNREADABLE}},
    ],
)
def test_what_asks_for_nothing_is_not_judged(manifest: dict[str, Any]) -> None:
    result = one(cluster(node()), manifest)
    assert (result.verdict, result.message) == ("NotJudged", "")


def test_an_object_that_cannot_be_read_is_refused_as_admission_does() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": 3}}
    result = one(cluster(node()), pod, plan=True)
    assert result.verdict == "Refused"
    assert result.message.startswith("the Pod is not readable: ")


def test_a_pod_that_waits_is_told_apart() -> None:
    inventory = cluster(node(taints=[Taint("node.kubernetes.io/not-ready", "", "NoSchedule")]))
    result = one(inventory, asking())
    assert result.verdict == "Waiting"
    assert result.warnings


def test_the_api_servers_defaults_are_requested() -> None:
    bare = asking()
    bare["spec"]["containers"] = [{"name": "main", "image": "example.invalid/main"}]
    inventory = cluster(node())
    assert one(inventory, bare).verdict == "Admitted"
    item = LimitRangeItem("Container", default_request={"cpu": "90"})
    inventory.pod_defaults.put_limit_range(LimitRange("default", "limits", (item,)))
    result = one(inventory, bare)
    assert result.verdict == "Refused"
    assert "cpu 90" in result.message


def test_a_pod_that_the_api_server_refuses_before_webhooks_is_refused() -> None:
    pod = asking()
    pod["spec"]["priority"] = 3
    result = one(cluster(node()), pod)
    assert (result.verdict, result.message.partition(":")[0]) == ("Refused", "spec.priority")


def test_an_error_of_admission_is_a_refusal() -> None:
    class Silent(ReviewQueries):
        """An API server that says nothing."""

        def completed(self, answer: Answer, since: float | None = None) -> Answer:
            del answer, since
            return errored("the API server does not say")

    result = one(cluster(node()), asking(), queries=Silent())
    assert (result.verdict, result.message) == ("Refused", "the API server does not say")


def test_a_daemon_set_is_asked_of_both_webhooks() -> None:
    template = {
        "metadata": {"labels": {"app": "d"}},
        "spec": {
            "containers": [{"name": "main"}],
            "tolerations": [{"key": keys.EXCLUSIVE, "operator": "Exists"}],
        },
    }
    spec = {"selector": {"matchLabels": {"app": "d"}}, "template": template}
    result = one(
        cluster(node()), {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": spec}
    )
    assert result.fit is None
    assert result.candidates


def test_a_plan_places_all_manifests_together() -> None:
    status = asked(cluster(node(cpu=2000)), asking(), deployment(2, "partitionIsolation"), plan=True)
    assert status.plan
    assert [subject["verdict"] for subject in status.plan["subjects"]] == ["admitted", "refused"]
    assert status.plan["subjects"][0]["elements"][0]["node"] == "node-a"


@pytest.mark.parametrize("metadata", [{}, {"name": ""}, {"generateName": "job-"}])
def test_operators_of_a_job_that_the_api_server_is_to_name_are_planned(metadata: dict[str, str]) -> None:
    operators = [{"name": name, "placement": 'partitionExlocation("x")'} for name in ("A", "B")]
    spec = {"operators": operators, "streams": [{"from": "A", "to": "B"}], "fusion": {"manual": 1}}
    unnamed = {
        "apiVersion": STREAMS,
        "kind": "Job",
        "metadata": metadata,
        "spec": {"bundle": {"name": "a.sab"}, **spec},
    }
    plan = asked(cluster(node(), node("node-b")), unnamed, plan=True).plan
    assert plan
    assert [len(subject["elements"]) for subject in plan["subjects"]] == [2]


@pytest.mark.parametrize("metadata", [{}, {"name": ""}, {"generateName": "job-"}])
def test_a_job_that_the_api_server_is_to_name_has_its_own_pools(metadata: dict[str, str]) -> None:
    stated = job("host(P)", hostPools=[{"name": "P", "mode": "Shared", "size": 1}])
    unnamed = {**stated, "metadata": metadata}
    status = asked(cluster(node()), unnamed, plan=True)
    assert [(one.verdict, one.candidates) for one in status.results if one.component] == [
        ("Admitted", CandidateNodes(1, ("node-a",)))
    ] * 2
    assert {one.name for one in status.results} == {metadata.get("generateName", "")}
    assert status.plan
    assert [one["node"] for one in status.plan["subjects"][0]["elements"]] == ["node-a"]


def test_a_plan_of_hidden_nodes_has_numbers_for_their_names() -> None:
    pools = [{"name": "P", "mode": "Shared", "size": 1}]
    manifests = job("host(P)", "hostIsolation", hostPools=pools), deployment(4, "partitionIsolation")
    labels = {"topology.kubernetes.io/zone": "secret-zone"}
    inventory = cluster(*(node(f"secret-{at}", labels=labels, taints=TAINTS) for at in range(3)))
    told = asked(inventory, *manifests, plan=True).plan
    hidden = asked(inventory, *manifests, plan=True, visible=NOTHING)
    assert told
    assert hidden.plan
    assert "secret" in msgspec.json.encode(told).decode()
    assert "secret" not in msgspec.json.encode(hidden).decode()
    assert [one["name"] for one in hidden.plan["nodes"]] == ["node-1", "node-2", "node-3"]
    assert [_shape(one) for one in (told, hidden.plan)] == [_shape(told)] * 2
    assert hidden.plan["pools"][0]["hosts"][0]["node"].startswith("node-")


def _shape(plan: dict[str, Any]) -> list[tuple[bool, list[int]]]:
    """Which elements have a node, and how many pods of the others go together."""
    elements = [element for subject in plan["subjects"] for element in subject["elements"]]
    return [(bool(element["node"]), [*element["placed"].values()]) for element in elements]


def job_set(said: dict[str, Any]) -> dict[str, Any]:
    """Two pods with that metadata."""
    containers = [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]
    template = {"metadata": said, "spec": {"containers": containers, "restartPolicy": "Never"}}
    inner = {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": template}
    jobs = [{"name": "workers", "replicas": 1, "template": {"spec": inner}}]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train"},
        "spec": {"replicatedJobs": jobs},
    }


def test_an_application_is_judged_whole_and_by_its_components() -> None:
    said = {"labels": {keys.JOB: "j"}, "annotations": {keys.PLACEMENT: 'hostExlocation("a")'}}
    jobset = job_set(said)
    policy = Policy(kinds=application_kinds())
    both = cluster(node(), node("node-b"))
    whole, component = asked(both, jobset, policy=policy, plan=True).results
    assert (whole.verdict, whole.component, component.verdict, component.component) == (
        "Admitted",
        "",
        "Admitted",
        "job workers",
    )
    [refused] = asked(cluster(node()), jobset, policy=policy).results
    assert refused.verdict == "Refused"
    assert refused.smallest_set
    del said["labels"]
    said["annotations"].clear()
    assert one(cluster(node()), jobset, policy=policy).verdict == "NotJudged"


def test_a_patch_that_names_no_node_is_told_to_everyone() -> None:
    pod = asking(placement='hostExlocation("a")')
    pod["metadata"]["labels"] = {keys.JOB: "j", keys.PE: "p"}
    pod["spec"]["terminationGracePeriodSeconds"] = 5
    [result] = asked(cluster(node()), pod, visible=NOTHING).results
    [told] = asked(cluster(node()), pod).results
    assert result.patch == told.patch != ()
    assert not any("patch" in text for text in result.warnings)


def test_a_component_that_audit_mode_lets_in_is_refused_nevertheless() -> None:
    found = asked(cluster(node()), job('host("gone")'), policy=Policy(audit=True)).results
    assert [(result.component, result.verdict) for result in found] == [
        ("", "Admitted"),
        ("processing element pe-0", "Refused"),
    ]
    assert found[1].message.startswith('host("gone") cannot hold')


def test_a_pod_of_a_class_that_does_not_exist_is_refused() -> None:
    inventory = cluster(node())
    inventory.pod_defaults.put_priority_class(PriorityClass("high", 10))
    inventory.pod_defaults.closed = True
    pod = asking()
    pod["spec"]["priorityClassName"] = "gone"
    result = one(inventory, pod)
    assert result.verdict == "Refused"
    assert result.message.startswith('spec.priorityClassName: there is no PriorityClass "gone"')


def test_components_that_wait_are_told_apart() -> None:
    away = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
    found = asked(cluster(node(taints=[away])), job("partitionIsolation")).results
    assert [(result.component, result.verdict) for result in found] == [
        ("", "Admitted"),
        ("processing element pe-0", "Waiting"),
    ]


def test_a_job_that_waits_for_new_nodes_is_told_apart() -> None:
    policy = Policy(scale_up="auto", node_shapes=node_shapes(BIG))
    found = asked(cluster(node()), job('hostExlocation("a")', 'hostExlocation("a")'), policy=policy).results
    assert found[0].verdict == "Waiting"


def test_an_application_that_waits_for_new_nodes_is_told_apart() -> None:
    """In the plan as well: nothing of it is placed."""
    said = {"labels": {keys.JOB: "j"}, "annotations": {keys.PLACEMENT: 'hostExlocation("a")'}}
    policy = Policy(scale_up="auto", node_shapes=node_shapes(BIG), kinds=application_kinds())
    found = asked(cluster(node()), job_set(said), policy=policy, plan=True)
    assert [(one.component, one.verdict) for one in found.results] == [("", "Waiting"), ("job workers", "Waiting")]
    assert found.results[0].warnings == (
        "no room yet for 1 of 2 pods (job workers): node groups can make 1 node of node shape big",
    )
    assert found.plan is not None
    [planned] = found.plan["subjects"]
    assert list(planned["newNodes"]) == [{"group": "node shape big", "nodes": 1, "needs": ()}]
