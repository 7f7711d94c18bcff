"""Where the pods of an object are described."""

from typing import Any

import pytest

from webhook.admission.checks.templates import pods_of

TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c"}]}}


def workload(version: str, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "w", "namespace": "team"}, "spec": spec}


WORKLOADS = {
    kind: workload(version, kind, template=TEMPLATE)
    for version, kind in (
        ("apps/v1", "Deployment"),
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("v1", "ReplicationController"),
        ("batch/v1", "Job"),
    )
} | {"CronJob": workload("batch/v1", "CronJob", jobTemplate={"spec": {"template": TEMPLATE}})}


@pytest.mark.parametrize("document", WORKLOADS.values(), ids=WORKLOADS)
def test_a_workload_describes_the_pod_that_is_made_of_its_template(document: dict[str, Any]) -> None:
    [found] = pods_of(document)
    assert found.origin == f"{document['kind']} w"
    assert found.pod["metadata"]["labels"] == {"app": "x"}
    assert found.pod["metadata"]["generateName"] == "w-"
    assert found.pod["metadata"]["namespace"] == "team"
    assert found.pod["spec"] == TEMPLATE["spec"]


@pytest.mark.parametrize("document", WORKLOADS.values(), ids=WORKLOADS)
def test_the_pod_of_a_template_is_controlled_by_the_workload_itself(document: dict[str, Any]) -> None:
    [found] = pods_of(document)
    reference = {"apiVersion": document["apiVersion"], "kind": document["kind"], "name": "w"}
    assert found.pod["metadata"]["ownerReferences"] == [{**reference, "uid": "", "controller": True}]


def test_a_pod_describes_itself() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    assert [(found.origin, found.pod) for found in pods_of(pod)] == [("Pod p", pod)]


def test_a_pod_template_has_no_owner() -> None:
    [found] = pods_of({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"}, "template": TEMPLATE})
    assert "ownerReferences" not in found.pod["metadata"]
    assert "namespace" not in found.pod["metadata"]


@pytest.mark.parametrize(
    "document",
    [{}, {"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "batch/v1beta1", "kind": "Job"}],
    ids=["nothing", "another kind", "another version"],
)
def test_other_objects_describe_no_pod(document: dict[str, Any]) -> None:
    assert list(pods_of(document)) == []


def test_parts_of_a_wrong_type_are_passed_over() -> None:
    [found] = pods_of({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": None, "spec": []})
    assert found.pod["spec"] == {}


def streams_job(*elements: object) -> dict[str, Any]:
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {"processingElements": list(elements)},
    }


def test_a_streams_job_describes_a_pod_for_each_element() -> None:
    operators = [{"name": "A", "placement": "hostIsolation"}, {"name": "B"}, {"name": "B.C", "placement": 'host("x")'}]
    [first, second] = pods_of(streams_job({"operators": operators}, {"name": "pe-b", "template": TEMPLATE}))
    assert (first.origin, second.origin) == ("Job j, processing element j-0", "Job j, processing element pe-b")
    metadata = first.pod["metadata"]
    assert metadata["labels"] == {"streams.ibm.com/job": "j", "streams.ibm.com/pe": "j-0"}
    assert metadata["annotations"]["streams.ibm.com/placement"] == 'A: hostIsolation; B.C: host("x")'
    assert metadata["ownerReferences"][0]["kind"] == "ProcessingElement"
    assert first.pod["spec"]["containers"][0]["image"] == "streams-runtime:debug"
    assert second.pod["spec"] == {**TEMPLATE["spec"], "restartPolicy": "Never"}
    assert second.pod["metadata"]["labels"]["app"] == "x"


def test_a_streams_job_that_cannot_be_read_describes_none() -> None:
    assert list(pods_of(streams_job("odd"))) == []
