"""The operators, streams and parallel regions of a Job, of the operators that an application expands to.

A parallel region of the application is one of the Job where that says the same: its operators on each channel, with
the same tokens, as the Job's own rules write them out (``docs/fusion.md``). Otherwise each channel has operators of
its own, such as ``Work[0]`` and ``Work[1]``.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.convert.streams_application import StreamsApplication, StreamsOperator, TokenParts
from webhook.placement.fusion.application import PhysicalOperator, application_of
from webhook.placement.jobs.operator_problems import problems_of_operators
from webhook.placement.objects.jobs.job_operators import REGION_NAME_LIMIT
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.spl.clauses import DEFAULT_POOL, ClauseName, PlacementClause, PoolName
from webhook.placement.spl.literals import encode
from webhook.placement.spl.placement import format_placement
from webhook.placement.text.keys import digest

_DIGITS: Final = 8
"""Digits of the digest that tells two regions apart which would have one name."""

_SHARES: Final = 1000
"""The rate of a stream, if its copies in channels each have a part of it."""

_TOKENS: Final = frozenset(
    {
        ClauseName.COLOCATION,
        ClauseName.EXLOCATION,
        ClauseName.PARTITION_COLOCATION,
        ClauseName.PARTITION_EXLOCATION,
    }
)


class OperatorModel(Struct, frozen=True):
    """The ``fields`` of a Job's spec, and the operator of the application behind each entry of ``operators``.

    ``expanded`` are regions whose channels are written one by one.
    """

    fields: Mapping[str, Any]
    sources: tuple[StreamsOperator, ...]
    expanded: tuple[str, ...] = ()


def stated_clauses(operator: StreamsOperator) -> Iterator[tuple[PlacementClause, TokenParts]]:
    """The clauses that a Job's operator states, with the parts of their tokens; the pool of all hosts is none."""
    parts = operator.parts or ((),) * len(operator.clauses)
    for clause, own in zip(operator.clauses, parts, strict=True):
        if clause.argument != PoolName(DEFAULT_POOL):
            yield PlacementClause(clause.name, clause.argument), own


def operator_model(application: StreamsApplication) -> OperatorModel:
    """The model of an application, with as few operators as say the same."""
    regions = dict.fromkeys(region.name for operator in application.operators for region in operator.regions)
    if regions:
        folded = _folded(application, _identifiers(list(regions)))
        if _same(application, folded.fields):
            return folded
    return _expanded(application, tuple(regions))


def _folded(application: StreamsApplication, names: Mapping[str, str]) -> OperatorModel:
    """One operator for all channels, as it is in the first of them."""
    first: dict[str, StreamsOperator] = {}
    regions: dict[str, dict[str, Any]] = {}
    for operator in application.operators:
        first.setdefault(operator.stated, operator)
        around: str | None = None
        for region in operator.regions:
            entry = regions.setdefault(names[region.name], {"name": names[region.name], "width": 0})
            entry["width"] = max(entry["width"], region.channel + 1)
            if around is not None:
                entry["within"] = around
            around = entry["name"]
    operators = []
    for stated, operator in first.items():
        entry = _entry(stated, operator, _placement(stated_clauses(operator)))
        operators.append({**entry, "region": names[operator.regions[-1].name]} if operator.regions else entry)
    fields = {"operators": operators, **_streams(application, folded=True), "parallelRegions": list(regions.values())}
    return OperatorModel(fields, tuple(first.values()))


def _expanded(application: StreamsApplication, regions: tuple[str, ...]) -> OperatorModel:
    """An operator for each channel."""
    operators = [
        _entry(operator.name, operator, format_placement(clause for clause, _ in stated_clauses(operator)))
        for operator in application.operators
    ]
    fields = {"operators": operators, **_streams(application, folded=False)}
    return OperatorModel(fields, application.operators, regions)


def _entry(name: str, operator: StreamsOperator, placement: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name}
    if placement:
        entry["placement"] = placement
    options = {
        "restartable": (operator.restartable, True),
        "relocatable": (operator.relocatable, True),
        "threaded": (operator.threaded, False),
    }
    return entry | {option: value for option, (value, usual) in options.items() if value is not usual}


def _placement(clauses: Iterator[tuple[PlacementClause, TokenParts]]) -> str:
    """The placement of an operator in all channels: a token's channel is ``byChannel()``."""
    return ", ".join(
        f"{clause.name}({' + '.join(_terms(parts))})" if parts else str(clause) for clause, parts in clauses
    )


def _terms(parts: TokenParts) -> Iterator[str]:
    """The terms of a token's expression; texts that stand together are one."""
    for channel, group in itertools.groupby(parts, lambda part: part is None):
        text = "".join(part or "" for part in group)
        if channel:
            yield "byChannel()"
        elif text:
            yield encode(text)


def _streams(application: StreamsApplication, *, folded: bool) -> dict[str, Any]:
    """The streams; several between the same two operators are one of that rate.

    Where the channels of a stream's ends are written one by one, the rates of its copies are its own in sum.
    """
    operators, streams = application.operators, application.streams or ()
    counts: dict[tuple[str, str], int] = {}
    rates: dict[tuple[str, str], int] = {}
    for sender, receiver, count in streams:
        both = operators[sender].stated, operators[receiver].stated
        counts[both] = counts.get(both, 0) + 1
        rates[both] = max(rates.get(both, 0), count)
    if folded:
        rate_of = rates
    else:
        shares = _SHARES if any(number > 1 for number in counts.values()) else 1
        rate_of = {}
        for sender, receiver, count in streams:
            number = counts[operators[sender].stated, operators[receiver].stated]
            rate_of[operators[sender].name, operators[receiver].name] = max(1, shares * count // number)
    entries = [
        {"from": one, "to": other} | ({"rate": rate} if rate > 1 else {}) for (one, other), rate in rate_of.items()
    ]
    return {"streams": entries} if entries else {}


def _identifiers(regions: Sequence[str]) -> dict[str, str]:
    """The name of each region in the Job: an identifier of SPL, the last part of its own name if that is enough."""
    names: dict[str, str] = {}
    for region in regions:
        simple, whole = (re.sub(r"[^A-Za-z0-9_]", "_", one) for one in (region.rpartition(".")[2], region))
        unique = f"{simple[: REGION_NAME_LIMIT - _DIGITS - 3]}_{digest(region)[:_DIGITS].lower()}"
        legal = (f"r{name}" if name[:1].isdigit() or not name else name for name in (simple, whole, unique))
        names[region] = next(one for one in legal if len(one) <= REGION_NAME_LIMIT and one not in names.values())
    return names


def _same(application: StreamsApplication, fields: Mapping[str, Any]) -> bool:
    """Whether the Job's rules make of these fields the operators and streams of the application.

    Tokens may be others, as each of them stands for one of the application, and the other way round.
    """
    spec = msgspec.convert(dict(fields), JobSpec)
    if any(problem is not None for problem in problems_of_operators("", spec)):
        return False
    made = application_of(spec)
    of_name = {operator.name: operator for operator in made.operators}
    if sorted(of_name) != sorted(operator.name for operator in application.operators):
        return False
    tokens: dict[object, object] = {}
    back: dict[object, object] = {}
    if not all(_equal(operator, of_name[operator.name], tokens, back) for operator in application.operators):
        return False
    links = {(made.operators[one].name, made.operators[other].name) for one, other in made.links}
    streams = application.streams or ()
    return links == {(application.operators[one].name, application.operators[other].name) for one, other, _ in streams}


def _equal(
    operator: StreamsOperator, made: PhysicalOperator, tokens: dict[object, object], back: dict[object, object]
) -> bool:
    """Whether an operator is the one that was made; ``tokens`` and ``back`` pair the tokens of both."""
    options = operator.restartable, operator.relocatable, operator.threaded
    clauses = [clause for clause, _ in stated_clauses(operator)]
    if options != (made.restartable, made.relocatable, made.threaded) or len(clauses) != len(made.clauses):
        return False
    for clause, other in zip(clauses, made.clauses, strict=True):
        one, two = (clause.name, clause.argument), (other.name, other.argument)
        if clause.name not in _TOKENS or clause.name is not other.name:
            if one != two:
                return False
        elif tokens.setdefault(one, two) != two or back.setdefault(two, one) != one:
            return False
    return True
