"""The verdict on a pod: constraints of all families, the nodes that meet each, and those that meet all."""

import functools
import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import Constraint, Finished, Reason
from webhook.placement.constraints.families import FAMILIES, LAST, rooms
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, PodSpec, Requirement, required_terms
from webhook.placement.kube.selection.selector import matching_all, matching_any
from webhook.placement.provision.effects import AddLabel, BindTo, Effect, RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class Judged(Struct, frozen=True, gc=False):
    """A constraint and the set of nodes that meet the constraint."""

    constraint: Constraint
    nodes: Bits


class Verdict(Struct, frozen=True, gc=False):
    """All constraints of a pod with their nodes: ``candidates`` are the nodes that meet every hard constraint.

    ``everything`` are all nodes. ``granted`` are constraints for the room of optional hardware that the pod was given:
    they narrow the candidates like hard ones, but do not count when replicas are.
    """

    everything: Bits
    candidates: Bits
    hard: tuple[Judged, ...]
    soft: tuple[Judged, ...]
    granted: tuple[Judged, ...] = ()

    @property
    def constraints(self) -> Iterator[Constraint]:
        """Every constraint, hard ones first, in the order of the families."""
        return (judged.constraint for judged in (*self.hard, *self.soft))

    def granting(self, rooms: Sequence[Judged]) -> "Verdict":
        """The verdict on the pod with optional hardware, given the constraints for its room."""
        candidates = functools.reduce(operator.and_, (judged.nodes for judged in rooms), self.candidates)
        return replace(self, candidates=candidates, granted=tuple(rooms))

    def narrowed(self, further: Judged) -> "Verdict":
        """The verdict with ``further`` as one more hard constraint."""
        return replace(self, candidates=self.candidates & further.nodes, hard=(*self.hard, further))

    def removed(self) -> Iterator[tuple[Judged, Bits]]:
        """Each hard constraint with the nodes that it is the first to rule out, if there are any."""
        remaining = self.everything
        for judged in (*self.hard, *self.granted):
            out = remaining & ~judged.nodes
            remaining &= judged.nodes
            if out:
                yield judged, out

    def rules(self, clauses: Collection[Clause]) -> tuple[str, ...]:
        """The rules of these clauses of hard constraints, each once; ``nodes`` where there is no clause."""
        rules = [judged.constraint.rule for judged in self.hard if judged.constraint.clause in clauses]
        return tuple(dict.fromkeys(rules)) if clauses else (Rule.NODES,)

    def reasons(self, world: World) -> list[Reason]:
        """Why nodes are out, each node under one reason; the reason with most nodes first."""
        reasons = [reason for judged, out in self.removed() for reason in judged.constraint.explain(world, out)]
        return sorted(reasons, key=lambda reason: -reason.nodes.bit_count())

    def disappointed(self) -> Iterator[str]:
        """A warning for each preference that no candidate meets."""
        for judged in self.soft:
            if not judged.nodes & self.candidates:
                yield f"{judged.constraint.clause} is preferred, but no node that can run this pod meets it"


class Parsed(NamedTuple):
    """What a pod asks of constraint families: constraints, all problems, and warnings for the user."""

    constraints: tuple[Constraint, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]


def standing_of(ask: Ask, world: World) -> Parsed:
    """What the pod asks of the ``FAMILIES``, which do not depend on what others add to the pod."""
    return sorted_apart([item for parse in FAMILIES for item in parse(ask, world)])


def constraints_of(ask: Ask, world: World) -> Parsed:
    """What the pod asks of all families; the ``LAST`` ones are parsed only if the others found no problem."""
    standing = standing_of(ask, world)
    if not spreads(ask.spec) or standing.problems:
        return standing
    finished = finish(ask, standing.constraints, world)
    last = sorted_apart([item for parse in LAST for item in parse(ask, world, finished)])
    return Parsed(standing.constraints + last.constraints, last.problems, standing.warnings + last.warnings)


def spreads(spec: PodSpec) -> bool:
    """Whether the pod has terms of its own that the ``LAST`` families read."""
    return bool(spec.topology_spread_constraints or (spec.affinity and spec.affinity.pod_anti_affinity))


_REMARKS: Final = (Problem, str)
"""What a family finds beside constraints."""


def sorted_apart(parsed: Iterable[Constraint | Problem | str]) -> Parsed:
    """Constraints, problems and warnings apart; each warning once."""
    constraints: list[Constraint] = []
    problems: list[Problem] = []
    warnings: list[str] = []
    for item in parsed:
        if not isinstance(item, _REMARKS):  # most often
            constraints.append(item)
        elif isinstance(item, str):
            warnings.append(item)
        else:
            problems.append(item)
    return Parsed(tuple(constraints), tuple(problems), tuple(dict.fromkeys(warnings)) if warnings else ())


def judge(constraints: Sequence[Constraint], world: World) -> Verdict:
    """The verdict: candidates are the nodes that meet every hard constraint; soft ones take no node away."""
    candidates = world.everything
    hard: list[Judged] = []
    soft: list[Judged] = []
    for constraint in constraints:
        nodes = constraint.filter(world)
        if constraint.soft:
            soft.append(Judged(constraint, nodes))
        else:
            hard.append(Judged(constraint, nodes))
            candidates &= nodes
    return Verdict(world.everything, candidates, tuple(hard), tuple(soft))


_ANY_OTHER = frozenset({"Exists", "NotIn"})
"""Operators of requirements that a label value which no node has yet always meets."""


def judged_rooms(ask: Ask, world: World) -> tuple[Judged, ...]:
    """The conditions on room for what the pod requests, with the nodes that meet each."""
    return judge(sorted_apart(rooms(ask, world)).constraints, world).hard


def zoned(hard: Iterable[Judged]) -> bool:
    """Whether kubelets have to align requests with their NUMA zones by one of the constraints."""
    return any(judged.constraint.zoned for judged in hard)


def effects_of(constraints: Iterable[Constraint], world: World) -> list[Effect]:
    """The effects of all the constraints, in their order."""
    return [effect for constraint in constraints for effect in constraint.inject(world)]


def finish(ask: Ask, constraints: Sequence[Constraint], world: World) -> Finished:
    """The pod as it will be with all effects of these constraints, as far as the ``LAST`` families read it."""
    effects = effects_of(constraints, world)
    labels = {effect.key: effect.value for effect in effects if isinstance(effect, AddLabel)}
    added = [effect.terms for effect in effects if isinstance(effect, RequireNodes)]
    own = required_terms(ask.spec)
    terms = added if own is None else [*added, own]
    selector = ask.spec.node_selector or {}
    return Finished(
        labels={**labels, **ask.labels},
        required=_required([Requirement(key, "In", (value,)) for key, value in selector.items()], terms, world),
        tolerated=_tolerated(constraints, world),
        keys=frozenset((*selector, *(key for alternatives in terms for key in _keys(alternatives)))),
        past=bool(ask.spec.node_name) or any(isinstance(effect, BindTo) for effect in effects),
    )


def _required(selector: Sequence[Requirement], terms: Iterable[Sequence[NodeTerm]], world: World) -> Bits:
    """The nodes that meet the selector and, of each sequence of alternative terms, at least one."""
    met = (matching_any(world, alternatives) for alternatives in terms)
    return functools.reduce(operator.and_, met, matching_all(world, selector))


def _tolerated(constraints: Iterable[Constraint], world: World) -> Bits:
    """The nodes without a taint that the pod does not tolerate.

    Hosts of exclusive pools count as tainted: the controller is about to taint them.
    """
    kept = (constraint.filter(world) for constraint in constraints if constraint.about_taints)
    return functools.reduce(operator.and_, kept, world.everything)


def _keys(terms: Iterable[NodeTerm]) -> Iterable[str]:
    """Keys of labels and fields for which the terms ask for certain values."""
    for term in terms:
        needs = (*(term.match_expressions or ()), *(term.match_fields or ()))
        yield from (need.key for need in needs if need.operator not in _ANY_OTHER)
