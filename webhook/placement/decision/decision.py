"""``decide``, the entrance of the decision core: a pod and a ``World`` in, a ``Decision`` out.

``guard`` judges pods that ask for no placement.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.merge import NOTHING, Additions, conflicts, foreign_labels, merge
from webhook.placement.decision.optional_hardware import granted_hardware
from webhook.placement.decision.refusal.partial_pod import PartialPods
from webhook.placement.decision.refusal.pod_refusal import refuse
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.decision.scale_up import ScaleUp, scale_up
from webhook.placement.decision.tolerated_hosts import refuse_tolerations
from webhook.placement.decision.verdict import Parsed, Verdict, constraints_of, effects_of, judge, standing_of
from webhook.placement.decision.wait import Wait, blocking_conditions
from webhook.placement.decision.whole_group import first_of_group, made_in_numbers, whole_group
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.size_limits import oversized
from webhook.placement.provision.effects import Effect, SetResources
from webhook.placement.request.ask import Ask, read, reread
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem, fault_of, render
from webhook.placement.text.rule import OF_FAULT


class Decision(Struct, frozen=True, gc=False):
    """The decision about a pod: refused for ``problems`` or a ``refusal``, else admitted with ``additions``.

    ``verdict`` is ``None`` for a pod with problems that were found before any node was looked at. ``warnings`` are for
    the person who submitted the pod. ``depends`` tells that the number of such pods, which is not known, may change the
    decision. ``wait`` is what an admitted pod waits for that no node can run now. ``recovered`` tells that the decision
    was made in ``World.recovered`` (passing conditions of nodes have ended), since no node can run the pod now.
    ``scale_up`` says which node groups can make a node for an admitted pod that no node can run.
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
    scale_up: ScaleUp | None = None

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
        """The first line of ``message``, which can be shown alone."""
        return self.message.partition("\n")[0]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules by which the pod is refused; none for one that is admitted."""
        if not self.refused:
            return ()
        if self.problems or self.refusal is None:
            return (OF_FAULT[self.fault],)
        return self.refusal.rules

    @property
    def fault(self) -> Fault:
        """Whose fault a refusal is: the request's (``INVALID``) if any of its problems is."""
        if self.problems:
            return fault_of(self.problems)
        return self.refusal.fault if self.refusal else Fault.INVALID


def decide(pod: Pod, namespace: str, world: World, count: int | None = None) -> Decision:
    """Read the pod, find the nodes that can run it, and what must be added to it. Nothing that a user writes raises.

    ``count`` is how many pods of this template are to run at the same time, ``None`` if that is not known. If no node
    can run the pod now, it is judged as if passing conditions of nodes had ended: no pod is refused for these.
    """
    if too_much := oversized(pod):
        return Decision(read(replace(pod, spec=None), namespace, world)[0], too_much)
    return _decided(pod, read(pod, namespace, world), world, count)


def decide_again(ask: Ask, pod: Pod, world: World, count: int | None = None) -> Decision:
    """The decision about a pod that asked for ``ask`` without a problem, in a world whose nodes alone may be others."""
    return _decided(pod, reread(ask, pod, world), world, count)


def _decided(pod: Pod, asked: tuple[Ask, tuple[Problem, ...]], world: World, count: int | None) -> Decision:
    """The decision about a pod that is not oversized, by what it asks for and the problems of that."""
    ask, problems = asked
    parsed = constraints_of(ask, world)
    if problems or parsed.problems:
        return Decision(ask, (*problems, *parsed.problems), warnings=ask.warnings)
    verdict = judge(parsed.constraints, world)
    if not verdict.candidates and (later := world.recovered()):
        return _in_time(pod, ask, later, world, count)
    return _judged(pod, ask, parsed, verdict, world, count)


def _judged(pod: Pod, ask: Ask, parsed: Parsed, verdict: Verdict, world: World, count: int | None) -> Decision:
    """The decision about a pod whose constraints were all parsed without problems."""
    constraints = parsed.constraints
    effects = effects_of(constraints, world)
    unmet: tuple[str, ...] = ()
    refusal = None
    new = None
    if not verdict.candidates:
        # What refuses the pod whatever is changed comes first: no fix would help. It could drop a node name.
        if wrong := (*_contrary(pod, ask, effects), *refuse_tolerations(ask, constraints, world, named=False)):
            return Decision(ask, wrong, verdict, warnings=ask.warnings)
        refusal = refuse(verdict, ask, world, PartialPods(pod, ask, verdict.hard, world))
        if world.policy.scale_up != "off" and refusal.fault is Fault.FORBIDDEN and not ask.elastic:
            new = scale_up(ask, constraints, world)
            refusal = refusal.with_reasons(new.reasons) if new and not new.able else refusal
    # A node that is added can help where nodes are; no node can make up for a contradiction.
    awaited = ask.elastic or bool(new and new.able)
    if refusal and not (awaited and refusal.fault is Fault.FORBIDDEN):
        return Decision(ask, verdict=verdict, refusal=refusal, warnings=ask.warnings)
    if wrong := tuple(refuse_tolerations(ask, constraints, world)):
        return Decision(ask, wrong, verdict, warnings=ask.warnings)
    group = whole_group(ask, verdict, world, count) if count and not refusal else None
    if group:
        verdict, constraints = verdict.narrowed(group), (*constraints, group.constraint)
        effects = [*effects, *group.constraint.inject(world)]
    if ask.provision.wanted:
        granted = granted_hardware(ask, verdict.candidates, world)
        effects, unmet = [*_less(effects, granted.given), *granted.given], tuple(granted.warnings)
        verdict = verdict.granting(granted.rooms)
    additions, contradicted = merge(pod, effects)
    if wrong := (*contradicted, *foreign_labels(ask.labels, effects)):
        return Decision(ask, wrong, verdict, warnings=ask.warnings)
    doubts = () if refusal else verdict.disappointed()
    depends = count is None and not refusal and made_in_numbers(ask) and first_of_group(constraints) is not None
    warnings = (*ask.warnings, *parsed.warnings, *unmet, *doubts)
    decision = Decision(ask, (), verdict, refusal, additions, warnings, depends)
    if refusal and new:
        return _waiting(replace(decision, scale_up=new), Wait.for_new_node(new, refusal))
    return _waiting(decision, Wait.for_nodes(refusal, patient=world.patient)) if refusal else decision


def _less(effects: Iterable[Effect], given: Sequence[SetResources]) -> Iterator[Effect]:
    """The effects without the amounts that those ``given`` replace: optional hardware comes before what is stated."""
    replaced = {(effect.place, effect.resource) for effect in given}
    for effect in effects:
        if not isinstance(effect, SetResources) or (effect.place, effect.resource) not in replaced:
            yield effect


def _in_time(pod: Pod, ask: Ask, later: World, now: World, count: int | None) -> Decision:
    """The decision in the world ``later``, when passing conditions have ended, on a pod that no node can run now."""
    recovered = replace(decide_again(ask, pod, later, count), recovered=True)
    if recovered.additions and recovered.additions.node_name and (unbound := now.recovered(unbound=True)):
        recovered = replace(decide_again(ask, pod, unbound, count), recovered=True)
    if recovered.refused or recovered.wait or recovered.verdict is None:
        return recovered
    return _waiting(recovered, Wait.for_recovery(blocking_conditions(recovered.ask, recovered.verdict.candidates, now)))


def _waiting(admitted: Decision, wait: Wait) -> Decision:
    """The decision, with an annotation and a warning that say what the pod waits for."""
    additions = replace(admitted.additions or NOTHING, waits=wait.text)
    return replace(admitted, additions=additions, warnings=(*admitted.warnings, wait.headline), wait=wait)


def guard(pod: Pod, namespace: str, world: World) -> Decision:
    """Decide about a pod that asks for no placement; refused if it would get onto another pool's exclusive host."""
    ask, _ = read(pod, namespace, world)
    wrong = tuple(refuse_tolerations(ask, standing_of(ask, world).constraints, world))
    return Decision(ask, wrong, additions=None if wrong else NOTHING)


def forged_seal(pod: Pod) -> Iterator[Problem]:
    """A problem if a pod that asks for nothing has a seal: the guard of exclusive hosts is not asked about it."""
    if pod.metadata and keys.SEAL in (pod.metadata.labels or ()):
        yield Problem(
            f"metadata.labels[{keys.SEAL}]",
            "only the webhook writes this label; leave it out, or copy the annotations of its pod as well",
        )


def _contrary(pod: Pod, ask: Ask, effects: Sequence[Effect]) -> tuple[Problem, ...]:
    """A problem for everything in the pod that contradicts the effects."""
    return (*conflicts(pod, effects), *foreign_labels(ask.labels, effects))
