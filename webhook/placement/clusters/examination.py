"""One cluster is examined for all apps: which of them it can take, and which of them together.

Room is what is free now, as when a Job is submitted or planned: the pods of an app must all run at the same time, each
with all its requirements on one node. Conditions of nodes that pass by themselves count: an app goes to a cluster
that can run it now.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.clusters.application import ClusterApp
from webhook.placement.clusters.compatible_sets import CompatibleSets, maximal_sets
from webhook.placement.decision.optional_hardware import granted_hardware
from webhook.placement.decision.refusal.lowered_requests import Lowerable
from webhook.placement.decision.refusal.refusal import cannot_hold
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.selection.selector import matching
from webhook.placement.planning.change import Change
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.refusal.conflict import smallest
from webhook.placement.planning.refusal.nearest_change import (
    cluster_changes,
    lowerable_of,
    lowered_for_group,
    verbs_of,
    works,
)
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import LOWER, Drop, Fix
from webhook.placement.text.problem import CLAUSE_LIMIT, Fault, enumerated, shorten

_NAMED: Final = 3
"""Workloads that a reason names."""

UNDECIDED: Final = "was not decided in time"
"""The reason of a cluster about which time was too short."""


class Opener(Struct, frozen=True, eq=False):
    """A change of an app with which a cluster could take it: ``drop`` says of which clause.

    What is ``lowerable`` need not be dropped: in this cluster so much of it may stay as ``amounts`` says.
    """

    drop: Drop
    lowerable: Lowerable | None = None
    amounts: Tally = {}

    def leaving(self, amounts: Tally, gain: str) -> Drop:
        """The change by which these amounts stay, with what it gains."""
        if self.lowerable is None:
            return replace(self.drop, gain=gain)
        return self.lowerable.fix((self.lowerable.clause,), {self.lowerable.clause: LOWER}, gain, amounts)


class AppFit(Struct, frozen=True, kw_only=True):
    """Whether a cluster can take an app: why not, in the words of ``reason``, which follow the name of the cluster.

    ``fix`` is the nearest fix in this cluster, ``openers`` are changes of the app, such as ``drop hardware x``, with
    each of which the cluster could take it. ``weight`` is the sum of the weights of optional requirements that the
    cluster meets. ``wrong`` tells that no cluster could take the app as it is written.
    """

    fits: bool
    weight: int = 0
    reason: str = ""
    fix: Fix | None = None
    openers: tuple[Opener, ...] = ()
    wrong: bool = False


class ExaminedCluster(Struct, frozen=True):
    """A cluster: how many ``nodes`` it has, how each app ``fits``, and the ``sets`` of apps that fit together.

    ``trouble`` says why nothing is known of the cluster; then it has no ``fits``, and no app goes there.
    """

    name: str
    nodes: int = 0
    fits: tuple[AppFit, ...] = ()
    sets: CompatibleSets = CompatibleSets(())
    trouble: str = ""

    def takes(self, app: int) -> bool:
        """Whether the cluster is known to take the app at that position."""
        return bool(self.fits) and self.fits[app].fits


async def examine(name: str, apps: Sequence[ClusterApp], world: World, solving: Solving) -> ExaminedCluster:
    """Examine the cluster for the apps, as long as there is time; what is not decided counts as a no."""
    members_by_app = [_members(app, world, solving) for app in apps]
    members = [member for one in members_by_app if not isinstance(one, AppFit) for member in one]
    group = Group(members, world, (), solving)
    owners = [at for at, one in enumerate(members_by_app) if not isinstance(one, AppFit) for _ in one]
    asked = [at for at, one in enumerate(members_by_app) if not isinstance(one, AppFit)]

    async def fit(chosen: frozenset[int]) -> bool | None:
        counts = [member.count if at in chosen else 0 for at, member in zip(owners, members, strict=True)]
        answer = await group.place(counts)
        return answer.placed is not None if answer.decided else None

    able = frozenset(asked)
    if able and not await fit(able):
        able = frozenset([at for at in asked if await fit(frozenset((at,)))])
    fits = [
        one if isinstance(one, AppFit) else await _fit(one, world, solving, able=at in able)
        for at, one in enumerate(members_by_app)
    ]
    sets = await maximal_sets(able, fit, solving)
    return ExaminedCluster(name, len(world.inventory.nodes.nodes), tuple(fits), sets)


def _members(app: ClusterApp, world: World, solving: Solving) -> list[Member] | AppFit:
    """The pods of the app with what they demand; the fit if one of them is refused anyway, or time is over."""
    if app.flaw:
        return AppFit(fits=False, reason=app.flaw, wrong=True)
    members = []
    for workload in app.workloads:
        if not workload.count:
            continue
        if solving.left() <= 0:
            return AppFit(fits=False, reason=UNDECIDED)
        member = member_of((workload.origin,), workload.count, workload.pod, workload.namespace, world, ())
        if not isinstance(member, Member):
            problem = member[0]
            field = f"{problem.field}: " if problem.field else ""
            wrong = problem.fault is Fault.INVALID
            return AppFit(fits=False, reason=f"{workload.origin}: {field}{problem.message}", wrong=wrong)
        members.append(member)
    return members


async def _fit(members: Sequence[Member], world: World, solving: Solving, *, able: bool) -> AppFit:
    """The fit of an app of which it is known whether the cluster is ``able`` to take it."""
    if able:
        return AppFit(fits=True, weight=sum(_weight(member, world) for member in members))
    group = Group(members, world, (), solving)
    answer = await group.place()
    if not answer.decided:
        return AppFit(fits=False, reason=UNDECIDED)
    conflict = await smallest(group, answer.short)
    start = cannot_hold([*map(str, conflict.clauses)]) if conflict.clauses else "its pods cannot all run"
    members = conflict.members(group)
    names = enumerated([shorten(member.names[0], CLAUSE_LIMIT) for member in members], _NAMED)
    fix = await anext(aiter(cluster_changes(group, conflict, sum(conflict.counts))), None)
    openers = [opener for clause in conflict.clauses if (opener := await _opener(group, clause))]
    return AppFit(fits=False, reason=f"{start} ({names})", fix=fix, openers=tuple(openers))


async def _opener(group: Group, clause: Clause) -> Opener | None:
    """The change of the app that drops, or lowers, what the clause says; ``None`` if that does not help."""
    drop = Drop.of((clause,), verbs_of(group))
    if not group.in_time:
        return None
    if lowerable := lowerable_of(group, clause):
        amounts = await lowered_for_group(group, lowerable)
        return None if amounts is None else Opener(drop, lowerable, amounts)
    return Opener(drop) if await works(group, Change(frozenset((clause,)))) else None


def _weight(member: Member, world: World) -> int:
    """The sum of the weights of optional requirements that some node which can run the pod meets, heaviest first.

    The node must have free what the pod requests, and meet all of those that are counted.
    """
    provision = member.ask.provision
    if not provision.weights:
        return 0
    free = world.inventory.nodes.capacity.fits_free(member.ask.requests)
    granted = granted_hardware(member.ask, member.verdict.candidates & free, world)
    weight = sum(provision.weights.get(given.cause, 0) for given in granted.given)
    granting = member.verdict.granting(granted.rooms).candidates & free
    for label in sorted(provision.labels, key=lambda label: (-label.weight, label.name)):
        if not label.mandatory and (able := granting & matching(world, label.need)):
            granting = able
            weight += label.weight
    return weight
