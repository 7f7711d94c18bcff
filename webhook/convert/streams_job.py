"""Makes a Job of Streams, or HostPools alone, of a Streams application (``docs/coming-from.md``).

Fusion, which is part of submission in Streams, is left to the product: a Job states operators and streams. Annotations
for pods that there are already need processing elements, which are made here in the simplest way: operators with the
same token of ``partitionColocation`` are one, every other operator is one by itself.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.convert.findings import InputLine, Manifest, RefusedInputError, Remark, object_name
from webhook.convert.operator_model import OperatorModel, operator_model
from webhook.convert.overlay import JobOverlay
from webhook.convert.streams_application import StreamsApplication, StreamsOperator
from webhook.placement.annotations.placement_text import contradictions
from webhook.placement.decision.refusal.refusal import cannot_hold
from webhook.placement.fusion.application import application_of
from webhook.placement.fusion.graph import TOO_LARGE, Graph, graph_of
from webhook.placement.fusion.rules.mark import Setting
from webhook.placement.jobs.named_pools import pool_clauses, undeclared_pools
from webhook.placement.jobs.problems import problems_of_job
from webhook.placement.kube.addresses import parse_address
from webhook.placement.kube.names import is_object_name
from webhook.placement.objects.jobs.job_operators import STREAMS_LIMIT
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool_spec import HostPoolSpec, problems_of_spec
from webhook.placement.spl.clauses import DEFAULT_POOL, ClauseName, PlacementClause, PoolName
from webhook.placement.spl.host_pools import PoolDeclaration
from webhook.placement.text.api_kinds import HOST_POOL, STREAMS_JOB
from webhook.placement.text.problem import Problem, quote

_PATH: Final = re.compile(r"spec\.(?P<part>operators|hostPools)\[(?P<at>\d+)\]")
_PARTITION: Final = frozenset(
    {ClauseName.PARTITION_COLOCATION, ClauseName.PARTITION_EXLOCATION, ClauseName.PARTITION_ISOLATION}
)


class StreamsElement(Struct, frozen=True, gc=False):
    """Operators that are fused into one processing element."""

    operators: tuple[StreamsOperator, ...]

    @property
    def clauses(self) -> list[PlacementClause]:
        """The clauses about hosts of all of its operators, each with the name of its operator."""
        return [_of(clause, one.name) for one in self.operators for clause in host_clauses(one)]


def host_clauses(operator: StreamsOperator) -> Iterator[PlacementClause]:
    """The clauses that say something about hosts; those of fusion, and the pool of all hosts, do not."""
    for clause in operator.clauses:
        everywhere = clause.argument == PoolName(DEFAULT_POOL)
        if clause.name not in _PARTITION and not everywhere:
            yield clause


def fused(application: StreamsApplication) -> list[StreamsElement]:
    """The processing elements of an application. Raises :class:`RefusedInputError` if clauses of fusion contradict."""
    groups: dict[str, list[StreamsOperator]] = {}
    joined: dict[str, str] = {}

    def group(token: str) -> str:
        while (other := joined.setdefault(token, token)) != token:
            joined[token] = joined[other]  # halves the way for the next one who asks
            token = other
        return token

    for operator in application.operators:
        tokens = _fusing(operator)
        for token in tokens[1:]:
            joined[group(token)] = group(tokens[0])
    for place, operator in enumerate(application.operators):
        tokens = _fusing(operator)
        # A token begins with a quote, so that no operator without one is in its group.
        key = f'"{group(tokens[0])}' if tokens else str(place)
        groups.setdefault(key, []).append(operator)
    problems = [problem for members in groups.values() for problem in _unfusible(members)]
    if problems:
        raise RefusedInputError(*problems)
    return [StreamsElement(tuple(members)) for members in groups.values()]


def _fusing(operator: StreamsOperator) -> list[str]:
    """The tokens by which an operator is fused with others."""
    return [str(one.argument) for one in operator.clauses if one.name is ClauseName.PARTITION_COLOCATION]


def _unfusible(members: Sequence[StreamsOperator]) -> Iterator[Problem]:
    """A problem for each clause that keeps an operator out of the processing element that it has to be in."""
    apart: dict[str, StreamsOperator] = {}
    for operator in members:
        for clause in operator.clauses:
            if clause.name is ClauseName.PARTITION_ISOLATION and len(members) > 1:
                other = next(one for one in members if one is not operator)
                message = f"{quote(operator.name)} has {clause}, and is fused with {quote(other.name)}"
                yield Problem(str(operator.at), message)
            elif clause.name is ClauseName.PARTITION_EXLOCATION:
                first = apart.setdefault(str(clause.argument), operator)
                if first is not operator:
                    message = f"{quote(operator.name)} has {clause} as {quote(first.name)} has, and is fused with it"
                    yield Problem(str(operator.at), message)


def job_of(
    application: StreamsApplication, name: str, overlay: JobOverlay | None = None
) -> tuple[Manifest, list[Remark]]:
    """The Job of that name. Raises :class:`RefusedInputError` if it breaks a rule, at the lines of the input."""
    if not application.operators:
        message = f"{quote(application.name)} invokes no operator, so nothing would run"
        raise RefusedInputError(Problem(str(application.at), message))
    if application.streams is None:
        message = f"the application has more than {STREAMS_LIMIT} streams between operators, counting each channel"
        raise RefusedInputError(Problem(str(application.at), message))
    elements = fused(application)
    model = operator_model(application)
    spec: dict[str, Any] = {"bundle": {"name": application.bundle or f"{name}.sab"}}
    if application.pools:
        spec["hostPools"] = [pool_fields(declared.pool) for declared in application.pools]
    spec |= overlay.spec if overlay else {}
    spec |= model.fields
    problems = list(_problems(application, name, elements, model, spec))
    if problems:
        raise RefusedInputError(*problems)
    manifest = {
        "apiVersion": STREAMS_JOB.api_version,
        "kind": STREAMS_JOB.name,
        "metadata": {"name": name},
        "spec": spec,
    }
    return manifest, list(_remarks(application, model))


def pool_fields(pool: PoolDeclaration) -> dict[str, Any]:
    """The fields of a HostPool's spec."""
    fields: dict[str, Any] = {"name": pool.name}
    if pool.hosts is not None:
        return {**fields, "hosts": list(pool.hosts)}
    if pool.size is not None:
        fields["size"] = pool.size
    if pool.tags:
        fields["tags"] = list(pool.tags)
    if pool.mode != "Shared":
        fields["mode"] = pool.mode
    return fields


def pool_objects(application: StreamsApplication) -> list[Manifest]:
    """The pools as HostPool objects, for pods of the namespace that belong to no Job object.

    Raises :class:`RefusedInputError` for a pool that breaks a rule.
    """
    manifests: dict[str, Manifest] = {}
    problems: list[Problem] = []
    for declared in application.pools:
        fields, name = pool_fields(declared.pool), object_name(declared.pool.name)
        wrong = problems_of_spec(msgspec.convert(fields, HostPoolSpec))
        problems += [
            Problem(str(declared.at), f"host pool {quote(declared.pool.name)}: {one.message}") for one in wrong
        ]
        if name in manifests:
            other = manifests[name]["spec"]["name"]
            message = f"host pool {declared.pool.name} would be the object {name}, as {other} is: rename one"
            problems.append(Problem(str(declared.at), message))
        manifests[name] = {
            "apiVersion": HOST_POOL.api_version,
            "kind": HOST_POOL.name,
            "metadata": {"name": name},
            "spec": fields,
        }
    if problems:
        raise RefusedInputError(*problems)
    return list(manifests.values())


def _of(clause: PlacementClause, operator: str) -> PlacementClause:
    """The clause as one of that operator, without the offset that it had."""
    return PlacementClause(clause.name, clause.argument, operator)


def _problems(
    application: StreamsApplication,
    name: str,
    elements: Sequence[StreamsElement],
    model: OperatorModel,
    spec: dict[str, Any],
) -> Iterator[Problem]:
    """What is wrong with the Job, at the lines that said it."""
    job = msgspec.convert(spec, JobSpec)
    known: Iterable[str] = () if application.bundle else {pool for pool, _ in _pools_named(application)}
    broken = [*problems_of_job(name, job), *undeclared_pools(pool_clauses(job), job, frozenset(known))]
    for problem in broken:
        yield _at_line(problem, application, model)
    for element in elements:
        for problem in contradictions(element.clauses, "", ""):
            yield Problem(str(element.operators[0].at), problem.message)
        for operator in element.operators:
            for clause in host_clauses(operator):
                if clause.name is ClauseName.HOST and isinstance(clause.argument, str) and not _can_be(clause.argument):
                    message = f"{clause} cannot be a node: names of nodes are a-z, 0-9, '-' and '.'"
                    yield Problem(str(operator.at), message)
    if not broken:
        yield from _unfusable(application, job)


def _unfusable(application: StreamsApplication, job: JobSpec) -> Iterator[Problem]:
    """A problem for clauses that demand one processing element for operators, and others that forbid it."""
    type_ = job.fusion.type if job.fusion else None
    exclusive = frozenset(pool.name or "" for pool in job.host_pools or () if pool.mode == "Exclusive")
    graph = graph_of(application_of(job), Setting(type_ or "", exclusive=exclusive))
    lines = {operator.name: operator.at for operator in application.operators}
    if isinstance(graph, Graph):
        for at, unit in enumerate(graph.units):
            if graph.exceeded(graph.units[at].content):
                first = graph.application.operators[unit.members[0]].name
                yield Problem(str(lines[first]), TOO_LARGE.rstrip("."))
        return
    for wrong in graph:
        message = f"{cannot_hold(wrong.clauses)}: {wrong.why}"
        yield Problem(str(lines[wrong.clauses[-1].partition(": ")[0]]), message)


def _can_be(host: str) -> bool:
    """Whether a node can have that name or address."""
    return is_object_name(host) or parse_address(host) is not None


def _at_line(problem: Problem, application: StreamsApplication, model: OperatorModel) -> Problem:
    """The problem of a field of the Job at the line of the input that the field was made of."""
    match = _PATH.match(problem.field)
    if match is None:
        return Problem(str(application.at), f"{problem.field}: {problem.message}")
    if match["part"] == "hostPools":
        declared = application.pools[int(match["at"])]
        return Problem(str(declared.at), f"host pool {quote(declared.pool.name)}: {problem.message}")
    return Problem(str(model.sources[int(match["at"])].at), problem.message)


def _pools_named(application: StreamsApplication) -> Iterator[tuple[str, InputLine]]:
    """The pools that operators name, each with the operator's line."""
    for one in application.operators:
        for clause in host_clauses(one):
            if isinstance(clause.argument, PoolName):
                yield clause.argument.name, one.at


def _remarks(application: StreamsApplication, model: OperatorModel) -> Iterator[Remark]:
    """What a person should look at: where the bundle comes from, pools that are declared elsewhere, single channels."""
    if application.bundle:
        why = f"Kubernetes fetches {application.bundle} from where the Job says"
        yield Remark(application.at, "the place of the bundle is not known", why, "add bundle.http, file or github")
    else:
        why = "this is only a piece of a program"
        yield Remark(application.at, "the name of the bundle is a placeholder", why, "write the name of yours")
        declared = {*application.named_pools, DEFAULT_POOL}
        for name, at in dict.fromkeys(_pools_named(application)):
            if name not in declared:
                why = "it is not declared in this text"
                yield Remark(at, f"host pool {name}", why, f"a HostPool {name} has to be in the namespace")
    for region in model.expanded:
        what = f"the channels of the parallel region {region} are written one by one"
        why = "what its operators demand of hosts or fusion cannot be said for all channels at once"
        yield Remark(application.at, what, why, "write the operators of another channel if you need one")
