"""A pod and a world in, everything decided about it out: the core's one entrance."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement import keys
from webhook.placement.additions import Additions
from webhook.placement.ask import NODE_NAME, Ask, read
from webhook.placement.bits import Bits
from webhook.placement.constraint import Constraint
from webhook.placement.effects import Effect
from webhook.placement.merge import foreign_labels, merge
from webhook.placement.placement_text import PlacementText, read_placement, without
from webhook.placement.pod import Pod
from webhook.placement.problem import Fault, Problem, render
from webhook.placement.refusal import Refusal, refuse
from webhook.placement.verdict import Verdict, constraints_of, judge
from webhook.placement.whole_group import first_of_group, made_in_numbers, whole_group
from webhook.placement.wishes import granted_wishes
from webhook.placement.world import World


class Decision(Struct, frozen=True, gc=False):
    """What is to become of a pod: refused for ``problems`` or a ``refusal``, else admitted with ``additions``.

    ``verdict`` is there unless problems came first. ``warnings`` are for the person who submitted the pod.
    ``depends`` says that the decision may be another once it is known how many such pods there are to be.
    """

    ask: Ask
    problems: tuple[Problem, ...] = ()
    verdict: Verdict | None = None
    refusal: Refusal | None = None
    additions: Additions | None = None
    warnings: tuple[str, ...] = ()
    depends: bool = False

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

    ``count`` is how many pods of this kind there are to be at a time, ``None`` where nobody knows.
    """
    ask, problems = read(pod, namespace, world)
    constraints, more, told = constraints_of(ask, world)
    if problems or more:
        return Decision(ask, (*problems, *more), warnings=ask.warnings)
    verdict = judge(constraints, world)
    refusal = None if verdict.candidates else _refused(pod, ask, verdict, world)
    # An elastic cluster brings nodes that are needed; no node can make up for a contradiction.
    if refusal and not (ask.elastic and refusal.fault is Fault.FORBIDDEN):
        return Decision(ask, verdict=verdict, refusal=refusal, warnings=ask.warnings)
    group = whole_group(ask, verdict, world, count) if count and not refusal else None
    if group:
        verdict, constraints = verdict.narrowed(group), (*constraints, group.constraint)
    effects, unmet = effects_of(constraints, world), tuple[str, ...]()
    if ask.provision.wanted:
        wishes = granted_wishes(ask, verdict.candidates, world)
        effects, unmet = [*effects, *wishes.given], tuple(wishes.warnings)
        verdict = verdict.granting(wishes.rooms)
    additions, conflicts = merge(pod, effects)
    if wrong := (*conflicts, *foreign_labels(ask.labels, effects)):
        return Decision(ask, wrong, verdict, warnings=ask.warnings)
    doubts = [f"no node yet: {refusal.headline}"] if refusal else list(verdict.disappointed())
    depends = count is None and not refusal and first_of_group(constraints) is not None and made_in_numbers(ask)
    return Decision(ask, (), verdict, refusal, additions, (*ask.warnings, *told, *unmet, *doubts), depends)


def _refused(pod: Pod, ask: Ask, verdict: Verdict, world: World) -> Refusal:
    said = words_of(pod)

    def lacking(*texts: str) -> Bits:
        """The nodes that could run the pod if it lacked the clauses of these texts, or the node name they say."""
        found = anew(pod, ask, world, without(said, texts), unbound=any(text.startswith(NODE_NAME) for text in texts))
        return judge(found[1], world).candidates if found else 0

    return refuse(verdict, ask, world, lacking)


def words_of(pod: Pod) -> PlacementText:
    """What the pod's placement annotations say."""
    annotations = (pod.metadata.annotations if pod.metadata else None) or {}
    return read_placement(annotations.get(keys.PLACEMENT), annotations.get(keys.PREFERRED))


def anew(
    pod: Pod, ask: Ask, world: World, said: PlacementText, *, unbound: bool = False
) -> tuple[Ask, tuple[Constraint, ...]] | None:
    """What the pod would ask if its placement said only that, and it named no node; ``None`` if it could not.

    What a clause brings along goes with it: a toleration, the way of binding, the tags of a pool.
    """
    other, problems = read(_unbound(pod) if unbound else pod, ask.namespace, world, said)
    constraints, more, _ = constraints_of(other, world)
    return None if problems or more else (other, constraints)


def _unbound(pod: Pod) -> Pod:
    """The pod without its node name."""
    return Pod(pod.metadata, pod.spec and replace(pod.spec, node_name=None))


def effects_of(constraints: Iterable[Constraint], world: World) -> list[Effect]:
    """What all the constraints ask to be added."""
    return [effect for constraint in constraints for effect in constraint.inject(world)]
