"""``plan`` in a cluster whose nodes are made on demand: Jobs that wait for new nodes, or that no group can help."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import GIB, NAMESPACE, cluster, node
from tests.golden.examples import EXAMPLES
from webhook.app.application_kinds import application_kinds
from webhook.cli import main
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.newnodes import useful_nodes
from webhook.placement.jobs.newnodes.job_scale_up import UNDECIDED
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.request.world import World
from webhook.placementreview.plans.plan import Planned, planned, warning_of
from webhook.placementreview.submission import applied

AUTO = Policy(scale_up="auto")
APART = 'hostExlocation("a")'
NUMBERS = itertools.count()


def manifest(name: str, *elements: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A Job."""
    stated = {"bundle": {"name": "a.sab"}, "processingElements": list(elements), **spec}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": stated}


def part(cpu: str = "1", placement: str = APART) -> dict[str, Any]:
    """A processing element."""
    found: dict[str, Any] = {"operators": [{"name": f"Op{next(NUMBERS)}", "placement": placement}]}
    return found | {"resources": {"requests": {"cpu": cpu}}}


def plan(documents: Sequence[dict[str, Any]], count: int | None, policy: Policy = AUTO) -> Planned:
    """The plan on one node with 8 cores and a group that makes so many more of these."""
    inventory = cluster([node("node-a")])
    inventory.node_groups.put(NodeGroup("NodePool", "p", offers={"cpu": 8000, "memory": 32 * GIB}, count=count))
    given = [("f", document) for document in documents]
    applied(given, inventory)
    return planned(given, World(inventory, policy), 10)


def said(found: Planned) -> list[str]:
    """In a word, what becomes of each object: its node groups, or the group's line of its refusal."""
    lines = []
    for one in found.objects:
        reasons = [line.strip() for line in one.text.split("\n") if "NodePool" in line]
        made = [str(new) for new in one.scale_up.made] if one.scale_up else []
        lines.append("; ".join((*made, *reasons)) or ("refused" if one.text else "fits"))
    return lines


def test_jobs_wait_for_new_nodes_beside_what_fits_and_what_waits() -> None:
    """The first one takes the node there is, and the second one what the group may make."""
    jobs = [manifest("one", part("8")), manifest("two", part("8"), part("8")), manifest("three", part("8"))]
    assert said(plan(jobs, 3)) == ["fits", "2 nodes of NodePool p", "1 node of NodePool p"]
    assert said(plan(jobs, 2)) == [
        "fits",
        "2 nodes of NodePool p",
        "NodePool p makes only 2 more nodes with cpu 8, which is not enough",
    ]
    assert said(plan(jobs, 2, Policy())) == ["fits", "refused", "refused"]


@pytest.mark.parametrize("first", ["1", "9"], ids=["together", "one by itself"])
def test_what_waits_keeps_the_hosts_of_its_pools(first: str) -> None:
    """The hosts of a pool are nodes there are, also for a Job whose other elements wait, alone or with others."""
    pools = [{"name": "P", "size": 1}]
    waiting = manifest("one", part("1", "host(P)"), part(first), part(first), hostPools=pools)
    inventory = cluster([node("node-a")])
    inventory.node_groups.put(NodeGroup("NodePool", "p", offers={"cpu": 16000, "memory": 32 * GIB}))
    given = [("f", document) for document in (waiting, manifest("two", part("8"), part("8")))]
    applied(given, inventory)
    found = planned(given, World(inventory, AUTO), 10)
    assert [bool(one.scale_up and one.scale_up.made) for one in found.objects] == [True, True]
    assert [pool.spl_name for pool in found.objects[0].pools] == ["P"]


def test_what_waits_is_not_in_the_plan_of_the_nodes_there_are() -> None:
    found = plan([manifest("one", part(), part()), manifest("two", part("8"))], None)
    waits, fits = found.objects
    assert warning_of(waits) == (
        "no room yet for 1 of 2 processing elements (one-1): node groups can make 1 node of NodePool p",
    )
    assert (waits.text, waits.refusals, fits.text) == ("", (), "")
    assert [member.names for member in found.group.members] == [("two-0",)]


def deployment(name: str, replicas: int, cpu: str = "8", **spec: Any) -> dict[str, Any]:
    """A Deployment whose pods are on hosts of their own."""
    labels = {"app": name, "streams.ibm.com/job": name}
    metadata = {"labels": labels, "annotations": {"streams.ibm.com/placement": APART}}
    container = {"name": "c", "image": "c:1", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": metadata, "spec": {"containers": [container], **spec}}
    stated = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    stated["strategy"] = {"type": "Recreate"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": stated}  # fmt: skip


def test_pods_of_workloads_wait_for_new_nodes_as_jobs_do() -> None:
    """Beside what fits and what waits before them, within the limits of the groups."""
    given = [deployment("one", 3), manifest("two", part("8")), deployment("three", 1)]
    found = plan(given, 4)
    assert said(found) == ["2 nodes of NodePool p", "fits", "1 node of NodePool p"]
    waits = found.objects[0]
    assert warning_of(waits) == ("no room yet for 2 of 3 pods: node groups can make 2 nodes of NodePool p",)
    assert (waits.text, waits.refusals) == ("", ())
    [refused] = plan([deployment("one", 4)], 2).objects
    assert "NodePool p makes only 2 more nodes with cpu 8, which is not enough" in refused.text
    assert refused.text.splitlines()[-1].startswith("Nearest fix: ")


def test_a_pod_waits_for_a_node_that_is_large_enough() -> None:
    """As ``explain`` says; one that is too large for all groups, or that may not wait, is refused."""
    large = deployment("one", 1, "9")
    assert said(plan([large], None)) == ["NodePool p: a new node has less than cpu 9"]
    inventory = cluster([node("node-a")])
    inventory.node_groups.put(NodeGroup("NodePool", "p", offers={"cpu": 16000, "memory": 32 * GIB}))
    [waits] = planned([("f", large)], World(inventory, AUTO), 10).objects
    assert warning_of(waits) == ("no room yet for 1 of 1 pod: node groups can make 1 node of NodePool p",)
    everywhere = deployment("two", 1, "9", tolerations=[{"operator": "Exists"}])
    [refused] = planned([("f", everywhere)], World(inventory, AUTO), 10).objects
    assert (bool(refused.text), refused.scale_up) == (True, None)


def test_a_pod_that_no_group_makes_a_node_for_is_told_of_each() -> None:
    misspelt = deployment("one", 2, nodeSelector={"disktype": "sssd"})
    [refused] = plan([misspelt], None).objects
    assert (
        "\n  NodePool p makes no nodes with disktype=sssd (it does not set that label)\nNearest fix: " in refused.text
    )


def test_without_node_groups_the_setting_changes_nothing() -> None:
    for document in (manifest("one", part("8"), part("8")), deployment("two", 2)):
        [refused] = planned([("f", document)], World(cluster([node("node-a")]), AUTO), 10).objects
        assert (bool(refused.text), refused.scale_up) == (True, None)


WITH_KINDS = Policy(scale_up="auto", kinds=application_kinds())


def jobset(name: str, *parts: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    """A JobSet of jobs: how many pods, and changes of the spec of these."""
    jobs = []
    for at, (count, spec) in enumerate(parts):
        pod = deployment(name, 1, **{"restartPolicy": "Never", **spec})["spec"]["template"]
        pod["metadata"]["labels"] = {"streams.ibm.com/job": name}
        jobs.append({"name": f"j{at}", "template": {"spec": {"parallelism": count, "completions": count,
                                                             "template": pod}}})  # fmt: skip
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"replicatedJobs": jobs}}  # fmt: skip


def test_applications_of_other_operators_wait_for_new_nodes_as_jobs_do() -> None:
    """Beside what fits and what waits before them, within the limits of the groups."""
    given = [manifest("one", part("8")), jobset("two", (2, {})), jobset("three", (1, {}))]
    assert said(plan(given, 3, WITH_KINDS)) == ["fits", "2 nodes of NodePool p", "1 node of NodePool p"]
    found = plan(given, 2, WITH_KINDS)
    assert said(found) == [
        "fits",
        "2 nodes of NodePool p",
        "NodePool p makes only 2 more nodes with cpu 8, which is not enough",
    ]
    waits = found.objects[1]
    assert warning_of(waits) == ("no room yet for 2 of 2 pods (job j0): node groups can make 2 nodes of NodePool p",)
    assert waits.scale_up is not None
    assert waits.scale_up.waiting == ("JobSet two, job j0",) * 2


def test_an_application_that_can_never_run_has_the_reason_of_each_group_once() -> None:
    """Also where one of its components could run nowhere even by itself."""
    [refused] = plan([jobset("one", (4, {}))], 2, WITH_KINDS).objects
    assert refused.text.count("NodePool p makes only 2 more nodes with cpu 8, which is not enough") == 1
    misspelt = {"nodeSelector": {"disktype": "sssd"}}
    [refused] = plan([jobset("one", (1, {}), (1, misspelt))], 2, WITH_KINDS).objects
    assert refused.text.startswith("component job j1: nodeSelector disktype=sssd cannot hold")
    assert refused.text.count("NodePool p makes no nodes with disktype=sssd (it does not set that label)") == 1


def test_a_component_that_names_a_node_waits_beside_others_for_new_ones() -> None:
    """The node there is has room for one of both, which has to be the one that names it."""
    document = jobset("one", (1, {}), (1, {}))
    named = document["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["metadata"]["annotations"]
    named["streams.ibm.com/placement"] = 'host("node-a")'
    assert said(plan([document], 1, WITH_KINDS)) == ["1 node of NodePool p"]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(manifest("one", part("1", 'hostIsolation, hostColocation("c")'), part("1", 'hostColocation("c")')),
                     id="a contradiction"),
        pytest.param(manifest("one", part("1", "host(P)"), hostPools=[{"name": "P", "hosts": ["gone"]}]),
                     id="a pool that cannot have its hosts"),
        pytest.param(manifest("one", part("9")), id="a pod that is too large"),
    ],
)  # fmt: skip
def test_what_new_nodes_do_not_help_is_refused(document: dict[str, Any]) -> None:
    [one] = plan([document], None).objects
    assert one.text
    assert one.scale_up is None


def test_a_job_that_is_not_decided_about_is_admitted_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(useful_nodes, "COMPARED", 0)
    [one] = plan([manifest("one", part(), part())], None).objects
    assert (one.text, one.undecided, warning_of(one)) == ("", True, (UNDECIDED,))


def test_a_job_of_operators_goes_by_the_nodes_there_are() -> None:
    operators = [{"name": name, "placement": f"partitionIsolation, {APART}"} for name in ("A", "B")]
    document = manifest("one", operators=operators, fusion={"legacy": True})
    del document["spec"]["processingElements"]
    [one] = plan([document], None).objects
    assert one.text
    assert "NodePool" not in one.text


def test_the_document_has_what_would_be_made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    folder = "examples/autoscaled"
    words = ("plan", "--snapshot", f"{folder}/cluster", "--scale-up", "auto", "-f", f"{folder}/job.yaml")
    assert main([*words, "-o", "json"]) == 0
    [subject] = json.loads(capsys.readouterr().out)["subjects"]
    assert subject["waiting"] == ["ingest-1", "ingest-2"]
    assert subject["newNodes"] == [{"group": "MachineDeployment workers", "nodes": 2, "needs": []}]
    assert main([*words, "-f", f"{folder}/refused-job.yaml"]) == 1
    out = capsys.readouterr().out
    assert "node groups can make 2 nodes of MachineDeployment workers" in out
    assert "NodePool fast has cpu 32 left of its limits, which is not enough" in out
