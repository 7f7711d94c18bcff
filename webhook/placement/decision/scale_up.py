"""Node groups that can make a node for pods that no existing node can run.

A group becomes the node that it would make for the pod, and the pod's constraints are judged on these nodes, on which
nothing runs yet (``docs/autoscaled.md``).
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.constraints.constraint import Constraint, Spread, Tie
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import Judged, Verdict, constraints_of, effects_of, judge
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.amounts import PODS, SAID, amount, ordered
from webhook.placement.kube.bits import slots
from webhook.placement.kube.pod import NodeTerm, Requirement, required_terms
from webhook.placement.kube.selection.selector import NAME_FIELD
from webhook.placement.nodegroups.group_reasons import GroupReason, enumerated_groups, listed_reasons
from webhook.placement.nodegroups.new_node import Needs, NewNode, needs_of, new_node
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.provision.effects import RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import enumerated

_COMPARED: Final = 1_000
"""Maximum number of comparisons of a pod's terms with groups, some 7 microseconds each: ten terms with 100 groups."""


class ScaleUp(Struct, frozen=True):
    """Which groups can make a node for the pod: ``able``, by the slots of ``world``, in which such nodes exist.

    ``out`` says why others cannot; of ``uncompared`` groups it is not known. ``unknown`` is what the pod needs and no
    able group is known to have.
    """

    able: dict[int, NodeGroup]
    out: tuple[GroupReason, ...]
    uncompared: int
    unknown: tuple[str, ...]
    ask: Ask
    hard: tuple[Judged, ...]
    world: World

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why groups cannot make a node for the pod, as lines of a refusal."""
        return tuple(self._said(()))

    @property
    def notice(self) -> str:
        """That a new node can run the pod, as a sentence of a warning."""
        named = enumerated_groups(self.able.values())
        doubt = f" if its nodes have {enumerated(self.unknown, SAID)}" if self.unknown else ""
        return f"{named} can make one{doubt}"

    def room(self, count: int, here: int) -> tuple[int, tuple[str, ...]]:
        """How many of ``count`` pods there is room for, of which the nodes there are take ``here``.

        And, if that is too few, what each group has room for. Pods that share a node are all on a new one, or none is.
        """
        fit = ReplicaFit(self.ask, self.hard, self.world)
        rooms = [(group, self._room(slot, group, fit, count)) for slot, group in self.able.items()]
        counts = [most for _, most in rooms]
        room = max((here, *counts)) if Spread.TOGETHER in fit.spreads() else here + sum(counts)
        if room >= count:
            return count, ()
        said = [GroupReason(group, f"has room for {most} of these pods") for group, most in rooms]
        return room, tuple(self._said(said))

    def _said(self, first: Sequence[GroupReason]) -> Iterator[str]:
        if self.uncompared:
            yield f"{self.uncompared} node groups were not compared: the pod has too many node terms"
        yield from listed_reasons((*first, *self.out), "make no such node")

    def _room(self, slot: int, group: NodeGroup, fit: ReplicaFit, most: int) -> int:
        """How many of the pods new nodes of the group can take, at most ``most``."""
        spreads, each = fit.spreads(), min(int(fit.copies()[slot]), most)
        if Spread.TOGETHER in spreads:
            return each
        each = min(each, 1) if Spread.APART in spreads else each
        within = [
            remaining // self.ask.requests[name]
            for name, remaining in group.remaining.items()
            if self.ask.requests.get(name)
        ]
        return min(most, *within, each * (most if group.count is None else group.count))


def scale_up(ask: Ask, constraints: Sequence[Constraint], world: World) -> ScaleUp | None:
    """What node groups can make for a pod; ``None`` where the setting is off, or no new node could make a difference.

    No new node can be a host that the pod names, a host of a pool with a size, or the node of another pod. A pod that
    tolerates everything may not wait.
    """
    groups = world.node_groups
    if not groups or not waits_for_new(ask, constraints):
        return None
    new: list[NodeGroup] = []
    made: list[NewNode] = []
    out: list[GroupReason] = []
    uncompared = 0
    alternatives = tuple(alternatives_of(ask, constraints, world))
    amounts: dict[str, int] = {}
    for constraint in constraints:
        for resource, needed in constraint.requests.items():
            amounts[resource] = max(0 if constraint.soft else needed, amounts.get(resource, 0))
    known = world.inventory.nodes.labels
    for at, group in enumerate(groups):
        if at and (at + 1) * len(alternatives) > _COMPARED:
            uncompared = len(groups) - at
            break
        why = group.closed or _beyond(group, ask)
        if why:
            out.append(GroupReason(group, why))
            continue
        node = new_node(group, alternatives, amounts, lambda key: known.get(key, ()))
        if isinstance(node, NewNode):
            new.append(group)
            made.append(node)
        else:
            out.append(GroupReason(group, f"makes no nodes with {', '.join(map(str, node))}"))
    return _judged(ask, new, made, world, out, uncompared)


def waits_for_new(ask: Ask, constraints: Iterable[Constraint]) -> bool:
    """Whether the pod could wait for a node that a group makes."""
    if any(constraint.tie is not Tie.NONE for constraint in constraints if not constraint.soft):
        return False
    # Hosts that become exclusive while the pod waits would be open to it.
    return not any(toleration.of_everything for toleration in ask.spec.tolerations or ())


def later_world(inventory: Inventory, world: World) -> World:
    """The world of the new nodes in that inventory, which gets what else pods depend on."""
    inventory.jobs, inventory.intents = world.inventory.jobs, world.inventory.intents
    inventory.volumes, inventory.pod_defaults = world.inventory.volumes, world.inventory.pod_defaults
    return World(inventory, world.policy)


def _judged(
    ask: Ask,
    groups: Sequence[NodeGroup],
    made: Sequence[NewNode],
    world: World,
    out: Sequence[GroupReason],
    uncompared: int,
) -> ScaleUp:
    """The constraints of the pod judged on the nodes that the groups would make."""
    inventory = Inventory()
    for one in made:
        inventory.set_node(one.node)
    later = later_world(inventory, world)
    # The pod has no problems in the world as it is; here they could only be about hosts that it names.
    verdict = judge(constraints_of(ask, later).constraints, later)
    able = {slot: groups[slot] for slot in slots(verdict.candidates)}
    unknown = _unknown(ask, able, [made[slot] for slot in able], verdict)
    others = [slot for slot in range(len(groups)) if slot not in able]
    small = [GroupReason(groups[slot], f": a new node {_why(verdict, slot, later)}") for slot in others]
    return ScaleUp(able, (*out, *small), uncompared, unknown, ask, verdict.hard, later)


def _why(verdict: Verdict, slot: int, later: World) -> str:
    """Why the new node in that slot cannot run the pod."""
    out = (judged.constraint for judged in verdict.hard if not judged.nodes >> slot & 1)
    return next(next(out).explain(later, 1 << slot)).one


def _beyond(group: NodeGroup, ask: Ask) -> str:
    """The limit of the group that has no room for the pod; empty without one."""
    for resource in ordered(group.remaining):
        asked, remaining = ask.requests.get(resource, 0), group.remaining[resource]
        if asked > remaining:
            return f"has {resource} {amount(resource, remaining)} left of its limits"
    return ""


def _unknown(ask: Ask, able: dict[int, NodeGroup], made: Sequence[NewNode], verdict: Verdict) -> tuple[str, ...]:
    """What the pod needs of a new node and is not known of the first able group's."""
    if not able:
        return ()
    group, one = next(iter(able.values())), made[0]
    asked: dict[str, int] = {}
    for judged in verdict.hard:
        for resource, needed in judged.constraint.requests.items():
            asked[resource] = max(needed, asked.get(resource, 0))
    return (*unknown_amounts(group, asked, [ask]), *(f"the label {key}" for key in one.unknown))


def unknown_amounts(group: NodeGroup, asked: Mapping[str, int], asks: Iterable[Ask]) -> Iterator[str]:
    """What of these amounts, and of the devices of these pods, the group does not state of its nodes."""
    yield from (
        f"{resource} {amount(resource, asked[resource])}"
        for resource in ordered(asked)
        if resource not in group.offers and resource != PODS
    )
    if any(ask.devices or ask.mapped for ask in asks):
        yield "the devices of its claims"


def alternatives_of(ask: Ask, constraints: Sequence[Constraint], world: World) -> Iterator[Needs]:
    """What the pod requires of labels: each a way to meet one term of each of its lists of node terms."""
    always = [need for constraint in constraints if not constraint.soft for need in constraint.needs]
    own = required_terms(ask.spec)
    lists = [effect.terms for effect in effects_of(constraints, world) if isinstance(effect, RequireNodes)]
    lists += [] if own is None else [own]
    for choice in itertools.product(*lists):
        if not any(term.empty for term in choice):
            yield needs_of((*always, *_requirements(choice)))


def _requirements(terms: Iterable[NodeTerm]) -> Iterator[Requirement]:
    for term in terms:
        yield from term.match_expressions or ()
        yield from (need for need in term.match_fields or () if need.key == NAME_FIELD)
