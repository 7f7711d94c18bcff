"""Time runs out at any moment: what is said about a Job is less then, and never wrong."""

import pytest

from tests.builders import cluster, node, nodes
from tests.placement.planning.at_once import AtOnce, Ending, element, job_spec, judged
from tests.suite.example_count import EVERY_DAY
from webhook.placement.jobs.job_verdict import UNDECIDED
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text.problem import Fault

APART = 'hostExlocation("a")'
FIVE = job_spec(
    *[element(f"{APART}, host(P)", cpu) for cpu in ("1", "1", "2", "2", "3")], pools=({"name": "P", "tags": ["x"]},)
)
TWO = cluster(
    [
        node("node-a", labels={"streams.ibm.com/hostpool": "x"}),
        node("node-b", labels={"streams.ibm.com/hostpool": "x"}),
        node("c"),
    ]
)
WHOLE = 'hostExlocation("a") cannot hold: 2 of 5 processing elements fit (app-0, app-1, app-2 and 2 more).'
HASTE = {
    f"The {count} processing elements cannot all run at the same time (app-0, app-1, app-2{more}).\n"
    "Nearest fix: not found in time; explain and plan search longer."
    for count, more in ((3, ""), (4, " and 1 more"), (5, " and 2 more"))
}
"""Any three are too many: fewer are named the more time there is."""


def test_without_any_time_a_job_is_not_decided_about() -> None:
    verdict = judged(FIVE, TWO, AtOnce(0.0))
    assert (verdict.refused, verdict.undecided, verdict.warnings) == (False, True, (UNDECIDED,))


LOOKS = (*range(1, 5), *range(5, 160, 5)) if EVERY_DAY else range(1, 160)
"""After so many looks at the clock time runs out: the first few end it before anything is known."""


@pytest.mark.untraced
@pytest.mark.parametrize("looks", LOOKS)
def test_whenever_time_runs_out_what_is_said_is_true(looks: int) -> None:
    verdict = judged(FIVE, TWO, Ending(looks))
    if verdict.undecided:
        assert verdict.warnings == (UNDECIDED,)
        return
    assert verdict.fault is Fault.FORBIDDEN
    assert verdict.text in HASTE or verdict.headline == WHOLE, verdict.text


def test_with_little_time_the_reason_is_said() -> None:
    """Of 26 elements 21 are large, and no two of these share one of the 20 nodes."""
    stated = job_spec(*[element("", "5")] * 21, *[element("", "2")] * 5)
    verdict = judged(stated, cluster(nodes(20)), Ending(20))
    assert verdict.text == (
        "The 21 processing elements cannot all run at the same time (app-0, app-1, app-2 and 18 more).\n"
        "  20 nodes have room for only 20 of 21 pods that request cpu 5 or more\n"
        "Nearest fix: not found in time; explain and plan search longer."
    )


def test_with_time_enough_all_is_said() -> None:
    assert judged(FIVE, TWO, Ending(10_000)).text == judged(FIVE, TWO).text


def test_a_node_that_only_has_to_recover_is_waited_for() -> None:
    broken = node("node-a", taints=[Taint("node.kubernetes.io/not-ready", "", "NoSchedule")])
    verdict = judged(job_spec(element('host("node-a")')), cluster([broken, node("node-b")]))
    assert (verdict.refused, len(verdict.warnings)) == (False, 1)
    assert verdict.warnings[0].startswith('not all can run at the same time now: host("node-a") cannot hold')


def test_an_index_that_a_smaller_pool_lacks_is_not_a_fix() -> None:
    pools = ({"name": "P", "size": 3, "mode": "Exclusive"}, {"name": "Q", "size": 1, "mode": "Exclusive"})
    verdict = judged(job_spec(element("host(P[2])"), element("host(Q)"), pools=pools), cluster(nodes(3)))
    assert verdict.text == (
        "HostPool P (3 hosts, Exclusive) and HostPool Q (1 host, Exclusive) cannot all have their hosts: "
        "3 nodes are eligible.\nNearest fix: make more nodes eligible."
    )
