"""Plans for elements that are launched again, while others of their Job run."""

import json
from typing import Any

import pytest

from tests.builders import NAMESPACE, bound_pod, cluster, node
from tests.placement.planning.at_once import AtOnce, element, job_spec
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.replanning import Replanned, Standing, replan_job
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.search.solver import finished
from webhook.placement.text import keys

Json = dict[str, Any]

TOGETHER, APART = 'hostColocation("t")', 'hostExlocation("x")'
CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
THREE = (node("a", cpu=4000), node("b", cpu=4000), node("c", cpu=4000))


def running(name: str, on: str, cpu: int = 1000) -> PodInfo:
    return bound_pod(on, pe=name, job="app", requests={"cpu": cpu})


def world(*pods: PodInfo, nodes: tuple[Node, ...] = THREE, pools: tuple[Pool, ...] = ()) -> Inventory:
    return cluster(nodes, pools, pods)


def replanned(spec: JobSpec, there: Inventory, runs: dict[str, str], seconds: float = 20.0, **more: Any) -> Replanned:
    """The plan for all elements that do not run."""
    names = {each.name or f"app-{at}" for at, each in enumerate(spec.processing_elements or ())}
    policy = more.pop("policy", Policy())
    standing = Standing(runs, frozenset(more.pop("waiting", names - runs.keys())), **more)
    return finished(replan_job((NAMESPACE, "app"), spec, there, policy, AtOnce(seconds), standing))


def where(found: Replanned) -> dict[str, str]:
    return found.plan.by_element()


GROUP = job_spec(*[element(TOGETHER, "1")] * 3)


def test_what_runs_stays_and_the_rest_of_its_colocation_comes_to_it() -> None:
    found = replanned(GROUP, world(running("app-1", "b")), {"app-1": "b"})
    assert where(found) == {"app-0": "b", "app-1": "b", "app-2": "b"}
    assert (found.moved, found.short) == (frozenset(), {})
    assert found.together["app-0"] == {"app-0", "app-1", "app-2"}
    assert set(found.plan.required) >= {"app-0", "app-2"}


def test_where_node_groups_make_nodes_a_colocation_that_fits_nowhere_is_not_held_back() -> None:
    """An autoscaler looks at pods: without any it makes no node."""
    auto, there = Policy(scale_up="auto"), world(nodes=(node("a", cpu=2000),))
    assert not replanned(GROUP, there, {}, policy=auto).elastic
    there.node_groups.put(NodeGroup("NodePool", "p"))
    assert replanned(GROUP, there, {}, policy=auto).elastic
    assert not replanned(GROUP, there, {}).elastic


def test_a_colocation_of_which_nothing_runs_goes_where_all_of_it_fits() -> None:
    nodes = (node("a", cpu=2000), node("b", cpu=4000), node("c", cpu=1000))
    assert set(where(replanned(GROUP, world(nodes=nodes), {})).values()) == {"b"}


CLOSED = (node("a", cpu=4000, taints=[CORDONED]), node("b", cpu=1000), node("c", cpu=4000))
WHY = "app-1, app-2 of its colocation run on a, where it cannot run, and "


@pytest.mark.parametrize(
    ("movable", "moved", "why"),
    [
        ({"app-1", "app-2"}, {"app-1", "app-2"}, ""),
        ({"app-1"}, set(), f"{WHY}app-2 must not be restarted"),
        (set(), set(), f"{WHY}app-1, app-2 must not be restarted"),
    ],
    ids=["all may", "one must not", "none may"],
)
def test_a_colocation_moves_if_all_of_it_may_be_restarted(movable: set[str], moved: set[str], why: str) -> None:
    runs = {"app-1": "a", "app-2": "a"}
    there = world(running("app-1", "a"), running("app-2", "a"), nodes=CLOSED)
    found = replanned(GROUP, there, runs, movable=frozenset(movable))
    assert found.moved == moved
    assert found.short == ({"app-0": why} if why else {})
    assert {where(found).get(f"app-{at}") for at in range(3)} == ({"c"} if moved else {None, "a"})


def test_a_colocation_that_fits_nowhere_stays() -> None:
    runs = {"app-1": "a", "app-2": "a"}
    nodes = (CLOSED[0], node("b", cpu=1000), node("c", cpu=2000))
    there = world(running("app-1", "a"), running("app-2", "a"), nodes=nodes)
    found = replanned(GROUP, there, runs, movable=frozenset(runs))
    assert found.moved == frozenset()
    assert found.short == {"app-0": f"{WHY}no node has room for all of them"}


def test_a_colocation_that_is_torn_apart_comes_together_again() -> None:
    runs = {"app-1": "a", "app-2": "b"}
    there = world(running("app-1", "a"), running("app-2", "b"))
    found = replanned(GROUP, there, runs, movable=frozenset(runs))
    assert found.moved == {"app-1", "app-2"}
    assert len(set(where(found).values())) == 1
    kept = replanned(GROUP, there, runs)
    assert set(kept.short) == {"app-0"}
    assert "run on a, b" in kept.short["app-0"]
    alone = replanned(job_spec(*[element(TOGETHER, "1")] * 2, element("", "1")), there, {"app-0": "a", "app-1": "b"})
    assert where(alone)["app-2"]


def test_elements_find_nodes_as_far_as_there_are_any() -> None:
    spec = job_spec(*[element(APART, "1")] * 5, element(TOGETHER, "3"), element(TOGETHER, "3"))
    found = replanned(spec, world(running("app-4", "c")), {"app-4": "c"})
    assert set(found.short) == {"app-2", "app-3", "app-5", "app-6"}
    assert found.short["app-5"] == "no node has room for it beside the running pods"
    assert {where(found)["app-0"], where(found)["app-1"]} == {"a", "b"}


def test_an_element_that_no_node_can_run_blocks_no_other() -> None:
    spec = job_spec(element("", "1"), element("", "1", disk="ssd"), element("host(Nobody)"))
    found = replanned(spec, world(), {})
    assert where(found).keys() == {"app-0"}
    assert found.short == dict.fromkeys(["app-1", "app-2"], "no node can run it")


def test_an_element_that_runs_and_could_not_be_judged_any_more_blocks_no_other() -> None:
    spec = job_spec(element("", "1"), element("host(Nobody)"))
    found = replanned(spec, world(running("app-1", "a")), {"app-1": "a"})
    assert where(found).keys() == {"app-0"}
    assert found.short == {}


def test_what_runs_is_there_whatever_its_node_has_become() -> None:
    spec = job_spec(element(APART, "1", disk="ssd"), element(APART, "1"))
    found = replanned(spec, world(running("app-0", "a"), nodes=CLOSED), {"app-0": "a"})
    assert where(found)["app-1"] in {"b", "c"}


def test_room_that_own_pods_use_is_used_and_room_that_they_leave_is_free() -> None:
    spec = job_spec(*[element("", "3")] * 3)
    there = world(*(running(f"app-{at}", on, 3000) for at, on in enumerate("abc")))
    assert where(replanned(spec, there, {"app-0": "a", "app-1": "b"})) == {"app-0": "a", "app-1": "b", "app-2": "c"}


def test_pods_that_wait_for_a_node_keep_it_while_they_can() -> None:
    spec = job_spec(*[element("", "3")] * 2)
    for there in ("a", "b", "c"):
        assert where(replanned(spec, world(), {}, sent={"app-0": there}))["app-0"] == there
    other = replanned(spec, world(nodes=CLOSED), {}, sent={"app-0": "a"})
    assert where(other) == {"app-0": "c"}
    assert set(other.short) == {"app-1"}


def test_nodes_that_the_scheduler_refuses_are_avoided() -> None:
    spec = job_spec(*[element("", "3")] * 2)
    found = replanned(spec, world(), {}, avoided=frozenset([("app-0", "a"), ("app-0", "b")]))
    assert where(found)["app-0"] == "c"


def test_a_node_that_is_not_ready_for_now_is_planned_if_there_is_no_other() -> None:
    unready = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
    nodes = (node("a", cpu=4000, taints=[unready]), node("b", cpu=1000))
    assert set(where(replanned(GROUP, world(nodes=nodes), {})).values()) == {"a"}
    large = job_spec(element("", "9"))
    assert set(replanned(large, world(nodes=nodes), {}).short) == {"app-0"}


def test_hosts_of_a_pool_that_has_lost_one() -> None:
    stated: Json = {"name": "P", "size": 2, "mode": "Exclusive"}
    spec = job_spec(element("host(P)", "1"), element("host(P)", "1"), pools=(stated,))
    found = replanned(spec, world(running("app-0", "a")), {"app-0": "a"})
    hosts = found.plan.hosts_of("app-p")
    assert where(found)["app-1"] in hosts.values()
    assert "app-1" in found.plan.required


def test_an_isolated_element_requires_its_node_which_it_closes_to_all_others() -> None:
    spec = job_spec(element("hostIsolation", "1"), element("", "1"), element(APART, "1"))
    assert replanned(spec, world(), {}).plan.required == ("app-0",)


def test_what_an_element_had_it_gets_again_before_others() -> None:
    wish = [{"name": "example.com/device", "limits": 1, "mandatory": False}]
    metadata = {"annotations": {keys.HARDWARE: json.dumps(wish)}}
    template = {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "i"}]}}
    spec = job_spec(*[{"template": template}] * 3)
    there = world(running("app-0", "a"), nodes=(node("a", **{"example.com/device": 1}),))
    for had in ("app-1", "app-2"):
        found = replanned(spec, there, {"app-0": "a"}, equipped=frozenset([had]))
        assert [each.processing_elements for each in found.plan.hardware] == [(had,)]


def test_too_little_time_is_not_a_reason_to_hold_anything_back() -> None:
    found = replanned(GROUP, world(), {}, seconds=0.0)
    assert found.undecided
    assert set(found.short) == {"app-0", "app-1", "app-2"}


def test_elements_that_have_ended_are_no_part_of_it() -> None:
    found = replanned(GROUP, world(), {}, waiting={"app-1"})
    assert where(found).keys() == {"app-1"}
