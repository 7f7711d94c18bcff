"""A Streams application as its placement sees it: host pools, and operators with their clauses.

SPL programs and their compiled descriptions are both read into this.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webhook.convert.findings import InputLine, Remark
from webhook.placement.kube.names import LABEL_VALUE
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.spl.host_pools import PoolDeclaration
from webhook.placement.text.keys import LABEL_LIMIT, digest, label_value
from webhook.placement.text.problem import quote

_TOKENS: Final = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION})
_SUFFIX: Final = 12
"""Digits of the digest that tells two tokens apart which would be one label value."""


class DeclaredPool(Struct, frozen=True, gc=False):
    """A host pool, and the line that declares it."""

    at: InputLine
    pool: PoolDeclaration


TokenParts = tuple[str | None, ...]
"""A token in parts; ``None`` is the channel of the innermost parallel region. Without parts it is the same in all."""


class ParallelRegion(Struct, frozen=True, gc=False):
    """The instance of a parallel region that an operator is in: the region's name, and the channel."""

    name: str
    channel: int


class StreamsOperator(Struct, frozen=True, gc=False):
    """An operator instance: its full name (``Result.Region1[0]``), its clauses, and whether it can be restarted.

    ``regions`` are the parallel regions around it, the outermost first. ``parts`` has the parts of each clause's token
    that differs from channel to channel, in the order of the clauses; empty ones for all others.
    """

    at: InputLine
    name: str
    clauses: tuple[PlacementClause, ...] = ()
    restartable: bool = True
    relocatable: bool = True
    threaded: bool = False
    regions: tuple[ParallelRegion, ...] = ()
    parts: tuple[TokenParts, ...] = ()

    @property
    def stated(self) -> str:
        """The name without channels."""
        return self.name.removesuffix("".join(f"[{region.channel}]" for region in self.regions))


class StreamConnection(NamedTuple):
    """So many streams between two operators, by their positions."""

    sender: int
    receiver: int
    number: int


class StreamsApplication(Struct, frozen=True, gc=False):
    """One application; ``name`` is that of its main composite, with its namespace: ``apps.parallel::Parallel``.

    ``bundle`` is the name of its bundle, empty if the text is only a part of a program. ``streams`` is ``None`` if
    there are more than a Job may have.
    """

    at: InputLine
    name: str
    bundle: str
    pools: tuple[DeclaredPool, ...]
    operators: tuple[StreamsOperator, ...]
    streams: tuple[StreamConnection, ...] | None = ()

    @property
    def named_pools(self) -> Iterable[str]:
        """The names of the pools, in their order."""
        return (declared.pool.name for declared in self.pools)


def with_label_tokens(application: StreamsApplication) -> tuple[StreamsApplication, list[Remark]]:
    """The application with tokens that are label values, and a remark about each that was replaced.

    Tokens of SPL are any text, and are only compared with one another within an application. Kubernetes has them as
    values of labels. Two tokens never become the same one.
    """
    tokens = dict.fromkeys(
        (clause.argument, operator.at)
        for operator in application.operators
        for clause in operator.clauses
        if clause.name in _TOKENS and isinstance(clause.argument, str)
    )
    legal_tokens = {token for token, _ in tokens if _is_label(token)}
    replaced: dict[str, str] = {}
    remarks: list[Remark] = []
    for token, at in tokens:
        if _is_label(token) or token in replaced:
            continue
        legal = label_value(token)
        if legal in legal_tokens:
            legal = f"{legal[: LABEL_LIMIT - _SUFFIX - 1].rstrip('-_.')}-{digest(token)[:_SUFFIX].lower()}"
        legal_tokens.add(legal)
        replaced[token] = legal
        why = "tokens are values of labels in Kubernetes"
        instead = f"say {legal} in other parts of the job, too"
        remarks.append(Remark(at, f"the token {quote(token)} becomes {legal}", why, instead))
    if not replaced:
        return application, []
    operators = tuple(
        replace(
            operator,
            clauses=tuple(_renamed(clause, replaced) for clause in operator.clauses),
            parts=tuple(tuple(part and label_value(f"x{part}x")[1:-1] for part in parts) for parts in operator.parts),
        )
        for operator in application.operators
    )
    return replace(application, operators=operators), remarks


def _is_label(token: str) -> bool:
    return bool(token) and LABEL_VALUE.fullmatch(token) is not None


def _renamed(clause: PlacementClause, replaced: dict[str, str]) -> PlacementClause:
    """The clause with the token that replaces its own."""
    if clause.name not in _TOKENS or not isinstance(clause.argument, str):
        return clause
    return PlacementClause(clause.name, replaced.get(clause.argument, clause.argument), clause.operator)
