"""``PartialPods``: a refused pod without some of its clauses, judged by the constraints that it has already.

Most clauses are separable: without one of them all other constraints stay as they are, so what is left of the pod is
known without another look at it. Other clauses change what is left: an exclusive pool opens its hosts, amounts of
hardware are given to containers. Only for these is the pod read again.
"""

import functools
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from webhook.placement.constraints.constraint import Constraint, Spread, Tie
from webhook.placement.decision.merge import foreign_labels
from webhook.placement.decision.refusal.relaxation import REFUSED
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.tolerated_hosts import may_open, refuse_tolerations
from webhook.placement.decision.verdict import (
    Judged,
    constraints_of,
    effects_of,
    judge,
    judged_rooms,
    spreads,
)
from webhook.placement.kube.containers import NO_RESOURCES
from webhook.placement.kube.pod import Pod, PodSpec
from webhook.placement.kube.requests import lowered
from webhook.placement.pod_defaults.completed_pod import CompletedPod
from webhook.placement.provision.provision import BARE
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text import keys
from webhook.placement.text.clause import REQUESTED, Clause, Source, zoned_alone

_OF_FINISHED_POD: Final = frozenset({Source.ANTI_AFFINITY, Source.SPREAD})
"""Sources of the constraints that read the pod with all that is added to it, so that each clause may change them."""

_NO_SPEC: Final = PodSpec()


class JudgedPod:
    """What a pod asks for, its hard constraints with their nodes, and how many such pods fit."""

    def __init__(self, ask: Ask, hard: Sequence[Judged], world: World, fit: ReplicaFit | None = None) -> None:
        self.ask = ask
        self.hard = hard
        self._world = world
        self._fit = fit

    @functools.cached_property
    def replicas(self) -> ReplicaFit:
        """The room for several such pods."""
        return self._fit or ReplicaFit(self.ask, self.hard, self._world)


class Partial(NamedTuple):
    """A pod of which only the constraints at the positions ``kept`` of ``stated.hard`` are left."""

    stated: JudgedPod
    kept: Sequence[int]

    @property
    def hard(self) -> list[Judged]:
        """The constraints that are left."""
        return [self.stated.hard[at] for at in self.kept]


class PartialPods:
    """The pods that are left of one pod without some of its clauses; ``hard`` are all of its hard constraints.

    ``fit`` is the room for several of the pod, if it is known.
    """

    def __init__(self, pod: Pod, ask: Ask, hard: Sequence[Judged], world: World, fit: ReplicaFit | None = None) -> None:
        self._pod = pod
        self._world = world
        self._full = JudgedPod(ask, hard, world, fit)
        self._anew: dict[frozenset[Clause], JudgedPod | None] = {}
        """What was read anew, by the clauses that were dropped."""
        self._less: dict[frozenset[str], tuple[JudgedPod, list[Clause | None]]] = {}
        """The pod with lower requests, by the resources of which less is requested; by none if less of all is."""
        self._clauses = [judged.constraint.clause for judged in hard]
        self._requests = frozenset(clause for clause in self._clauses if clause and clause.source in REQUESTED)
        self._tangled = frozenset(self._clauses) if _entangled(pod, ask, world) else self._inseparable()

    def fit(self, dropped: Collection[Clause]) -> int:
        """How many nodes could run the pod without these clauses; ``REFUSED`` if it would be refused all the same."""
        partial = self.without(dropped)
        if partial is None:
            return REFUSED
        nodes = self._world.everything
        hard = partial.stated.hard
        for at in partial.kept:
            nodes &= hard[at].nodes
        return nodes.bit_count()

    def left(self, dropped: Collection[Clause]) -> list[Judged]:
        """The constraints that are left of the pod without these clauses; none if it would be refused for that.

        Of requests that only have to be lower, nothing is left.
        """
        if self._tangled.isdisjoint(dropped):
            kept = zip(self._clauses, self._full.hard, strict=True)
            return [judged for clause, judged in kept if clause is None or clause not in dropped]
        partial = self.without(dropped)
        return partial.hard if partial else []

    def without(self, dropped: Collection[Clause]) -> Partial | None:
        """What is left of the pod without these clauses; ``None`` if it would be refused for that."""
        if not self._tangled.isdisjoint(dropped):
            gone = frozenset(dropped)
            if gone not in self._anew:
                self._anew[gone] = anew(self._pod, self._full.ask.namespace, self._world, dropped)
            decided = self._anew[gone]
            return Partial(decided, range(len(decided.hard))) if decided else None
        stated, clauses = self._full, self._clauses
        if not self._requests.isdisjoint(dropped):
            zones = self._world.inventory.topologies.by_node
            stated, clauses = self._lowered(zoned_alone(dropped)) if zones else self._lowered()
        return Partial(stated, [at for at, clause in enumerate(clauses) if clause is None or clause not in dropped])

    def _inseparable(self) -> frozenset[Clause | None]:
        """The clauses without which other constraints would change."""
        ask = self._full.ask
        named = any(isinstance(clause.argument, str) for clause in ask.of(ClauseName.HOST))
        own = [
            (clause, judged.constraint) for clause, judged in zip(self._clauses, self._full.hard, strict=True) if clause
        ]
        if spreads(ask.spec):
            last = {clause for clause, constraint in own if clause.source in _OF_FINISHED_POD and constraint.separable}
            return frozenset(clause for clause, _ in own if named or clause not in last)
        tied = {clause for clause, constraint in own if not _separable(constraint, named=named)} - self._requests
        return frozenset(tied if self._lowerable() else tied | self._requests)

    def _lowerable(self) -> bool:
        """Whether lower requests change nothing else: no amounts that are given, no bounds, no pods to fit beside.

        The requests of a pod that states none cannot be lower: it is given the same by default again.
        """
        ask, pod = self._full.ask, self._pod
        if not self._states_amounts:
            return True
        filled = ask.provision is not BARE or (ask.pe and self._world.policy.element_requests.requests)
        if filled or (isinstance(pod, CompletedPod) and pod.plugins.ranges):
            return False
        return not any(
            judged.constraint.spread is Spread.TOGETHER and judged.constraint.tie is not Tie.NONE
            for judged in self._full.hard
        )

    @functools.cached_property
    def _states_amounts(self) -> bool:
        """Whether the pod itself says how much of a resource it wants."""
        spec = self._pod.spec or _NO_SPEC
        if spec.resources is not None:  # even empty ones keep the default from its containers
            return True
        containers = (*(spec.containers or ()), *(spec.init_containers or ()))
        return any(one.resources is not None and one.resources != NO_RESOURCES for one in containers)

    def _lowered(self, zoned: frozenset[str] = frozenset()) -> tuple[JudgedPod, list[Clause | None]]:
        """The pod with the smallest requests, and its clauses: only the conditions on room are others.

        If there are ``zoned`` resources, requests of these alone are lowered.
        """
        if not self._states_amounts:
            return self._full, self._clauses
        if zoned in self._less:
            return self._less[zoned]
        ask = self._full.ask
        kept = (lambda name: name not in zoned) if zoned else None
        spec = lowered(ask.spec, whole=False, kept=kept, fixed=ask.fixed)
        ask = ask.requesting(spec, self._world)
        fewer = judged_rooms(ask, self._world)
        family = type(fewer[0].constraint)
        old = [at for at, judged in enumerate(self._full.hard) if type(judged.constraint) is family]
        hard = (*self._full.hard[: old[0]], *fewer, *self._full.hard[old[-1] + 1 :])
        self._less[zoned] = JudgedPod(ask, hard, self._world), [judged.constraint.clause for judged in hard]
        return self._less[zoned]


def anew(pod: Pod, namespace: str, world: World, dropped: Collection[Clause]) -> JudgedPod | None:
    """What the pod asks for if it is read without these clauses; ``None`` if it would be refused for that.

    What follows from a clause is gone with it: a toleration, the way of binding, how the tags of a pool are spelled. A
    label that only the webhook writes, and that the pod has already, may be left without its clause: then the pod would
    be refused, too. An exclusive node that ``spec.nodeName`` names closes like any other clause as long as no node is
    left, as in ``decision.decide``: the refusal then names clauses.
    """
    ask, problems = read(pod, namespace, world, dropped)
    constraints, more, _ = constraints_of(ask, world)
    kept = [constraint for constraint in constraints if (clause := constraint.clause) is None or clause not in dropped]
    orphans = foreign_labels(ask.labels, ()) and foreign_labels(ask.labels, effects_of(kept, world))
    verdict = judge(kept, world)
    if problems or more or orphans or any(refuse_tolerations(ask, kept, world, named=bool(verdict.candidates))):
        return None
    return JudgedPod(ask, verdict.hard, world)


def _separable(constraint: Constraint, *, named: bool) -> bool:
    """Whether the rest stays as it is without the constraint.

    A pod that also names a node (``named``) may wait for the hosts of a pool, which decides how it is bound.
    """
    return constraint.separable and not (named and constraint.pool is not None)


def _entangled(pod: Pod, ask: Ask, world: World) -> bool:
    """Whether every clause may change what others mean.

    That is so for a pod that may be bound by ``nodeName`` wherever there is room, and for one with labels or
    tolerations that its clauses must justify. A pod that is bound by ``nodeName`` only to a node with ample room can
    run there by its requests in any case.
    """
    spec = ask.spec
    annotations = (pod.metadata.annotations if pod.metadata else None) or {}
    bound = annotations.get(keys.HOST_BINDING, world.policy.host_binding) == "nodeName"
    return bool(spec.node_name or bound or may_open(spec.tolerations or ()) or foreign_labels(ask.labels, ()))
