"""The refusal of a Job with processing elements that cannot run even by themselves: all of them at once.

If a refusal named one element at a time, the user would follow the advice and be refused for the next one. So each
element has a line of its own, with its reason and its nearest fix (``docs/jobs.md``, "The whole Job").
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.decision import Decision, decide
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.decision.replica_fit import ReplicaFit, Replicas
from webhook.placement.jobs.tolerant_elements import tolerance_problems
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.members import Member
from webhook.placement.planning.refusal.pool_refusal import pool_lines
from webhook.placement.request.world import World
from webhook.placement.text.problem import (
    CLAUSE_LIMIT,
    MESSAGE_LIMIT,
    Fault,
    Problem,
    counted,
    enumerated,
    fault_of,
    render,
    shorten,
)
from webhook.placement.text.rule import OF_FAULT
from webhook.placement.workload.workload import decide_together

LISTED: Final = 10
"""Kinds of elements that have a line; those beyond are only counted."""

_LINE_LIMIT: Final = 400
"""Characters of a line: the first line of a refusal and its fix have some 200."""

_NAMED: Final = 3
"""Names of elements in a line."""

_NAME_LIMIT: Final = 60
"""Characters of a name; names of elements may have 253."""


class RefusedElement(Struct, frozen=True):
    """Equal processing elements that cannot run even without all others, and why.

    ``names`` are their names. ``message`` is the refusal of one of them as a text of several lines, ``reason`` is that
    in one line: what cannot hold, and the nearest fix. ``refusal`` is ``None`` if something is wrong with the elements
    whatever the cluster is. ``member`` is set if no node has so much to offer as one of them requests, and nothing else
    is wrong.
    """

    names: tuple[str, ...]
    message: str
    reason: str
    fault: Fault
    rules: tuple[str, ...]
    refusal: Refusal | None = None
    member: Member | None = None

    @classmethod
    def of_problems(cls, names: Sequence[str], problems: Sequence[Problem]) -> "RefusedElement":
        """Elements that something is wrong with, whatever the cluster is."""
        message, fault = render(problems), fault_of(problems)
        beyond = f" (and {counted(len(problems) - 1, 'more problem')})" if len(problems) > 1 else ""
        reason = message.partition("\n")[0] + beyond
        return cls(tuple(names), message, reason, fault, (OF_FAULT[fault],))

    @classmethod
    def of_decision(cls, names: Sequence[str], refused: Decision) -> "RefusedElement":
        """Elements with that decision about one of their pods, which refuses it."""
        if refused.refusal is None:
            return cls.of_problems(names, refused.problems)
        reason = f"{refused.headline} Nearest fix: {refused.refusal.fix}."
        return cls(tuple(names), refused.message, reason, refused.fault, refused.rules, refused.refusal)

    @classmethod
    def of_group(cls, refusal: Refusal) -> "RefusedElement":
        """Elements that cannot all run at the same time; a line about them begins with their names already."""
        headline = f"{refusal.headline.rpartition(' (')[0]}."
        reason = f"{headline} Nearest fix: {refusal.fix}."
        return cls(refusal.names, refusal.text, reason, refusal.fault, refusal.rules, refusal)


def judged_alone(
    names: Sequence[str],
    member: Member | tuple[Problem, ...],
    namespace: str,
    pools: Sequence[Pool],
    world: World,
) -> Member | RefusedElement:
    """The member of these elements, or why they cannot run even without all others.

    ``member`` is what :func:`member_of` makes of them, ``pools`` are those whose hosts are yet to be chosen.
    """
    if not isinstance(member, Member):
        return RefusedElement.of_problems(names, member)
    if not member.verdict.candidates or not member.open():
        # The Job's pools get hosts that suit its elements: which ones the controller would choose now does not matter.
        free = world.choosing([(pool.namespace, pool.name) for pool in pools]) if pools else world
        if (decision := decide(member.pod, namespace, free.without_new_nodes())).refused:
            refused = RefusedElement.of_decision(names, decision)
            return replace(refused, member=member) if member.open() else refused
    if problems := tuple(tolerance_problems(member, pools, world)):
        return RefusedElement.of_problems(names, problems)
    return member


def refused_by_number(members: Iterable[Member], namespace: str, world: World) -> list[RefusedElement]:
    """Those of which not all pods can run at the same time even without all others, on nodes that run nothing else.

    That is counted, not searched, so it is known of any number of pods. At most ``LISTED`` are looked at closely.
    """
    short = (one for one in members if ReplicaFit(one.ask, one.verdict.hard, world).room(one.count) < one.count)
    decided = (
        (one, decide_together(one.pod, namespace, world, Replicas.of_component(one.count)))
        for one in itertools.islice(short, LISTED)
    )
    return [RefusedElement.of_decision(one.names, decision) for one, decision in decided if decision.refused]


def certain(refused: Sequence[RefusedElement]) -> bool:
    """Whether these refuse the Job. Elements of one kind that only lack room are judged with all others.

    What is free on nodes counts there, and so the fix is nearer.
    """
    return len(refused) > 1 or any(each.member is None for each in refused)


def refuse_elements(
    refused: Sequence[RefusedElement],
    total: int,
    *,
    all_known: bool,
    pools: Sequence[Refusal] = (),
    kind: str = "processing element",
) -> Refusal:
    """The refusal of a Job of ``total`` elements for these, of which there is at least one.

    ``all_known`` is false if there was no time to look at all elements; ``pools`` are the refusals of HostPools of the
    Job that cannot have their hosts, whatever its elements ask for. ``kind`` is what one of them is called.
    """
    single = len(refused) == 1 and not pools
    said = total, kind if total == 1 else f"{kind}s"
    text = _alone(refused[0], kind) if single else _listed(refused, said, all_known=all_known, pools=pools)
    own = refused[0].refusal if single else None
    return Refusal(
        text, (), _fault_of(refused), _rules_of([*refused, *pools]),
        fixes=own.fixes if own else (), reasons=own.reasons if own else (),
    )  # fmt: skip


def refuse_stages(refused: Sequence[RefusedElement], stages: int) -> Refusal:
    """The refusal of an application of which so many stages cannot run; each of ``refused`` is one, or a part of one.

    A stage is what runs at the same time.
    """
    text = "\n".join((f"{stages} stages of the application cannot run, each by itself:", *_lines(refused)))
    return Refusal(text, (), _fault_of(refused), _rules_of(refused))


def _fault_of(refused: Iterable[RefusedElement]) -> Fault:
    """What is wrong: a manifest that states something invalid counts more than nodes that cannot run its pods."""
    return Fault.INVALID if any(each.fault is Fault.INVALID for each in refused) else Fault.FORBIDDEN


def _rules_of(refused: Iterable[RefusedElement | Refusal]) -> tuple[str, ...]:
    """The rules by which these are refused, each once."""
    return tuple(dict.fromkeys(itertools.chain.from_iterable(each.rules for each in refused)))


def _alone(refused: RefusedElement, kind: str) -> str:
    """The text about equal elements, with all lines of the refusal of one of them."""
    if len(refused.names) == 1:
        return f"{kind} {shorten(refused.names[0], CLAUSE_LIMIT)}: {refused.message}"[:MESSAGE_LIMIT]
    return f"{kind}s {_named(refused.names)}: {refused.message}"[:MESSAGE_LIMIT]


def _listed(
    refused: Sequence[RefusedElement], total: tuple[int, str], *, all_known: bool, pools: Sequence[Refusal]
) -> str:
    """The text about several kinds of elements: a line for each reason, that of most elements first, then pools."""
    names = [name for each in refused for name in each.names]
    least = "" if all_known else "At least "
    alone = "cannot run even by itself" if len(names) == 1 else "cannot run even by themselves"
    also = ", and HostPools of the Job cannot have their hosts" if pools else ""
    first = f"{least}{len(names)} of {total[0]} {total[1]} {alone} ({_named(names)}){also}:"
    return "\n".join((first, *_lines(refused), *pool_lines(pools)))


def _lines(refused: Iterable[RefusedElement]) -> Iterator[str]:
    """A line for each reason with the names of its elements, that of most elements first."""
    by_reason: dict[str, list[str]] = {}
    for each in refused:
        by_reason.setdefault(each.reason, []).extend(each.names)
    listed = sorted(by_reason.items(), key=lambda item: -len(item[1]))[:LISTED]
    yield from (f"  {shorten(f'{_named(of)}: {reason}', _LINE_LIMIT)}" for reason, of in listed)
    beyond = sum(map(len, by_reason.values())) - sum(len(of) for _, of in listed)
    if beyond:
        yield f"  and {beyond} more, for other reasons"


def _named(names: Sequence[str]) -> str:
    return enumerated(names, _NAMED, lambda name: shorten(name, _NAME_LIMIT))
