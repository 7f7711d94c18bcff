"""What is said of a scenario's subject before anything of it exists: by the product, and by judges that are wrong."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

import msgspec

from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.preparation import prepared
from tests.fidelity.scenario import FidelityScenario
from tests.placement.planning.at_once import AtOnce
from tests.scheduling import product_answers
from tests.scheduling.passing_conditions import told_to_wait
from tests.scheduling.product_answers import POLICY, Ruling
from tests.scheduling.state import Cluster
from webhook.admission.checks.jobs import problems_of
from webhook.placement.jobs.planned_nodes import planned_nodes
from webhook.placement.jobs.replanning import Standing, replan_job
from webhook.placement.jobs.whole_job import judge_job
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.plan import cheapest
from webhook.placement.planning.search.solver import finished
from webhook.placement.text.problem import render

SECONDS: Final = 5.0
"""For one question about a whole Job."""


Json = Mapping[str, Any]
Judge: TypeAlias = Callable[[FidelityScenario], CaseVerdict]


def product(scenario: FidelityScenario) -> CaseVerdict:
    """The product's verdict, by the functions that its webhook calls."""
    if scenario.kind == "job":
        return _of_job(scenario)
    if scenario.kind == "workload":
        return _of_ruling(product_answers.submitted(scenario.subject, scenario.cluster))
    return _of_ruling(product_answers.admitted(scenario.subject, scenario.cluster))


def refusing(scenario: FidelityScenario) -> CaseVerdict:  # noqa: ARG001 -- whatever it is
    """A judge that refuses everything."""
    return CaseVerdict(admitted=False, text="no")


def admitting(scenario: FidelityScenario) -> CaseVerdict:  # noqa: ARG001 -- whatever it is
    """A judge that admits everything, and does not say where it goes."""
    return CaseVerdict(admitted=True)


def _of_ruling(ruling: Ruling) -> CaseVerdict:
    invalid = ruling.pod is None and not ruling.wants_nodes and not ruling.breaks_defaults
    return CaseVerdict(ruling.pod is not None, ruling.message, told_to_wait(ruling.warnings), invalid)


def _of_job(scenario: FidelityScenario) -> CaseVerdict:
    first = of_whole_job(scenario.subject, scenario.space, scenario.cluster)
    if not scenario.restarted or not first.places:
        return first
    return _relaunched(scenario, msgspec.convert(scenario.subject["spec"], JobSpec), first)


def of_whole_job(job: Json, space: str, cluster: Cluster) -> CaseVerdict:
    """The product's verdict on a Job that is launched, with its plan."""
    world = product_answers.inventory(cluster)
    if problems := problems_of(job, space, world):
        return CaseVerdict(admitted=False, text=render(problems), invalid=True)
    name, spec = job["metadata"]["name"], msgspec.convert(job["spec"], JobSpec)
    verdict = finished(judge_job(space, name, spec, world, POLICY, AtOnce(SECONDS)))
    if verdict.refused:
        return CaseVerdict(admitted=False, text=verdict.text)
    if verdict.group is None or verdict.answer is None or verdict.answer.placed is None:
        return CaseVerdict(admitted=True, hedged=bool(verdict.warnings))
    # As the controller does it: a plan that spreads load.
    placed = finished(cheapest(verdict.group, verdict.answer.placed, exact=False)).placed
    plan = planned_nodes(verdict.group, placed, verdict.given)
    hosts = _hosts(verdict.group, placed)
    hedged = bool(verdict.warnings)
    return CaseVerdict(admitted=True, hedged=hedged, places=plan.by_element(), hosts=hosts, plan=plan)


def _relaunched(scenario: FidelityScenario, spec: JobSpec, first: CaseVerdict) -> CaseVerdict:
    """The verdict on elements that are launched again, beside those that run where they were planned first."""
    running = {name: node for name, node in first.places.items() if name not in scenario.restarted}
    launched = replace(first, running=running, first=first.plan, cordoned=scenario.cordoned)
    there = prepared(scenario, launched, hosts=first.hosts)
    if there.lacking:
        return first  # it has never run
    standing = Standing(running, frozenset(first.places) - running.keys())
    job, world = (scenario.space, scenario.subject["metadata"]["name"]), product_answers.inventory(there.cluster)
    found = finished(replan_job(job, spec, world, POLICY, AtOnce(SECONDS), standing))
    text = "; ".join(f"{name}: {why}" for name, why in found.short.items())
    return replace(launched, admitted=not found.short, text=text, places=found.plan.by_element(), plan=found.plan)


def _hosts(group: Group, placed: Placed) -> dict[str, dict[int, str]]:
    names = group.world.inventory.nodes.names
    return {name: {index: names[slot] for index, slot in hosts.items()} for (_, name), hosts in placed.hosts.items()}
