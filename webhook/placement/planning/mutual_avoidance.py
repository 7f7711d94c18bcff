"""Members of a group whose own required ``podAntiAffinity`` is about pods of other members.

Terms by host name count, if each node has a host name label of its own; a term by another topology key is left to the
scheduler, and so is one about labels that are not known before the pods are made.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace

from webhook.placement.constraints.constraint import EveryNode, Spread
from webhook.placement.kube.pod import HARD, LabelSelector, PodTerm, Requirement, SpreadConstraint
from webhook.placement.kube.selection.selector import requirements_of
from webhook.placement.objects.template_pods import TemplatePods, applies, template_pods_of
from webhook.placement.planning.members import Demand, Member
from webhook.placement.planning.search.steps import Steps
from webhook.placement.request.pod_text import anti_affinity
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.rule import Rule

PAIRS: Final = 20_000
"""Terms times members that are compared at most, which takes a tenth of a second; more are left to the scheduler."""


class OtherMembers(EveryNode, frozen=True, gc=False):
    """A member's own required ``podAntiAffinity`` by host name that is about pods of other members."""

    rule: ClassVar[str] = Rule.OWN_SPREAD
    spread: ClassVar[Spread] = Spread.FREE
    clause: ClassVar[Clause] = anti_affinity(keys.HOSTNAME)


def avoiding(members: Sequence[Member], world: World) -> tuple[Member, ...]:
    """The members, with what their own terms demand of each other."""
    terms = [(at, term) for at, member in enumerate(members) for term in _terms(member)]
    if not terms or len(terms) * len(members) > PAIRS or not _all_named(world):
        return tuple(members)
    more: dict[int, list[Demand]] = {}
    for number, (at, term) in enumerate(terms):
        matched = [to for to, other in enumerate(members) if _matches(term, members[at], other)]
        if not any(to != at for to in matched):
            continue
        key = f"term {number}"
        anti = OtherMembers()
        more.setdefault(at, []).append(Demand(anti.clause, world.everything, anti, avoids=(key,)))
        for to in matched:
            if to != at:
                more.setdefault(to, []).append(Demand(None, world.everything, anti, marks=(key,)))
    return tuple(
        replace(member, conditions=(*member.conditions, *more.get(at, ()))) for at, member in enumerate(members)
    )


def unplanned(members: Sequence[Member], world: World) -> Steps[list[str]]:
    """Names of members some of whose conditions about other pods do not count where they are placed.

    These are required ``podAffinity``; ``podAntiAffinity`` that :func:`avoiding` leaves to the scheduler; spread
    constraints about pods of other members; both, if they are about pods of other jobs as well, whose labels are not
    known; and a colocation with pods that only prefer it. All members are in one namespace.
    """
    named = _all_named(world)
    preferred: set[str] = set()
    for member in members:
        preferred.update(_preferred(member))
        yield
    names = []
    for member in members:
        yield
        near, away, spread = _own(member)
        if (
            near
            or not all(named and term.topology_key == keys.HOSTNAME and _about(term, member, members) for term in away)
            or any(_counts_others(each, member, members) for each in spread)
            or not preferred.isdisjoint(_shared(member))
        ):
            names.append(member.names[0])
    return names


def _own(member: Member) -> tuple[Sequence[PodTerm], Sequence[PodTerm], Sequence[SpreadConstraint]]:
    """The required terms of its pod affinity and anti-affinity, and its hard spread constraints."""
    spec = member.pod.spec
    if spec is None or _skips_scheduler(member):
        return (), (), ()
    near = spec.affinity.pod_affinity if spec.affinity else None
    away = spec.affinity.pod_anti_affinity if spec.affinity else None
    spread = [each for each in spec.topology_spread_constraints or () if each.when_unsatisfiable == HARD]
    return (near.required or ()) if near else (), (away.required or ()) if away else (), spread


def _counts_others(constraint: SpreadConstraint, owner: Member, members: Sequence[Member]) -> bool:
    """Whether the constraint may be about pods of other members, or of other jobs."""
    selector, keys_shared = constraint.label_selector, constraint.match_label_keys
    if selector is None:
        return False
    return not _within_job(owner, selector, keys_shared) or any(
        _pods(other).match(selector) is not False for other in members if other is not owner
    )


def _within_job(owner: Member, selector: LabelSelector | None, keys_shared: Sequence[str] | None) -> bool:
    """Whether only pods of the owner's job can match."""
    needs = requirements_of(selector) if selector else ()
    return keys.JOB in (keys_shared or ()) or Requirement(keys.JOB, "In", (owner.ask.job or "",)) in needs


def _about(term: PodTerm, owner: Member, members: Sequence[Member]) -> bool:
    """Whether the term of the owner surely matches pods of the group, and no others."""
    within = _within_job(owner, term.label_selector, term.match_label_keys)
    return within and any(_matches(term, owner, member) for member in members)


def _shared(member: Member) -> Iterator[str]:
    """The keys of pods that it shares a node with."""
    for condition in member.conditions:
        yield from condition.together


def _preferred(member: Member) -> Iterator[str]:
    """The keys of pods that it only prefers to share a node with."""
    job = f"{member.ask.namespace}/{member.ask.job}"
    for judged in member.verdict.soft:
        yield from judged.constraint.company(job).together


def _terms(member: Member) -> Iterator[PodTerm]:
    spec = member.pod.spec
    affinity = spec.affinity.pod_anti_affinity if spec and spec.affinity else None
    if affinity is not None and not _skips_scheduler(member):
        yield from (term for term in affinity.required or () if term.topology_key == keys.HOSTNAME)


def _skips_scheduler(member: Member) -> bool:
    """Whether the pods are bound by ``nodeName``: then nothing evaluates their terms, in whatever order they come."""
    annotations = (member.pod.metadata and member.pod.metadata.annotations) or {}
    bound = member.pod.spec is not None and bool(member.pod.spec.node_name)
    return bound or annotations.get(keys.HOST_BINDING) == "nodeName"


def _all_named(world: World) -> bool:
    """Whether each node has a host name label of its own: what is apart by host name is then on two nodes."""
    nodes = world.inventory.nodes
    count = world.everything.bit_count()
    return nodes.domains_of(keys.HOSTNAME).count == nodes.with_key(keys.HOSTNAME).bit_count() == count


def _matches(term: PodTerm, owner: Member, other: Member) -> bool:
    """Whether the term of the owner surely matches the pods of the other member."""
    if term.label_selector is None or not applies(term, owner.ask.namespace, other.ask.namespace):
        return False
    own = _pods(owner).labels
    same = [Requirement(key, "In", (own[key],)) for key in term.match_label_keys or () if key in own]
    others = [Requirement(key, "NotIn", (own[key],)) for key in term.mismatch_label_keys or () if key in own]
    needs = (*requirements_of(term.label_selector), *same, *others)
    several = len(owner.names) > 1 or len(other.names) > 1
    if _skips_scheduler(other) or (several and any(need.key == keys.PE for need in needs)):
        return False  # pods of several elements differ in that label
    return _pods(other).match(LabelSelector(match_expressions=needs)) is True


def _pods(member: Member) -> TemplatePods:
    metadata = member.pod.metadata
    labels = (metadata and metadata.labels) or {}
    return template_pods_of(labels, metadata.owner_references if metadata else None)
