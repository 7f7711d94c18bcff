"""Plays scenarios: their pods are judged and created as the controller does it, and bound by a scheduler.

The scheduler is the real one (``tests/e2e/scheduling/batch.py``) or a model (``model_batch``). A play is over when all
pods are bound, or when those that are left cannot be.
"""

import copy
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Protocol

from tests.e2e.client.api import Answer
from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.judges import Judge
from tests.fidelity.preparation import Controller, Preparation, mark_hosts, unmark, unsteered
from tests.fidelity.scenario import MARK, FidelityScenario
from tests.scheduling import product_answers
from tests.scheduling.clause_meaning import broken
from tests.scheduling.passing_conditions import allowed, awaits, goes_past
from tests.scheduling.pod_defaults import preempting, with_defaults
from tests.scheduling.product_answers import ELASTIC, Replica
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]
Object = dict[str, Any]

PATIENCE: Final = 15.0
"""Seconds in which pods that can be bound have to be: the scheduler tries them again after up to ten."""

REFUSED_BY_SERVER: Final = "the API server says"
"""What the reason of a pod starts with that was patched, and not created."""

_CREATED: Final = 201
_PLAIN: Final = Controller(unsteered, planned_hosts=False)


class SideBySide(Protocol):
    """Clusters by their marks, and the pods in them."""

    def cluster(self, mark: str) -> Cluster:
        """The cluster with the pods that are bound."""
        ...

    def pods(self, mark: str) -> list[Object]:
        """All pods in it."""
        ...

    def create(self, pods: Sequence[Json]) -> list[Answer]:
        """Create pods of different clusters."""
        ...

    def decided(self, expected: Sequence[tuple[Json, bool]]) -> list[Object]:
        """The pods once the scheduler has tried them; it binds those that are expected to be bound, in some time."""
        ...

    def pause(self) -> None:
        """Let the scheduler try again."""
        ...


@dataclass(frozen=True)
class CasePlay:
    """Where pods were bound, and why others were not, by name.

    ``unmade`` are pods that could not be created. ``lacking`` are HostPools without hosts, for which the Job waits.
    ``broken`` are clauses of bound pods that do not hold, ``undocumented`` are bound pods on nodes that the product's
    pages rule out for them.
    """

    bound: Mapping[str, str] = field(default_factory=dict)
    waiting: Mapping[str, str] = field(default_factory=dict)
    unmade: Mapping[str, str] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    undocumented: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything runs."""
        return not (self.waiting or self.unmade or self.lacking)


class Case(NamedTuple):
    """A scenario under its mark, with its verdict and what the controller makes of it."""

    mark: str
    scenario: FidelityScenario
    verdict: CaseVerdict
    preparation: Preparation

    @property
    def wanted(self) -> int | None:
        """How many pods the workload is to have, as the API server would say."""
        return len(self.preparation.pods) if self.scenario.kind == "workload" else None


def cases(scenarios: Iterable[FidelityScenario], judge: Judge, controller: Controller = _PLAIN) -> Iterator[Case]:
    """The scenarios under marks of their own."""
    for at, scenario in enumerate(scenarios):
        mark = f"s{at}"
        own = renamed(scenario, mark)
        verdict = judge(own)
        yield Case(mark, own, verdict, controller.prepare(own, verdict))


def renamed(scenario: FidelityScenario, mark: str) -> FidelityScenario:
    """The scenario with that mark in all of its names, its nodes with the marks of the pools that are there."""
    found = type(scenario).decoded(scenario.encoded().replace(MARK, mark))
    for node in found.nodes:
        unmark(node)
    for pool in found.pools:
        mark_hosts(pool, found.cluster)
    return found


def play(some: Sequence[Case], batch: SideBySide) -> list[CasePlay]:
    """Play the cases side by side in a batch of their clusters."""
    tries: dict[str, list[Trial]] = {case.mark: [] for case in some}
    open_cases = [case for case in some if not case.preparation.lacking]
    for number in range(max((len(case.preparation.pods) for case in open_cases), default=0)):
        turn = [case for case in open_cases if number < len(case.preparation.pods)]
        _turn([case for case in turn if not (case.scenario.at_once and number)], number, batch, tries)
    _settle(open_cases, batch)
    return [_ended(case, tries[case.mark], batch) for case in some]


class Trial(NamedTuple):
    """A pod as the controller makes it, as it is created, and why it was not."""

    pod: Object
    created: Object | None
    unmade: str = ""


def _turn(some: Sequence[Case], number: int, batch: SideBySide, tries: dict[str, list[Trial]]) -> None:
    """One pod of each case, or all pods of those that are judged at once."""
    made: list[tuple[Case, Object, Object, bool]] = []
    for case in some:
        cluster = batch.cluster(case.mark)
        moment = Replica(cluster, case.wanted)
        pods = case.preparation.pods
        for pod in pods if case.scenario.at_once else pods[number : number + 1]:
            final, why = _patched(pod, cluster, moment)
            if final is None:
                tries[case.mark].append(Trial(pod, None, why))
                continue
            sure = not case.scenario.at_once and bool(final["spec"].get("nodeName") or _can_be_bound(final, cluster))
            made.append((case, pod, final, sure))
    answers = batch.create([final for _, _, final, _ in made])
    taken = []
    for (case, pod, final, sure), answer in zip(made, answers, strict=True):
        refused = "" if answer.code == _CREATED else f"{REFUSED_BY_SERVER}: {answer.message}"
        tries[case.mark].append(Trial(pod, None if refused else final, refused))
        if not refused and not _held(final):
            taken.append((final, sure))
    batch.decided(taken)


def _patched(pod: Object, cluster: Cluster, moment: Replica) -> tuple[Object | None, str]:
    """The pod as the webhook leaves it; one that it refuses for want of a node with the patch it would have had."""
    ruling = product_answers.admitted(pod, cluster, moment=moment)
    if ruling.pod is None and ruling.wants_nodes:
        ruling = product_answers.admitted(pod, cluster, ELASTIC)
    if ruling.breaks_defaults:  # whether it does, the API server says
        ruling = product_answers.admitted(with_defaults(pod, cluster), replace(cluster, defaults=()), ELASTIC)
    # Parts that are one object in Python are two on the wire.
    return (json.loads(json.dumps(ruling.pod)), "") if ruling.pod is not None else (None, ruling.message)


def _settle(some: Sequence[Case], batch: SideBySide) -> None:
    """Wait as long as there is a pod that could be bound."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not any(_could_be_bound(case, batch) for case in some):
            return
        batch.pause()


def _could_be_bound(case: Case, batch: SideBySide) -> bool:
    waiting = [pod for pod in batch.pods(case.mark) if not pod["spec"].get("nodeName") and not _held(pod)]
    if not waiting:
        return False
    cluster = batch.cluster(case.mark)
    return any(_can_be_bound(pod, cluster) for pod in waiting)


def _can_be_bound(pod: Json, cluster: Cluster) -> bool:
    """Whether there is a node for the pod, perhaps when pods of lower priority are gone."""
    return bool(possible(pod, cluster)) or any(preempting(pod, cluster))


def _held(pod: Json) -> bool:
    """Whether the pod waits for what nobody serves here; its claims are bound."""
    spec = {key: value for key, value in pod["spec"].items() if key != "volumes"}
    return awaits({**pod, "spec": spec})


def _ended(case: Case, tries: Sequence[Trial], batch: SideBySide) -> CasePlay:
    ends = {pod["metadata"]["name"]: pod for pod in batch.pods(case.mark)} if tries else {}
    cluster = batch.cluster(case.mark)
    bound: dict[str, str] = {}
    waiting: dict[str, str] = {}
    wrong: list[str] = []
    outside: list[str] = []
    for trial in tries:
        name = trial.pod["metadata"]["name"]
        if trial.created is None:
            continue
        end = ends[name]
        place = end["spec"].get("nodeName")
        if not place:
            waiting[name] = unschedulable(end)
            continue
        bound[name] = place
        others = cluster.only(lambda pod, own=end: pod["metadata"]["uid"] != own["metadata"]["uid"])  # type: ignore[misc]
        wrong += [f"{name} on {place} breaks {what}" for what in _broken(trial.pod, place, others)]
        if place not in allowed(_unspread(trial.pod), others):
            outside.append(name)
    unmade = {trial.pod["metadata"]["name"]: trial.unmade for trial in tries if trial.unmade}
    return CasePlay(bound, waiting, unmade, case.preparation.lacking, tuple(wrong), tuple(outside))


def _broken(pod: Object, place: str, others: Cluster) -> list[str]:
    """The clauses that do not hold there; whoever goes past the scheduler cannot know who keeps apart from it."""
    found = broken(pod, others.by_name[place], others)
    return [what for what in found if what != "run-apart-from"] if goes_past(pod) else found


def _unspread(pod: Object) -> Object:
    """The pod without its spread: others that came later may be where it was even."""
    found = copy.copy(pod)
    found["spec"] = {key: value for key, value in pod["spec"].items() if key != "topologySpreadConstraints"}
    return found


def unschedulable(pod: Json) -> str:
    """Why the scheduler has not bound the pod."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    told = next((str(one.get("message", "")) for one in conditions if one["type"] == "PodScheduled"), "not tried")
    return told.partition(". ")[0]  # without what it says of preemption
