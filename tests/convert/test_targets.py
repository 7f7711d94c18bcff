"""Annotations are put on the user's own pods and workloads."""

from typing import Any

import pytest

from tests.yaml_values import loaded
from webhook.convert.conversion import ConvertOptions, Input, convert
from webhook.convert.findings import Conversion, Manifest, RefusedInputError
from webhook.convert.input_kind import InputKind
from webhook.convert.targets import Targets

PROGRAM = """
composite Main { graph
  stream<int32 i> A = Beacon() { config placement: host(P); }
  stream<int32 i> B = Functor(A) { config placement: hostExlocation("t"); restartable: false; }
  () as C = Custom(B) {}
config hostPool: P = createPool(Sys.Shared);
}
"""


def pod(name: str, labels: dict[str, str] | None = None, annotations: Any = None) -> Manifest:
    metadata: dict[str, Any] = {"name": name}
    if labels is not None:
        metadata["labels"] = labels
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "pe"}]}}


def deployment(name: str, kind: str = "Deployment") -> Manifest:
    template = {"spec": {"containers": [{"name": "main"}]}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": {"template": template}}


def put(text: str, kind: str, *documents: Manifest) -> tuple[list[Manifest], Conversion]:
    """The documents with their annotations, and what else comes of the conversion."""
    targets = Targets([("onto.yaml", one) for one in documents])
    found = convert([Input("in", text.encode(), InputKind(kind))], ConvertOptions(targets=targets))[0]
    return [document for _, document in targets.documents], found


def annotations(document: Manifest) -> dict[str, str]:
    """The annotations of the pods."""
    owner = document["spec"].get("template", document)
    found: dict[str, str] = owner.get("metadata", {}).get("annotations", {})
    return found


def test_clauses_go_to_the_pods_of_their_processing_element() -> None:
    (first, second, third), found = put(
        PROGRAM, "spl", pod("x", {"streams.ibm.com/pe": "A"}), deployment("main-1"), pod("C", {"a": "b"})
    )
    assert annotations(first) == {"streams.ibm.com/placement": "A: host(P)"}
    assert annotations(second) == {"streams.ibm.com/placement": 'B: hostExlocation("t")'}
    assert second["spec"]["template"]["metadata"]["labels"] == {"streams.ibm.com/job": "main"}
    assert third == pod("C", {"a": "b"})
    assert [one["kind"] for one in found.manifests] == ["HostPool"]
    assert [str(remark) for remark in found.remarks] == [
        (
            "in:4: restartable: false of B is left out: the pod's own restartPolicy decides whether it is restarted; "
            "set restartPolicy: Never"
        )
    ]


def test_one_pod_alone_gets_the_clauses_of_all() -> None:
    document = pod("any", {"streams.ibm.com/job": "own"})
    (only,), _ = put(PROGRAM, "spl", document)
    assert annotations(only) == {"streams.ibm.com/placement": 'A: host(P); B: hostExlocation("t")'}
    assert only["metadata"]["labels"] == {"streams.ibm.com/job": "own"}
    assert document == pod("any", {"streams.ibm.com/job": "own"}), "the user's own object is not changed"


def test_a_processing_element_without_pods_is_lost() -> None:
    _, found = put(PROGRAM, "spl", pod("A"), pod("other"))
    assert [str(remark) for remark in found.remarks if remark.demand] == [
        (
            "in:4: processing element main-1 (B) is left out: no pod or workload of --onto is it, by "
            "streams.ibm.com/pe; "
            "add it to the manifests of --onto"
        )
    ]


def test_too_many_clauses_for_one_pod_are_refused() -> None:
    graph = "\n".join(
        f'stream<int32 i> A{at} = Beacon() {{ config placement: hostExlocation("t{at}"); }}' for at in range(40)
    )
    _, found = put(f"composite Main {{ graph {graph} }}", "spl", pod("any"))
    assert [f"{problem.field}: {problem.message}" for problem in found.problems] == [
        "in:1: too many different tokens: at most 32 are allowed"
    ]


def test_parameters_go_to_all_pods() -> None:
    text = "kubernetes.worker.mapping.uniform: all-same-node\nkubernetes.namespace: edge\n"
    documents, found = put(text, "twister2", deployment("a"), deployment("b"))
    for document in documents:
        assert annotations(document) == {"streams.ibm.com/kubernetes.worker.mapping.uniform": "all-same-node"}
        assert document["spec"]["template"]["metadata"]["labels"] == {"streams.ibm.com/job": "in"}
    assert (found.manifests, [str(remark) for remark in found.remarks]) == (
        (),
        ["in:2: kubernetes.namespace is left out: the workload says so itself; compare it with the workload"],
    )


INTENT = """
metadata: {name: i}
spec: {app: a}
---
metadata: {name: c}
spec: {consumer: {apiVersion: apps/v1, kind: Deployment, name: d, container-name: main}}
---
metadata: {name: gpu}
spec: {mandatory: true, name: nvidia.com/gpu, limits: 1}
---
metadata: {name: label}
spec: {mandatory: true, name: disktype, value: ssd}
---
metadata: {name: other}
spec: {mandatory: true, name: cpu, requests: 1, container-name: side}
---
metadata: {name: empty}
spec: {consumer: {apiVersion: apps/v1, kind: Deployment, name: e}}
"""


def test_requirements_go_to_the_workload_of_their_consumer() -> None:
    (first, second), found = put(INTENT, "emco", deployment("d"), deployment("d", "StatefulSet"))
    assert loaded(annotations(first)["streams.ibm.com/hpa-requirements"]) == [
        {
            "name": "gpu",
            "spec": {"mandatory": True, "name": "nvidia.com/gpu", "limits": 1, "container-name": "main"},
        },
        {"name": "label", "spec": {"mandatory": True, "name": "disktype", "value": "ssd"}},
        {
            "name": "other",
            "spec": {"mandatory": True, "name": "cpu", "requests": 1, "container-name": "side"},
        },
    ]
    assert annotations(second) == {}
    assert (found.manifests, found.remarks, found.problems) == ((), (), ())


def test_requirements_without_a_name_are_put_as_they_are() -> None:
    text = """
    metadata: {name: i}
    spec:
      consumers:
      - consumer: {apiVersion: apps/v1, kind: Deployment, name: d, container-name: m}
        requirements: [{mandatory: true, name: cpu, requests: 1}]
    """
    (document,), _ = put(text, "emco", deployment("d"))
    assert loaded(annotations(document)["streams.ibm.com/hpa-requirements"]) == [
        {"mandatory": True, "name": "cpu", "requests": 1, "container-name": "m"}
    ]


def test_replicas_of_a_consumer_are_the_workloads_own() -> None:
    text = """
    metadata: {name: i}
    spec: {consumers: [{apiVersion: apps/v1, kind: Deployment, name: d, replicas: 2}]}
    """
    _, found = put(text, "emco", deployment("d"))
    why = "the workload defines the number of pods; set spec.replicas there"
    assert [str(remark) for remark in found.remarks] == [f"in:3: replicas 2 of consumer d is left out: {why}"]


def test_a_consumer_without_a_workload_is_lost() -> None:
    _, found = put(INTENT, "emco", pod("d"))
    assert [str(remark) for remark in found.remarks if remark.demand] == [
        (
            "in:5: consumer c of intent i is left out: no pod or workload of --onto is it, by the kind and name of a "
            "workload; add it to the manifests of --onto"
        )
    ]


def test_an_annotation_is_never_replaced() -> None:
    own = {"streams.ibm.com/placement": "hostIsolation"}
    _, found = put(PROGRAM, "spl", pod("A", annotations=own))
    assert [f"{problem.field}: {problem.message}" for problem in found.problems] == [
        "onto.yaml: Pod A has the annotation streams.ibm.com/placement already, with another value: take it out first"
    ]
    same = {"streams.ibm.com/placement": "A: host(P)"}
    (document,), found = put(PROGRAM, "spl", pod("A", annotations=same))
    assert (annotations(document), found.problems) == (same, ())


def test_parts_of_another_type_are_replaced() -> None:
    document = pod("A", annotations=["odd"])
    document["metadata"]["labels"] = None
    (found,), _ = put(PROGRAM, "spl", document)
    assert annotations(found) == {"streams.ibm.com/placement": "A: host(P)"}


def test_objects_without_pods_stay_as_they_are() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    (first, _), _ = put(PROGRAM, "spl", service, pod("A"))
    assert first == service


def test_a_template_of_an_object_without_metadata_gets_annotations() -> None:
    odd = {"apiVersion": "x/v1", "kind": "Rollout", "metadata": "odd", "spec": deployment("x")["spec"]}
    (found,), _ = put("kubernetes.bind.worker.to.cpu: false", "twister2", odd)
    assert annotations(found) == {"streams.ibm.com/kubernetes.bind.worker.to.cpu": "false"}
    (found,), _ = put(PROGRAM, "spl", odd)
    assert "streams.ibm.com/placement" in annotations(found)
    _, lost = put(INTENT, "emco", odd)
    assert [remark.demand for remark in lost.remarks] == [True]


@pytest.mark.parametrize("documents", [(), ({"apiVersion": "v1", "kind": "Service", "metadata": {}},)])
def test_something_has_to_be_annotated(documents: tuple[Manifest, ...]) -> None:
    with pytest.raises(RefusedInputError) as raised:
        Targets([("onto.yaml", one) for one in documents])
    (problem,) = raised.value.problems
    where = "onto.yaml" if documents else "--onto"
    assert (problem.field, problem.message) == (where, "no pod or workload to annotate")
