"""The live pods of one job."""

from collections import Counter

import pytest
from msgspec.structs import replace

from tests.builders import bound_pod, cluster, nodes
from tests.workload_templates import replica
from webhook.placement.inventory.job_pods import POOL, JobPods, PodsByNode
from webhook.placement.kube.bits import union
from webhook.placement.objects.pod import PodInfo

RED, BLUE = ("color", "red"), ("color", "blue")


def job_of(*pods: tuple[int, PodInfo]) -> JobPods:
    """A job with these pods on these slots."""
    found = JobPods()
    for slot, pod in pods:
        found.add(slot, pod)
    return found


@pytest.fixture
def job_pods() -> JobPods:
    """Red pods of element a on slots 0 and 1, beside a blue one of element b on slot 1, which is alone on slot 2."""
    return job_of(
        (0, bound_pod(pe="a", uid="1", labels=dict([RED]), pools=["P"], isolated=["Sink"])),
        (1, bound_pod(pe="a", uid="2", labels=dict([RED]), pools=["P"], requests={"cpu": 1})),
        (1, bound_pod(pe="b", uid="3", labels=dict([BLUE]), requests={"cpu": 2})),
        (2, bound_pod(pe="b", uid="4", labels=dict([BLUE]), pools=["P", "Q"])),
    )


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        pytest.param([], 0b000, id="no label"),
        pytest.param([RED], 0b011, id="one"),
        pytest.param([RED, BLUE], 0b111, id="either"),
        pytest.param([("color", "green")], 0b000, id="one that nobody carries"),
        pytest.param([(POOL, "Q")], 0b100, id="pool"),
    ],
)
def test_nodes_hold_pods_with_any_of_the_labels(job_pods: JobPods, marks: list[tuple[str, str]], expected: int) -> None:
    assert job_pods.holding(marks) == expected


@pytest.mark.parametrize(
    ("pe", "expected"),
    [
        pytest.param("a", 0b110, id="one element's own node is not among them"),
        pytest.param("b", 0b011, id="nor is the other's"),
        pytest.param("c", 0b111, id="all are others to an element without pods"),
        pytest.param("", 0b111, id="and to a pod of no element"),
    ],
)
def test_nodes_hold_pods_of_other_elements(job_pods: JobPods, pe: str, expected: int) -> None:
    assert job_pods.others(pe) == expected


@pytest.mark.parametrize(("pool", "expected"), [("P", 0b010), ("Q", 0b011), ("R", 0b111)])
def test_nodes_hold_pods_that_do_not_ask_for_the_pool(job_pods: JobPods, pool: str, expected: int) -> None:
    assert job_pods.outside(pool) == expected


@pytest.mark.parametrize(("pe", "expected"), [("a", 0b000), ("b", 0b001), ("", 0b001)])
def test_nodes_hold_isolated_pods_of_other_elements(job_pods: JobPods, pe: str, expected: int) -> None:
    assert job_pods.isolated_from(pe) == expected


def test_isolated_operators_are_known_with_their_element(job_pods: JobPods) -> None:
    assert list(job_pods.isolations()) == [("a", "Sink")]


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        pytest.param([RED], [1], id="pods with the label"),
        pytest.param([RED, (POOL, "P")], [1], id="a pod with both counts once"),
        pytest.param([RED, BLUE], [1, 2], id="pods with either"),
        pytest.param([("color", "green")], [], id="nobody"),
    ],
)
def test_requests_of_the_pods_on_a_node_are_listed(
    job_pods: JobPods, marks: list[tuple[str, str]], expected: list[int]
) -> None:
    assert [tally["cpu"] for tally in job_pods.together(1, marks)] == expected


def test_pods_that_are_gone_leave_no_trace() -> None:
    pod = bound_pod(pe="a", uid="1", labels=dict([RED]), pools=["P"], isolated=["Sink"])
    found = job_of((0, pod), (0, bound_pod(pe="b", uid="2")))
    found.remove(0, pod)
    left = (found.elements.keys(), found.labels, found.isolated, found.everyone.nodes)
    assert left == ({"b"}, {}, {}, 1)


def test_a_node_is_free_when_its_last_pod_is_gone() -> None:
    pod = bound_pod(uid="1")
    found = job_of((0, pod), (1, bound_pod(uid="2")))
    found.remove(0, pod)
    assert found.everyone.nodes == 0b10


@pytest.mark.parametrize(
    "slots", [[4], [4, 4], [4, 7], [4, 4, 7], [4, 7, 7, 9]], ids=lambda slots: "-".join(map(str, slots))
)
def test_pods_are_found_by_their_node_as_they_come_and_go(slots: list[int]) -> None:
    pods = [(slot, bound_pod(uid=str(number))) for number, slot in enumerate(slots)]
    found = PodsByNode()
    for slot, pod in pods:
        found.add(slot, pod)
    while pods:
        told = {slot: len(found.on(slot)) for slot in {*slots, 5} if found.on(slot)}
        assert (dict(found.counts()), union(1 << slot for slot in told)) == (told, found.nodes)
        assert told == Counter(slot for slot, _ in pods)
        found.remove(*pods.pop(0))
    assert (found.empty, found.nodes, dict(found.counts())) == (True, 0, {})


def test_a_node_without_pods_can_get_pods_again() -> None:
    first, second = bound_pod(uid="1"), bound_pod(uid="2")
    found = PodsByNode()
    for slot, pod in ((3, first), (8, second)):
        found.add(slot, pod)
    found.remove(3, first)
    found.remove(8, second)
    found.add(5, first)
    assert (found.on(5), found.on(8), found.nodes) == ((first,), (), 0b100000)


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        pytest.param("Deployment/w", 0b11110, id="a workload's own pods"),
        pytest.param("StatefulSet/w", 0b11101, id="a name is of one kind"),
        pytest.param("CronJob/w", 0b10011, id="those of every run of a CronJob"),
        pytest.param("Job/w-29391840", 0b11011, id="those of one run"),
        pytest.param("Deployment/other", 0b11111, id="none of another's"),
    ],
)
def test_a_workloads_pods_can_be_left_out(workload: str, expected: int) -> None:
    owners = ["Deployment/w", "StatefulSet/w", "Job/w-29391840", "Job/w-29391841", "Job/w-x"]
    found = job_of(*((at, replica(f"node-{at}", owner)) for at, owner in enumerate(owners)))
    assert found.without(workload).everyone.nodes == expected


def test_who_is_left_out_leaves_no_trace_and_is_still_there() -> None:
    pod = replica("node-a", pe="a", uid="1", labels=dict([RED]), pools=["P"], isolated=["Sink"])
    found = job_of((0, pod), (0, bound_pod(pe="b", uid="2")))
    left = found.without("Deployment/w")
    assert (left.elements.keys(), left.labels, left.isolated, left.pods.keys()) == ({"b"}, {}, {}, {"2"})
    assert found.pods.keys() == {"1", "2"}


def to_cpus(uid: str, *, bound: bool = True) -> PodInfo:
    """A live pod that is bound to cpus, or not."""
    return replace(bound_pod(uid=uid), cpu_bound=bound)


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param([], id="nobody"),
        pytest.param([True], id="one that is bound to cpus"),
        pytest.param([False, False], id="those that are not"),
        pytest.param([True, False], id="one of each"),
    ],
)
def test_it_is_known_whether_some_are_bound_to_cpus(pods: list[bool]) -> None:
    found = job_of(*((0, to_cpus(str(at), bound=said)) for at, said in enumerate(pods)))
    assert (found.cpu_bound, found.binding("")) == (True in pods, set(pods))


@pytest.mark.parametrize("bound", [True, False])
def test_who_is_gone_is_bound_no_longer(*, bound: bool) -> None:
    found = job_of((0, to_cpus("1", bound=bound)), (1, to_cpus("2", bound=not bound)))
    found.remove(0, to_cpus("1", bound=bound))
    assert (found.cpu_bound, found.binding("")) == (not bound, {not bound})


def test_who_is_left_out_is_not_among_the_bound() -> None:
    found = job_of((0, replace(replica("node-a"), cpu_bound=True)), (0, to_cpus("2", bound=False)))
    assert (found.without("Deployment/w").cpu_bound, found.cpu_bound) == (False, True)
    assert (found.binding("Deployment/w"), found.binding("")) == ({False}, {False, True})


@pytest.mark.parametrize(
    ("pod", "notable"),
    [
        pytest.param(to_cpus("1"), True, id="bound to cpus"),
        pytest.param(bound_pod(uid="1", isolated=["Sink"]), True, id="isolated"),
        pytest.param(bound_pod(uid="1"), False, id="like others"),
    ],
)
def test_all_others_of_the_job_must_mind_a_pod_that_is(pod: PodInfo, *, notable: bool) -> None:
    inventory = cluster(nodes(1), pods=[bound_pod(uid="0")])
    job_pods = inventory.job_pods(pod.namespace, pod.job)
    moments = [job_pods.notable_changed]
    inventory.set_pod(pod)
    moments.append(job_pods.notable_changed)
    inventory.remove_pod(pod.uid)
    moments.append(job_pods.notable_changed)
    assert len(set(moments)) == (3 if notable else 1)
