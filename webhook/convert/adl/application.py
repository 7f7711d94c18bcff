"""An application of an ADL: what its elements state, and its operators on every channel of its parallel regions.

Operators have full names and tokens. An ADL does not expand parallel regions, so each channel becomes an operator.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from webhook.convert.adl.streams import AdlStreams
from webhook.convert.findings import InputLine, RefusedInputError, Remark
from webhook.convert.streams_application import (
    DeclaredPool,
    ParallelRegion,
    StreamsApplication,
    StreamsOperator,
    TokenParts,
)
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT
from webhook.placement.spl.clauses import DEFAULT_POOL, ClauseName, PlacementClause, PoolName
from webhook.placement.spl.host_pools import PoolDeclaration
from webhook.placement.text.problem import Problem, quote

OPERATORS: Final = 10 * ELEMENT_LIMIT
"""Operators of an application, those of each channel counted."""

_AT_RUN_TIME: Final = re.compile(r"byChannel\((?P<operator>[^,()]*), (?P<level>[0-9]{1,3})\)")


class AdlOperator(Struct):
    """An operator instance while its element is read; ``around`` are the indexes of the composites around it."""

    at: InputLine
    name: str
    index: str
    around: tuple[str, ...]
    restartable: bool
    relocatable: bool
    threaded: bool = False
    clauses: list[PlacementClause] = field(default_factory=list)
    pool: tuple[str, int | None] | None = None


class AdlPool(Struct):
    """A host pool while its element is read."""

    at: InputLine
    name: str
    index: str
    size: int | None
    exclusive: bool
    hosts: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


class AdlRegion(Struct):
    """A parallel region: its name, the index of its operator, and its width, as far as it is known."""

    at: InputLine
    name: str = ""
    operator: str = ""
    constant: int | None = None
    submitted: int | None = None
    parameter: int | None = None


class AdlApplication(Struct):
    """An application while its element is read."""

    at: InputLine
    name: str
    bundle: str
    pools: list[AdlPool] = field(default_factory=list)
    operators: list[AdlOperator] = field(default_factory=list)
    regions: list[AdlRegion] = field(default_factory=list)
    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    streams: AdlStreams = field(default_factory=AdlStreams)


def expanded(read: AdlApplication, remarks: list[Remark]) -> StreamsApplication:
    """The application with its pools by name, and an operator for each channel; adds to the remarks."""
    pools = {pool.index: pool for pool in read.pools}
    widths = {region.operator: _width(region, read.values, remarks) for region in read.regions}
    names = _names(read.regions)
    operators: list[StreamsOperator] = []
    indices: list[str] = []
    for operator in read.operators:
        around = [index for index in (*operator.around, operator.index) if index in widths]
        for channels in _channels([widths[index] for index in around]):
            if len(operators) >= OPERATORS:
                message = f"the application expands to more than {OPERATORS} operators"
                raise RefusedInputError(Problem(str(operator.at), message))
            regions = zip((names[index] for index in around), channels, strict=True)
            operators.append(_on(operator, tuple(ParallelRegion(*region) for region in regions), pools))
            indices.append(operator.index.strip())
    declared = tuple(DeclaredPool(pool.at, _declaration(pool)) for pool in read.pools if pool.name != DEFAULT_POOL)
    streams = read.streams.connections(operators, indices)
    return StreamsApplication(read.at, read.name, read.bundle, declared, tuple(operators), streams)


def _width(region: AdlRegion, values: Mapping[str, tuple[str, str]], remarks: list[Remark]) -> int:
    """The number of channels; the default of the submission-time value that it is, or 1, with a remark."""
    width = region.submitted if region.submitted is not None else region.constant
    if width is not None:
        return width
    name, default = values.get(str(region.parameter), ("", ""))
    if default.isascii() and default.isdigit() and len(default) <= len(str(OPERATORS)):
        what = f"a parallel region with {default} channels"
        why = f"that is the default of the submission-time value {name}"
        instead = "set width of the region if you submit another one"
        remarks.append(Remark(region.at, what, why, instead))
        return int(default)
    why = "it is only known when a job is submitted"
    what = "the width of a parallel region is left out"
    remarks.append(Remark(region.at, what, why, "set width of the region", demand=True))
    return 1


def _names(regions: Sequence[AdlRegion]) -> dict[str, str]:
    """A name of its own for each parallel region, by the number of its operator."""
    names: dict[str, str] = {}
    for region in regions:
        usual = region.name or "region"
        names[region.operator] = f"{usual}_{region.operator}" if usual in names.values() else usual
    return names


def _channels(widths: list[int]) -> Iterator[tuple[int, ...]]:
    """Every combination of channels of regions inside one another, the outermost first."""
    if not widths:
        yield ()
        return
    for channel in range(widths[0]):
        yield from ((channel, *inner) for inner in _channels(widths[1:]))


def _on(operator: AdlOperator, regions: tuple[ParallelRegion, ...], pools: Mapping[str, AdlPool]) -> StreamsOperator:
    """The operator on these channels."""
    channels = [region.channel for region in regions]
    resolved = [_resolved(clause, channels) for clause in operator.clauses]
    if operator.pool is not None:
        index, within = operator.pool
        if index not in pools:
            message = f"operator {quote(operator.name)} is placed on the host pool with index {quote(index)}"
            raise RefusedInputError(Problem(str(operator.at), f"{message}, which does not exist"))
        resolved.insert(0, (PlacementClause(ClauseName.HOST, PoolName(pools[index].name, within)), ()))
    return StreamsOperator(
        operator.at,
        operator.name + "".join(f"[{channel}]" for channel in channels),
        tuple(clause for clause, _ in resolved),
        operator.restartable,
        relocatable=operator.relocatable,
        threaded=operator.threaded,
        regions=regions,
        parts=tuple(parts for _, parts in resolved),
    )


def _resolved(clause: PlacementClause, channels: Sequence[int]) -> tuple[PlacementClause, TokenParts]:
    """The clause with the channel in place of ``byChannel(operator, level)`` in its token, and the parts of that."""
    if clause.name is ClauseName.HOST or not isinstance(clause.argument, str):
        return clause, ()
    texts: list[str] = []
    parts: list[str | None] = []
    end = 0
    for match in _AT_RUN_TIME.finditer(clause.argument):
        level = int(match["level"])
        if level < len(channels):
            before = clause.argument[end : match.start()]
            texts += before, str(channels[level])
            # byChannel() of a Job stands for the channels of all regions around.
            parts += before, None if level == len(channels) - 1 else ""
            end = match.end()
    token = "".join((*texts, clause.argument[end:]))
    return PlacementClause(clause.name, token), (*parts, clause.argument[end:]) if parts else ()


def _declaration(pool: AdlPool) -> PoolDeclaration:
    hosts: tuple[str, ...] | None = tuple(pool.hosts) or None
    size: Any = None if hosts else pool.size
    mode: Any = "Exclusive" if pool.exclusive else "Shared"
    return PoolDeclaration(pool.name, hosts, size, tuple(pool.tags), mode)
