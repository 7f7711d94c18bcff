"""Components of an application with the same label of a processing element are one, which isolation leaves together."""

from typing import Any

import pytest

from tests.builders import NAMESPACE
from tests.placement.kinds.application_verdict import verdict_on
from tests.placement.kinds.random_applications import Case, Machine


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
