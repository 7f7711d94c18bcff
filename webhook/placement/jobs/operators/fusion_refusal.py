"""The refusal of a Job that cannot run however its operators are fused: a smallest set of clauses, and the nearest fix.

Each clause is one that an operator states, and each fix is tried before it is named (``docs/fusion.md``).
"""

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.refusal.conflict import answered_in_turn, smallest_failing
from webhook.placement.decision.refusal.refusal import Refusal, cannot_hold
from webhook.placement.fusion.application import Application, stated_clauses
from webhook.placement.fusion.graph import TOO_LARGE
from webhook.placement.fusion.rules.channels import EXLOCATION, ISOLATION
from webhook.placement.fusion.rules.partition_colocation import contracted
from webhook.placement.fusion.scheme import Scheme, scheme_of
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.operators.fusion_search import ALL, FusionOutcome, FusionSearch
from webhook.placement.jobs.refused_elements import RefusedElement, certain, refuse_elements
from webhook.placement.kube.quantity import format_quantity
from webhook.placement.objects.jobs.job_operators import JobOperator
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT, Fusion, JobSpec
from webhook.placement.planning.refusal.group_refusal import NO_TIME
from webhook.placement.planning.search.solver import Solving
from webhook.placement.spl.clauses import PlacementClause, PoolName
from webhook.placement.text.fix import AddNode, Advice, EnlargePool, Fix, NodeFix, Partly, ShrinkPool
from webhook.placement.text.problem import Fault, counted
from webhook.placement.text.rule import Rule

NONE: Final = Advice("no single change helps")
"""The fix of a refusal for which none was found."""

_TRIES: Final = 60
"""Maximum number of sets of clauses tried for a smaller one than the first that was found."""

_STATED: Final = 200
"""Maximum number of clauses of a Job among which a smallest set is searched."""

_OF_CLUSTER: Final = (AddNode, EnlargePool, NodeFix, ShrinkPool)
"""Fixes that were tried with the best fusion, and change the cluster or a pool."""

_OPTIONAL: Final = ("restartable", "relocatable")
"""Options of an operator that are true by default."""

_OPTIONS: Final = frozenset({*_OPTIONAL, "template"})
"""What an operator states and all operators of its element must state, too."""

_FIXES: Final = 2
"""Fixes that are named."""


class _Item(Struct, frozen=True):
    """Something that the Job states: of an operator, or in ``spec.fusion`` for all of them.

    ``copies`` are the operator's positions, one in each channel of its parallel region, since users can only change it
    in all of them. ``clauses`` are those of the copies if it is a clause of the placement.
    """

    field: str
    text: str
    copies: tuple[int, ...] = ()
    clauses: tuple[PlacementClause, ...] = ()


async def refuse_fusion(
    search: FusionSearch, spec: JobSpec, application: Application, outcome: FusionOutcome, solving: Solving
) -> JobVerdict:
    """The verdict on a Job that no fusion lets run; ``outcome`` is what the search has found of it."""
    if outcome.wrong:
        return await _contradicted(search, spec, application, outcome, solving)
    count = len(application.operators)
    total = counted(count, "operator")
    if outcome.alone:
        return _alone(outcome.alone, count, solving)
    if outcome.first is None:
        return await _unfused(search, spec, application, solving)
    alone = await search.alone(spec, outcome.first.graph)
    if certain(alone):
        return _alone(alone, count, solving)
    items = _items(spec, application)
    if len(items) > _STATED:
        items = []
    edited = search.edited(spec, application)

    async def fails(kept: Sequence[_Item]) -> bool | None:
        return await _fails(edited, spec, application, [one for one in items if one not in kept], solving)

    again = count > ALL or not _monotonic(items, spec)
    conflict = tuple(await answered_in_turn(smallest_failing(items, _TRIES, again=again), fails)) if items else ()
    explained = await search.explained(outcome.first.spec)
    if not conflict and explained.refused:
        return explained
    fixes_of_job = [fix async for fix in _fixes(edited, spec, application, conflict, solving)]
    changes = explained.refusal.fixes if explained.refusal else ()
    fixes = [*(fix for fix in changes if isinstance(fix, _OF_CLUSTER)), *fixes_of_job][:_FIXES]
    start = cannot_hold([item.text for item in conflict])
    tried = tuple(fixes) or (_none(solving),)
    first = f"{start}: no fusion of {total} fits on the cluster."
    clauses = tuple(item.text for item in conflict)
    refusal = Refusal.of(first, clauses, Fault.FORBIDDEN, (Rule.NODES,), tried)
    return JobVerdict(refusal=refusal, text=refusal.text, fault=refusal.fault)


def _monotonic(items: Sequence[_Item], spec: JobSpec) -> bool:
    """Whether less of these is never harder to keep.

    It may be where operators state options, which are equal within an element: one without ``restartable: false`` is
    kept apart from one that has it. A pod that names no HostPool tolerates no exclusive host, and an operator without a
    cost may request what every element does.
    """
    requested = spec.resources or (spec.processing_element and spec.processing_element.resources)
    named = (clause.argument for item in items for clause in item.clauses[:1])
    return (
        not requested
        and _OPTIONS.isdisjoint(item.field for item in items)
        and not any(isinstance(argument, PoolName) for argument in named)
    )


def _alone(alone: Sequence[RefusedElement], count: int, solving: Solving) -> JobVerdict:
    """The verdict on a Job of so many operators of which some cannot run even by themselves."""
    refusal = refuse_elements(alone, count, all_known=solving.left() > 0, kind="operator")
    return JobVerdict(text=refusal.text, fault=refusal.fault, of_element=refusal.rules)


def _none(solving: Solving) -> Advice:
    """The text in place of a fix."""
    return NONE if solving.left() > 0 else NO_TIME


async def _unfused(search: FusionSearch, spec: JobSpec, application: Application, solving: Solving) -> JobVerdict:
    """The verdict on an application of which there is no fusion, whatever the cluster is."""
    if spec.resources is None and len({*contracted(application.operators, {})}) > ELEMENT_LIMIT:
        return await _too_many(search, spec, application, solving)
    total = counted(len(application.operators), "operator")
    divided = f"No number of processing elements divides spec.resources: {total} cannot be fused."
    text = TOO_LARGE if spec.resources is None else divided
    return JobVerdict(text=text, fault=Fault.INVALID, of_element=(Rule.NODES,))


async def _too_many(search: FusionSearch, spec: JobSpec, application: Application, solving: Solving) -> JobVerdict:
    """The verdict on an application whose operators are kept apart into more elements than a Job may have."""
    fixes = [fix async for fix in _fixes(search, spec, application, (), solving)]
    tried = tuple(fixes) or (_none(solving),)
    total = counted(len(application.operators), "operator")
    first = f"{total} cannot be fused into {ELEMENT_LIMIT} processing elements, the most that a Job may have."
    refusal = Refusal.of(first, (), Fault.INVALID, (Rule.MISTAKE,), tried)
    return JobVerdict(refusal=refusal, text=refusal.text, fault=refusal.fault)


async def _contradicted(
    search: FusionSearch, spec: JobSpec, application: Application, outcome: FusionOutcome, solving: Solving
) -> JobVerdict:
    """The verdict on an application whose clauses put operators together and apart.

    A fix with which all can run comes before one of which that was not found out, and that before one after which
    something else is in the way.
    """
    wrong = outcome.wrong[0]
    items = {item.text: item for item in _items(spec, application)}
    words = _words(items.values(), application)
    clauses = tuple(dict.fromkeys(words.get(text, text) for text in wrong.clauses))
    fixes: list[Fix] = []
    perhaps: list[Fix] = []
    partly: list[Fix] = []
    for text in clauses:
        item = items.get(text)
        if item is not None and len(fixes) < _FIXES and solving.left() > 0:
            changed = await search.find(*_without(spec, application, [item]))
            fix = Advice(f"drop {text}")
            if changed.found is not None:
                fixes.append(fix)
            elif not changed.decided:
                perhaps.append(Partly(fix, "whether that is enough was not decided in time"))
            elif not changed.wrong:
                partly.append(Partly(fix, "not enough by itself"))
    first = f"{cannot_hold(clauses)}: {wrong.why}."
    tried = tuple(fixes or perhaps or partly)[:_FIXES] or (_none(solving),)
    refusal = Refusal.of(first, clauses, Fault.INVALID, (Rule.MISTAKE,), tried)
    return JobVerdict(refusal=refusal, text=refusal.text, fault=refusal.fault)


async def _fails(
    search: FusionSearch, spec: JobSpec, application: Application, dropped: Sequence[_Item], solving: Solving
) -> bool | None:
    """Whether it is certain that the Job cannot run without what is dropped; ``None`` if time is over."""
    if solving.left() <= 0:
        return None
    return await search.fails(*_without(spec, application, dropped))


async def _fixes(
    search: FusionSearch, spec: JobSpec, application: Application, conflict: Sequence[_Item], solving: Solving
) -> AsyncIterator[Fix]:
    """Single changes with which all can run: another scheme or type first, then each clause of the conflict."""
    other: list[tuple[str, JobSpec]] = []
    fusion = spec.fusion or Fusion()
    if scheme_of(spec.fusion) is Scheme.LEGACY:
        automatic = replace(fusion, legacy=None, automatic=True)
        other.append(("set fusion.automatic in place of fusion.legacy", replace(spec, fusion=automatic)))
    if fusion.type in {ISOLATION, EXLOCATION}:
        open_type = replace(fusion, type="noChannelInfluence")
        other.append(("set fusion.type to noChannelInfluence", replace(spec, fusion=open_type)))
    for words, changed in other:
        if solving.left() > 0 and (await search.find(changed, application)).found is not None:
            yield Advice(words)
    for item in conflict:
        changed_model = _without(spec, application, [item])
        if item.copies and solving.left() > 0 and (await search.find(*changed_model)).found is not None:
            yield Advice(f"drop {item.text}")


def _items(spec: JobSpec, application: Application) -> list[_Item]:
    """All that restricts the fusion or the placement."""
    items: list[_Item] = []
    if scheme_of(spec.fusion) is Scheme.LEGACY:
        items.append(_Item("legacy", "legacy: true"))
    if spec.fusion and spec.fusion.type in {ISOLATION, EXLOCATION}:
        items.append(_Item("type", f"type: {spec.fusion.type}"))
    copies: dict[str, list[int]] = {}
    for at, operator in enumerate(application.operators):
        copies.setdefault(operator.stated, []).append(at)
    by_name = {stated.name: stated for stated in spec.operators or ()}
    for name, places in copies.items():
        items += _of_operator(by_name[name], places, application)
    return items


def _of_operator(stated: JobOperator, copies: Sequence[int], application: Application) -> Iterator[_Item]:
    operators = [application.operators[at] for at in copies]
    first, everywhere = operators[0], tuple(copies)
    written = stated_clauses(stated.placement or "")
    for text, *clauses in zip(written, *(operator.clauses for operator in operators), strict=False):
        yield _Item("clauses", f"{stated.name}: {text}", everywhere, tuple(clauses))
    for option in _OPTIONAL:
        if not getattr(first, option):
            yield _Item(option, f"{stated.name}: {option}: false", everywhere)
    if first.template is not None:
        yield _Item("template", f"{stated.name}: template", everywhere)
    for amount in ("cost", "memory"):
        value = getattr(first, amount)
        if value:
            yield _Item(amount, f"{stated.name}: {amount} {format_quantity(value)}", everywhere)


def _words(items: Iterable[_Item], application: Application) -> dict[str, str]:
    """What the Job states, by what a rule says of it: a clause of an operator in a channel is one of the operator."""
    operators = application.operators
    words = {
        operators[at].says(f"{option}: true"): f"{operators[at].stated}: {option}: true"
        for at in range(len(operators))
        for option in _OPTIONAL
    }
    for item in items:
        what = item.text.partition(": ")[2]
        for at, clause in itertools.zip_longest(item.copies, item.clauses):
            words[operators[at].says(clause or what)] = item.text
    return words


def _without(spec: JobSpec, application: Application, dropped: Sequence[_Item]) -> tuple[JobSpec, Application]:
    """The Job and its application without these."""
    operators = list(application.operators)
    fusion = spec.fusion
    for item in dropped:
        if not item.copies and fusion is not None:
            fusion = replace(fusion, **{item.field: None})
        for at, clause in itertools.zip_longest(item.copies, item.clauses):
            if clause is not None:
                kept = tuple(one for one in operators[at].clauses if one is not clause)
                operators[at] = replace(operators[at], clauses=kept)
            else:
                default = True if item.field in _OPTIONAL else None
                operators[at] = replace(operators[at], **{item.field: default})
    return replace(spec, fusion=fusion), replace(application, operators=tuple(operators))
