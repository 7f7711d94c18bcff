"""Applications of other operators that the nodes there are cannot run, where node groups may make nodes for them."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import NAMESPACE, Json, bound_pod, node
from tests.placement.jobs.test_job_scale_up import APART, AUTO, on_disks, sized, with_groups
from tests.placement.planning.at_once import AtOnce, Ending
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs import whole_application
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.newnodes import useful_nodes
from webhook.placement.jobs.newnodes.job_scale_up import JobScaleUp
from webhook.placement.jobs.newnodes.scaled_pods import scale_up_workload
from webhook.placement.jobs.whole_application import judge_application, judge_at_once, read_pods
from webhook.placement.kinds.application import expanded
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.members import Member
from webhook.placement.planning.search.solver import finished
from webhook.placement.text.problem import Fault

UNDECIDED = (
    "whether node groups can make nodes on which all pods can run was not decided: some of them may have to wait"
)
EVERYTHING = [{"operator": "Exists"}]


def template(placement: str = APART, cpu: str = "1", job: str = "app", **spec: Any) -> Json:
    """The template of a component."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    said = {"streams.ibm.com/placement": placement} if placement else {}
    labels = {"streams.ibm.com/job": job} if job else {}
    if name := spec.pop("pe", None):
        labels["streams.ibm.com/pe"] = name
    return {"metadata": {"labels": labels, "annotations": said}, "spec": {"containers": [container], **spec}}


def volcano(**tasks: tuple[int, Json]) -> Json:
    """A Job of Volcano with these tasks: how many pods, and their template."""
    stated = [{"name": name, "replicas": count, "template": pod} for name, (count, pod) in tasks.items()]
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "app"},
            "spec": {"tasks": stated}}  # fmt: skip


def jobset(first: Json, then: Json, count: int = 1) -> Json:
    """A JobSet whose second job starts when the first one has ended."""
    jobs = [
        {"name": "load", "template": {"spec": {"template": first}}},
        {"name": "work", "template": {"spec": {"template": then, "parallelism": count, "completions": count}}},
    ]
    jobs[1]["dependsOn"] = [{"name": "load", "status": "Complete"}]
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "app"},
            "spec": {"replicatedJobs": jobs}}  # fmt: skip


def verdict(
    document: Json, inventory: Inventory, policy: Policy = AUTO, solving: AtOnce | None = None, *, changed: bool = False
) -> JobVerdict:
    """The verdict on the application."""
    kind = application_kinds()[document["apiVersion"].partition("/")[0], document["kind"]]
    pods = read_pods(expanded(kind, document))
    assert isinstance(pods, list)
    return finished(judge_application(pods, NAMESPACE, inventory, policy, solving or AtOnce(), changed=changed))


def waits(document: Json, inventory: Inventory) -> list[str]:
    """The warnings about an application that is admitted and waits for new nodes."""
    found = verdict(document, inventory)
    assert (found.refused, found.undecided, found.grows) == (False, False, True), found.text
    return list(found.warnings)


def refused(document: Json, inventory: Inventory) -> list[str]:
    """The lines of a refusal."""
    found = verdict(document, inventory)
    assert (found.refused, found.fault) == (True, Fault.FORBIDDEN), found.warnings
    return [line.strip() for line in found.text.split("\n")]


def of_groups(lines: list[str]) -> list[str]:
    """Those about node groups."""
    return [line for line in lines if line.startswith("NodePool")]


def test_one_that_fits_is_told_of_no_group() -> None:
    assert verdict(volcano(head=(1, template()), worker=(1, template(""))), with_groups(sized())).warnings == ()


def test_without_the_setting_everything_is_as_before() -> None:
    two = volcano(worker=(2, template()))
    for policy, groups in ((Policy(), [sized()]), (AUTO, [])):
        found = verdict(two, with_groups(*groups), policy)
        assert found.headline == f"{APART} cannot hold: 1 of 2 pods fits (task worker)."
        assert "NodePool" not in found.text


def test_pods_that_lack_nodes_wait_for_as_many_as_they_need() -> None:
    """Components are named once, however many of their pods wait."""
    document = volcano(head=(1, template()), worker=(3, template()))
    assert waits(document, with_groups(sized(count=3))) == [
        "no room yet for 3 of 4 pods (task worker): node groups can make 3 nodes of NodePool p"
    ]
    assert waits(document, with_groups(sized(), nodes=[])) == [
        "no room yet for 4 of 4 pods (task head, task worker): node groups can make 4 nodes of NodePool p"
    ]


def test_one_that_no_group_can_help_is_told_the_reason_of_each() -> None:
    document = volcano(head=(1, template()), worker=(3, template()))
    closed = sized("closed", closed="is being deleted")
    lines = refused(document, with_groups(sized(count=2), closed))
    assert lines[0] == f"{APART} cannot hold: 1 of 4 pods fits (task head, task worker)."
    assert of_groups(lines) == [
        "NodePool closed is being deleted",
        "NodePool p makes only 2 more nodes with cpu 8, which is not enough",
    ]
    assert lines[-1].startswith("Nearest fix: ")


def test_components_that_no_node_can_run_wait_for_new_nodes() -> None:
    """One or several, whose nodes may be those of several groups."""
    ssd, hdd = (template("", nodeSelector={"disk": disk}) for disk in ("ssd", "hdd"))
    groups = with_groups(on_disks("s", "ssd"), on_disks("h", "hdd"))
    assert waits(volcano(head=(1, template()), worker=(2, ssd)), groups) == [
        "no room yet for 2 of 3 pods (task worker): node groups can make 1 node of NodePool s"
    ]
    assert waits(volcano(head=(1, hdd), worker=(2, ssd)), groups) == [
        (
            "no room yet for 3 of 3 pods (task head, task worker): "
            "node groups can make 1 node of NodePool h, 1 node of NodePool s"
        )
    ]
    large = volcano(worker=(1, template("", "9")))
    assert waits(large, with_groups(sized(offers={"cpu": 16000}))) == [
        "no room yet for 1 of 1 pod (task worker): node groups can make 1 node of NodePool p"
    ]


@pytest.mark.parametrize("first", ["hdd", "ssd"])
def test_components_that_are_called_the_same_are_judged_each_by_itself(first: str) -> None:
    """One runs on the node there is, the other one waits for a new one."""
    disks = [first, "ssd" if first == "hdd" else "hdd"]
    document = jobset(*(template("", nodeSelector={"disk": disk}) for disk in disks))
    for one in document["spec"]["replicatedJobs"]:
        one["name"] = "same"
    inventory = with_groups(on_disks("s", "ssd"), nodes=[node("node-a", labels={"disk": "hdd"})])
    found = verdict(document, inventory)
    assert (found.refused, found.warnings) == (
        False,
        ("no room yet for 1 of 1 pod (job same): node groups can make 1 node of NodePool s",),
    )


def test_a_component_that_no_group_makes_a_node_for_is_named_with_the_reasons() -> None:
    misspelt = template("", nodeSelector={"disk": "sssd"})
    lines = refused(volcano(head=(1, template()), worker=(2, misspelt)), with_groups(on_disks("s", "ssd")))
    assert lines[0] == "component task worker: nodeSelector disk=sssd cannot hold: 0 of 1 node can run this pod."
    assert of_groups(lines) == ["NodePool s makes no nodes with disk=sssd (it makes ssd)"]
    lines = refused(volcano(head=(1, misspelt), worker=(2, misspelt)), with_groups(on_disks("s", "ssd")))
    assert lines[0] == "2 of 2 components cannot run even by themselves (task head, task worker):"
    assert of_groups(lines) == ["NodePool s makes no nodes with disk=sssd (it makes ssd)"]


def test_reasons_are_about_the_components_that_lack_a_node() -> None:
    """What a group makes for the others is beside the point: the node there is can run these."""
    ssd = template("", "3", nodeSelector={"disk": "ssd"})
    groups = with_groups(on_disks("h", "hdd"), on_disks("s", "ssd", remaining={"cpu": 8000}))
    lines = refused(volcano(head=(1, template()), worker=(3, ssd)), groups)
    assert of_groups(lines) == [
        "NodePool h makes no nodes with disk=ssd (it makes hdd)",
        "NodePool s makes nodes with cpu 8, and has cpu 8 left of its limits, which is not enough",
    ]


def test_limits_and_labels_bound_the_whole_application() -> None:
    four = volcano(worker=(4, template(cpu="3")))
    assert waits(four, with_groups(sized(remaining={"cpu": 9000})))
    assert of_groups(refused(four, with_groups(sized(remaining={"cpu": 8000})))) == [
        "NodePool p makes nodes with cpu 8, and has cpu 8 left of its limits, which is not enough"
    ]
    ssd, hdd = (template("", nodeSelector={"disk": disk}) for disk in ("ssd", "hdd"))
    both = volcano(head=(1, hdd), worker=(1, ssd))
    assert waits(both, with_groups(on_disks("p", "ssd", "hdd", count=2)))
    assert of_groups(refused(both, with_groups(on_disks("p", "ssd", "hdd", count=1)))) == [
        "NodePool p makes only 1 more node with cpu 8, which is not enough"
    ]


def test_pods_that_share_a_node_need_one_that_is_large_enough() -> None:
    """Colocation and exlocation hold across new nodes and those there are."""
    document = volcano(head=(1, template('hostColocation("c")', "6")), worker=(1, template('hostColocation("c")', "6")))
    assert waits(document, with_groups(sized(offers={"cpu": 16000, "memory": 1 << 40}))) == [
        "no room yet for 2 of 2 pods (task head, task worker): node groups can make 1 node of NodePool p"
    ]
    assert of_groups(refused(document, with_groups(sized()))) == [
        "NodePool p makes nodes with cpu 8, which is not enough"
    ]


def test_a_host_by_name_is_a_node_that_exists() -> None:
    document = volcano(head=(1, template('host("node-a")')), worker=(1, template(cpu="8")))
    assert waits(document, with_groups(sized())) == [
        "no room yet for 1 of 2 pods (task worker): node groups can make 1 node of NodePool p"
    ]
    lines = refused(volcano(head=(2, template('host("node-a")', "5"))), with_groups(sized()))
    assert of_groups(lines) == ["NodePool p makes no nodes for any of these pods"]


CONTRARY = volcano(
    head=(1, template('hostIsolation, hostColocation("c")', pe="x")),
    worker=(1, template('hostColocation("c")', pe="y")),
)
"""One pod wants a node for itself, and to share it."""


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(volcano(head=(1, template("host("))), id="a mistake"),
        pytest.param(CONTRARY, id="a contradiction"),
        pytest.param(volcano(head=(1, template('host("node-a"), host("node-b")')), worker=(2, template())),
                     id="a contradiction in one pod"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_application_is_not_for_new_nodes_to_solve(wrong: Json) -> None:
    found = verdict(wrong, with_groups(sized()))
    assert (found.refused, found.fault) == (True, Fault.INVALID)
    assert "NodePool" not in found.text


def test_a_component_that_may_not_wait_is_refused() -> None:
    tolerant = template("", nodeSelector={"disk": "ssd"}, tolerations=EVERYTHING)
    lines = refused(volcano(worker=(1, tolerant), head=(1, template())), with_groups(on_disks("p", "ssd")))
    assert lines[0] == "component task worker: nodeSelector disk=ssd cannot hold: 0 of 1 node can run this pod."
    assert "can make" not in " ".join(lines)


def test_what_runs_later_is_judged_by_itself() -> None:
    """One that starts at the end of another has all that the groups make."""
    later = jobset(template(), template(), 3)
    assert waits(jobset(template(cpu="9"), template()), with_groups(sized(offers={"cpu": 9000, "memory": 1 << 40})))
    found = verdict(later, with_groups(sized(count=2)))
    assert (found.refused, found.warnings) == (
        False, ("no room yet for 2 of 3 pods (job work): node groups can make 2 nodes of NodePool p",),
    )  # fmt: skip
    assert of_groups(refused(later, with_groups(sized(count=1))))


def test_what_runs_later_has_the_reasons_of_its_own_pods() -> None:
    """The component that new nodes help is not blamed."""
    ssd, misspelt = (template("", nodeSelector={"disk": disk}) for disk in ("ssd", "sssd"))
    lines = refused(jobset(ssd, misspelt), with_groups(on_disks("p", "ssd")))
    assert lines[0] == "component job work: nodeSelector disk=sssd cannot hold: 0 of 1 node can run this pod."


def test_nodes_that_come_back_are_waited_for_before_new_ones_are_made() -> None:
    unready = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
    there = with_groups(sized(), nodes=[node("node-a"), node("node-b", taints=(unready,))])
    found = verdict(volcano(worker=(2, template())), there)
    assert [warning.partition(":")[0] for warning in found.warnings] == ["not all can run at the same time now"]
    kind = application_kinds()["batch.volcano.sh", "Job"]
    pods = read_pods(expanded(kind, volcano(worker=(2, template()))))
    assert isinstance(pods, list)
    at_once = finished(judge_at_once(pods, NAMESPACE, there, AUTO, AtOnce()))
    assert at_once.warnings == ("no room yet for 1 of 2 pods (task worker): node groups can make 1 node of NodePool p",)


def test_what_the_scheduler_preempts_counts_beside_new_nodes() -> None:
    low = PodInfo("low", "other", "node-a", {"cpu": 8000}, priority=-5)
    document = volcano(worker=(2, template(cpu="5")))
    assert waits(document, with_groups(sized(count=2), pods=[low]))[0].startswith("no room yet for 2 of 2 pods")
    assert waits(document, with_groups(sized(count=1), pods=[low]))[0].startswith("no room yet for 1 of 2 pods")
    assert of_groups(refused(volcano(worker=(3, template(cpu="5"))), with_groups(sized(count=1), pods=[low])))


def test_the_pods_of_a_changed_application_make_room() -> None:
    """Of one whose pods cannot be told from others, a lack of room is a warning, whatever groups make."""
    running = [bound_pod("node-a", job="app", requests={"cpu": 8000})]
    grown = volcano(worker=(2, template(cpu="8")))
    found = verdict(grown, with_groups(sized(), pods=running), changed=True)
    assert found.warnings == ("no room yet for 1 of 2 pods (task worker): node groups can make 1 node of NodePool p",)
    unnamed = volcano(worker=(3, template("", "8", job="")))
    found = verdict(unnamed, with_groups(sized(count=1), pods=running), changed=True)
    assert (found.refused, [one.partition(":")[0] for one in found.warnings]) == (
        False, ["not all can run at the same time beside the pods that run now"],
    )  # fmt: skip


def test_the_setting_elastic_decides_beside_it() -> None:
    both = Policy(scale_up="auto", elastic=True)
    found = verdict(volcano(worker=(2, template())), with_groups(sized()), both)
    assert found.warnings == (f"no room yet: {APART} cannot hold: 1 of 2 pods fits (task worker).",)


def test_warnings_of_components_come_after_that() -> None:
    """So do what the most pods lack, and what is left to the scheduler."""
    wary = template(f"{APART}, partitionIsolation")
    found = waits(volcano(worker=(2, wary)), with_groups(sized()))
    assert [one.partition(":")[0] for one in found] == [
        "no room yet for 1 of 2 pods (task worker)",
        "component task worker",
    ]


def test_more_pods_than_are_judged_are_not_decided_about() -> None:
    ssd = template("", nodeSelector={"disk": "ssd"})
    found = verdict(volcano(worker=(20_000, ssd), head=(1, ssd)), with_groups(on_disks("p", "ssd")))
    assert (found.refused, len(found.warnings)) == (False, 1)
    assert found.warnings[0].startswith("no decision in time on whether all components can run")


@pytest.mark.parametrize("looks", range(14))
def test_without_time_an_application_is_admitted_with_a_warning(looks: int) -> None:
    """At any moment: it is never refused for lack of time."""
    document = volcano(head=(1, template()), worker=(3, template(cpu="2", nodeSelector={"disk": "ssd"})))
    nodes = [node("node-a"), node("node-b", labels={"disk": "ssd"})]
    assert not verdict(document, with_groups(on_disks("p", "ssd"), nodes=nodes), solving=Ending(looks)).refused


def test_topology_spread_over_new_nodes_is_not_judged() -> None:
    """In which zones these are is not known: the application is admitted with a warning."""
    spread = {
        "maxSkew": 1, "minDomains": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"streams.ibm.com/job": "app"}},
    }  # fmt: skip
    one = template("", topologySpreadConstraints=[spread], nodeSelector={"zone": "a"})
    found = verdict(volcano(worker=(3, one)), with_groups(sized(), nodes=[node("node-a", labels={"zone": "a"})]))
    assert (found.refused, found.undecided, found.warnings[0]) == (False, True, UNDECIDED)


def test_once_time_is_up_no_new_nodes_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Workflow may have hundreds of steps, each of which would need them."""
    asked: list[str] = []

    async def counted(members: Sequence[Member], *others: Any, **named: Any) -> JobScaleUp:
        asked.extend(member.names[0] for member in members)
        return await scale_up_workload(members, *others, **named)

    monkeypatch.setattr(whole_application, "scale_up_workload", counted)
    ssd = template("", nodeSelector={"disk": "ssd"})
    document, groups = jobset(ssd, ssd), with_groups(on_disks("p", "ssd"))
    assert len(verdict(document, groups).warnings) == 2
    assert asked == ["job load", "job work"]
    found = verdict(document, groups, solving=Ending(2))
    assert (found.refused, found.undecided, found.warnings) == (False, True, (UNDECIDED,))
    assert asked == ["job load", "job work"]


def test_what_is_not_looked_at_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the pods could run by themselves or not; a contradiction is refused all the same."""
    monkeypatch.setattr(useful_nodes, "COMPARED", 0)
    ssd = template("", nodeSelector={"disk": "ssd"})
    groups = with_groups(on_disks("p", "ssd"))
    for document in (volcano(worker=(3, template())), volcano(head=(1, ssd), worker=(1, ssd))):
        found = verdict(document, groups)
        assert (found.refused, found.undecided, found.warnings) == (False, True, (UNDECIDED,))
    found = verdict(CONTRARY, groups)
    assert (found.refused, found.fault) == (True, Fault.INVALID)


def test_a_group_that_makes_nodes_of_unknown_size_is_asked_for_what_is_needed() -> None:
    document = volcano(worker=(2, template(cpu="3")))
    assert waits(document, with_groups(NodeGroup("NodePool", "p"))) == [
        (
            "no room yet for 1 of 2 pods (task worker): node groups can make at least 1 node of NodePool p "
            "(if each has cpu 3)"
        )
    ]
