"""Components of an application with the same label of a processing element are one, which isolation leaves together."""

from typing import Any

import pytest

from tests.builders import NAMESPACE
from tests.placement.kinds.application_verdict import verdict_on
from tests.placement.kinds.random_applications import Case, Machine, Part


def leader_and_worker(leader: str, worker: str, more: str = "") -> Case:
    """A LeaderWorkerSet of two isolated pods, which are the processing elements of these names, on one node."""

    def template(element: str) -> dict[str, Any]:
        labels = {"streams.ibm.com/job": "app", **({"streams.ibm.com/pe": element} if element else {})}
        metadata = {"labels": labels, "annotations": {"streams.ibm.com/placement": f"hostIsolation{more}"}}
        return {"metadata": metadata, "spec": {"containers": [{"name": "main"}]}}

    inner = {"size": 2, "leaderTemplate": template(leader), "workerTemplate": template(worker)}
    metadata = {"name": "app", "namespace": NAMESPACE}
    document = {"apiVersion": "v1", "kind": "LeaderWorkerSet", "metadata": metadata}
    document["spec"] = {"replicas": 1, "leaderWorkerTemplate": inner}
    return Case((Machine("node-a", 8, ""),), ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"), (), document, None)


@pytest.mark.parametrize(
    ("leader", "worker", "more", "refused"),
    [("a", "a", "", False), ("a", "b", "", True), ("a", "a", ', hostExlocation("t")', True)],
)
def test_isolated_pods_share_a_host_if_they_are_one_element(
    leader: str, worker: str, more: str, *, refused: bool
) -> None:
    assert verdict_on(leader_and_worker(leader, worker, more)).refused is refused


def test_what_keeps_one_pod_from_others_outside_leaves_it_beside_its_own_element() -> None:
    """Only the leader has the token: without another pod that has it, nothing keeps the two apart."""
    case = leader_and_worker("a", "a")
    leader = case.document["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
    leader["metadata"]["annotations"]["streams.ibm.com/placement"] = 'hostIsolation, hostExlocation("t")'
    assert verdict_on(case).text == ""


def test_isolation_alone_is_not_said_to_keep_pods_of_one_element_apart() -> None:
    """Without their token the workers would leave a node to the master."""
    worker = Part(3, ("hostIsolation", 'hostExlocation("b")'), 1, "", name="pe-1")
    machines = tuple(Machine(f"node-{letter}", 8, "") for letter in "abc")
    document: dict[str, Any] = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}
    document["metadata"] = {"name": "app", "namespace": NAMESPACE}
    case = Case(machines, ("kubeflow.org", "PyTorchJob"), (), document, None).with_parts((Part(1, (), 1, ""), worker))
    assert verdict_on(case).text == (
        'hostExlocation("b") and hostIsolation cannot both hold: 3 of 4 pods fit (master, worker).\n'
        'Nearest fix: add a node with cpu 1, memory 10Mi free, or drop hostExlocation("b") (all 4 would fit), '
        "or run 3 of these 4."
    )
