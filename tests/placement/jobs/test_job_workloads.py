"""Verdicts on a workload beside the other workloads of its job."""

from typing import Any

import msgspec
import pytest

from tests.builders import JOB, NAMESPACE, bound_pod, cluster, node, nodes
from tests.placement.planning.at_once import AtOnce, Ending
from tests.workload_templates import workload
from webhook.admission.checks.templates import pods_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.job_workloads import MOST, UNDECIDED, WorkloadPods, judge_workload
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.planning.search.solver import finished

APART = 'hostExlocation("a")'
TOGETHER = 'hostColocation("c")'


def pods(
    name: str, placement: str | None = None, count: int = 1, *, changed: bool = True, **tweaks: Any
) -> WorkloadPods:
    """The pods of a Deployment (or ``kind``); ``changed`` ones have live pods of theirs among them."""
    document = workload(tweaks.pop("kind", "Deployment"), placement, count=count, name=name, **tweaks)
    [found] = pods_of(document, document if changed else None)
    return WorkloadPods(found.origin, msgspec.convert(found.pod, Pod), found.replicas)


def judged(
    submitted: WorkloadPods,
    *others: WorkloadPods,
    inventory: Inventory,
    policy: Policy | None = None,
    solving: AtOnce | None = None,
) -> JobVerdict:
    judging = judge_workload(submitted, others, (NAMESPACE, JOB), inventory, policy or Policy(), solving or AtOnce())
    return finished(judging)


def own(name: str, placement: str | None = None, count: int = 1, **tweaks: Any) -> WorkloadPods:
    """The pods of a workload that is created."""
    return pods(name, placement, count, changed=False, **tweaks)


THREE = cluster(nodes(3))


class TestOneThatIsRefused:
    def test_is_told_what_cannot_hold_together(self) -> None:
        verdict = judged(own("sink", APART, 2), pods("source", APART, 2), inventory=THREE)
        assert verdict.text == (
            f'The workloads of job {JOB} together: hostExlocation("a") cannot hold: '
            "3 of 4 pods fit (Deployment source, Deployment sink).\n"
            'Nearest fix: add a node, or drop hostExlocation("a") (all 4 would fit), or run 3 of these 4.'
        )

    def test_needs_room_that_the_others_need(self) -> None:
        verdict = judged(
            own("sink", count=2, requests={"cpu": "5"}),
            pods("source", count=2, requests={"cpu": "5"}),
            inventory=THREE,
        )
        assert verdict.headline == (
            f"The workloads of job {JOB} together: requests cpu 5 cannot hold: "
            "3 of 4 pods fit (Deployment source, Deployment sink)."
        )

    def test_may_ask_for_what_no_cluster_has(self) -> None:
        verdict = judged(
            own("sink", f'{TOGETHER}, host("node-a")'), pods("source", f'{TOGETHER}, host("node-b")'), inventory=THREE
        )
        assert (verdict.headline, verdict.fault.value) == (
            (
                f'The workloads of job {JOB} together: host("node-b"), hostColocation("c") and host("node-a") '
                "cannot all hold: 1 of 2 pods fits (Deployment source, Deployment sink)."
            ),
            422,
        )

    def test_is_admitted_with_the_named_fix(self) -> None:
        assert not judged(own("sink", APART, 1), pods("source", APART, 2), inventory=THREE).refused
        assert not judged(own("sink", None, 2), pods("source", APART, 2), inventory=THREE).refused


class TestTheOthers:
    def test_that_run_hold_their_room(self) -> None:
        inventory = cluster(
            nodes(3), pods=[bound_pod("node-a", pe="", owner="Deployment/source", requests={"cpu": 5000})]
        )
        source = pods("source", count=1, requests={"cpu": "5"})
        assert not judged(own("sink", count=2, requests={"cpu": "5"}), source, inventory=inventory).refused

    def test_lack_only_the_pods_that_do_not_run(self) -> None:
        running = bound_pod("node-a", pe="", owner="Deployment/source", requests={"cpu": 5000})
        inventory = cluster(nodes(3), pods=[running])
        source = pods("source", count=2, requests={"cpu": "5"})
        verdict = judged(own("sink", count=2, requests={"cpu": "5"}), source, inventory=inventory)
        assert verdict.headline.endswith("2 of 3 pods fit (Deployment source, Deployment sink).")

    def test_are_not_missed_by_one_that_leaves_them_room(self) -> None:
        verdict = judged(own("sink", APART, 1), pods("source", APART, 2), inventory=THREE)
        assert (verdict.refused, verdict.warnings, verdict.group is None) == (False, (), False)

    def test_that_cannot_run_anyway_are_not_blamed_on_the_submitted_one(self) -> None:
        verdict = judged(own("sink", APART, 2), pods("source", APART, 4), inventory=THREE)
        assert (verdict.refused, verdict.warnings) == (
            False, (f"the other workloads of job {JOB} cannot all run at the same time, even without this one",),
        )  # fmt: skip

    @pytest.mark.parametrize("placement", ['host("nowhere")', "nonsense("])
    def test_of_which_no_pod_can_run_take_no_room(self, placement: str) -> None:
        verdict = judged(own("sink", APART, 3), pods("source", placement, 3), inventory=THREE)
        assert (verdict.refused, verdict.group) == (False, None)

    def test_may_be_none(self) -> None:
        assert judged(own("sink", APART, 3), inventory=THREE).group is None

    def test_whose_pods_come_one_after_another_need_one_at_a_time(self) -> None:
        source = pods("source", APART, 3, kind="Job")
        assert not judged(own("sink", APART, 2), source, inventory=THREE).refused
        assert judged(own("sink", APART, 3), source, inventory=THREE).refused


class TestAChange:
    def test_replaces_the_live_pods_of_the_workload(self) -> None:
        live = [bound_pod(f"node-{at}", pe="", owner="Deployment/sink", requests={"cpu": 5000}) for at in "abc"]
        inventory = cluster(nodes(3), pods=live)
        sink = pods("sink", count=2, requests={"cpu": "6"})
        assert not judged(sink, pods("source", requests={"cpu": "5"}), inventory=inventory).refused
        assert judged(sink, pods("source", count=2, requests={"cpu": "5"}), inventory=inventory).refused

    def test_leaves_pods_of_others_where_they_are(self) -> None:
        live = [bound_pod(f"node-{at}", pe="", owner="Deployment/third", requests={"cpu": 5000}) for at in "abc"]
        inventory = cluster(nodes(3), pods=live)
        sink, source = pods("sink", requests={"cpu": "3"}), pods("source", count=3, requests={"cpu": "3"})
        # Without the other the pod has room; beside its three pods it has none.
        assert judged(sink, source, inventory=inventory).refused


class TestPodsThatRun:
    """Two pods of the source, on two of three nodes."""

    FULL = cluster(
        nodes(3),
        pods=[bound_pod(f"node-{at}", pe="", owner="Deployment/source", requests={"cpu": 5000}) for at in "ab"],
    )
    SOURCE = pods("source", count=2, requests={"cpu": "5"})

    def test_leave_no_room(self) -> None:
        verdict = judged(own("sink", count=2, requests={"cpu": "5"}), self.SOURCE, inventory=self.FULL)
        assert verdict.text == (
            f"The workloads of job {JOB} together, 2 of whose pods run already: requests cpu 5 cannot hold: "
            "1 of 2 pods fits (Deployment sink).\n"
            "  2 nodes have less than cpu 5 free\n"
            "  1 node has room for only 1 of 2 pods that request cpu 5 or more\n"
            "Nearest fix: add a node with cpu 5 free, or lower requests cpu 5 to cpu 4 (all 2 would fit), "
            "or run 1 of these 2."
        )

    def test_leave_room_for_less(self) -> None:
        assert not judged(own("sink", requests={"cpu": "5"}), self.SOURCE, inventory=self.FULL).refused

    def test_of_a_workload_without_pods_do_not_count(self) -> None:
        sink = own("sink", count=2, requests={"cpu": "5"})
        assert not judged(sink, pods("other", count=0), inventory=self.FULL).refused


def test_one_that_waits_for_pods_to_finish_is_not_refused_for_others() -> None:
    live = [bound_pod(f"node-{at}", job="", pe="", uid=f"u-{at}", requests={"cpu": 5000}) for at in "abc"]
    inventory = cluster(nodes(3), pods=live)
    verdict = judged(own("sink", requests={"cpu": "6"}), pods("source", requests={"cpu": "2"}), inventory=inventory)
    assert (verdict.refused, verdict.warnings) == (False, ())


def test_one_that_cannot_run_at_all_is_judged_by_itself() -> None:
    verdict = judged(own("sink", 'host("nowhere")'), pods("source", APART), inventory=THREE)
    assert (verdict.refused, verdict.group) == (False, None)


class TestNodesThatAGroupCanMake:
    """All pods of the submitted workload would run there, so that the others have the nodes there are."""

    @staticmethod
    def scaled(placement: str, count: int | None = None) -> JobVerdict:
        """Two workloads of two pods each, and a group of so many nodes."""
        inventory = cluster(nodes(3))
        inventory.node_groups.put(NodeGroup("NodePool", "p", count=count))
        policy = Policy(scale_up="auto")
        return judged(own("sink", placement, 2), pods("source", placement, 2), inventory=inventory, policy=policy)

    def test_are_waited_for(self) -> None:
        verdict = self.scaled(APART)
        assert (verdict.text, verdict.warnings) == ("", ("no room yet: NodePool p can make one",))

    def test_are_not_enough(self) -> None:
        assert self.scaled(APART, 1).refused

    def test_do_not_help_pods_that_share_a_node_with_the_others(self) -> None:
        inventory = cluster(nodes(1, cpu=4000))
        inventory.node_groups.put(NodeGroup("NodePool", "p"))
        verdict = judged(
            own("sink", TOGETHER, 1, requests={"cpu": "3"}),
            pods("source", TOGETHER, 1, requests={"cpu": "3"}),
            inventory=inventory,
            policy=Policy(scale_up="auto"),
        )
        assert verdict.refused


def test_an_elastic_cluster_gets_nodes_for_all() -> None:
    verdict = judged(own("sink", APART, 2), pods("source", APART, 2), inventory=THREE, policy=Policy(elastic=True))
    assert (verdict.refused, verdict.warnings) == (
        False,
        (
            (
                f'no room yet: The workloads of job {JOB} together: hostExlocation("a") cannot hold: '
                "3 of 4 pods fit (Deployment source, Deployment sink)."
            ),
        ),
    )


class TestTimeThatIsTooShort:
    def test_admits_with_a_warning(self) -> None:
        verdict = judged(own("sink", APART, 2), pods("source", APART, 2), inventory=THREE, solving=AtOnce(0.0))
        assert (verdict.refused, verdict.warnings) == (False, (UNDECIDED,))

    @pytest.mark.parametrize("questions", range(2, 9))
    def test_is_noticed_whenever_it_runs_out(self, questions: int) -> None:
        verdict = judged(own("sink", APART, 2), pods("source", APART, 2), inventory=THREE, solving=Ending(questions))
        assert verdict.refused or verdict.warnings == (UNDECIDED,)

    def test_is_that_for_too_many_pods(self) -> None:
        verdict = judged(own("sink", count=MOST), pods("source"), inventory=THREE)
        assert (verdict.refused, verdict.warnings) == (False, (UNDECIDED,))


def test_nodes_that_recover_are_waited_for() -> None:
    unready = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
    inventory = cluster([*nodes(3), node("node-d", taints=(unready,))])
    verdict = judged(own("sink", APART, 2), pods("source", APART, 2), inventory=inventory)
    assert (verdict.refused, verdict.warnings) == (
        False,
        (
            (
                f"not all can run at the same time now: The workloads of job {JOB} together: "
                'hostExlocation("a") cannot hold: 3 of 4 pods fit (Deployment source, Deployment sink).'
            ),
        ),
    )
