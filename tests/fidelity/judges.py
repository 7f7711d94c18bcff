"""What is said of a scenario's subject before anything of it exists: by the product, and by judges that are wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import msgspec

from tests.fidelity.scenario import FidelityScenario
from tests.placement.planning.at_once import AtOnce
from tests.scheduling import product_answers
from tests.scheduling.passing_conditions import told_to_wait
from tests.scheduling.product_answers import POLICY, Ruling
from webhook.admission.jobs import problems_of
from webhook.placement.inventory.job_spec import JobSpec
from webhook.placement.jobs.whole_job import judge_job
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.plan import cheapest
from webhook.placement.planning.solver import finished
from webhook.placement.text.problem import render

SECONDS: Final = 5.0
"""For one question about a whole Job."""


@dataclass(frozen=True)
class CaseVerdict:
    """Admitted or refused for ``text``; ``hedged`` if a warning says that pods may have to wait, or nobody knows.

    ``places`` and ``hosts`` are where all pods of a Job, and its pools, can be at the same time according to the judge:
    nodes of elements by name, and nodes of HostPools by index. ``invalid`` is a refusal for a rule about no cluster.
    """

    admitted: bool
    text: str = ""
    hedged: bool = False
    invalid: bool = False
    places: Mapping[str, str] = field(default_factory=dict)
    hosts: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


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
    invalid = ruling.pod is None and not ruling.wants_nodes
    return CaseVerdict(ruling.pod is not None, ruling.message, told_to_wait(ruling.warnings), invalid)


def _of_job(scenario: FidelityScenario) -> CaseVerdict:
    job, world = scenario.subject, product_answers.inventory(scenario.cluster)
    if problems := problems_of(job, scenario.space, world):
        return CaseVerdict(admitted=False, text=render(problems), invalid=True)
    name, spec = job["metadata"]["name"], msgspec.convert(job["spec"], JobSpec)
    verdict = finished(judge_job(scenario.space, name, spec, world, POLICY, AtOnce(SECONDS)))
    if verdict.refused:
        return CaseVerdict(admitted=False, text=verdict.text)
    if verdict.group is None or verdict.answer is None or verdict.answer.placed is None:
        return CaseVerdict(admitted=True, hedged=bool(verdict.warnings))
    # As the controller does it: a plan that spreads load.
    placed = finished(cheapest(verdict.group, verdict.answer.placed, exact=False)).placed
    hedged, group = bool(verdict.warnings), verdict.group
    return CaseVerdict(admitted=True, hedged=hedged, places=_places(group, placed), hosts=_hosts(group, placed))


def _places(group: Group, placed: Placed) -> dict[str, str]:
    names = group.world.inventory.nodes.names
    return {
        element: names[slot]
        for member, slots in zip(group.members, placed.slots, strict=True)
        for element, slot in zip(member.names, slots, strict=True)
    }


def _hosts(group: Group, placed: Placed) -> dict[str, dict[int, str]]:
    names = group.world.inventory.nodes.names
    return {name: {index: names[slot] for index, slot in hosts.items()} for (_, name), hosts in placed.hosts.items()}
