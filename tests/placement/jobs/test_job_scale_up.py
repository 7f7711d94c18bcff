"""Whole Jobs that the nodes there are cannot run, where node groups may make nodes for them."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import GIB, NAMESPACE, bound_pod, cluster, node, pool
from tests.placement.devices.clusters import CLASS, GPU, on, template, wanting
from tests.placement.planning.at_once import AtOnce, Ending, element, job_spec
from tests.placement.planning.test_planned_devices import element as claiming
from tests.placement.pod_defaults.completing import known
from webhook.placement.devices.published.claims import DeviceChoice
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.newnodes import useful_nodes
from webhook.placement.jobs.newnodes.job_scale_up import UNDECIDED
from webhook.placement.jobs.newnodes.scaled_job import judge_scaled_job
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups import possible_nodes
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.search.solver import finished
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault

AUTO = Policy(scale_up="auto")
APART = 'hostExlocation("a")'
LARGE = {"cpu": 8000, "memory": 32 * GIB, "pods": 110}
CONTAINER = {"name": "worker", "image": "worker:1"}


def sized(name: str = "p", **tweaks: Any) -> NodeGroup:
    """A group of nodes as large as the one there is."""
    return NodeGroup("NodePool", name, **{"offers": LARGE, **tweaks})


def on_disks(name: str, *disks: str, **tweaks: Any) -> NodeGroup:
    """A group whose nodes have one of these disks."""
    return sized(name, labels={"disk": LabelValues.one_of(*disks)}, **tweaks)


def with_groups(*groups: NodeGroup, **parts: Any) -> Inventory:
    """A cluster of one node with 8 cores, and these groups."""
    inventory = cluster(parts.pop("nodes", [node("node-a")]), **parts)
    for group in groups:
        inventory.node_groups.put(group)
    return inventory


def verdict(spec: JobSpec, inventory: Inventory, policy: Policy = AUTO, solving: AtOnce | None = None) -> JobVerdict:
    """The verdict on a Job of that spec."""
    return finished(judge_scaled_job((NAMESPACE, "app"), spec, inventory, policy, solving or AtOnce()))


def notice(spec: JobSpec, inventory: Inventory) -> str:
    """The warning that an admitted Job waits for new nodes."""
    found = verdict(spec, inventory)
    assert (found.refused, found.undecided) == (False, False), found.text
    assert found.answer is not None
    assert found.answer.placed is None
    return found.warnings[0]


def reasons(spec: JobSpec, inventory: Inventory) -> list[str]:
    """The lines of a refusal that are about node groups."""
    found = verdict(spec, inventory)
    assert (found.refused, found.fault) == (True, Fault.FORBIDDEN), found.warnings
    assert len(found.text) <= MESSAGE_LIMIT
    lines = [line.strip() for line in found.text.split("\n")]
    assert "Nearest fix" in found.text
    return [line for line in lines if line.startswith("NodePool") or "node groups" in line]


def templated(placement: str = "", **spec: Any) -> dict[str, Any]:
    """An element whose pods have that spec."""
    return element(placement) | {"template": {"spec": {"containers": [CONTAINER], **spec}}}


def test_a_job_that_fits_is_told_of_no_group() -> None:
    spec = job_spec(element(APART), element())
    assert verdict(spec, with_groups(sized())).warnings == ()


@pytest.mark.parametrize("policy", [Policy(), AUTO], ids=["off", "auto without groups"])
def test_without_new_nodes_everything_is_as_before(policy: Policy) -> None:
    inventory = with_groups(*([sized()] if policy.scale_up == "off" else []))
    found = verdict(job_spec(*[element(APART)] * 2), inventory, policy)
    assert found.headline == f"{APART} cannot hold: 1 of 2 processing elements fits (app-0, app-1)."
    assert "NodePool" not in found.text


def test_elements_that_lack_nodes_wait_for_as_many_as_they_need() -> None:
    spec = job_spec(*[element(APART)] * 4)
    assert notice(spec, with_groups(sized(count=5))) == (
        "no room yet for 3 of 4 processing elements (app-1, app-2, app-3): node groups can make 3 nodes of NodePool p"
    )


def test_what_nodes_must_have_and_is_not_known_is_said() -> None:
    """Elements that share a node need it all; a label of machines is not known, either."""
    zoned = templated('hostColocation("c")', nodeSelector={"topology.kubernetes.io/zone": "z"})
    spec = job_spec(zoned | {"resources": {"requests": {"cpu": "2"}}}, element('hostColocation("c")', "3"))
    assert notice(spec, with_groups(NodeGroup("NodePool", "p", offers={"memory": GIB}))) == (
        "no room yet for 2 of 2 processing elements (app-0, app-1): node groups can make "
        "at least 1 node of NodePool p (if each has cpu 5, the label topology.kubernetes.io/zone)"
    )


def test_a_node_need_not_be_as_large_as_several_colocations() -> None:
    """Each of them may be on a node of its own; those that share a pod are one."""
    full = with_groups(NodeGroup("NodePool", "p"), pods=[bound_pod("node-a", job="other", requests={"cpu": 8000})])
    pairs = [element('hostColocation("c")', "2"), element('hostColocation("d")', "3")] * 2
    assert notice(job_spec(*pairs), full).endswith("at least 1 node of NodePool p (if each has cpu 6)")
    both = element('hostColocation("c"), hostColocation("d")', "1")
    assert notice(job_spec(*pairs, both), full).endswith("at least 1 node of NodePool p (if each has cpu 11)")


def test_nodes_of_several_groups_add_up() -> None:
    spec = job_spec(element(APART), *[element(APART, disk="ssd")] * 2, element(APART, disk="hdd"))
    groups = on_disks("s", "ssd", count=2), on_disks("h", "hdd")
    assert notice(spec, with_groups(*groups)).endswith(
        "node groups can make 1 node of NodePool h, 2 nodes of NodePool s"
    )


def test_one_new_node_has_one_value_of_a_label() -> None:
    """A group that makes one more node makes it with one disk or the other."""
    spec = job_spec(element("", "5", disk="ssd"), element("", "1", disk="hdd"))
    assert notice(spec, with_groups(on_disks("p", "ssd", "hdd", count=2)))
    assert reasons(spec, with_groups(on_disks("p", "ssd", "hdd", count=1))) == [
        "NodePool p makes only 1 more node with cpu 8, which is not enough"
    ]


def test_limits_bound_the_whole_job() -> None:
    spec = job_spec(*[element(APART, "3")] * 4)
    assert notice(spec, with_groups(sized(remaining={"cpu": 9000})))
    assert reasons(spec, with_groups(sized(remaining={"cpu": 8000}))) == [
        "NodePool p makes nodes with cpu 8, and has cpu 8 left of its limits, which is not enough"
    ]


def test_a_job_that_no_group_can_help_is_told_the_reason_of_each() -> None:
    misspelt = job_spec(element(), element("", disk="sssd"))
    groups = on_disks("h", "hdd"), sized("closed", closed="is being deleted")
    assert reasons(misspelt, with_groups(*groups)) == [
        "NodePool closed is being deleted",
        "NodePool h makes no nodes with disk=sssd (it makes hdd)",
    ]
    spec = job_spec(*[element(APART)] * 3)
    tainted = sized("tainted", taints=(Taint("a", "b", "NoSchedule"),))
    assert reasons(spec, with_groups(sized("small", count=1), tainted, groups[1])) == [
        "NodePool closed is being deleted",
        "NodePool small makes only 1 more node, which is not enough",
        "NodePool tainted: a new node has the taint a=b:NoSchedule",
    ]
    many = [sized(f"p{at}", count=1, offers={}) for at in range(11)]
    found = reasons(job_spec(*[element(APART)] * 13), with_groups(*many))
    assert found[0] == "NodePool p0 makes only 1 more node, which is not enough"
    assert found[-1] == "3 more node groups do not make enough either"


def test_an_element_that_names_a_node_waits_for_no_new_one() -> None:
    """It is told of no group if it is the only reason; nor is one that tolerates everything, which may not wait."""
    full = with_groups(sized(), pods=[bound_pod("node-a", job="other", requests={"cpu": 8000})])
    assert reasons(job_spec(element('host("node-a")', "1")), full) == [
        "NodePool p makes no nodes for any of these processing elements"
    ]
    tolerant = templated(nodeSelector={"disk": "ssd"}, tolerations=[{"operator": "Exists"}])
    assert reasons(job_spec(tolerant), with_groups(on_disks("p", "ssd"))) == []


def test_what_is_wrong_with_the_job_or_its_pools_is_not_for_new_nodes_to_solve() -> None:
    isolated = element('hostIsolation, hostColocation("c")', name="x")
    shared = element('hostColocation("c")', name="y")
    found = verdict(job_spec(isolated, shared), with_groups(sized()))
    assert (found.refused, found.fault) == (True, Fault.INVALID), found.text
    assert "NodePool" not in found.text
    pools: Sequence[dict[str, Any]] = [{"name": "P", "size": 2}, {"name": "P", "hosts": ["gone"]}]
    for declared in pools:
        found = verdict(job_spec(element("host(P)"), *[element(APART)] * 2, pools=(declared,)), with_groups(sized()))
        assert (found.refused, found.fault) == (True, Fault.FORBIDDEN)
        assert "NodePool" not in found.text


def test_an_element_that_must_not_be_created_is_not_for_new_nodes_to_solve() -> None:
    inventory = with_groups(sized(), pools=[pool("X", size=1, mode="Exclusive", assigned=["node-a"])])
    found = verdict(job_spec(templated(tolerations=[{"operator": "Exists"}])), inventory)
    assert (found.refused, found.fault) == (True, Fault.FORBIDDEN)
    assert "NodePool" not in found.text


def test_nodes_of_a_group_that_runs_some_are_like_those_there_are() -> None:
    running = sized("p", unstated="live")
    spec = job_spec(*[element(APART, disk="ssd")] * 2)
    assert notice(spec, with_groups(running, nodes=[node("node-a", labels={"disk": "ssd"})]))
    assert reasons(spec, with_groups(running, nodes=[node("node-a", labels={"disk": "hdd"})])) == [
        "NodePool p makes no nodes with disk=ssd (it makes hdd)"
    ]


def test_a_group_for_some_of_the_elements_is_not_enough() -> None:
    """The other one names a node that is full."""
    full = with_groups(NodeGroup("NodePool", "p"), pods=[bound_pod("node-a", job="other", requests={"cpu": 8000})])
    spec = job_spec(element(name="one"), element('host("node-a")', "1", name="two"))
    assert reasons(spec, full) == ["NodePool p makes no nodes for some of these processing elements"]


def test_hosts_of_pools_are_nodes_that_exist() -> None:
    """Other elements of the Job go to new nodes."""
    own = {"name": "P", "size": 1, "mode": "Exclusive"}
    spec = job_spec(element("host(P)"), element("host(P)"), element(name="other"), pools=(own,))
    assert notice(spec, with_groups(sized())) == (
        "no room yet for 1 of 3 processing elements (other): node groups can make 1 node of NodePool p"
    )


def test_a_job_waits_for_nodes_to_recover_before_it_waits_for_new_ones() -> None:
    unready = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
    spec = job_spec(*[element(APART)] * 2)
    found = verdict(spec, with_groups(sized(), nodes=[node("node-a"), node("node-b", taints=(unready,))]))
    assert [warning.partition(":")[0] for warning in found.warnings] == ["not all can run at the same time now"]
    found = verdict(spec, with_groups(sized(), nodes=[node("node-b", taints=(unready,))]))
    assert [warning.partition(":")[0] for warning in found.warnings] == [
        "no room yet for 1 of 2 processing elements (app-1)", "not all can run at the same time now",
    ]  # fmt: skip


def test_what_the_scheduler_preempts_counts_beside_new_nodes() -> None:
    high = PriorityClass("high", 1000)
    inventory = with_groups(sized(count=1), pods=[PodInfo("low", "other", "node-a", {"cpu": 8000}, priority=0)])
    inventory.pod_defaults = known(high)
    spec = job_spec(*[templated(APART, priorityClassName="high")] * 2)
    assert "1 of 2 processing elements" in notice(spec, inventory)
    assert reasons(job_spec(*[templated(APART, priorityClassName="high")] * 3), inventory)


def test_warnings_of_elements_are_kept() -> None:
    spec = job_spec(*[element(f"{APART}, partitionIsolation")] * 2)
    found = verdict(spec, with_groups(sized()))
    assert [warning.startswith("processing element app-0: ") for warning in found.warnings] == [False, True]


def test_topology_spread_over_new_nodes_is_not_judged() -> None:
    """An element may be spread over zones of new nodes, which are not known: the Job is admitted with a warning."""
    spread = {
        "maxSkew": 1, "minDomains": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }  # fmt: skip
    one = templated(topologySpreadConstraints=[spread], nodeSelector={"zone": "a"})
    one["template"]["metadata"] = {"labels": {"app": "x"}}
    found = verdict(job_spec(*[one] * 3), with_groups(sized(), nodes=[node("node-a", labels={"zone": "a"})]))
    assert (found.refused, found.undecided, found.warnings[0]) == (False, True, UNDECIDED)


def test_pods_apart_by_their_own_terms_are_apart_on_new_nodes() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    one = templated(affinity=affinity)
    one["template"]["metadata"] = {"labels": {"app": "x"}}
    assert notice(job_spec(*[one] * 3), with_groups(sized())).endswith("2 nodes of NodePool p")
    assert reasons(job_spec(*[one] * 3), with_groups(sized(count=1)))


def test_elements_of_different_labels_that_avoid_each_other_need_a_node_each() -> None:
    """Also where one node would be large enough for all of them."""

    def one(app: str, other: str) -> dict[str, Any]:
        term = {"labelSelector": {"matchLabels": {"app": other}}, "topologyKey": "kubernetes.io/hostname"}
        made = templated(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
        made["template"]["metadata"] = {"labels": {"app": app}}
        return made | {"resources": {"requests": {"cpu": "1"}}}

    full = with_groups(sized(), pods=[bound_pod("node-a", job="other", requests={"cpu": 8000})])
    assert notice(job_spec(one("a", "b"), one("b", "a")), full).endswith("2 nodes of NodePool p")


@pytest.mark.parametrize("looks", range(12))
def test_without_time_a_job_is_admitted_with_a_warning(looks: int) -> None:
    """At any moment: it is never refused for lack of time."""
    spec = job_spec(element(APART), *[element(APART, "2", disk="ssd")] * 3)
    nodes = [node("node-a"), node("node-b", labels={"disk": "ssd"})]
    found = verdict(spec, with_groups(on_disks("p", "ssd"), nodes=nodes), solving=Ending(looks))
    assert not found.refused


def beyond(spec: JobSpec, *groups: NodeGroup) -> tuple[str, ...]:
    """The warnings about a Job that is admitted because not all was looked at."""
    found = verdict(spec, with_groups(*groups))
    assert (found.refused, found.undecided) == (False, True), found.text
    return found.warnings


def test_what_is_not_looked_at_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many nodes, groups, alternatives or sets of labels; a label that no group has is refused all the same."""
    apart = job_spec(*[element(APART)] * 5)
    misspelt = job_spec(*[element(APART)] * 4, element(APART, disk="sssd"))
    with monkeypatch.context() as patched:
        patched.setattr(useful_nodes, "NODES", 2)
        assert beyond(apart, on_disks("p", "ssd")) == (UNDECIDED,)
        assert reasons(misspelt, with_groups(on_disks("p", "ssd")))
        three = job_spec(*[element("", "5", disk=disk) for disk in ("ssd", "hdd", "nvme")])
        assert beyond(three, on_disks("p", "ssd", "hdd", "nvme")) == (UNDECIDED,)
        assert beyond(three, on_disks("p", "ssd", "hdd"), on_disks("q", "nvme")) == (UNDECIDED,)
    with monkeypatch.context() as patched:
        patched.setattr(useful_nodes, "COMPARED", 0)
        assert beyond(apart, sized()) == (UNDECIDED,)
        assert reasons(apart, with_groups(sized(closed="is being deleted"))) == ["NodePool p is being deleted"]
    with monkeypatch.context() as patched:
        patched.setattr(possible_nodes, "SETS", 1)
        disks = job_spec(*[element("", "5", disk=disk) for disk in ("ssd", "hdd", "nvme")])
        assert beyond(disks, on_disks("p", "ssd", "hdd", "nvme", count=2)) == (UNDECIDED,)
    terms = [{"matchExpressions": [{"key": "disk", "operator": "In", "values": [f"d{at}"]}]} for at in range(70)]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    many = templated(affinity={"nodeAffinity": required})
    assert beyond(job_spec(many), on_disks("p", "ssd")) == (UNDECIDED,)
    assert reasons(job_spec(many, element("", disk="sssd")), with_groups(on_disks("p", "ssd"))) == [
        "NodePool p makes no nodes with disk=sssd (it makes ssd)"
    ]
    isolated = templated('hostIsolation, hostColocation("c")', affinity={"nodeAffinity": required}) | {"name": "x"}
    there = with_groups(on_disks("p", "ssd"), nodes=[node("node-a", labels={"disk": "d1"})])
    found = verdict(job_spec(isolated, element('hostColocation("c")')), there)
    assert (found.refused, found.fault) == (True, Fault.INVALID)


def test_reasons_beyond_the_length_of_a_message_are_left_out() -> None:
    long = [sized("n" * 200 + str(at), closed="is being deleted " + "x" * 400) for at in range(8)]
    found = verdict(job_spec(*[element(APART)] * 3), with_groups(*long))
    assert found.refused
    assert len(found.text) <= MESSAGE_LIMIT
    assert 0 < found.text.count("is being deleted") < len(long)


def test_devices_of_new_nodes_are_not_known() -> None:
    inventory = with_groups(on_disks("p", "ssd"))
    inventory.devices.put_class(DeviceClass("gpu.example.com", "example.com/gpu"))
    one = element("", disk="ssd") | {"resources": {"requests": {"example.com/gpu": "1"}}}
    assert notice(job_spec(one), inventory).endswith("(if each has the devices of its claims)")


def test_elements_that_find_no_devices_on_nodes_there_are_wait_for_new_ones() -> None:
    """The node there is has three devices, whether elements of one template want them or of several."""
    inventory = with_groups(sized())
    inventory.devices.put_class(CLASS)
    inventory.devices.put_slice(on("node-a", 3))
    inventory.devices.read = True
    template(inventory, "one", wanting(DeviceChoice(GPU)))
    template(inventory, "two", wanting(DeviceChoice(GPU, count=2)))
    made = "node groups can make at least 1 node of NodePool p (if each has the devices of its claims)"
    alike = job_spec(*(claiming(f"e{at}", "one") for at in range(5)))
    assert notice(alike, inventory) == f"no room yet for 2 of 5 processing elements (e3, e4): {made}"
    several = job_spec(*(claiming(name, "two" if name < "c" else "one") for name in "abcd"))
    assert notice(several, inventory) == f"no room yet for 2 of 4 processing elements (b, d): {made}"


def either(*needs: dict[str, Any]) -> dict[str, Any]:
    """Node affinity to nodes that meet one of the requirements."""
    terms = [{"matchExpressions": [need]} for need in needs]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_karpenter_makes_no_nodes_for_elements_with_a_term_on_the_host_name() -> None:
    """Although another of their terms holds on its nodes; other autoscalers do."""
    ssd, host = ({"key": key, "operator": "In", "values": ["ssd"]} for key in ("disk", "kubernetes.io/hostname"))
    spec = job_spec(templated(affinity=either(ssd, host)), element())
    ignoring = on_disks("p", "ssd", unstated="excluded")
    ignored = "kubernetes.io/hostname=ssd (Karpenter ignores pods with requirements on kubernetes.io/hostname)"
    assert reasons(spec, with_groups(ignoring)) == [f"NodePool p makes no nodes with {ignored}"]
    other = on_disks("s", "ssd")
    assert notice(spec, with_groups(ignoring, other)) == (
        "no room yet for 1 of 2 processing elements (app-0): node groups can make 1 node of NodePool s"
    )
