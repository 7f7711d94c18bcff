"""Applications of which several stages cannot run, that is several sets of components that run at the same time."""

from dataclasses import replace
from typing import Any

from tests.builders import NAMESPACE, cluster
from tests.placement.jobs.scaled_cases import Maker
from tests.placement.kinds.application_verdict import node_of
from tests.placement.kinds.random_applications import Case, Machine, Part
from tests.placement.planning.at_once import AtOnce, Ending
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import judge_application, read_pods
from webhook.placement.kinds.application import expanded
from webhook.placement.planning.search.solver import Solving, finished
from webhook.placement.text.problem import Fault

APART = ('hostExlocation("a")',)
FIRST, THEN = Part(2, APART, 1, ""), Part(2, (), 3, "")
FIRST_SAYS = (
    'hostExlocation("a") cannot hold: 1 of 2 pods fits{}. Nearest fix: add a node with cpu 1 free, '
    'or drop hostExlocation("a") (all 2 would fit), or run 1 of these 2.'
)
THEN_SAYS = (
    "requests cpu 3 cannot hold: 1 of 2 pods fits. Nearest fix: add a node with cpu 3 free, "
    "or lower requests cpu 3 to cpu 2 (all 2 would fit), or run 1 of these 2."
)


def verdict(
    first: Part,
    *later: Part,
    cores: int = 4,
    solving: Solving | None = None,
    makers: tuple[Maker, ...] = (),
    in_turn: bool = True,
) -> JobVerdict:
    """The verdict on a JobSet of a job, and of others that follow it one by one, or run with it, on a single node."""
    jobs: list[dict[str, Any]] = []
    for at, part in enumerate((first, *later)):
        after = {"dependsOn": [{"name": f"j{at - 1}", "status": "Complete"}]} if at and in_turn else {}
        pods = {"parallelism": part.count, "completions": part.count, "template": part.template()}
        jobs.append({"name": f"j{at}", "template": {"spec": pods}, **after})
    kind = ("jobset.x-k8s.io", "JobSet")
    document = {"apiVersion": f"{kind[0]}/v1", "kind": kind[1], "metadata": {"name": "app", "namespace": NAMESPACE}}
    case = Case((Machine("node-a", cores, ""),), kind, (), {**document, "spec": {"replicatedJobs": jobs}}, None)
    pods = read_pods(expanded(application_kinds()[kind], case.document, None))
    assert isinstance(pods, list)
    inventory = cluster(map(node_of, case.machines))
    for maker in makers:
        inventory.node_groups.put(maker.group())
    policy = Policy(scale_up="auto") if makers else Policy()
    return finished(judge_application(pods, NAMESPACE, inventory, policy, solving or AtOnce()))


def test_each_stage_that_cannot_run_has_a_line_with_its_fix() -> None:
    found = verdict(FIRST, THEN, Part(1, (), 1, ""))
    assert found.text.splitlines() == [
        "2 stages of the application cannot run, each by itself:",
        f"  job j0: {FIRST_SAYS.format('')}",
        f"  job j1: {THEN_SAYS}",
    ]
    assert found.fault is Fault.FORBIDDEN


def test_stages_with_the_same_reason_share_a_line() -> None:
    assert verdict(FIRST, FIRST).text.splitlines()[1:] == [f"  job j0, job j1: {FIRST_SAYS.format('')}"]


def test_a_stage_that_contradicts_itself_is_the_fault_of_the_request() -> None:
    both = replace(FIRST, clauses=('hostColocation("c")', *APART))
    found = verdict(both, THEN)
    assert found.fault is Fault.INVALID
    assert len(found.text.splitlines()) == 3


def test_without_time_for_the_others_the_first_stage_is_told_alone() -> None:
    heads = [verdict(FIRST, THEN, solving=Ending(looks)).text.partition("\n")[0] for looks in range(12)]
    assert FIRST_SAYS.format(" (job j0)").partition(" Nearest")[0] in heads
    assert heads[-1] == "2 stages of the application cannot run, each by itself:"


def test_a_stage_that_no_node_group_helps_has_the_lines_of_its_components() -> None:
    pinned = replace(FIRST, clauses=(*APART, 'host("node-a")'))
    found = verdict(replace(THEN, disk="ssd"), pinned, makers=(Maker("new", cpu=2, count=1),))
    alone = (
        "  job j0: nodeSelector disk=ssd cannot hold: 0 of 1 node can run this pod. "
        "Nearest fix: label one more node disk=ssd, or drop nodeSelector disk=ssd (1 node would fit)."
    )
    together = (
        '  job j1: hostExlocation("a") cannot hold: 1 of 2 pods fits. '
        'Nearest fix: drop hostExlocation("a") (all 2 would fit), or run 1 of these 2.'
    )
    assert found.text.splitlines()[1:] == [alone, together]
