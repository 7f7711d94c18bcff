"""``judge_model``: the verdict on a Job as its user states it, whether or not its operators are fused yet.

A Job of operators is fused in the best way in which all of it can run, and refused if there is none
(``docs/fusion.md``).
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.fusion.application import Application, application_of
from webhook.placement.fusion.cut_bound import least_cut
from webhook.placement.fusion.fused_elements import fused
from webhook.placement.fusion.scheme import Scheme, divides, scheme_of
from webhook.placement.jobs.job_verdict import UNDECIDED, JobVerdict
from webhook.placement.jobs.newnodes.scaled_job import judge_scaled_job
from webhook.placement.jobs.operators.fusion_refusal import refuse_fusion
from webhook.placement.jobs.operators.fusion_search import ALL, FusionOutcome, FusionSearch, TriedFusion, separations
from webhook.placement.jobs.operators.region_widths import with_widths
from webhook.placement.jobs.operators.scaling import NOTHING, UNFUSED, EarlierFusion
from webhook.placement.objects.jobs.job_fusion import SEPARATIONS, JobFusion, Separation
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.group import GroupAnswer
from webhook.placement.planning.search.solver import Brief, Solving
from webhook.placement.request.world import World
from webhook.placement.text.problem import MESSAGE_LIMIT, counted

_WORDS: Final = 0.5
"""The part of the time that is left in which the refusal of a width is written: then it is found out which one fits."""

_COMPARED: Final = 32
"""Processing elements of which each pair is looked at for the limit that keeps it apart."""


class ModelVerdict(Struct, frozen=True, eq=False):
    """The ``verdict`` on a Job, the Job with its processing elements, and how these were fused."""

    verdict: JobVerdict
    spec: JobSpec
    fusion: JobFusion | None = None


async def judge_model(
    job: tuple[str, str],
    spec: JobSpec,
    cluster: World,
    solving: Solving,
    earlier: EarlierFusion = UNFUSED,
    *,
    measured: bool = False,
) -> ModelVerdict:
    """The verdict on a Job whose spec has no problems, in a ``cluster`` without it.

    ``earlier`` is how its operators were fused before. If it is ``measured``, there is time for a good bound of the
    traffic that the fusion could keep inside elements.
    """
    if spec.operators is None:
        return ModelVerdict(await judge_scaled_job(job, spec, cluster.inventory, cluster.policy, solving), spec)
    application = await solving.run(functools.partial(application_of, spec))
    search = FusionSearch(job, cluster, solving, earlier)
    outcome = await _outcome(search, spec, application)
    chosen = outcome.found or outcome.first
    undecided = JobVerdict(answer=GroupAnswer(None, decided=False), warnings=(UNDECIDED,))
    if chosen is None and not outcome.decided:
        return ModelVerdict(undecided, _empty(spec))
    if chosen is None or (outcome.found is None and outcome.decided):
        words = solving if earlier.scaling is NOTHING else Brief(solving, solving.left() * _WORDS)
        refused = await refuse_fusion(search.within(words), spec, application, outcome, words)
        if chosen is None:
            return ModelVerdict(refused, _empty(spec))
        return ModelVerdict(refused, chosen.spec, _fusion(spec, outcome, chosen, _at_once))
    over = (lambda: solving.left() <= 0) if measured else _at_once
    fusion = await solving.run(functools.partial(_fusion, spec, outcome, chosen, over))
    verdict = outcome.verdict or undecided
    warnings = (*verdict.warnings, *_hints(spec, outcome.first or chosen, fusion))
    return ModelVerdict(replace(verdict, warnings=warnings), chosen.spec, fusion)


async def _outcome(search: FusionSearch, spec: JobSpec, application: Application) -> FusionOutcome:
    """What the search finds, if need be as if passing conditions of nodes had ended."""
    outcome = await search.find(spec, application)
    later = await search.recovering(spec) if outcome.found is None else None
    if later is None:
        return outcome
    recovered = await later.find(spec, application)
    if recovered.found is None or recovered.verdict is None:
        return outcome
    hint = "not all processing elements can run at the same time now"
    return replace(recovered, verdict=replace(recovered.verdict, warnings=(*recovered.verdict.warnings, hint)))


def _at_once() -> bool:
    """No time for a good bound."""
    return True


def as_fused(spec: JobSpec, fusion: JobFusion | None) -> JobSpec:
    """The Job with the processing elements that its operators are fused into; none for operators that are not yet."""
    if spec.operators is None:
        return spec
    if fusion is None:
        return _empty(spec)
    spec = with_widths(spec, {region.name: region.width for region in fusion.regions})
    return fused(spec, application_of(spec), fusion.processing_elements)


def _empty(spec: JobSpec) -> JobSpec:
    return replace(spec, operators=None, streams=None, parallel_regions=None)


def _fusion(spec: JobSpec, outcome: FusionOutcome, chosen: TriedFusion, over: Callable[[], bool]) -> JobFusion:
    graph, partition = chosen.graph, chosen.partition
    total = sum(graph.application.traffic.values())
    exact = len(graph.units) <= ALL
    least = partition.cut if exact else least_cut(graph, partition, over)
    return JobFusion(
        scheme=scheme_of(spec.fusion).value,
        asked=outcome.asked,
        made=len(chosen.elements),
        inside=_per_cent(total - partition.cut, total),
        inside_at_most=_per_cent(total - least, total),
        processing_elements=chosen.elements,
        separations=tuple(itertools.islice(_separated(chosen), SEPARATIONS)),
    )


def _per_cent(part: int, total: int) -> int:
    return 100 * part // total if total else 100


def _separated(chosen: TriedFusion) -> Iterator[Separation]:
    """The operators with a stream between them that a clause keeps apart."""
    graph, operators = chosen.graph, chosen.graph.application.operators
    for at, to, key in separations(graph, chosen.partition):
        if key:
            said = [clause for one in (at, to) if (clause := graph.units[one].said[key])]
            names = operators[graph.units[at].members[0]].name, operators[graph.units[to].members[0]].name
            yield Separation(names, " / ".join(dict.fromkeys(said))[:MESSAGE_LIMIT])


def _hints(spec: JobSpec, first: TriedFusion, fusion: JobFusion) -> Iterator[str]:
    """The warning that another number of processing elements is made than the Job asks for, and why.

    ``first`` is the fusion that is best by the goals, whether or not it fits on the cluster.
    """
    if fusion.scheme != Scheme.MANUAL or fusion.made == fusion.asked:
        return
    made = f"fusion.manual asks for {counted(fusion.asked, 'processing element')}, and {fusion.made} "
    made += "is made" if fusion.made == 1 else "are made"
    yield f"{made}: {', and '.join(_reasons(spec, first, fusion)) or 'no fusion into that many was found'}"


def _reasons(spec: JobSpec, first: TriedFusion, fusion: JobFusion) -> Iterator[str]:
    """Why the best fusion has another number of elements than are asked for, and why it was not the one."""
    best, asked = len(first.partition.blocks), fusion.asked
    if not divides(spec, asked):
        yield "spec.resources cannot be divided among so many"
    elif best < asked:
        yield f"{counted(len(first.graph.application.operators), 'operator')} cannot be fused into more"
    elif best > asked:
        yield from filter(None, (_apart(first), _limited(first)))
    if best != fusion.made:
        yield f"with {'so many' if best == asked else best} it does not fit on the cluster"


def _apart(chosen: TriedFusion) -> str:
    """What keeps two processing elements apart, in the words of their operators; empty if no clause does."""
    units = chosen.graph.units
    first: dict[str, int] = {}
    for block in chosen.partition.blocks:
        for to in block:
            for key, value in units[to].marks.items():
                one = first.setdefault(key, to)
                if units[one].marks[key] != value:
                    clauses = [*dict.fromkeys(clause for at in (one, to) if (clause := units[at].said[key]))]
                    if not clauses:
                        return "processing elements that exist keep their operators"
                    return f"{' and '.join(clauses)} {'keeps' if len(clauses) == 1 else 'keep'} operators apart"
    return ""


def _limited(chosen: TriedFusion) -> str:
    """The limit that keeps two of the first processing elements apart; empty if another reason does."""
    graph = chosen.graph
    known = [
        (graph.content(block), {key: value for at in block for key, value in graph.units[at].marks.items()})
        for block in chosen.partition.blocks[:_COMPARED]
    ]
    for (content, marks), (other, others) in itertools.combinations(known, 2):
        exceeded = graph.exceeded(content | other)
        if exceeded and all(others.get(key, value) == value for key, value in marks.items()):
            return f"a processing element has at most {exceeded}"
    return ""
