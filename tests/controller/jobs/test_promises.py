"""What the controller finds out about whole Jobs before it makes anything, promises them, and keeps for them."""

import json
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import POOLS, element_path, job_path, node_path
from tests.controller.jobs.job_cluster import JobCluster, moment
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import Restless

Json = dict[str, Any]


def apart(count: int) -> list[Json]:
    """Elements no two of which may share a node."""
    return [{"operators": [{"name": f"Work{at}", "placement": 'hostExlocation("apart")'}]} for at in range(count)]


def needing(cpu: str, **more: Any) -> Json:
    """An element that requests so many cores; a node of the cluster has 8."""
    return {"resources": {"requests": {"cpu": cpu}}, **more}


def plan_of(cluster: JobCluster, name: str = "parallel") -> dict[str, str]:
    nodes = cluster.status(name)["plan"]["nodes"]
    return {element: node["name"] for node in nodes for element in node["processingElements"]}


async def test_a_job_is_promised_nodes_before_anything_is_made(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job(
        hostPools=[{"name": "P", "size": 2}, {"name": "Any", "tags": ["x"]}],
        processingElements=[
            {"operators": [{"name": "A", "placement": "host(P)"}]},
            *apart(1),
            {"operators": [{"name": "B", "placement": "host(Any)"}]},
        ],
    )
    for node in range(3):
        cluster.kube.change(node_path(f"node-{node}"), {"metadata": {"labels": {"streams.ibm.com/hostpool": "x"}}})
    await cluster.lead()
    plan = cluster.status()["plan"]
    assert set(plan_of(cluster)) == {"parallel-0", "parallel-1", "parallel-2"}
    assert plan["required"] == ["parallel-0"]
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [plan_of(cluster)["parallel-0"]]}]}
    by_node = {at: cluster.pod(f"parallel-{at}-1")["spec"]["affinity"]["nodeAffinity"] for at in range(3)}
    required = {at: found.get("requiredDuringSchedulingIgnoredDuringExecution") for at, found in by_node.items()}
    assert required == {0: {"nodeSelectorTerms": [here]}, 1: None, 2: None}
    assert plan["judgedAt"].startswith("20")
    assert [(pool["name"], len(pool["hosts"])) for pool in plan["pools"]] == [("parallel-p", 2)]
    assert plan_of(cluster)["parallel-0"] in plan["pools"][0]["hosts"]
    assert cluster.condition(cluster.found(), "Satisfiable") == (
        "True", "Satisfiable", "3 processing elements can run at the same time",
    )  # fmt: skip
    assert [host["name"] for host in cluster.pool("parallel-p")["status"]["hosts"]] == plan["pools"][0]["hosts"]


async def test_one_that_cannot_run_as_a_whole_is_failed_and_nothing_is_made(cluster: JobCluster) -> None:
    cluster.job(processingElements=apart(4))
    await cluster.lead()
    said = (
        'hostExlocation("apart") cannot hold: 3 of 4 processing elements fit (parallel-0, parallel-1, parallel-2 and 1 '
        'more). Nearest fix: add a node, or drop hostExlocation("apart") (all 4 would fit), or run 3 of these 4.'
    )
    status, reason, message = cluster.condition(cluster.found(), "Submitted")
    assert (cluster.status()["phase"], status, reason) == ("Failed", "False", "Unsatisfiable")
    assert message == said
    assert cluster.condition(cluster.found(), "Satisfiable") == ("False", "Unsatisfiable", said)
    assert cluster.owned == ["parallel"]
    assert cluster.said == [("Unsatisfiable", message)]
    assert "plan" not in cluster.status()


async def test_a_change_that_lets_it_run_starts_over(cluster: JobCluster) -> None:
    cluster.job(processingElements=apart(4))
    await cluster.lead()
    cluster.change(processingElements=apart(3))
    await cluster.lead()
    assert cluster.status()["phase"] == "Running"
    assert cluster.condition(cluster.found(), "Satisfiable")[0] == "True"


async def test_of_two_jobs_for_the_last_room_one_runs_and_the_other_is_failed(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    for name in ("one", "two"):
        cluster.job(name, processingElements=[needing("5", name=f"{name}-{at}") for at in range(2)])
    await cluster.lead(2)
    phases = sorted(cluster.status(name)["phase"] for name in ("one", "two"))
    assert phases == ["Failed", "Submitting"]
    winner = next(name for name in ("one", "two") if cluster.status(name)["phase"] == "Submitting")
    assert cluster.pods == [f"{winner}-0-1", f"{winner}-1-1"]


async def test_of_two_jobs_for_the_last_exclusive_hosts_one_runs_and_the_other_is_failed(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    for name in ("one", "two"):
        cluster.job(name, hostPools=[{"name": "P", "size": 2, "mode": "Exclusive"}], processingElements=[{}])
    await cluster.lead(2)
    assert sorted(cluster.status(name)["phase"] for name in ("one", "two")) == ["Failed", "Submitting"]
    assert len(cluster.names(POOLS)) == 1


async def test_hosts_that_a_pool_has_got_are_its_own_in_the_usual_way(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job("one", hostPools=[{"name": "P", "size": 1, "mode": "Exclusive"}], processingElements=[])
    cluster.job("held", processingElements=[needing("1")], hostPools=[{"name": "P", "size": 1, "mode": "Exclusive"}])
    await cluster.lead()
    cluster.job("two", hostPools=[{"name": "P", "size": 2, "mode": "Exclusive"}], processingElements=[{}])
    cluster.job("three", processingElements=[needing("8")])
    await cluster.wait(2)
    assert {name: cluster.status(name)["phase"] for name in ("held", "two")} == {"held": "Submitting", "two": "Failed"}
    assert cluster.condition(cluster.found("two"), "Submitted")[1] == "Unsatisfiable"


async def test_a_plan_that_lacks_elements_keeps_room_for_the_others(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job("one", processingElements=[needing("5")] * 3)
    await cluster.lead(2)
    plan = {"judgedAt": moment(), "nodes": [{"name": "node-0", "processingElements": ["one-0"]}]}
    cluster.kube.change(job_path("one"), {"status": {"plan": plan}})
    await cluster.lead(1)
    cluster.job("two", processingElements=[needing("5", name=f"two-{at}") for at in range(2)])
    await cluster.wait(1)
    cluster.job("three", processingElements=[needing("5")])
    await cluster.wait(1)
    assert [cluster.status(name)["phase"] for name in ("two", "three")] == ["Submitting", "Failed"]


async def test_promised_room_is_given_up_after_a_minute(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job("one", processingElements=[needing("5")] * 3)
    await cluster.lead(2)
    cluster.job("two", processingElements=[needing("5")])
    await cluster.wait(2)
    assert cluster.status("two")["phase"] == "Failed"
    await cluster.wait(62)
    cluster.job("three", processingElements=[needing("5")])
    await cluster.wait(2)
    assert cluster.status("three")["phase"] == "Submitting"


async def test_another_controller_keeps_what_the_first_has_promised(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job("one", processingElements=[needing("5")] * 3)
    await cluster.lead(2)
    await cluster.lead(2)
    cluster.job("two", processingElements=[needing("5")])
    await cluster.wait(2)
    assert (cluster.status("one")["phase"], cluster.status("two")["phase"]) == ("Submitting", "Failed")


async def test_a_plan_that_cannot_be_read_promises_nothing(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job("one", processingElements=[needing("5")] * 3)
    await cluster.lead(2)
    for plan in ({"judgedAt": moment(), "nodes": 7}, {"judgedAt": "noon"}, {"nodes": []}, 7):
        cluster.kube.change(job_path("one"), {"status": {"plan": plan}})
        await cluster.lead(1)
    cluster.job("two", processingElements=[needing("5")])
    await cluster.wait(2)
    assert cluster.status("two")["phase"] == "Submitting"


async def test_a_job_that_cannot_be_read_any_more_keeps_nothing(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job("one", processingElements=[needing("5")] * 3)
    await cluster.lead(2)
    cluster.change("one", processingElements=[{"launchPad": 1}])
    await cluster.lead(1)
    cluster.job("two", processingElements=[needing("5")])
    await cluster.wait(2)
    assert cluster.status("two")["phase"] == "Submitting"


@pytest.mark.parametrize("end", ["deleted", "bound", "refused"])
async def test_room_is_kept_until_the_pod_has_a_node_or_cannot_have_one(cluster: JobCluster, end: str) -> None:
    def refuse(path: str) -> None:
        if path.endswith("/pods?fieldValidation=Strict") and end == "refused":
            raise ApiError(Cause.FORBIDDEN, "exceeded quota: pods")

    cluster.binds = lambda _: "node-0" if end == "bound" else ""
    cluster.runs = lambda _: False
    await cluster.lead(1)
    cluster.candidate.line.before = refuse
    cluster.job("one", processingElements=[needing("1")] * 3)
    await cluster.wait(3)
    if end == "deleted":
        cluster.delete(job_path("one"), "Background")
        await cluster.wait(1)
    # The pods that are bound run on node-0, whatever the plan was.
    cluster.binds = lambda _: ""
    cluster.job("two", processingElements=[needing("8", name=f"two-{at}") for at in range(2 if end == "bound" else 3)])
    await cluster.wait(2)
    assert cluster.status("two")["phase"] == "Submitting"


# Steering


async def test_the_first_pod_is_steered_to_its_planned_node(cluster: JobCluster) -> None:
    soft = [
        {"key": "maintenance", "value": "soon", "effect": "PreferNoSchedule"},
        {"key": "old", "effect": "PreferNoSchedule"},
    ]
    for at in range(3):
        cluster.kube.change(node_path(f"node-{at}"), {"spec": {"taints": soft}})
    cluster.binds = lambda _: ""
    cluster.job(processingElements=[{}])
    await cluster.lead()
    spec = cluster.pod("parallel-0-1")["spec"]
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [plan_of(cluster)["parallel-0"]]}]}
    assert spec["affinity"]["nodeAffinity"] == {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": here}]
    }
    assert spec["tolerations"] == [
        {"key": "maintenance", "operator": "Equal", "value": "soon", "effect": "PreferNoSchedule"},
        {"key": "old", "operator": "Equal", "value": "", "effect": "PreferNoSchedule"},
    ]


async def test_it_outweighs_what_the_pod_itself_prefers(cluster: JobCluster) -> None:
    own = [
        {"weight": 60, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}},
        {"weight": 90, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}},
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": own}}
    template = {"spec": {"containers": [{"name": "pe", "image": "own"}], "affinity": affinity}}
    cluster.binds = lambda _: ""
    cluster.job(processingElements=[{"template": template}])
    await cluster.lead()
    terms = cluster.pod("parallel-0-1")["spec"]["affinity"]["nodeAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert terms[:2] == own
    assert [term["weight"] for term in terms[2:]] == [100, 100]


async def test_a_pod_that_follows_a_failure_is_steered_as_well(cluster: JobCluster) -> None:
    cluster.job(processingElement={"restartFailedPod": True}, processingElements=[{}])
    await cluster.lead()
    cluster.ends("parallel-0-1", 1)
    await cluster.wait(60)
    assert cluster.pods == ["parallel-0-2"]
    assert plan_of(cluster)["parallel-0"] in str(cluster.pod("parallel-0-2")["spec"]["affinity"])


async def test_no_pod_is_steered_to_a_node_that_is_gone(cluster: JobCluster) -> None:
    cluster.binds = lambda _: ""
    cluster.job(processingElements=[{}])
    cluster.delays = {"pods": 1.0}
    await cluster.lead(0.2)
    cluster.kube.delete(node_path(plan_of(cluster)["parallel-0"]))
    cluster.kube.delete(element_path("parallel-0"))
    await cluster.wait(5)
    assert "affinity" not in cluster.pod("parallel-0-1")["spec"]


# Not judged, or nothing known


async def test_nothing_is_promised_where_the_webhook_leaves_pods_alone(cluster: JobCluster) -> None:
    cluster.rules = ReconcilerSettings(Policy(excluded=frozenset({"default"})))
    cluster.job(processingElements=apart(4))
    await cluster.lead()
    assert cluster.status()["phase"] == "Running"
    assert "plan" not in cluster.status()
    assert "Satisfiable" not in [found["type"] for found in cluster.status()["conditions"]]


async def test_in_audit_mode_it_is_only_said(cluster: JobCluster) -> None:
    cluster.rules = ReconcilerSettings(Policy(audit=True))
    cluster.job(processingElements=apart(4))
    await cluster.lead()
    assert cluster.status()["phase"] == "Running"
    assert cluster.condition(cluster.found(), "Satisfiable")[:2] == ("False", "Unsatisfiable")
    assert [reason for reason, _ in cluster.said] == ["Unsatisfiable", "Submitted", "Running"]


async def test_a_job_about_which_nothing_is_known_in_time_goes_on(cluster: JobCluster) -> None:
    class NoTime(Restless):
        def left(self) -> float:
            return 0.0

    cluster.rules = ReconcilerSettings(Policy(), solving=NoTime)  # type: ignore[arg-type]
    cluster.job(processingElements=[])
    await cluster.lead()
    assert (cluster.status()["phase"], "plan" in cluster.status()) == ("Running", False)


# While it runs


async def test_a_job_that_could_not_be_started_again_says_so_until_it_could_be(cluster: JobCluster) -> None:
    cluster.job(processingElements=apart(3))
    await cluster.lead()
    node = json.loads(json.dumps(cluster.kube.objects[node_path("node-2")]))
    cluster.kube.delete(node_path("node-2"))
    await cluster.wait(4)
    status, reason, message = cluster.condition(cluster.found(), "Satisfiable")
    assert (cluster.status()["phase"], status, reason) == ("Running", "False", "Unsatisfiable")
    assert message.startswith('hostExlocation("apart")'), message
    assert ("Unsatisfiable", message) in cluster.said
    cluster.kube.create(node_path("node-2"), **{part: node[part] for part in ("metadata", "spec", "status")})
    await cluster.wait(4)
    assert cluster.condition(cluster.found(), "Satisfiable")[0] == "True"
    assert cluster.said[-1] == ("Satisfiable", "3 processing elements can run at the same time")


async def test_a_node_that_is_not_ready_for_now_will_be_there_for_a_restart(cluster: JobCluster) -> None:
    cluster.job(processingElements=apart(3))
    await cluster.lead()
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    cluster.kube.change(node_path("node-2"), {"spec": {"taints": [taint]}})
    await cluster.wait(4)
    assert cluster.condition(cluster.found(), "Satisfiable") == (
        "True",
        "Satisfiable",
        (
            "3 processing elements can run at the same time; not all can run at the same time now: "
            'hostExlocation("apart") cannot hold: 2 of 3 processing elements fit (parallel-0, parallel-1, parallel-2).'
        ),
    )


async def test_a_running_job_that_changes_to_what_cannot_run_goes_on_and_says_so(cluster: JobCluster) -> None:
    cluster.job(processingElements=apart(3))
    await cluster.lead()
    cluster.change(processingElements=apart(4))
    await cluster.wait(3)
    assert cluster.condition(cluster.found(), "Satisfiable")[:2] == ("False", "Unsatisfiable")
    assert cluster.pods == [f"parallel-{at}-1" for at in range(4)]


@pytest.mark.parametrize("cause", [Cause.CONFLICT, Cause.BROKEN], ids=str)
async def test_a_look_that_cannot_be_written_down_is_repeated(cluster: JobCluster, cause: Cause) -> None:
    cluster.job(processingElements=apart(3))
    await cluster.lead()
    failures = [cause]

    def fail(path: str) -> None:
        if path.endswith("/status") and failures:
            raise ApiError(failures.pop(), "not now")

    cluster.candidate.line.before = fail
    cluster.kube.delete(node_path("node-2"))
    await cluster.wait(5)
    assert (failures, cluster.condition(cluster.found(), "Satisfiable")[0]) == ([], "False")


async def test_a_job_that_ends_before_its_turn_is_not_looked_at(cluster: JobCluster) -> None:
    cluster.job(processingElements=apart(3))
    await cluster.lead()
    cluster.kube.delete(node_path("node-2"))
    await cluster.wait(1)
    cluster.delete(job_path("parallel"), "Background")
    await cluster.wait(3)
    assert cluster.owned == []
    assert "Unsatisfiable" not in [reason for reason, _ in cluster.said]


async def test_a_pool_of_a_job_asks_for_the_devices_that_the_job_states_and_says_no_more(cluster: JobCluster) -> None:
    devices = [{"class": "gpu.example.com"}, {"class": "nic.example.com", "count": 2}]
    cluster.job(hostPools=[{"name": "P", "size": 1, "elastic": True, "devices": devices}], processingElements=[{}])
    await cluster.lead()
    assert cluster.pool("parallel-p")["spec"]["devices"] == devices
