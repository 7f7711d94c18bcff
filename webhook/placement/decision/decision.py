"""A pod and a world in, everything decided about it out: the core's one entrance."""

import functools
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.decision.additions import NOTHING, Additions
from webhook.placement.decision.merge import foreign_labels, merge
from webhook.placement.decision.optional_hardware import granted_hardware
from webhook.placement.decision.refusal import Refusal, refuse
from webhook.placement.decision.relaxation import REFUSED
from webhook.placement.decision.tolerated_hosts import TOLERATIONS, refuse_tolerations
from webhook.placement.decision.verdict import Parsed, Verdict, constraints_of, judge, standing_of
from webhook.placement.decision.wait import Wait, in_the_way
from webhook.placement.decision.whole_group import first_of_group, made_in_numbers, whole_group
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.size_limits import oversized
from webhook.placement.provision.effects import Effect
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, Problem, render


class Decision(Struct, frozen=True, gc=False):
    """What is to become of a pod: refused for ``problems`` or a ``refusal``, else admitted with ``additions``.

    ``verdict`` is there unless problems came first. ``warnings`` are for the person who submitted the pod.
    ``depends`` says that the decision may be another once it is known how many such pods there are to be. ``wait`` is
    what an admitted pod waits for that no node can run now. ``recovered`` says that nodes were taken as they will be
    once conditions have passed that pass by themselves (``World.recovered``), since no node could run the pod before.
    """

    ask: Ask
    problems: tuple[Problem, ...] = ()
    verdict: Verdict | None = None
    refusal: Refusal | None = None
    additions: Additions | None = None
    warnings: tuple[str, ...] = ()
    depends: bool = False
    wait: Wait | None = None
    recovered: bool = False

    @property
    def refused(self) -> bool:
        """Whether the pod must not be created."""
        return self.additions is None

    @property
    def message(self) -> str:
        """The text of the refusal; empty for an admitted pod."""
        if self.problems:
            return render(self.problems)
        return self.refusal.text if self.refusal and self.refused else ""

    @property
    def headline(self) -> str:
        """The first line of that text, which stands alone."""
        return self.message.partition("\n")[0]

    @property
    def fault(self) -> Fault:
        """Whose fault a refusal is: the pod's own if any part of it is."""
        if self.problems:
            own = any(problem.fault is Fault.INVALID for problem in self.problems)
            return Fault.INVALID if own else Fault.FORBIDDEN
        return self.refusal.fault if self.refusal else Fault.INVALID


def decide(pod: Pod, namespace: str, world: World, count: int | None = None) -> Decision:
    """Read the pod, judge it, and say what it lacks. Pure and total: nothing that a user writes raises.

    ``count`` is how many pods of this kind there are to be at a time, ``None`` where nobody knows. Where no node can
    run the pod, conditions of nodes that pass by themselves are left aside: nobody is refused for them.
    """
    if too_much := oversized(pod):
        return Decision(read(replace(pod, spec=None), namespace, world)[0], too_much)
    return _decided(pod, namespace, world, count)


def _decided(pod: Pod, namespace: str, world: World, count: int | None) -> Decision:
    """The decision about a pod of a size that people write."""
    ask, problems = read(pod, namespace, world)
    parsed = constraints_of(ask, world)
    if problems or parsed.problems:
        return Decision(ask, (*problems, *parsed.problems), warnings=ask.warnings)
    verdict = judge(parsed.constraints, world)
    if not verdict.candidates and (later := world.recovered()):
        return _in_time(pod, namespace, later, world, count)
    return _judged(pod, ask, parsed, verdict, world, count)


def _judged(pod: Pod, ask: Ask, parsed: Parsed, verdict: Verdict, world: World, count: int | None) -> Decision:
    """What becomes of a pod without problems of its own, and what it lacks."""
    constraints, told = parsed.constraints, parsed.warnings
    effects, unmet = effects_of(constraints, world), tuple[str, ...]()
    refusal = None
    if not verdict.candidates:
        # What refuses the pod whatever is changed comes first: no fix would help.
        if wrong := (*_contrary(pod, ask, effects)[1], *_beyond_fixing(ask, constraints, world)):
            return Decision(ask, wrong, verdict, warnings=ask.warnings)
        refusal = refuse(verdict, ask, world, functools.partial(_fitting, pod, ask, world))
    # An elastic cluster brings nodes that are needed; no node can make up for a contradiction.
    if refusal and not (ask.elastic and refusal.fault is Fault.FORBIDDEN):
        return Decision(ask, verdict=verdict, refusal=refusal, warnings=ask.warnings)
    if wrong := tuple(refuse_tolerations(ask, constraints, world)):
        return Decision(ask, wrong, verdict, warnings=ask.warnings)
    group = whole_group(ask, verdict, world, count) if count and not refusal else None
    if group:
        verdict, constraints = verdict.narrowed(group), (*constraints, group.constraint)
        effects = [*effects, *group.constraint.inject(world)]
    if ask.provision.wanted:
        granted = granted_hardware(ask, verdict.candidates, world)
        effects, unmet = [*effects, *granted.given], tuple(granted.warnings)
        verdict = verdict.granting(granted.rooms)
    additions, wrong = _contrary(pod, ask, effects)
    if wrong:
        return Decision(ask, wrong, verdict, warnings=ask.warnings)
    doubts = () if refusal else verdict.disappointed()
    depends = count is None and not refusal and first_of_group(constraints) is not None and made_in_numbers(ask)
    decision = Decision(ask, (), verdict, refusal, additions, (*ask.warnings, *told, *unmet, *doubts), depends)
    return _waiting(decision, Wait.for_nodes(refusal, patient=world.patient)) if refusal else decision


def _in_time(pod: Pod, namespace: str, later: World, now: World, count: int | None) -> Decision:
    """The decision about a pod that no node can run ``now``, once conditions of nodes have passed."""
    found = replace(decide(pod, namespace, later, count), recovered=True)
    if found.additions and found.additions.node_name and (unbound := now.recovered(unbound=True)):
        found = replace(decide(pod, namespace, unbound, count), recovered=True)
    if found.refused or found.wait or found.verdict is None:
        return found
    return _waiting(found, Wait.for_recovery(in_the_way(found.ask, found.verdict.candidates, now)))


def _waiting(admitted: Decision, wait: Wait) -> Decision:
    """The decision about a pod that no node can run now, and that is told what it waits for."""
    additions = replace(admitted.additions or NOTHING, waits=wait.text)
    return replace(admitted, additions=additions, warnings=(*admitted.warnings, wait.headline), wait=wait)


def guard(pod: Pod, namespace: str, world: World) -> Decision:
    """Decide about a pod that asks for nothing: it is only refused where it would get round an exclusive host."""
    ask, _ = read(pod, namespace, world)
    wrong = tuple(refuse_tolerations(ask, standing_of(ask, world).constraints, world))
    return Decision(ask, wrong, additions=None if wrong else NOTHING)


def _contrary(pod: Pod, ask: Ask, effects: Sequence[Effect]) -> tuple[Additions, tuple[Problem, ...]]:
    """What the effects add to the pod, and what of it contradicts them."""
    additions, conflicts = merge(pod, effects)
    return additions, (*conflicts, *foreign_labels(ask.labels, effects))


def _beyond_fixing(ask: Ask, constraints: Sequence[Constraint], world: World) -> list[Problem]:
    """Ways round exclusive hosts that the pod takes by what it tolerates; its node name it could drop."""
    return [problem for problem in refuse_tolerations(ask, constraints, world) if problem.field.startswith(TOLERATIONS)]


def _fitting(pod: Pod, ask: Ask, world: World, dropped: Collection[str]) -> int:
    """How many nodes could run the pod if it lacked these words."""
    found = anew(pod, ask, world, dropped)
    return judge(found[1], world).candidates.bit_count() if found else REFUSED


def anew(pod: Pod, ask: Ask, world: World, dropped: Collection[str]) -> tuple[Ask, tuple[Constraint, ...]] | None:
    """What the pod would ask without these words; ``None`` where it would be refused for what is left of it.

    What a word brings along goes with it: a toleration, the way of binding, how the tags of a pool are spelled. Labels
    that only the webhook writes, and that the pod carries already, are left without a clause.
    """
    other, problems = read(pod, ask.namespace, world, dropped)
    constraints, more, _ = constraints_of(other, world)
    left = tuple(found for found in constraints if not found.clause or found.clause not in dropped)
    orphans = foreign_labels(ask.labels, ()) and foreign_labels(ask.labels, effects_of(left, world))
    return None if problems or more or orphans or any(refuse_tolerations(other, left, world)) else (other, left)


def effects_of(constraints: Iterable[Constraint], world: World) -> list[Effect]:
    """What all the constraints ask to be added."""
    return [effect for constraint in constraints for effect in constraint.inject(world)]
