"""Compares a verdict with the play: what agrees, and the four ways in which a verdict can be wrong."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.play import REFUSED_BY_SERVER, Case, CasePlay
from tests.fidelity.preparation import job_pods, prepared
from tests.fidelity.scenario import FidelityScenario
from tests.scheduling import product_answers
from tests.scheduling.clause_meaning import broken
from tests.scheduling.passing_conditions import needs_company, opened
from tests.scheduling.pod_defaults import with_defaults
from tests.scheduling.product_answers import ELASTIC
from tests.scheduling.scheduler import objections
from tests.scheduling.state import Cluster
from tests.scheduling.test_workloads import wishes
from tests.scheduling.workloads import all_at_once
from webhook.placement.text import keys

Json = Mapping[str, Any]

AGREED: Final = "agreed"
HEDGED: Final = "agreed, with a warning that pods may wait"
INVALID: Final = "breaks a rule, not played"
FALSE_REFUSAL: Final = "false refusal"
MISSED_REFUSAL: Final = "missed refusal"
CORNERED: Final = "cornered"
MISPLACED: Final = "misplaced"

WRONG: Final = (FALSE_REFUSAL, MISPLACED, MISSED_REFUSAL, CORNERED)
"""Ways to disagree, the worst first. Cornered ones could all run, but the scheduler, or a pool, took another way."""


@dataclass(frozen=True)
class FidelityResult:
    """What came out of a scenario, and in words why."""

    outcome: str
    why: str = ""


def compared(case: Case, played: CasePlay) -> FidelityResult:
    """The verdict against what happened."""
    verdict = case.verdict
    if verdict.invalid or _is_servers_own(case, played):
        return FidelityResult(INVALID, verdict.text or _waits(played))
    if case.scenario.everywhere and not case.preparation.pods:
        return FidelityResult(AGREED)  # the DaemonSet controller makes no pod that any node could run
    runs = _runs(case.scenario, played)
    if not verdict.admitted:
        if not runs or played.broken or played.undocumented:
            return FidelityResult(AGREED)
        return FidelityResult(FALSE_REFUSAL, f"bound to {dict(played.bound)}, although: {verdict.text}")
    if played.broken:
        return FidelityResult(MISPLACED, "; ".join(played.broken))
    return FidelityResult(AGREED) if runs else _waiting(case, played)


def _waiting(case: Case, played: CasePlay) -> FidelityResult:
    """What it means that not all pods of what was admitted run."""
    scenario, verdict = case.scenario, case.verdict
    if verdict.hedged or _may_wait(scenario):
        return FidelityResult(HEDGED)
    told = _waits(played)
    others = _other_hosts(case)
    if played.unmade and not others:  # whoever admits a Job and refuses one of its pods contradicts itself
        return FidelityResult(MISSED_REFUSAL, told)
    if scenario.kind == "job" and not (wrong := wrong_witness(scenario, verdict)):
        by = f"HostPools {', '.join(others)} have other hosts than planned" if others else "bound in another way"
        return FidelityResult(CORNERED, f"{by}: {told}")
    if scenario.kind == "job":
        told = f"by the verdict's own plan {wrong}; {told}"
    return FidelityResult(MISSED_REFUSAL, told)


def _is_servers_own(case: Case, played: CasePlay) -> bool:
    """Whether a bare pod breaks a rule that the API server checks, before or after it asks the webhook."""
    refused = any(why.startswith(REFUSED_BY_SERVER) for why in played.unmade.values())
    return refused and case.scenario.kind == "pod"


def _runs(scenario: FidelityScenario, played: CasePlay) -> bool:
    """Whether what the verdict is about runs; for a batch Job one pod at a time is enough."""
    if scenario.kind == "workload" and not all_at_once(scenario.subject):
        return bool(played.bound)
    return played.complete


def _may_wait(scenario: FidelityScenario) -> bool:
    """Whether a pod or workload may wait without a word: for others to finish, or to come.

    A verdict on these is about what nodes have, not about what is free (``docs/verdicts.md``).
    """
    if scenario.kind == "job":
        return False
    pod = scenario.subject["spec"]["template"] if scenario.kind == "workload" else scenario.subject
    return bool(scenario.pods) or needs_company(pod) or (scenario.at_once and wishes(pod))


def _waits(played: CasePlay) -> str:
    told = [*played.lacking, *(f"{name} is refused: {why}" for name, why in played.unmade.items())]
    told += [f"{name} waits: {why}" for name, why in played.waiting.items()]
    return "; ".join(" ".join(one.split()) for one in told)


def _other_hosts(case: Case) -> list[str]:
    """The HostPools that have got other hosts than in the verdict's plan."""
    if not case.verdict.hosts:
        return []
    hosts = {
        pool["metadata"]["name"]: {host["index"]: host["name"] for host in pool["status"]["hosts"]}
        for pool in case.preparation.cluster.pools
    }
    return [name for name, planned in case.verdict.hosts.items() if hosts[name] != dict(planned)]


def wrong_witness(scenario: FidelityScenario, verdict: CaseVerdict) -> str:
    """What is wrong with the places that the verdict has for all pods of a Job; empty if all of them can be there.

    Nothing of the product is asked: clauses are read as a person reads them, all else as the scheduler does.
    """
    pods = {
        pod["metadata"]["labels"][keys.PE]: pod for pod in job_pods(scenario.subject, scenario.space, scenario.mark)
    }
    pods = {name: pod for name, pod in pods.items() if name not in verdict.running}
    if pods.keys() != verdict.places.keys() - verdict.running.keys():
        return "no node is named for some elements"
    before = prepared(scenario, verdict, hosts=verdict.hosts)
    if before.lacking:
        return "; ".join(before.lacking)
    cluster, equipped = before.cluster, {}
    for name, pod in pods.items():
        equipped[name] = _with_amounts(pod, before.cluster)
        cluster = cluster.plus(equipped[name], verdict.places[name])
    for name, pod in equipped.items():
        others = cluster.only(lambda other, own=pod: other["metadata"]["uid"] != own["metadata"]["uid"])  # type: ignore[misc]
        node = cluster.by_name[verdict.places[name]]
        found = [*objections(opened(pod, others), node, others), *broken(pod, node, others)]
        if found:
            return f"{name} cannot be on {verdict.places[name]}: {', '.join(found)}"
    return ""


def _with_amounts(pod: dict[str, Any], cluster: Cluster) -> dict[str, Any]:
    """The pod with the amounts that the webhook gives to its containers, but for what it could do without."""
    told = dict(pod["metadata"]["annotations"])
    needs = [need for need in json.loads(told.pop(keys.HARDWARE, "[]")) if need.get("mandatory", True)]
    told |= {keys.HARDWARE: json.dumps(needs)} if needs else {}
    pod = with_defaults({**pod, "metadata": {**pod["metadata"], "annotations": told}}, cluster)
    given = product_answers.admitted(pod, cluster, ELASTIC).pod
    if given is None:
        return pod
    amounts = {field: given["spec"][field] for field in ("containers", "initContainers") if field in given["spec"]}
    return {**pod, "spec": {**pod["spec"], **amounts}}
