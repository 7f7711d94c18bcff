"""Groups whose pods preempt others: what counts as free, what is told, and what a brute force says."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import JOB, NAMESPACE, bound_pod, cluster, node, nodes, typed
from tests.placement.planning.at_once import AtOnce, job_spec, judged
from tests.placement.pod_defaults.completing import known
from tests.suite.example_count import examples
from tests.workload_templates import workload
from webhook.admission.checks.templates import pods_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.job_workloads import WorkloadPods, judge_workload
from webhook.placement.jobs.replanning import Standing, replan_job
from webhook.placement.kube.containers import HostPort
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.preemption import PREEMPTED, UNCERTAIN
from webhook.placement.planning.search.solver import finished
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.request.world import World
from webhook.placementreview.plans.plan import planned, warning_of

HIGH, LOW = PriorityClass("high", 1000), PriorityClass("low", 1)
PATIENT = PriorityClass("patient", 1000, policy="Never")
IDLE = PriorityClass("idle", -10)
CLASSES = HIGH, LOW, PATIENT, IDLE
CORE = 1000


def element(cpu: str, priority: str = "", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "1"}}}
    named = {"priorityClassName": priority} if priority else {}
    return {"template": {"spec": {"containers": [container], **named, **spec}}}


def running(cores: int, priority: int = 0, on: str = "node-a", uid: str = "", **more: Any) -> PodInfo:
    found = bound_pod(on, job="", uid=uid or f"{on}-{priority}-{cores}", requests={"cpu": cores * CORE})
    return PodInfo(found.uid, "other", on, found.requests, priority=priority, **more)


def one_node(*pods: PodInfo, cpu: int = 8) -> Inventory:
    inventory = cluster([node(cpu=cpu * CORE)], pods=pods)
    inventory.pod_defaults = known(*CLASSES)
    return inventory


def verdict(inventory: Inventory, *elements: dict[str, Any]) -> JobVerdict:
    return judged(job_spec(*elements), inventory)


@pytest.mark.parametrize(
    ("pods", "priority", "warned"),
    [
        pytest.param([running(2, 1)], "high", (), id="room enough"),
        pytest.param([running(6, 1)], "high", (PREEMPTED,), id="a lower priority"),
        pytest.param([running(6)], "low", (PREEMPTED,), id="pods without a priority"),
        pytest.param([running(6, -10)], "", (PREEMPTED,), id="pods below those without"),
        pytest.param([running(3, 1), running(3, 2_000_000_000)], "high", (PREEMPTED,), id="one of both"),
    ],
)
def test_what_lower_priorities_hold_is_room_and_is_told(
    pods: list[PodInfo], priority: str, warned: tuple[str, ...]
) -> None:
    found = verdict(one_node(*pods), element("4", priority))
    assert (found.text, found.warnings) == ("", warned)


@pytest.mark.parametrize(
    ("pods", "priority"),
    [
        pytest.param([running(6, 1)], "low", id="an equal priority"),
        pytest.param([running(6, 1)], "", id="a higher priority"),
        pytest.param([running(6, 2_000_000_000)], "high", id="the system's"),
        pytest.param([running(6, 1)], "patient", id="a class that preempts none"),
        pytest.param([running(6)], "idle", id="a priority below 0"),
        pytest.param([running(2, 1), running(6, 5000, uid="x")], "high", id="one that is too high"),
    ],
)
def test_what_others_hold_is_not(pods: list[PodInfo], priority: str) -> None:
    assert verdict(one_node(*pods), element("4", priority)).refused


def test_a_pod_of_lower_priority_that_is_gone_holds_nothing() -> None:
    inventory = one_node(running(6, 1, uid="gone"), running(2, 5000))
    inventory.remove_pod("gone")
    found = verdict(inventory, element("6", "high"))
    assert (found.text, found.warnings) == ("", ())


def test_pods_that_leave_are_counted_once() -> None:
    leaving = bound_pod(requests={"cpu": 4 * CORE}, job="other", terminating=True)
    inventory = one_node(leaving, running(2, 5000))
    assert verdict(inventory, element("7", "high")).refused
    assert verdict(inventory, element("6", "high")).warnings == ()


def test_a_large_cluster_has_room_for_what_is_low_on_every_node() -> None:
    many = [node(f"n-{at}", cpu=8 * CORE) for at in range(100)]
    inventory = cluster(many, pods=[running(8, 1, f"n-{at}") for at in range(100)])
    inventory.pod_defaults = known(*CLASSES)
    assert verdict(inventory, *[element("8", "high")] * 100).warnings == (PREEMPTED,)
    assert verdict(inventory, *[element("8", "high")] * 101).refused


def test_host_ports_and_anti_affinity_of_lower_priorities_are_preempted() -> None:
    taken = running(1, 1, ports=(HostPort("TCP", 80),))
    port = {"ports": [{"hostPort": 80, "containerPort": 80}]}
    asking = element("1", "high")
    asking["template"]["spec"]["containers"][0] |= port
    assert verdict(one_node(taken), asking).warnings == (PREEMPTED,)
    asking["template"]["spec"]["priorityClassName"] = "patient"
    assert verdict(one_node(taken), asking).refused


# Several priorities in one Job


def test_pods_of_a_job_that_preempt_do_not_make_room_for_those_that_do_not() -> None:
    inventory = one_node(running(4, 1))
    assert verdict(inventory, element("4", "high"), element("4", "low")).warnings == (UNCERTAIN,)
    assert verdict(inventory, element("6", "high"), element("2", "low")).warnings == (UNCERTAIN,)


def test_each_counts_what_it_preempts_itself() -> None:
    inventory = cluster(nodes(2, cpu=4 * CORE), pods=[running(4, 1, "node-a"), running(4, -10, "node-b")])
    inventory.pod_defaults = known(*CLASSES)
    assert verdict(inventory, element("4", "high"), element("4")).warnings == (PREEMPTED,)


def test_what_has_no_room_by_any_order_is_refused() -> None:
    found = verdict(one_node(running(4, 5000)), element("4", "high"), element("4", "low"))
    assert "1 of 2 processing elements fits" in found.text


PRIORITIES = {"high": 1000, "": 0, "low": 1, "idle": -10}
amounts = st.integers(1, 4)
held = st.lists(st.tuples(st.integers(0, 1), amounts, st.sampled_from([1000, 1, 0, -10, 5000])), max_size=5)
wanted = st.lists(st.tuples(amounts, st.sampled_from([*PRIORITIES, "patient"])), min_size=1, max_size=4)


def scheduled(held: list[tuple[int, int, int]], wanted: list[tuple[int, str]], places: tuple[int, ...]) -> bool:
    """Whether the pods stay where they are planned: one after the other, each preempts what is in its way there.

    As the scheduler, a pod preempts those of the lowest priorities first, and only as many as it has to.
    """
    for order in itertools.permutations(range(len(wanted))):
        there = [[(priority, size, False) for at, size, priority in held if at == place] for place in (0, 1)]
        for at in order:
            size, name = wanted[at]
            priority = PRIORITIES.get(name, 1000)
            node = there[places[at]]
            spared = sorted((one for one in node if name == "patient" or one[0] >= priority), reverse=True)
            left = 6 - size - sum(one[1] for one in spared)
            if left < 0:
                return False
            for one in sorted((one for one in node if one not in spared), reverse=True):
                if one[1] <= left:
                    left -= one[1]
                    spared.append(one)
                elif one[2]:
                    return False  # a pod of the Job itself was preempted
            there[places[at]] = [*spared, (priority, size, True)]
    return True


@examples(300)
@given(held, wanted)
def test_what_is_admitted_as_sure_has_places_in_whatever_order_its_pods_come(
    held: list[tuple[int, int, int]], wanted: list[tuple[int, str]]
) -> None:
    there: list[tuple[int, int, int]] = []
    for at, size, priority in held:
        if sum(one[1] for one in there if one[0] == at) + size <= 6:
            there.append((at, size, priority))
    pods = [
        running(size, priority, f"node-{'ab'[at]}", uid=f"p{number}")
        for number, (at, size, priority) in enumerate(there)
    ]
    inventory = cluster(nodes(2, cpu=6 * CORE), pods=pods)
    inventory.pod_defaults = known(*CLASSES)
    found = verdict(inventory, *[element(str(size), name) for size, name in wanted])
    if found.refused:
        assert not any(scheduled(there, wanted, places) for places in itertools.product((0, 1), repeat=len(wanted)))
    elif UNCERTAIN not in found.warnings:
        assert found.group
        assert found.answer
        assert found.answer.placed
        slots = {name: slot for member, mine in zip(found.group.members, found.answer.placed.slots, strict=True)
                 for name, slot in zip(member.names, mine, strict=True)}  # fmt: skip
        places = tuple(slots[f"app-{at}"] for at in range(len(wanted)))
        assert scheduled(there, wanted, places)


# Where else groups are placed


def test_an_element_that_is_launched_again_preempts_as_it_did_at_first() -> None:
    spec = job_spec(element("4", "high"), element("4", "high"))
    inventory = cluster(nodes(2, cpu=4 * CORE), pods=[running(4, 1, "node-a"), running(4, 5000, "node-b")])
    inventory.pod_defaults = known(*CLASSES)
    standing = Standing({}, frozenset({"app-0", "app-1"}))
    found = finished(replan_job((NAMESPACE, "app"), spec, inventory, Policy(), AtOnce(), standing))
    assert (found.plan.by_element(), set(found.short)) == ({"app-0": "node-a"}, {"app-1"})


def test_workloads_of_one_job_count_what_they_preempt() -> None:
    def pods(name: str, priority: str = "high") -> WorkloadPods:
        document = workload("Deployment", None, name=name, requests={"cpu": "4"}, priorityClassName=priority)
        [found] = pods_of(document)
        return WorkloadPods(found.origin, typed(found.pod), found.replicas)

    def verdict_on(submitted: WorkloadPods, other: WorkloadPods) -> JobVerdict:
        job = NAMESPACE, JOB
        return finished(judge_workload(submitted, [other], job, one_node(running(4, 1)), Policy(), AtOnce()))

    assert verdict_on(pods("a"), pods("b")).warnings == (PREEMPTED,)
    assert verdict_on(pods("a", "patient"), pods("b", "patient")).refused
    assert verdict_on(pods("a", "patient"), pods("b")).warnings == (UNCERTAIN,)


def test_a_plan_says_what_it_preempts() -> None:
    inventory = one_node(running(6, 1))
    world = World(inventory, Policy())

    def document(name: str, priority: str, cpu: str) -> dict[str, Any]:
        spec = element(cpu, priority)["template"]["spec"]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}

    found = planned([("f", document("a", "high", "4")), ("f", document("b", "low", "5"))], world, 10)
    assert [warning_of(one) for one in found.objects] == [(PREEMPTED,), ()]
    assert found.objects[1].text
