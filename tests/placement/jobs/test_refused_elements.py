"""Jobs with several processing elements that cannot run even by themselves are told of all of them."""

from typing import Any

from tests.builders import cluster, node, nodes
from tests.placement.planning.at_once import AtOnce, element, job_spec, judged
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.refused_elements import LISTED
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.text.problem import Fault
from webhook.placement.text.rule import Rule

THREE = cluster(nodes(3))


def lines(*elements: dict[str, Any], solving: AtOnce | None = None) -> list[str]:
    return judged(job_spec(*elements), THREE, solving).text.splitlines()


def test_each_has_its_reason_and_its_fix() -> None:
    verdict = judged(job_spec(element('host("x")'), element(), element(disk="ssd")), THREE)
    assert verdict.text == (
        "2 of 3 processing elements cannot run even by themselves (app-0, app-2):\n"
        '  app-0: host("x") cannot hold: 0 of 3 nodes can run this pod. '
        'Nearest fix: add a node named x, or drop host("x") (3 nodes would fit).\n'
        "  app-2: nodeSelector disk=ssd cannot hold: 0 of 3 nodes can run this pod. "
        "Nearest fix: label one more node disk=ssd, or drop nodeSelector disk=ssd (3 nodes would fit)."
    )
    assert (verdict.fault, verdict.rules) == (Fault.FORBIDDEN, (Rule.HOST, Rule.OWN_NODES))


def test_elements_wait_for_no_new_nodes() -> None:
    """Nodes that a group could make do not count for whole Jobs."""
    stated = job_spec(element('host("x")'), element(), element(disk="ssd"))
    groups = cluster(nodes(3))
    groups.node_groups.put(NodeGroup("MachineSet", "ms", unstated="any"))
    assert judged(stated, groups, policy=Policy(scale_up="auto")).text == judged(stated, THREE).text


def test_following_all_of_the_advice_the_job_is_admitted() -> None:
    stated = (element('host("x")'), element(), element(disk="ssd"))
    labelled = cluster([node("node-a", labels={"disk": "ssd"}), node("x")])
    assert judged(job_spec(*stated), labelled).text == ""
    assert judged(job_spec(element(), element(), element()), THREE).text == ""


def test_one_reason_of_several_elements_is_one_line() -> None:
    first, *reasons = lines(*[element("hostIsolation", disk="x", name=name) for name in ("one", "two")])
    assert first == "2 of 2 processing elements cannot run even by themselves (one, two):"
    assert [line.partition(" cannot")[0] for line in reasons] == ["  one, two: nodeSelector disk=x"]


def test_a_contradiction_in_one_of_them_is_the_fault_of_the_request() -> None:
    contrary = element('hostColocation("c"), hostExlocation("c"), host("a"), host("b")')
    verdict = judged(job_spec(element('host("x")'), contrary), THREE)
    assert verdict.text.splitlines()[2] == (
        '  app-1: metadata.annotations[streams.ibm.com/placement]: operator "Op" has host("a") and host("b"): '
        "SPL allows one host per operator (and 1 more problem)"
    )
    assert verdict.fault is Fault.INVALID


def test_those_beyond_the_tenth_reason_are_counted() -> None:
    found = lines(*[element(f'host("x{at}")') for at in range(LISTED + 3)])
    assert found[0] == "13 of 13 processing elements cannot run even by themselves (app-0, app-1, app-2 and 10 more):"
    assert len(found) == LISTED + 2
    assert found[-1] == "  and 3 more, for other reasons"


def test_a_line_is_cut() -> None:
    found = lines(element(disk="x" * 63, name="a" * 200), element('host("x")'))
    assert found[0] == f"2 of 2 processing elements cannot run even by themselves ({'a' * 57}..., app-1):"
    assert all(len(line) <= 402 for line in found)


def test_an_element_that_requests_more_than_any_node_has_is_told_of_with_the_others() -> None:
    found = lines(element(cpu="99"), element('host("x")'), element())
    assert found[:2] == [
        "2 of 3 processing elements cannot run even by themselves (app-0, app-1):",
        (
            "  app-0: cpu 99 (resources of processing element app-0) cannot hold: 0 of 3 nodes can run this pod. "
            "Nearest fix: add a node with cpu 99 to offer, or lower cpu 99 (resources of processing element app-0) "
            "to cpu 8 (3 nodes would fit)."
        ),
    ]


def test_such_an_element_alone_is_told_what_is_free() -> None:
    assert lines(element(cpu="99"), element())[0] == (
        "cpu 99 (resources of processing element app-0) cannot hold: 0 of 1 processing element fits (app-0)."
    )


def test_without_the_time_to_look_at_all_of_them_those_are_told_that_are_known() -> None:
    class Ending(AtOnce):
        """Ends after some questions."""

        def left(self) -> float:
            self.seconds -= 1
            return self.seconds

    found = lines(element('host("x")'), element('host("y")'), element(), solving=Ending(3))
    assert found[0] == "At least 2 of 3 processing elements cannot run even by themselves (app-0, app-1):"
