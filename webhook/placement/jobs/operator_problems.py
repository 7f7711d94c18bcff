"""Problems of the operators, streams and parallel regions of a Job that are independent of the cluster.

A Job states either what is fused already or what is to be fused (``docs/jobs.md``).
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from webhook.placement.field_rules.rules import broken
from webhook.placement.fusion.channel_tokens import per_channel, written_out
from webhook.placement.kube.pod import Amount
from webhook.placement.kube.quantity import INT64, NANO, parse_quantity
from webhook.placement.objects.jobs.job_operators import (
    OPERATORS_LIMIT,
    REGIONS_LIMIT,
    STREAMS_LIMIT,
    JobOperator,
    RegionSpec,
    StreamSpec,
)
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.spl.placement import is_operator, parse_placement
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.problem import Problem, quote

_OPERATORS: Final = "spec.operators"
_STREAMS: Final = "spec.streams"
_REGIONS: Final = "spec.parallelRegions"


NAMED_LIMIT: Final = LABEL_LIMIT - len("-999")
"""Characters of the name of a Job of operators: with an index it is a label value."""

_STEP: Final = 200
"""Streams that are looked at in some tenths of a millisecond."""


def problems_of_operators(name: str, spec: JobSpec) -> Iterator[Problem | None]:
    """Each problem of the model that is yet to be fused, and ``None`` after each step of the search."""
    if spec.operators is None:
        for path, stated in ((_STREAMS, spec.streams), (_REGIONS, spec.parallel_regions)):
            if stated is not None:
                yield Problem(path, "is stated without spec.operators")
    elif spec.processing_elements is not None:
        yield Problem(_OPERATORS, "a Job states either operators or processingElements, which are fused already")
    elif crowded := tuple(_crowded(spec)):
        yield from crowded
    else:
        regions = {region.name: region for region in spec.parallel_regions or ()}
        wrong = tuple(_regions(spec.parallel_regions or (), regions))
        yield from wrong
        for place, operator in enumerate(spec.operators):
            yield None
            yield from _operator(operator, f"{_OPERATORS}[{place}]", regions)
        yield from _repeated([one.name for one in spec.operators], _OPERATORS)
        yield from _streams(spec.streams or (), {operator.name for operator in spec.operators})
        if not wrong:
            yield from _copies(spec, regions)
        if len(name) > NAMED_LIMIT:
            message = f"{quote(name)} has {len(name)} characters: the Job's processing elements are named <job>-<index>"
            yield Problem("metadata.name", f"{message}, so at most {NAMED_LIMIT} are allowed")


def _streams(streams: tuple[StreamSpec, ...], names: Collection[str]) -> Iterator[Problem | None]:
    for place, stream in enumerate(streams):
        if place % _STEP == 0:
            yield None
        path = f"{_STREAMS}[{place}]"
        yield from broken(stream, path)
        for end, name in (("from", stream.source), ("to", stream.to)):
            if name and name not in names:
                yield Problem(f"{path}.{end}", f"the Job has no operator {quote(name)}")


def _crowded(spec: JobSpec) -> Iterator[Problem]:
    for path, stated, limit in (
        (_OPERATORS, spec.operators, OPERATORS_LIMIT),
        (_STREAMS, spec.streams, STREAMS_LIMIT),
        (_REGIONS, spec.parallel_regions, REGIONS_LIMIT),
    ):
        if len(stated or ()) > limit:
            yield Problem(path, f"{len(stated or ())} of them, at most {limit} are allowed")


def _regions(stated: tuple[RegionSpec, ...], regions: Mapping[str, RegionSpec]) -> Iterator[Problem]:
    for place, region in enumerate(stated):
        path = f"{_REGIONS}[{place}]"
        yield from broken(region, path)
        if region.max_width is not None and region.width > region.max_width:
            yield Problem(f"{path}.width", f"{region.width} is more than maxWidth, {region.max_width}")
        if region.within is not None and region.within not in regions:
            yield Problem(f"{path}.within", f"the Job has no parallel region {quote(region.within)}")
        elif region.name in _outer(region, regions):
            yield Problem(f"{path}.within", f"parallel region {quote(region.name)} would be nested in itself")
    yield from _repeated([region.name for region in stated], _REGIONS)


def _outer(region: RegionSpec, regions: Mapping[str, RegionSpec]) -> list[str]:
    """The regions around this one, from the inside; it ends where one would come twice."""
    outer: list[str] = []
    around = region.within
    while around is not None and around in regions and around not in outer:
        outer.append(around)
        around = regions[around].within
    return outer


def _operator(operator: JobOperator, path: str, regions: Mapping[str, RegionSpec]) -> Iterator[Problem]:
    yield from broken(operator, path)
    if operator.name and not is_operator(operator.name):
        yield Problem(f"{path}.name", f"{quote(operator.name)} is not an operator name, such as Main.Sink")
    for field, amount in (("cost", operator.cost), ("memory", operator.memory)):
        yield from _amount(amount, f"{path}.{field}")
    if operator.region is not None and operator.region not in regions:
        yield Problem(f"{path}.region", f"the Job has no parallel region {quote(operator.region)}")
    text = operator.placement or ""
    if text and per_channel(text):
        if operator.region is None:
            message = "byChannel() and byReplica() stand for a channel, and the operator is in no parallel region"
            yield Problem(f"{path}.placement", message)
            return
        text = written_out(text, operator.region, operator.region)
    clauses, problems = parse_placement(text, f"{path}.placement") if text else ((), ())
    yield from problems
    for clause in clauses if not problems else ():
        if clause.operator and clause.operator != operator.name:
            message = f"{quote(clause.operator)} is another operator: each has a placement of its own"
            yield Problem(f"{path}.placement", message, text, clause.offset)


def _amount(amount: Amount | None, path: str) -> Iterator[Problem]:
    nano = 0 if amount is None else parse_quantity(amount)
    if nano is None or not 0 <= nano <= INT64 * NANO:
        yield Problem(path, f"{quote(str(amount))} is not an amount of 0 or more")


def _copies(spec: JobSpec, regions: Mapping[str, RegionSpec]) -> Iterator[Problem]:
    """Problems of the numbers of operators and streams once each channel has its own."""
    paths = {name: (name, *_outer(region, regions)) for name, region in regions.items()}
    around = {one.name: paths.get(one.region or "", ()) for one in spec.operators or ()}

    def copies(names: tuple[str, ...] | set[str]) -> int:
        count = 1
        for name in names:
            count *= regions[name].width
        return count

    total = sum(copies(path) for path in around.values())
    if total > OPERATORS_LIMIT:
        yield Problem(_OPERATORS, f"{total} of them in all channels, at most {OPERATORS_LIMIT} are allowed")
    ends = [(around.get(stream.source, ()), around.get(stream.to, ())) for stream in spec.streams or ()]
    flows = sum(copies({*source, *to}) for source, to in ends)
    if flows > STREAMS_LIMIT:
        yield Problem(_STREAMS, f"{flows} of them in all channels, at most {STREAMS_LIMIT} are allowed")


def _repeated(names: list[str], path: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        earlier = first.setdefault(name, place)
        if name and earlier != place:
            yield Problem(f"{path}[{place}].name", f"{quote(name)} is also {path}[{earlier}].name")
