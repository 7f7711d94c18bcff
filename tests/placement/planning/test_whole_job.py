"""Verdicts on whole Jobs: the texts of refusals, warnings, and what counts as free."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, bound_pod, cluster, node, nodes, pool
from tests.placement.planning.at_once import AtOnce, element, job_spec, judged
from tests.work import Work, excess
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import UNDECIDED, JobVerdict
from webhook.placement.kube.containers import HostPort
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.repelling import RepellingTerm
from webhook.placement.planning.search.integer_program import Solved
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault

APART = 'hostExlocation("a")'
TOGETHER = 'hostColocation("c")'
TAGGED = {keys.TAG: "x"}
THREE = cluster([node("node-a", labels=TAGGED), node("node-b", labels=TAGGED), node("node-c")])
P: dict[str, object] = {"name": "P", "size": 2, "tags": ["x"]}
UNSIZED: dict[str, object] = {"name": "P", "tags": ["x"]}
OWN_P: dict[str, object] = {"name": "P", "size": 2, "mode": "Exclusive"}
OWN_Q: dict[str, object] = {"name": "Q", "size": 2, "mode": "Exclusive"}


def spec(*elements: dict[str, object], pools: tuple[dict[str, object], ...] = ()) -> JobSpec:
    return job_spec(*elements, pools=pools)


TEXTS = {
    "apart on too few nodes": (
        spec(*[element(APART)] * 5),
        ('hostExlocation("a") cannot hold: 3 of 5 processing elements fit (app-0, app-1, app-2 and 2 more).\n'
        'Nearest fix: add 2 nodes, or drop hostExlocation("a") (all 5 would fit), or run 3 of these 5.'),
        Fault.FORBIDDEN,
    ),
    "apart on too few hosts of a pool by tags": (
        spec(*[element(f"{APART}, host(P)")] * 3, pools=(UNSIZED,)),
        ('host(P) and hostExlocation("a") cannot both hold: 2 of 3 processing elements fit (app-0, app-1, app-2).\n'
        "  1 node is not in HostPool P (tag x)\n"
        "Nearest fix: label one more node streams.ibm.com/hostpool=x, or drop host(P) (all 3 would fit), "
        "or run 2 of these 3."),
        Fault.FORBIDDEN,
    ),
    "apart on too few hosts of a pool of a size": (
        spec(*[element(f"{APART}, host(Q)")] * 3, pools=({"name": "Q", "size": 2},)),
        ('host(Q) and hostExlocation("a") cannot both hold: 2 of 3 processing elements fit (app-0, app-1, app-2).\n'
        "  1 node is not among the hosts of HostPool Q\n"
        "Nearest fix: give HostPool Q 3 hosts, or drop host(Q) (all 3 would fit), or run 2 of these 3."),
        Fault.INVALID,
    ),
    "isolated ones and others": (
        spec(element("hostIsolation", name="one"), element("hostIsolation", name="two"), element(APART),
             element("hostIsolation", name="four")),
        ("hostIsolation cannot hold: 3 of 4 processing elements fit (one, two, app-2 and 1 more).\n"
        "Nearest fix: add a node, or drop hostIsolation (all 4 would fit), or run 3 of these 4."),
        Fault.FORBIDDEN,
    ),
    "a set that is too large for any node": (
        spec(*[element(TOGETHER, "3", name=f"pe-{at}") for at in range(3)]),
        ('cpu 3 (resources of processing elements pe-0, pe-1 and 1 ... and hostColocation("c") cannot both hold: '
        "2 of 3 processing elements fit (pe-0, pe-1, pe-2).\n"
        "Nearest fix: add a node with cpu 9 free, or lower cpu 3 (resources of processing elements pe-0, pe-1 and 1 ..."
            " to cpu 2 (all 3 would fit), or run 2 of these 3."),
        Fault.FORBIDDEN,
    ),
    "exclusive pools that exclude each other": (
        spec(element("host(P)"), pools=(OWN_P, OWN_Q)),
        ("HostPool P (2 hosts, Exclusive) and HostPool Q (2 hosts, Exclusive) cannot all have their hosts: "
        "3 nodes are eligible.\n"
        "Nearest fix: lower the size of HostPool P to 1, or lower the size of HostPool Q to 1."),
        Fault.FORBIDDEN,
    ),
    "two that want one node alone": (
        spec(element('host("node-a"), hostIsolation'), element('host("node-a")')),
        ('host("node-a") and hostIsolation cannot both hold: 1 of 2 processing elements fits (app-0, app-1).\n'
        "  2 nodes are not named node-a\n"
        'Nearest fix: drop host("node-a") (all 2 would fit), or run 1 of these 2.'),
        Fault.INVALID,
    ),
    "two hosts for those who share one": (
        spec(element(f"{TOGETHER}, host(P[0])"), element(f"{TOGETHER}, host(P[1])"), pools=(P,)),
        (
            'host(P[0]), hostColocation("c") and host(P[1]) cannot all hold: '
            "1 of 2 processing elements fits (app-0, app-1).\n"
            "  2 nodes are not host 0 of HostPool P\n"
            "Nearest fix: drop host(P[0]) (all 2 would fit), or run 1 of these 2."
        ),
        Fault.INVALID,
    ),
    "one that no node can run": (
        spec(element('host("node-x")'), element()),
        ('processing element app-0: host("node-x") cannot hold: 0 of 3 nodes can run this pod.\n'
        "  3 nodes are not named node-x\n"
        'Nearest fix: add a node named node-x, or drop host("node-x") (3 nodes would fit).'),
        Fault.FORBIDDEN,
    ),
    "one that contradicts itself": (
        spec(element(f'{TOGETHER}, hostExlocation("c")'), element()),
        ("processing element app-0: metadata.annotations[streams.ibm.com/placement]: "
        'hostColocation("c") and hostExlocation("c") contradict each other\n'
        '  Op: hostColocation("c"), hostExlocation("c")\n'
        "                           ^"),
        Fault.INVALID,
    ),
    "one that is alone and shares a host": (
        spec(element(f"{TOGETHER}, hostIsolation"), element(TOGETHER)),
        ('hostColocation("c") and hostIsolation cannot both hold: 1 of 2 processing elements fits (app-0, app-1).\n'
        'Nearest fix: drop hostColocation("c") (all 2 would fit), or run 1 of these 2.'),
        Fault.INVALID,
    ),
    "requests of which no two share a node": (
        spec(*[element("", "5")] * 4, element("", "1")),
        ("cpu 5 (resources of processing elements app-0, app-1 and ... cannot hold: "
        "3 of 4 processing elements fit (app-0, app-1, app-2 and 1 more).\n"
        "  3 nodes have room for only 3 of 4 pods that request cpu 5 or more\n"
        "Nearest fix: add a node with cpu 5 free, or lower cpu 5 (resources of processing elements app-0, app-1 and "
        "... to cpu 4 (all 5 would fit), or run 3 of these 4."),
        Fault.FORBIDDEN,
    ),
    "requests that leave too little beside them": (
        spec(element("", "7"), element("", "5"), element("", "5"), element("", "4"), element("", "0.5")),
        ("cpu 7 (resources of processing element app-0), cpu 5 (resources of processing elements app-1, app-2) and "
        "cpu 4 (resources of processing element app-3) cannot all hold: "
        "3 of 4 processing elements fit (app-0, app-1, app-2 and 1 more).\n"
        "  3 nodes have cpu 24 free, but 4 pods that request cpu 4 or more take 28, "
        "as 3 leave too little for another one\n"
        "Nearest fix: add a node with cpu 7 free, or lower cpu 7 (resources of processing element app-0) to cpu 4 "
        "(all 5 would fit), or run 3 of these 4."),
        Fault.FORBIDDEN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_the_text_of_a_refusal(case: str) -> None:
    stated, text, fault = TEXTS[case]
    verdict = judged(stated, THREE)
    assert verdict.text == text
    assert verdict.fault is fault
    assert len(verdict.text) <= MESSAGE_LIMIT


def test_one_that_takes_a_node_to_itself_is_counted_as_one() -> None:
    verdict = judged(spec(element("", "7"), *[element("", "3")] * 3), cluster(nodes(2)))
    assert verdict.text.splitlines()[1] == (
        "  2 nodes have cpu 16 free, but 4 pods that request cpu 3 or more take 17, "
        "as 1 leaves too little for another one"
    )


@pytest.mark.parametrize(
    ("elements", "fit"),
    [
        pytest.param((element("hostIsolation"), element(), element()), "2 of 3", id="without the isolated one"),
        pytest.param((element("hostIsolation"),) * 4, "1 of 4", id="one of the isolated ones"),
    ],
)
def test_as_many_are_said_to_fit_as_do(elements: tuple[dict[str, object], ...], fit: str) -> None:
    verdict = judged(spec(*elements), cluster(nodes(1)))
    assert verdict.headline.partition(": ")[2].startswith(f"{fit} processing elements fit")
    assert verdict.text.endswith(f"or run {fit.replace('of', 'of these')}.")


FULL = [bound_pod(name, job="other", pe=name, requests={"cpu": 7000}) for name in ("node-a", "node-b", "node-c")]
FOUR = spec(element(TOGETHER, "4"))


def test_the_pods_of_other_jobs_count() -> None:
    verdict = judged(FOUR, cluster(nodes(3), pods=FULL))
    assert verdict.text == (
        "cpu 4 (resources of processing element app-0) cannot hold: 0 of 1 processing element fits (app-0).\n"
        "  3 nodes have less than cpu 4 free\n"
        "Nearest fix: add a node with cpu 4 free, or lower cpu 4 (resources of processing element app-0) to cpu 1 "
        "(it would fit)."
    )


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param({"job": "app"}, id="of the Job itself"),
        pytest.param({"job": "other", "terminating": True}, id="of another job, being deleted"),
        pytest.param({"job": "", "terminating": True}, id="of no job, being deleted"),
    ],
)
def test_pods_that_go_leave_their_room(gone: dict[str, object]) -> None:
    pods = [*FULL[:2], bound_pod("node-c", pe="c", requests={"cpu": 7000}, **gone)]  # type: ignore[arg-type]
    assert not judged(FOUR, cluster(nodes(3), pods=pods)).refused


PORT = {"name": "c", "image": "i", "ports": [{"hostPort": 80, "containerPort": 80}]}


@pytest.mark.parametrize("job", [pytest.param("", id="of no job"), pytest.param("other", id="of another job")])
@pytest.mark.parametrize(("terminating", "refused"), [(False, True), (True, False)])
def test_a_pod_that_is_being_deleted_leaves_its_ports_and_repels_no_pod(
    job: str, *, terminating: bool, refused: bool
) -> None:
    shuns = (RepellingTerm(keys.HOSTNAME, (Requirement(keys.JOB, "In", ("app",)),), None),)
    there = bound_pod("node-a", job=job, terminating=terminating)
    ports, walls = replace(there, ports=(HostPort("TCP", 80),)), replace(there, shuns=shuns)
    asking = {"template": {"spec": {"containers": [PORT]}}}
    assert judged(spec(asking), cluster([node()], pods=[ports])).refused is refused
    assert judged(spec(element()), cluster([node()], pods=[walls])).refused is refused


def test_a_pod_of_no_job_that_is_gone_leaves_nothing_behind() -> None:
    inventory = cluster(nodes(1), pods=[bound_pod(job="", uid="u", requests={"cpu": 7000}, terminating=True)])
    inventory.set_pod(bound_pod(job="", uid="u", requests={"cpu": 7000}))
    assert judged(FOUR, inventory).refused
    inventory.remove_pod("u")
    assert not judged(FOUR, inventory).refused


PREFERRED: dict[str, object] = {"metadata": {"annotations": {keys.PREFERRED: "host"}}}
CONTAINER: dict[str, object] = {"containers": [{"name": "worker", "image": "worker:1"}]}


def wishing(placement: str, *, hostname: str = "", **more: Any) -> dict[str, Any]:
    """An element that only prefers its hosts, and runs nowhere but on that node."""
    selector = {"nodeSelector": {keys.HOSTNAME: hostname}} if hostname else {}
    operators = [{"name": "Op", "placement": placement}]
    return {"operators": operators, "template": PREFERRED | {"spec": CONTAINER | selector}, **more}


ONE_P = OWN_P | {"size": 1, "selector": {"matchLabels": {keys.HOSTNAME: "node-a"}}}


def test_hosts_of_an_exclusive_pool_run_who_only_prefers_it() -> None:
    verdict = judged(spec(wishing("host(P)", hostname="node-a"), pools=(ONE_P,)), THREE)
    assert (verdict.text, verdict.warnings) == ("", ())
    assert judged(spec(wishing("host(Q)", hostname="node-a"), pools=(ONE_P,)), THREE).refused


def test_who_prefers_a_pool_shares_a_host_with_who_requires_it() -> None:
    near = f"{TOGETHER}, host(P)"
    stated = spec(element(near), wishing(near, hostname="node-a"), pools=(ONE_P,))
    assert judged(stated, THREE).text == ""


def test_no_room_beside_pods_that_prefer_a_pool_is_not_a_contradiction() -> None:
    near = f"{TOGETHER}, host(P)"
    stated = spec(element(near, "6"), wishing(near, resources={"requests": {"cpu": "6"}}), pools=(ONE_P,))
    verdict = judged(stated, THREE)
    assert (verdict.refused, verdict.fault) == (True, Fault.FORBIDDEN)


def test_a_preferred_pool_that_does_not_exist_refuses_no_job() -> None:
    verdict = judged(spec(wishing("host(Nope)"), wishing("host(Nope)", name="n")), THREE)
    assert (verdict.text, verdict.warnings) == (
        "",
        (
            (
                'processing element app-0: host(Nope): this namespace has no HostPool "Nope" that the pod may use; '
                "there are none"
            ),
        ),
    )


def test_a_job_has_room_for_eight_warnings_of_its_elements() -> None:
    verdict = judged(spec(*(wishing(f"host(Nope{at})") for at in range(9))), THREE)
    assert [line.partition(":")[0] for line in verdict.warnings] == [f"processing element app-{at}" for at in range(8)]


def test_live_pods_of_the_job_itself_do_not_keep_it_away() -> None:
    held = bound_pod("node-a", job="app", pe="x", labels={keys.EXLOCATION + keys.digest("a"): "a"})
    assert not judged(spec(*[element(APART)] * 3), cluster(nodes(3), pods=[held])).refused


def test_a_passing_condition_is_a_warning() -> None:
    unready = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
    verdict = judged(spec(*[element(APART)] * 2), cluster([node("node-a"), node("node-b", taints=[unready])]))
    assert not verdict.refused
    assert verdict.warnings == (
        (
            'not all can run at the same time now: hostExlocation("a") cannot hold: '
            "1 of 2 processing elements fits (app-0, app-1)."
        ),
    )
    still = judged(spec(*[element(APART)] * 3), cluster([node("node-a"), node("node-b", taints=[unready])]))
    assert still.headline == ('hostExlocation("a") cannot hold: 2 of 3 processing elements fit (app-0, app-1, app-2).')


class NoTime(AtOnce):
    """No program finds anything."""

    async def run(self, _work: object) -> Any:
        """Nothing is known."""
        return Solved(None, proved=False)


def test_what_is_not_decided_is_admitted() -> None:
    """Of three elements any two want more than a node has of one resource, of another one each time."""
    pairs = [
        {"cpu": "5", "memory": "20Gi"},
        {"memory": "20Gi", "example.com/x": "5"},
        {"example.com/x": "5", "cpu": "5"},
    ]
    stated = spec(*({"resources": {"requests": requests}} for requests in pairs))
    verdict = judged(stated, cluster(nodes(2, **{"example.com/x": 8})), NoTime())
    assert (verdict.refused, verdict.undecided, verdict.warnings) == (False, True, (UNDECIDED,))


def test_elastic_elements_wait() -> None:
    growing = {"name": "E", "size": 4, "elastic": True}
    verdict = judged(spec(*[element(f"host(E), {APART}")] * 4, pools=(growing,)), THREE)
    assert not verdict.refused
    assert verdict.warnings[0].startswith('no room yet: hostExlocation("a") cannot hold: 3 of 4 ')


def test_a_thousand_equal_elements_are_one_member() -> None:
    stated, snapshot = spec(*[element("", "100m") for _ in range(1000)]), cluster(nodes(20))
    assert not excess(lambda: judged(stated, snapshot), Work(100_000, 0.5))
    verdict = judged(stated, snapshot)
    assert verdict.group
    assert verdict.group.counts == (1000,)
    assert not verdict.refused


HOSTILE = {
    "huge amounts": spec(*[element(TOGETHER, "9000000000", name=f"pe-{at}") for at in range(9)]),
    "many clauses": spec(*[element(", ".join(f'hostExlocation("t{at}")' for at in range(64)))] * 4),
    "a pool of thousands of hosts": spec(element("host(P)"), pools=({"name": "P", "size": 5000},)),
    "many pools": spec(pools=tuple({"name": f"P{at}", "size": 1, "mode": "Exclusive"} for at in range(100))),
    "long names": spec(*[element(f'hostExlocation("{"x" * 60}")', name=f"{'n' * 60}-{at}") for at in range(9)]),
}  # fmt: skip


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.untraced] if case == "many pools" else []) for case in HOSTILE]
)
def test_hostile_jobs_take_little_time_and_little_text(case: str) -> None:
    verdicts: list[JobVerdict] = []
    assert not excess(lambda: verdicts.append(judged(HOSTILE[case], THREE)), Work(2_000_000, 1))
    text = verdicts[0].text
    assert text.isascii()
    assert 0 < len(text) <= MESSAGE_LIMIT
    assert "node-" not in text


def test_a_pool_that_is_there_keeps_its_hosts() -> None:
    there = pool("P", name="app-p", job="app", size=2, assigned=["node-b"], tags=["x"])
    stated = spec(element(f"host(P[0]), {APART}"), element('host("node-b")', name="b"), pools=(P,))
    verdict = judged(stated, cluster([node("node-a", labels=TAGGED), node("node-b", labels=TAGGED)], [there]))
    assert verdict.answer
    assert verdict.answer.placed
    assert verdict.answer.placed.slots[0] == verdict.answer.placed.slots[1]


def test_pods_of_jobs_that_are_decided_about_again_leave_and_no_others() -> None:
    pods = [bound_pod("node-a", job="one"), bound_pod("node-b", job="two")]
    world = World(cluster(nodes(2), pods=pods), Policy(), leaving=((NAMESPACE, "one"),))
    left = {job: world.job_pods(NAMESPACE, job).everyone.nodes.bit_count() for job in ("one", "two")}
    leaving = {job: found.everyone.nodes.bit_count() for job in ("one", "two", "")
               if (found := world.leavers(NAMESPACE, job))}  # fmt: skip
    assert (left, leaving) == ({"one": 0, "two": 1}, {"one": 1, "two": 0, "": 0})


def test_what_is_left_to_the_scheduler_is_a_warning() -> None:
    near = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": keys.HOSTNAME}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    found = judged(spec({"template": {"spec": {"containers": [{"name": "c"}], "affinity": affinity}}}), THREE)
    assert not found.refused
    assert found.warnings[0] == (
        "app-0: what podAffinity, podAntiAffinity, topologySpreadConstraints or hostColocation say of other pods is "
        "left to the scheduler: some processing elements may have to wait"
    )
